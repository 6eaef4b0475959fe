// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the file that is compiled without exceptions does for the one with them.

#include <hoist/hoist.hpp>
#include <string>

namespace without {

/// Calls the export `name` of the calling instance and returns its error, or none.
hoist::Result<void> define_bounce(hoist::Linker& linker);
/// A host function that calls `inner`, which may throw.
hoist::Func make_calling(hoist::StoreRef store, void (*inner)());
/// The message of the error, "" if there is none: of `Func::call`, of a typed call, of
/// instantiation.
std::string call(const hoist::Func& func);
std::string call_typed(const hoist::Func& func);
std::string instantiate(hoist::Linker& linker, hoist::StoreRef store, const hoist::Module& module);

}  // namespace without
