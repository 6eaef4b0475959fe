// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/objects/linear_memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "image/layout/instance_layout.hpp"

namespace hoist::runtime {

using image::kMostMemoryBytes;
using image::MemoryCheck;

namespace {

std::uint64_t whole_pages(std::uint64_t bytes) {
  return base::align_up(bytes, std::uint64_t{platform::page_bytes()});
}

/// Pages that a memory of the type may have at most by its address type.
/// Source: core specification, section 3.2.15; custom page sizes proposal.
std::uint64_t most_pages(const wasm::MemoryType& type) {
  const unsigned bits = type.is64 ? 64 : 32;
  // With pages of one byte, the size itself has to be an address.
  if (type.page_size_log2 == 0) return type.is64 ? ~std::uint64_t{0} : 0xffff'ffff;
  return std::uint64_t{1} << (bits - type.page_size_log2);
}

Result<void> check_type(const wasm::MemoryType& type) {
  if (type.page_size_log2 > 16) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("a memory cannot have pages of 2^{} bytes: at most 2^16",
                             unsigned{type.page_size_log2}));
  }
  const wasm::Limits& limits = type.limits;
  const std::uint64_t most = most_pages(type);
  if (limits.min > most || (limits.has_max && limits.max < limits.min)) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("a memory of {} pages{} cannot be: at most {} pages, and the minimum is at "
                    "most the maximum",
                    limits.min, limits.has_max ? fmt::format(", at most {},", limits.max) : "",
                    most));
  }
  if (type.shared && !limits.has_max) {
    return Error(ErrorKind::BadArgument, "a shared memory must have a maximum");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<LinearMemory>> LinearMemory::create(
    const wasm::MemoryType& type, std::uint64_t limit_bytes, Pool* pool,
    const std::shared_ptr<const MemoryImage>& image, bool explicit_bounds, RegionCache* regions) {
  HOIST_TRY_VOID(check_type(type));
  const wasm::Limits& limits = type.limits;
  const std::uint64_t limit = std::min(limit_bytes, kMostMemoryBytes);
  if (limits.min > limit >> type.page_size_log2) {
    return Error(ErrorKind::Limit,
                 limit == limit_bytes
                     ? fmt::format("a memory of {} pages is larger than the store's limit of {} "
                                   "bytes",
                                   limits.min, limit)
                     : fmt::format("a memory of {} pages is larger than the {} bytes that a "
                                   "process can have",
                                   limits.min, limit));
  }
  std::unique_ptr<LinearMemory> out(new LinearMemory);
  out->type_ = type;
  // An old size that reads as -1 could not be told from a refusal: nothing grows to it.
  const std::uint64_t most = most_pages(type) - (type.page_size_log2 == 0 ? 1 : 0);
  out->max_pages_ =
      std::max(limits.min,
               std::min({most, limits.has_max ? limits.max : most, limit >> type.page_size_log2}));
  out->may_move_ = image::memory_may_move(type, explicit_bounds);
  const std::uint64_t bytes = limits.min << type.page_size_log2;
  HOIST_CHECK(image == nullptr || image->end() <= whole_pages(bytes),
              "an image ends within the minimum");
  if (type.shared) {
    out->shared_ = std::make_unique<Shared>();
  } else if (pool != nullptr) {
    HOIST_TRY_VOID(out->take_slot(*pool, image, bytes));
    return out;
  }
  const MemoryCheck check = image::memory_check(type, explicit_bounds);
  if (check == MemoryCheck::Reserved) {
    HOIST_TRY_VOID(out->take_region(image == nullptr && !type.shared ? regions : nullptr, bytes));
  } else {
    out->guard_bytes_ = check == MemoryCheck::Guarded ? image::kOffsetGuard : 0;
    HOIST_TRY_VOID(out->reserve_own(bytes));
  }
  if (image != nullptr) {
    HOIST_TRY_VOID(image->map_into(out->vm_.base));
    if (out->may_move_) out->seams_ = {image->begin(), image->end()};
  }
  return out;
}

LinearMemory::~LinearMemory() {
  if (pool_ != nullptr) pool_->give_memory(slot_);
  if (regions_ != nullptr) regions_->give(std::move(region_), accessible_);
}

Result<void> LinearMemory::take_slot(Pool& pool, const std::shared_ptr<const MemoryImage>& image,
                                     std::uint64_t bytes) {
  HOIST_TRY(slot_, pool.take_memory(image, whole_pages(bytes)));
  pool_ = &pool;
  vm_.base = pool.memory(slot_);
  vm_.length = bytes;
  accessible_ = whole_pages(bytes);
  capacity_ = pool.settings().memory_bytes;
  max_pages_ = std::min(max_pages_, capacity_ >> type_.page_size_log2);
  return {};
}

/// Reserves all that a 32-bit memory can ever have, and makes the first `bytes` accessible.
Result<void> LinearMemory::take_region(RegionCache* regions, std::uint64_t bytes) {
  capacity_ = image::kMemoryReservation;
  std::uint64_t accessible = 0;
  std::optional<RegionCache::Item> kept = regions == nullptr ? std::nullopt : regions->take();
  if (kept) {
    region_ = std::move(kept->region);
    accessible = kept->accessible;
  } else {
    HOIST_TRY(region_, platform::PageRegion::reserve(capacity_ + image::kMemoryGuard));
  }
  if (accessible < bytes) {
    HOIST_TRY_VOID(region_.protect(accessible, bytes - accessible, platform::Access::ReadWrite));
  } else {
    HOIST_TRY_VOID(region_.protect(bytes, accessible - bytes, platform::Access::None));
  }
  vm_.base = region_.base();
  vm_.length = bytes;
  accessible_ = bytes;
  regions_ = regions;
  return {};
}

/// What code compares with needs no reservation: as much as is needed and a guard. But what must
/// not move has its maximum at once.
Result<void> LinearMemory::reserve_own(std::uint64_t bytes) {
  capacity_ = std::max(whole_pages(bytes), image::kWasmPageBytes);
  if (!may_move_) capacity_ = std::max(capacity_, whole_pages(max_pages_ << type_.page_size_log2));
  HOIST_TRY(region_, platform::PageRegion::reserve(capacity_ + guard_bytes_));
  vm_.base = region_.base();
  HOIST_TRY_VOID(make_accessible(bytes));
  vm_.length = bytes;
  return {};
}

Result<void> LinearMemory::make_accessible(std::uint64_t bytes) {
  const std::uint64_t wanted = whole_pages(bytes);
  if (wanted <= accessible_) return {};
  if (pool_ != nullptr) {
    HOIST_TRY_VOID(pool_->grow_memory(slot_, accessible_, wanted));
  } else {
    HOIST_TRY_VOID(region_.protect(accessible_, wanted - accessible_, platform::Access::ReadWrite));
  }
  accessible_ = wanted;
  return {};
}

void LinearMemory::clear_image(const MemoryImage& image) {
  std::memset(vm_.base + image.begin(), 0, image.end() - image.begin());
}

/// Moves pages instead of bytes where that is cheaper: a guest can have terabytes that it never
/// touched, and copying zeros would make them real and take for ever.
void LinearMemory::move_contents(platform::PageRegion& to, std::uint64_t from, std::uint64_t end) {
  constexpr std::uint64_t kWorthMoving = 1 << 20;
  const std::uint64_t bytes = end - from;
  if (bytes >= kWorthMoving && to.take_pages(region_, from, bytes)) return;
  if (bytes != 0) std::memcpy(to.base() + from, vm_.base + from, bytes);
}

/// Reserves twice as much as before, or what the system gives, so that growing step by step is
/// linear.
Result<void> LinearMemory::move_to_larger(std::uint64_t bytes) {
  HOIST_CHECK(may_move_, "what code believes to stay is reserved to its maximum");
  const std::uint64_t most = whole_pages(max_pages_ << type_.page_size_log2);
  bytes = whole_pages(bytes);
  std::uint64_t wanted = std::max(bytes, std::min(most, capacity_ * 2));
  Result<platform::PageRegion> fresh = platform::PageRegion::reserve(wanted + guard_bytes_);
  while (!fresh && wanted > bytes) {
    wanted = bytes + whole_pages((wanted - bytes) / 2);
    if (wanted - bytes <= platform::page_bytes()) wanted = bytes;
    fresh = platform::PageRegion::reserve(wanted + guard_bytes_);
  }
  if (!fresh) return std::move(fresh).error();
  HOIST_TRY_VOID(fresh->protect(0, accessible_, platform::Access::ReadWrite));
  if (seams_.empty() || seams_.back() != accessible_) seams_.push_back(accessible_);
  std::uint64_t from = 0;
  for (const std::uint64_t seam : seams_) {
    move_contents(*fresh, from, seam);
    from = seam;
  }
  region_ = *std::move(fresh);
  capacity_ = wanted;
  vm_.base = region_.base();
  return {};
}

Result<std::uint64_t> LinearMemory::grow(std::uint64_t delta_pages) {
  static_assert(image::kWasmPageBytes == 65536, "at least a page of any system");
  const std::uint64_t old_pages = pages();
  if (delta_pages > max_pages_ - old_pages) {
    return Error(ErrorKind::Limit,
                 fmt::format("a memory of {} pages cannot grow by {}: its limit is {} pages",
                             old_pages, delta_pages, max_pages_));
  }
  const std::uint64_t length = (old_pages + delta_pages) << type_.page_size_log2;
  if (length > capacity_) HOIST_TRY_VOID(move_to_larger(length));
  HOIST_TRY_VOID(make_accessible(length));
  set_length(length);
  return old_pages;
}

}  // namespace hoist::runtime
