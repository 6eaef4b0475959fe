// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// LinearMemory: a linear memory of any type: 32 or 64 bits, pages of any size, shared or not.
/// What is reserved, what lies behind the length and whether the base may move follow from the
/// type and the engine's settings (image::memory_check). Its address space is its own or a slot of
/// the engine's pool. A shared one may be in several stores: size and growth are for any thread.
/// Source: core specification, section 4.2.8; docs/memory.md.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.hpp"
#include "image/layout/vm_layout.hpp"
#include "platform/pages.hpp"
#include "runtime/memory/memory_image.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/memory/region_cache.hpp"
#include "runtime/memory/wait_lists.hpp"
#include "wasm/format/types.hpp"

namespace hoist::runtime {

class LinearMemory {
 public:
  /// `limit_bytes`: what the store allows. `pool` (may be null) outlives the memory. `image` (may
  /// be null) is what it holds at first; it ends within the minimum, up to a page of the system.
  /// `regions` (may be null) outlives the memory too: where its address space comes from if it has
  /// no slot and stays. A shared memory uses neither.
  /// @error Limit: the minimum is above `limit_bytes` or what a process can have, the pool's slots
  ///        are smaller or in use; OutOfMemory; BadArgument: a type that no memory can have.
  static Result<std::unique_ptr<LinearMemory>> create(
      const wasm::MemoryType& type, std::uint64_t limit_bytes, Pool* pool = nullptr,
      const std::shared_ptr<const MemoryImage>& image = nullptr, bool explicit_bounds = false,
      RegionCache* regions = nullptr);
  ~LinearMemory();
  LinearMemory(const LinearMemory&) = delete;
  LinearMemory& operator=(const LinearMemory&) = delete;

  /// As declared; the present size is `pages`.
  const wasm::MemoryType& type() const { return type_; }
  image::VmMemory* vm() { return &vm_; }
  std::uint8_t* base() const { return vm_.base; }
  /// Another thread may raise the length of a shared memory at any time.
  std::uint64_t bytes() const {
    return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(vm_.length))
        .load(std::memory_order_acquire);
  }
  std::uint64_t pages() const { return bytes() >> type_.page_size_log2; }
  /// Old size in pages. @error Limit, OutOfMemory; the memory is as before then.
  Result<std::uint64_t> grow(std::uint64_t delta_pages);
  /// Held around the decision on a growth and the growth, `grow` itself does not take it; does
  /// nothing unless the memory is shared.
  std::unique_lock<std::mutex> lock_growth() {
    return shared_ == nullptr ? std::unique_lock<std::mutex>()
                              : std::unique_lock<std::mutex>(shared_->growth);
  }
  /// Whether [address, address + length) is inside.
  bool in_bounds(std::uint64_t address, std::uint64_t length) const {
    const std::uint64_t size = bytes();
    return length <= size && address <= size - length;
  }
  /// Whether an address of the process belongs to the reservation, guard included.
  bool reserves(std::uintptr_t address) const {
    const std::uint64_t bytes = pool_ != nullptr ? Pool::slot_bytes() : region_.bytes();
    return address - reinterpret_cast<std::uintptr_t>(vm_.base) < bytes;
  }
  /// Writes zeros over what `image` brought: instantiation has failed before data segments.
  void clear_image(const MemoryImage& image);
  /// Null unless shared.
  WaitLists* waits() { return shared_ == nullptr ? nullptr : &shared_->waits; }

 private:
  struct Shared {
    std::mutex growth;
    WaitLists waits;
  };

  LinearMemory() = default;
  Result<void> take_slot(Pool& pool, const std::shared_ptr<const MemoryImage>& image,
                         std::uint64_t bytes);
  Result<void> take_region(RegionCache* regions, std::uint64_t bytes);
  Result<void> reserve_own(std::uint64_t bytes);
  Result<void> move_to_larger(std::uint64_t bytes);
  void move_contents(platform::PageRegion& to, std::uint64_t from, std::uint64_t end);
  Result<void> make_accessible(std::uint64_t bytes);
  void set_length(std::uint64_t bytes) {
    std::atomic_ref<std::uint64_t>(vm_.length).store(bytes, std::memory_order_release);
  }

  image::VmMemory vm_;
  platform::PageRegion region_;     // unless it has a slot
  RegionCache* regions_ = nullptr;  // who gets the region back, if not the system
  Pool* pool_ = nullptr;
  std::unique_ptr<Shared> shared_;
  std::uint32_t slot_ = 0;
  wasm::MemoryType type_;
  bool may_move_ = false;
  std::uint64_t guard_bytes_ = 0;  // at the end of region_
  std::uint64_t max_pages_ = 0;
  std::uint64_t capacity_ = 0;    // bytes that it can have where it is
  std::uint64_t accessible_ = 0;  // bytes, whole pages of the system
  // If it may move: where mappings of the system may meet, rising.
  std::vector<std::uint64_t> seams_;
};

}  // namespace hoist::runtime
