// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CodeSettings: everything that decides what machine code looks like, besides the module itself.
/// One struct for the compiler, the image's header and the key of the compilation cache, so that
/// none of them can forget a setting.

#include <cstdint>

namespace hoist::image {

struct CodeSettings {
  std::uint8_t opt_level = 2;
  /// Traps come from faulting instructions. Off: every trap is an explicit check and branch.
  bool signals = true;
  /// Every memory access compares its address. On by itself for memories without a reservation.
  bool explicit_bounds = false;
  bool fuel = false;   ///< code counts fuel down and calls the runtime when it is used up
  bool epoch = false;  ///< code compares the engine's epoch with the store's deadline
  /// Every turn of a loop looks whether the call is to end. Code with `epoch` does so anyway.
  bool interrupts = false;
  bool canonical_nans = false;  ///< arithmetic gives the one positive canonical NaN
  /// Relaxed vector instructions give what the specification's deterministic profile says.
  bool deterministic_relaxed = false;
  std::uint64_t cpu_features = 0;  ///< bits of the target's feature list
  /// Whether InterruptHandle::interrupt reaches loops.
  bool is_interruptible() const { return epoch || interrupts; }
  friend bool operator==(const CodeSettings&, const CodeSettings&) = default;
};

}  // namespace hoist::image
