// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// TableObject: a table of references: VmFuncRef addresses or externref words, 0 is null.
/// Source: core specification, section 4.2.7.

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "image/layout/vm_layout.hpp"
#include "runtime/memory/pool.hpp"
#include "wasm/format/types.hpp"

namespace hoist::runtime {

class TableObject {
 public:
  /// All elements are `init`. `limit`: elements that the store allows. `pool` (may be null)
  /// outlives the table.
  /// @error Limit: the minimum is above `limit`, the pool's slots are smaller or in use;
  ///        OutOfMemory; BadArgument: minimum above maximum.
  static Result<std::unique_ptr<TableObject>> create(const wasm::TableType& type,
                                                     std::uint64_t limit, std::uint64_t init,
                                                     Pool* pool = nullptr);
  ~TableObject();
  TableObject(const TableObject&) = delete;
  TableObject& operator=(const TableObject&) = delete;

  const wasm::TableType& type() const { return type_; }
  image::VmTable* vm() { return &vm_; }
  std::uint64_t size() const { return vm_.length; }
  std::uint64_t* elements() { return vm_.elements; }
  /// Old size. @error Limit, OutOfMemory; the table is as before then.
  Result<std::uint64_t> grow(std::uint64_t delta, std::uint64_t init);
  bool in_bounds(std::uint64_t index, std::uint64_t count) const {
    return count <= vm_.length && index <= vm_.length - count;
  }

 private:
  TableObject() = default;
  Result<void> reserve(std::uint64_t elements);

  image::VmTable vm_;
  std::uint64_t capacity_ = 0;
  std::uint64_t max_ = 0;
  Pool* pool_ = nullptr;  // if not null, the elements are those of `slot_`
  std::uint32_t slot_ = 0;
  wasm::TableType type_;
};

}  // namespace hoist::runtime
