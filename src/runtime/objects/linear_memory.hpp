// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// LinearMemory: a 32-bit linear memory: 4 GiB of address space and a guard, of which the first
/// `size` bytes are accessible. The base never changes; only where code compares every address it
/// may, when the memory grows, since no more is reserved there than needed. The address space is
/// its own or a slot of the engine's pool. Source: core specification, section 4.2.8.

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "image/layout/vm_layout.hpp"
#include "platform/pages.hpp"
#include "runtime/memory/memory_image.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/memory/region_cache.hpp"
#include "wasm/format/types.hpp"

namespace hoist::runtime {

class LinearMemory {
 public:
  /// `limit_bytes`: what the store allows. `pool` (may be null) outlives the memory. `image` (may
  /// be null) is what it holds at first; it ends within the minimum. `regions` (may be null)
  /// outlives the memory too: where its address space comes from if it has no slot and stays.
  /// @error Limit: the minimum is above `limit_bytes`, the pool's slots are smaller or in use;
  ///        OutOfMemory; BadArgument: limits that no memory can have; Unsupported: 64-bit, shared
  ///        or with another page size.
  static Result<std::unique_ptr<LinearMemory>> create(
      const wasm::MemoryType& type, std::uint64_t limit_bytes, Pool* pool = nullptr,
      const std::shared_ptr<const MemoryImage>& image = nullptr, bool may_move = false,
      RegionCache* regions = nullptr);
  ~LinearMemory();
  LinearMemory(const LinearMemory&) = delete;
  LinearMemory& operator=(const LinearMemory&) = delete;

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
  bool reserves(std::uintptr_t address) const {
    const std::uint64_t bytes = pool_ != nullptr ? Pool::slot_bytes() : reserved_bytes_;
    return address - reinterpret_cast<std::uintptr_t>(vm_.base) < bytes;
  }
  /// Writes zeros over what `image` brought: instantiation has failed before data segments.
  void clear_image(const MemoryImage& image);

 private:
  LinearMemory() = default;
  Result<void> take_region(RegionCache* regions, std::uint64_t bytes);
  Result<void> move_to_larger(std::uint64_t bytes);

  image::VmMemory vm_;
  platform::PageRegion region_;     // unless it has a slot
  RegionCache* regions_ = nullptr;  // who gets the region back, if not the system
  Pool* pool_ = nullptr;
  std::uint32_t slot_ = 0;
  wasm::MemoryType type_;
  std::uint64_t max_pages_ = 0;
  std::uint64_t reserved_bytes_ = 0;  // of region_
};

}  // namespace hoist::runtime
