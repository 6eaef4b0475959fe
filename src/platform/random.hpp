// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Random bytes from the system.

#include <cstdint>
#include <span>

namespace hoist::platform {

/// Fills `out` with unpredictable bytes. Never fails on a running system; may wait at boot.
void random_bytes(std::span<std::uint8_t> out);

}  // namespace hoist::platform
