// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Which features a module needs: for images, whose modules are not validated again, where an
/// engine allows fewer than the module was accepted with.

#include "wasm/format/module.hpp"

namespace hoist::wasm {

/// The features without which `module`, valid with `accepted`, would not be; and those that cannot
/// be switched off. Found by validating it with fewer: once more for each feature that it uses, up
/// to the place of the first use.
Features used_features(const ModuleBytes& module, Features accepted);

}  // namespace hoist::wasm
