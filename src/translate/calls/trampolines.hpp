// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Trampolines between compiled code and C++, as IR: what leaves compiled code records where.

#include "image/layout/builtin.hpp"
#include "ir/builder.hpp"
#include "ir/function.hpp"
#include "wasm/format/types.hpp"

namespace hoist::translate {

/// Compiled code to a host function of type `type`, in place of a WebAssembly function of that
/// type. The context is a VmHostContext. Arguments go to 16-byte slots, `ctx->call(ctx, slots)`
/// runs, the results come from the same slots; a result other than 0 leaves compiled code (builtin
/// `raise`).
/// `signals`: whether its own traps fault.
void exit_trampoline(const wasm::FuncType& type, std::uint32_t type_index,
                     ir::FunctionBuilder& builder, ir::Function& out, bool signals = true);

/// Compiled code to a runtime function: records the place in the store context, passes instance and
/// arguments on in the host's C convention, and leaves compiled code if a Status says so.
void builtin_trampoline(image::Builtin builtin, ir::FunctionBuilder& builder, ir::Function& out);

/// The Tail signature of a BuiltinTrampoline: instance, parameters; result of I64 builtins. That of
/// `trap` is empty: see ir::Function::trap_handler.
ir::Signature builtin_signature(image::Builtin builtin);
/// Makes the traps of `func` calls of the builtin `trap`.
void set_trap_handler(ir::Function& func);

}  // namespace hoist::translate
