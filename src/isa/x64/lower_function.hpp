// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The one instance of the lowering driver for x86-64.

#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

/// See codegen::Target::lower.
Result<void> lower_function(Lowering& rules, const ir::Function& func, codegen::MachFunction& out);

}  // namespace hoist::isa::x64
