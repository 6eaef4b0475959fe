// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Subsections of the name section.

#include <cstdint>

namespace hoist::wasm {

/// Source: core specification 3.0, section 7.4, and the extended name section proposal.
enum NameSubsection : std::uint8_t {
  kModuleName = 0,
  kFunctionNames = 1,
  kLocalNames = 2,
  kLabelNames = 3,
  kTypeNames = 4,
  kTableNames = 5,
  kMemoryNames = 6,
  kGlobalNames = 7,
  kElementNames = 8,
  kDataNames = 9,
  kFieldNames = 10,
  kTagNames = 11
};

}  // namespace hoist::wasm
