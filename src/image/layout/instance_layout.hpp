// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The one rule by which compiler and runtime lay out an instance: counts of its module, and the
/// dense numbers of function references. Templates over the module, because image/ knows no
/// WebAssembly; `Module` is wasm::Module in both uses.

#include <cstdint>
#include <vector>

#include "image/layout/vm_layout.hpp"

namespace hoist::image {

/// Numbers the functions that a reference may exist of (Module::escaping_functions) densely, in the
/// order of their indexes: `number` is the place of the VmFuncRef in the instance.
class FuncRefNumbers {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  FuncRefNumbers() = default;
  template <typename Module>
  explicit FuncRefNumbers(const Module& module) : numbers_(module.functions.size(), kNone) {
    module.escaping_functions.for_each([this](std::size_t func) {
      if (func < numbers_.size()) numbers_[func] = count_++;
    });
  }

  std::uint32_t count() const { return count_; }
  /// kNone for a function that does not escape.
  std::uint32_t number(std::uint32_t func) const { return numbers_[func]; }
  /// Number of functions in the index space.
  std::uint32_t functions() const { return static_cast<std::uint32_t>(numbers_.size()); }

 private:
  std::vector<std::uint32_t> numbers_;
  std::uint32_t count_ = 0;
};

template <typename Module>
VmLayout instance_layout(const Module& module, const FuncRefNumbers& refs) {
  VmLayout::Counts counts;
  counts.types = static_cast<std::uint32_t>(module.types.size());
  counts.imported_funcs = module.num_imported_functions;
  counts.func_refs = refs.count();
  counts.tables = static_cast<std::uint32_t>(module.tables.size());
  counts.memories = static_cast<std::uint32_t>(module.memories.size());
  counts.imported_globals = module.num_imported_globals;
  counts.defined_globals =
      static_cast<std::uint32_t>(module.globals.size()) - module.num_imported_globals;
  return VmLayout(counts);
}

}  // namespace hoist::image
