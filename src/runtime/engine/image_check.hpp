// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Whether an image that comes from outside can be the code of a module.

#include "base/result.hpp"
#include "image/image.hpp"
#include "wasm/format/module.hpp"

namespace hoist::runtime {

/// Every piece of code that instances of `module` (valid) will ask for is there, and every name in
/// the image is one of the module's. @error Malformed
Result<void> check_image(const wasm::Module& module, const image::Image& image);

}  // namespace hoist::runtime
