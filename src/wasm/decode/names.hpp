// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The name section, read on demand. A malformed one is no error: what precedes the first mistake
/// counts, the rest is ignored.
///
/// Source: WebAssembly core specification, appendix "Custom Sections"; the extended name section
/// proposal for subsections 3 and above.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wasm/format/module.hpp"

namespace hoist::wasm {

struct ModuleNames {
  std::string_view module;
  /// By function index; empty where there is no name. May be shorter than the index space.
  std::vector<std::string_view> functions;
  bool damaged = false;  ///< there is more, which is no name section
  std::string_view function(std::uint32_t func) const {
    return func < functions.size() ? functions[func] : std::string_view();
  }
  /// By tag index, as `functions`.
  std::vector<std::string_view> tags;
  std::string_view tag(std::uint32_t index) const {
    return index < tags.size() ? tags[index] : std::string_view();
  }
};

/// Index of a local and its name, ascending.
using LocalNames = std::vector<std::pair<std::uint32_t, std::string_view>>;

/// Index spaces that have names besides functions and locals, by the ids of the name section's
/// subsections.
enum class NameSpace : std::uint8_t {
  Labels = 3,  ///< of a function
  Types = 4,
  Tables = 5,
  Memories = 6,
  Globals = 7,
  Elements = 8,
  Data = 9,
  Fields = 10,  ///< of a type
  Tags = 11
};

/// Module, function and tag names. Linear in the section; the caller keeps the result.
ModuleNames read_names(const Module& module);
ModuleNames read_names(Module&&) = delete;  // the names are views of its bytes
/// Names of one function's locals. Linear in the section.
LocalNames read_local_names(const Module& module, std::uint32_t func);
LocalNames read_local_names(Module&&, std::uint32_t) = delete;
/// Names of a whole index space (not of labels and fields), ascending. Linear in the section.
LocalNames read_space_names(const Module& module, NameSpace space);
LocalNames read_space_names(Module&&, NameSpace) = delete;
/// Names of the labels of a function or the fields of a type, ascending. Linear in the section.
LocalNames read_inner_names(const Module& module, NameSpace space, std::uint32_t owner);
LocalNames read_inner_names(Module&&, NameSpace, std::uint32_t) = delete;
/// Name of one function, from the name section, else an export, else empty; shortened. Linear:
/// for error messages.
std::string find_function_name(const Module& module, std::uint32_t func);

}  // namespace hoist::wasm
