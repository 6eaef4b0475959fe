// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// TagObject: the identity and the type of a tag. Two tags are the same exactly if they are the
/// same object: each instance of a module has its own ones of those that the module defines.
/// Source: core specification, section 4.2.11.

#include <cstdint>

namespace hoist::runtime {

class ModuleCode;

struct TagObject {
  std::uint32_t type_id = 0;         ///< of the engine's type registry
  const ModuleCode* code = nullptr;  ///< that defines it, null if the host does; for names
  std::uint32_t index = 0;           ///< in that module
};

}  // namespace hoist::runtime
