// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What pieces of machine code are called in symbol tables and profiles.

#include <string>
#include <string_view>
#include <vector>

#include "image/image_file.hpp"
#include "wasm/decode/names.hpp"
#include "wasm/format/module.hpp"

namespace hoist::runtime {

/// `module` must outlive it.
class SymbolNames {
 public:
  explicit SymbolNames(const wasm::Module& module);
  /// Of the name section, else empty.
  std::string_view module() const { return names_.module; }
  /// What is wrong with the name section; empty if nothing is.
  std::string_view problem() const {
    return names_.damaged ? "the name section is damaged: some functions have no names" : "";
  }
  /// Of the name section, else of an export, else empty.
  std::string_view function(std::uint32_t func) const;
  /// Of the name section, else empty.
  std::string_view tag(std::uint32_t index) const { return names_.tag(index); }
  /// "fib", "func[3]", "entry trampoline [i32] -> [i32]".
  std::string operator()(image::FuncKey key) const;

 private:
  const wasm::Module& module_;
  wasm::ModuleNames names_;
  std::vector<std::string_view> export_names_;
};

/// A symbol for each function of the module's image; control characters in names are escaped.
std::vector<image::ImageSymbol> image_symbols(const wasm::Module& module,
                                              const image::Image& image);

}  // namespace hoist::runtime
