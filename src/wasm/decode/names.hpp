// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The name section, read on demand. A malformed one is no error: what precedes the first mistake
/// counts, the rest is ignored.
///
/// Source: WebAssembly core specification, appendix "Custom Sections".

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
  std::string_view function(std::uint32_t func) const {
    return func < functions.size() ? functions[func] : std::string_view();
  }
};

/// Index of a local and its name, ascending.
using LocalNames = std::vector<std::pair<std::uint32_t, std::string_view>>;

/// Module and function names. Linear in the section; the caller keeps the result.
ModuleNames read_names(const Module& module);
ModuleNames read_names(Module&&) = delete;  // the names are views of its bytes
/// Names of one function's locals. Linear in the section.
LocalNames read_local_names(const Module& module, std::uint32_t func);
LocalNames read_local_names(Module&&, std::uint32_t) = delete;
/// Name of one function, from the name section, else an export, else empty; shortened. Linear:
/// for error messages.
std::string find_function_name(const Module& module, std::uint32_t func);

}  // namespace hoist::wasm
