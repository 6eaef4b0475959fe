// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Which build of Hoist this is.

#include <array>
#include <cstdint>
#include <span>

namespace hoist::platform {

/// Calls `visit` with what tells this build of the library (or of the program that it is linked
/// into) from every other: the linker's build id if there is one, else all read-only segments.
using BuildPieces = std::span<const std::span<const std::uint8_t>>;
void visit_build(void (*visit)(void* context, BuildPieces pieces), void* context);

}  // namespace hoist::platform
