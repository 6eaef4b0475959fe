// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Limits that a module must keep: those of the WebAssembly JavaScript interface (section
/// "Implementation-defined Limits"), which every toolchain respects, and three of our own at the
/// end.

#include <cstdint>

namespace hoist::wasm {

inline constexpr std::uint64_t kMaxModuleBytes = 1'073'741'824;
inline constexpr std::uint32_t kMaxTypes = 1'000'000;
inline constexpr std::uint32_t kMaxFunctions = 1'000'000;
inline constexpr std::uint32_t kMaxImports = 1'000'000;
inline constexpr std::uint32_t kMaxExports = 1'000'000;
inline constexpr std::uint32_t kMaxGlobals = 1'000'000;
inline constexpr std::uint32_t kMaxTags = 1'000'000;
inline constexpr std::uint32_t kMaxDataSegments = 100'000;
inline constexpr std::uint32_t kMaxTables = 100'000;
inline constexpr std::uint32_t kMaxMemories = 100;
inline constexpr std::uint32_t kMaxElemSegments = 10'000'000;
inline constexpr std::uint32_t kMaxElemItems = 10'000'000;
inline constexpr std::uint32_t kMaxParams = 1'000;
inline constexpr std::uint32_t kMaxResults = 1'000;
inline constexpr std::uint32_t kMaxBodyBytes = 7'654'321;
inline constexpr std::uint32_t kMaxLocals = 50'000;
inline constexpr std::uint32_t kMaxBrTable = 65'520;
inline constexpr std::uint32_t kMaxFields = 10'000;
inline constexpr std::uint32_t kMaxRecGroups = 1'000'000;
inline constexpr std::uint32_t kMaxRecGroupTypes = 1'000'000;
/// Super types of a type.
inline constexpr std::uint32_t kMaxSubtypeDepth = 63;
inline constexpr std::uint32_t kMaxArrayNewFixed = 10'000;
inline constexpr std::uint32_t kMaxCatches = 10'000;
/// Pages of a 32-bit memory: a rule of validation, not a limit of ours.
inline constexpr std::uint64_t kMaxPages32 = 65'536;

/// Nested blocks in one body.
inline constexpr std::uint32_t kMaxNesting = 1'000'000;
/// Values on the operand stack of one body.
inline constexpr std::uint32_t kMaxOperands = 4'000'000;
/// Bytes of a name that an error message repeats.
inline constexpr std::uint32_t kMaxNameInMessage = 64;

}  // namespace hoist::wasm
