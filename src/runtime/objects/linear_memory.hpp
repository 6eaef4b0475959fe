// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// LinearMemory: a 32-bit linear memory: 4 GiB of address space and a guard, of which the first
/// `size` bytes are accessible. The base never changes. Source: core specification, section 4.2.8.

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "image/layout/vm_layout.hpp"
#include "platform/pages.hpp"
#include "wasm/format/types.hpp"

namespace hoist::runtime {

class LinearMemory {
 public:
  /// `limit_bytes`: what the store allows.
  /// @error Limit: the minimum is above `limit_bytes`; OutOfMemory; BadArgument: limits that no
  ///        memory can have; Unsupported: 64-bit, shared or with another page size.
  static Result<std::unique_ptr<LinearMemory>> create(const wasm::MemoryType& type,
                                                      std::uint64_t limit_bytes);

  /// As declared; the present size is `pages`.
  const wasm::MemoryType& type() const { return type_; }
  image::VmMemory* vm() { return &vm_; }
  std::uint8_t* base() const { return vm_.base; }
  std::uint64_t bytes() const { return vm_.length; }
  std::uint64_t pages() const { return vm_.length / image::kWasmPageBytes; }
  /// Old size in pages. @error Limit, OutOfMemory; the memory is as before then.
  Result<std::uint64_t> grow(std::uint64_t delta_pages);
  /// Whether [address, address + length) is inside.
  bool in_bounds(std::uint64_t address, std::uint64_t length) const {
    return length <= vm_.length && address <= vm_.length - length;
  }
  /// Whether an address of the process belongs to the reservation, guard included.
  bool reserves(std::uintptr_t address) const { return region_.contains(address); }

 private:
  LinearMemory() = default;
  image::VmMemory vm_;
  platform::PageRegion region_;
  wasm::MemoryType type_;
  std::uint64_t max_pages_ = 0;
};

}  // namespace hoist::runtime
