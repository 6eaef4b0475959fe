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

/// How compiled code keeps the accesses to a memory inside. The runtime makes memories so that it
/// may.
enum class MemoryCheck : std::uint8_t {
  Reserved,  ///< 4 GiB and a guard are reserved: only large static offsets are compared
  Guarded,   ///< the index is compared; kOffsetGuard bytes behind the length take static offsets
  Exact      ///< the end of each access is compared
};
/// `MemoryType` is wasm::MemoryType; `explicit_bounds` is CodeSettings' or implied by it.
template <typename MemoryType>
constexpr MemoryCheck memory_check(const MemoryType& type, bool explicit_bounds) {
  // Pages of the system cannot end where small pages do.
  if (explicit_bounds || type.page_size_log2 != 16) return MemoryCheck::Exact;
  return type.is64 ? MemoryCheck::Guarded : MemoryCheck::Reserved;
}
/// Whether growth may move it: its base is then read anew after whatever may grow it.
template <typename MemoryType>
constexpr bool memory_may_move(const MemoryType& type, bool explicit_bounds) {
  return !type.shared && memory_check(type, explicit_bounds) != MemoryCheck::Reserved;
}

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
  counts.tags = static_cast<std::uint32_t>(module.tags.size());
  return VmLayout(counts);
}

}  // namespace hoist::image
