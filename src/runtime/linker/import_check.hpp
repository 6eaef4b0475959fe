// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Whether what is given for the imports of a module has the right types.
/// Source: core specification, section 3.2.7 "External Types" (matching).

#include <span>

#include "base/result.hpp"
#include "runtime/store/instance.hpp"

namespace hoist::runtime {

/// @error Link: the first import that is missing or does not match, with both types.
Result<void> check_imports(Store& store, const ModuleCode& code, std::span<const Extern> imports);

/// Whether something of this type can be given for one import; type ids are those of the engine.
bool import_matches(const ModuleCode& code, const wasm::Import& import, const Extern& given);

/// `"env"."log"`, shortened where names are long.
std::string import_name(const wasm::Import& import);

}  // namespace hoist::runtime
