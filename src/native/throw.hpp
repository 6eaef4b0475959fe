// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Throwing from compiled code without a runtime: the function that CLIF's tests know as
/// `%__cranelift_throw`.

namespace hoist::native {

/// Address of a function with the signature
///   (i64 entry_fp, i64 exit_fp, i64 exit_pc, i32 tag, i64 payload0, i64 payload1) system_v
/// It looks for a handler from the call that returns to `exit_pc` in the frame of `exit_fp`
/// outwards, as far as the frame of `entry_fp` (not included), and goes on there with the payload.
/// A handler matches by its tag, whatever its dynamic context. Returns if there is none.
const void* throw_function();

}  // namespace hoist::native
