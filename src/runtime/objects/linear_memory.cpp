// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/objects/linear_memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/check.hpp"

namespace hoist::runtime {

using image::kWasmPageBytes;

static constexpr std::uint64_t kMostPages = image::kMemoryReservation / kWasmPageBytes;

Result<std::unique_ptr<LinearMemory>> LinearMemory::create(
    const wasm::MemoryType& type, std::uint64_t limit_bytes, Pool* pool,
    const std::shared_ptr<const MemoryImage>& image, bool may_move, RegionCache* regions) {
  if (type.is64 || type.shared || type.page_size_log2 != 16) {
    return Error(ErrorKind::Unsupported,
                 type.is64     ? "64-bit memories (memory64) are not supported"
                 : type.shared ? "shared memories (threads) are not supported"
                               : "memories with a page size other than 65536 are not supported");
  }
  const wasm::Limits& limits = type.limits;
  if (limits.min > kMostPages || (limits.has_max && limits.max < limits.min)) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("a memory of {} pages{} cannot be: at most {} pages, and the minimum is at "
                    "most the maximum",
                    limits.min, limits.has_max ? fmt::format(", at most {},", limits.max) : "",
                    kMostPages));
  }
  if (limits.min * kWasmPageBytes > limit_bytes) {
    return Error(ErrorKind::Limit,
                 fmt::format("a memory of {} bytes is larger than the store's limit of {} bytes",
                             limits.min * kWasmPageBytes, limit_bytes));
  }
  std::unique_ptr<LinearMemory> out(new LinearMemory);
  out->type_ = type;
  out->max_pages_ = std::min(
      {kMostPages, limits.has_max ? limits.max : kMostPages, limit_bytes / kWasmPageBytes});
  const std::uint64_t bytes = limits.min * kWasmPageBytes;
  HOIST_CHECK(image == nullptr || image->end() <= bytes, "an image ends within the minimum");
  if (pool != nullptr) {
    HOIST_TRY(out->slot_, pool->take_memory(image, bytes));
    out->pool_ = pool;
    out->vm_.base = pool->memory(out->slot_);
    out->vm_.length = bytes;
    out->max_pages_ = std::min(out->max_pages_, pool->settings().memory_bytes / kWasmPageBytes);
    return out;
  }
  if (may_move) {
    out->reserved_bytes_ = std::max(bytes, kWasmPageBytes);
    HOIST_TRY(out->region_, platform::PageRegion::reserve(out->reserved_bytes_));
    out->vm_.base = out->region_.base();
    HOIST_TRY_VOID(out->grow(limits.min));
  } else {
    HOIST_TRY_VOID(out->take_region(image == nullptr ? regions : nullptr, bytes));
  }
  if (image != nullptr) HOIST_TRY_VOID(image->map_into(out->vm_.base));
  return out;
}

LinearMemory::~LinearMemory() {
  if (pool_ != nullptr) pool_->give_memory(slot_);
  if (regions_ != nullptr) regions_->give(std::move(region_), vm_.length);
}

/// Reserves all that a memory can ever have, and makes the first `bytes` accessible.
Result<void> LinearMemory::take_region(RegionCache* regions, std::uint64_t bytes) {
  reserved_bytes_ = image::kMemoryReservation + image::kMemoryGuard;
  std::uint64_t accessible = 0;
  std::optional<RegionCache::Item> kept = regions == nullptr ? std::nullopt : regions->take();
  if (kept) {
    region_ = std::move(kept->region);
    accessible = kept->accessible;
  } else {
    HOIST_TRY(region_, platform::PageRegion::reserve(reserved_bytes_));
  }
  if (accessible < bytes) {
    HOIST_TRY_VOID(region_.protect(accessible, bytes - accessible, platform::Access::ReadWrite));
  } else {
    HOIST_TRY_VOID(region_.protect(bytes, accessible - bytes, platform::Access::None));
  }
  vm_.base = region_.base();
  vm_.length = bytes;
  regions_ = regions;
  return {};
}

void LinearMemory::clear_image(const MemoryImage& image) {
  std::memset(vm_.base + image.begin(), 0, image.end() - image.begin());
}

/// Reserves twice as much as before, or what the system gives, so that growing step by step is
/// linear.
Result<void> LinearMemory::move_to_larger(std::uint64_t bytes) {
  std::uint64_t wanted =
      std::max(bytes, std::min(max_pages_ * kWasmPageBytes, reserved_bytes_ * 2));
  Result<platform::PageRegion> fresh = platform::PageRegion::reserve(wanted);
  while (!fresh && wanted > bytes) {
    wanted = bytes + (wanted - bytes) / 2 / kWasmPageBytes * kWasmPageBytes;
    fresh = platform::PageRegion::reserve(wanted);
  }
  if (!fresh) return std::move(fresh).error();
  HOIST_TRY_VOID(fresh->protect(0, vm_.length, platform::Access::ReadWrite));
  if (vm_.length != 0) std::memcpy(fresh->base(), vm_.base, vm_.length);
  region_ = *std::move(fresh);
  reserved_bytes_ = wanted;
  vm_.base = region_.base();
  return {};
}

Result<std::uint64_t> LinearMemory::grow(std::uint64_t delta_pages) {
  static_assert(kWasmPageBytes == 65536, "at least a page of any system");
  const std::uint64_t old_pages = pages();
  if (delta_pages > max_pages_ - old_pages) {
    return Error(ErrorKind::Limit,
                 fmt::format("a memory of {} pages cannot grow by {}: its limit is {} pages",
                             old_pages, delta_pages, max_pages_));
  }
  const std::uint64_t delta = delta_pages * kWasmPageBytes;
  if (pool_ != nullptr) {
    HOIST_TRY_VOID(pool_->grow_memory(slot_, vm_.length, vm_.length + delta));
  } else {
    if (vm_.length + delta > reserved_bytes_) HOIST_TRY_VOID(move_to_larger(vm_.length + delta));
    HOIST_TRY_VOID(region_.protect(vm_.length, delta, platform::Access::ReadWrite));
  }
  vm_.length += delta;
  return old_pages;
}

}  // namespace hoist::runtime
