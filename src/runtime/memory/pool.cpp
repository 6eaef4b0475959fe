// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/pool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "image/layout/vm_layout.hpp"

namespace hoist::runtime {

using platform::Access;

static_assert(Pool::slot_bytes() == image::kMemoryReservation + image::kMemoryGuard,
              "compiled code relies on the reservation of each memory");

/// What is said when a pool has no more of something.
static Error all_in_use(const char* what, const char* setting, std::uint32_t count) {
  return {ErrorKind::Limit,
          fmt::format("all {} {} of the engine's pool are in use (PoolingOptions::{})", count, what,
                      setting)};
}

Pool::Pool(const PoolSettings& settings)
    : settings_(settings),
      free_memories_(settings.memories),
      free_tables_(settings.tables),
      free_blocks_(settings.instances),
      memory_slots_(settings.memories),
      block_slots_(settings.instances) {
  const std::uint64_t page = platform::page_bytes();
  table_stride_ = base::align_up(settings.table_elements * sizeof(std::uint64_t), page);
  block_stride_ = base::align_up(settings.instance_bytes, page);
}

Result<std::unique_ptr<Pool>> Pool::create(const PoolSettings& settings) {
  std::unique_ptr<Pool> out(new Pool(settings));
  const auto reserve = [](platform::PageRegion& region, std::uint64_t bytes) -> Result<void> {
    if (bytes == 0) return {};
    HOIST_TRY(region, platform::PageRegion::reserve(bytes));
    return {};
  };
  HOIST_TRY_VOID(reserve(out->memories_, settings.memories * kStride));
  HOIST_TRY_VOID(reserve(out->tables_, settings.tables * out->table_stride_));
  HOIST_TRY_VOID(reserve(out->blocks_, settings.instances * out->block_stride_));
  HOIST_TRY_VOID(out->tables_.protect(0, out->tables_.bytes(), Access::ReadWrite));
  HOIST_TRY_VOID(out->blocks_.protect(0, out->blocks_.bytes(), Access::ReadWrite));
  return out;
}

// ---- Memories.

Result<std::uint32_t> Pool::take_memory(const std::shared_ptr<const MemoryImage>& image,
                                        std::uint64_t bytes) {
  if (bytes > settings_.memory_bytes) {
    return Error(ErrorKind::Limit,
                 fmt::format("a memory of {} bytes is larger than those of the engine's pool, {} "
                             "bytes (PoolingOptions::memory_bytes)",
                             bytes, settings_.memory_bytes));
  }
  const auto slot = free_memories_.take(image == nullptr ? 0 : image->id());
  if (!slot) return all_in_use("memories", "memories", settings_.memories);
  if (Result<void> ready = prepare(*slot, image, bytes); !ready) {
    // A slot that cannot be brought into a known state is never used again.
    if (wipe(*slot)) free_memories_.give(*slot, 0);
    return std::move(ready).error();
  }
  return *slot;
}

Result<void> Pool::prepare(std::uint32_t slot, const std::shared_ptr<const MemoryImage>& image,
                           std::uint64_t bytes) {
  MemorySlot& state = memory_slots_[slot];
  std::uint8_t* base = memory(slot);
  if (state.image != image) {
    if (state.image != nullptr) {
      const std::uint64_t size = state.image->end() - state.image->begin();
      HOIST_TRY_VOID(platform::map_fresh(base + state.image->begin(), size, Access::ReadWrite));
      state.image.reset();
    }
    if (image != nullptr) {
      // Whatever becomes of the mapping, a wipe covers its place.
      state.image = image;
      HOIST_TRY_VOID(image->map_into(base));
      // Between the old end and the image it is not accessible yet.
      if (image->begin() > state.accessible) {
        HOIST_TRY_VOID(grow_memory(slot, state.accessible, image->begin()));
      }
      state.accessible = std::max(state.accessible, image->end());
    }
  }
  if (bytes > state.accessible) {
    HOIST_TRY_VOID(grow_memory(slot, state.accessible, bytes));
  } else if (bytes < state.accessible) {
    HOIST_TRY_VOID(
        memories_.protect(slot * kStride + bytes, state.accessible - bytes, Access::None));
    state.accessible = bytes;
  }
  state.initial = bytes;
  return {};
}

Result<void> Pool::grow_memory(std::uint32_t slot, std::uint64_t from, std::uint64_t to) {
  MemorySlot& state = memory_slots_[slot];
  HOIST_CHECK(from <= to && to <= kStride, "a memory grows within its slot");
  HOIST_TRY_VOID(memories_.protect(slot * kStride + from, to - from, Access::ReadWrite));
  state.accessible = std::max(state.accessible, to);
  return {};
}

void Pool::give_memory(std::uint32_t slot) {
  const MemorySlot& state = memory_slots_[slot];
  // If the module is gone already, nobody will ask for its image again.
  const bool useful = state.image == nullptr || state.image.use_count() > 1;
  if (!(useful && reset(slot)) && !wipe(slot)) return;
  free_memories_.give(slot, state.image == nullptr ? 0 : state.image->id());
}

/// Makes the slot as it was when it was taken. False: the system does not.
bool Pool::reset(std::uint32_t slot) {
  MemorySlot& state = memory_slots_[slot];
  const std::uint64_t page = platform::page_bytes();
  const std::uint64_t kept =
      std::min(settings_.keep_resident_bytes - settings_.keep_resident_bytes % page, state.initial);
  restore(slot, kept);
  if (!platform::discard_pages(memory(slot) + kept, state.accessible - kept)) return false;
  if (state.accessible > state.initial) {
    if (!memories_.protect(slot * kStride + state.initial, state.accessible - state.initial,
                           Access::None)) {
      return false;
    }
    state.accessible = state.initial;
  }
  return true;
}

/// Writes the initial contents of the first `bytes`.
void Pool::restore(std::uint32_t slot, std::uint64_t bytes) {
  const MemorySlot& state = memory_slots_[slot];
  std::uint8_t* base = memory(slot);
  if (bytes == 0) return;
  const std::uint64_t begin =
      state.image == nullptr ? bytes : std::min(bytes, state.image->begin());
  const std::uint64_t end = state.image == nullptr ? bytes : std::min(bytes, state.image->end());
  std::memset(base, 0, begin);
  if (end > begin) std::memcpy(base + begin, state.image->view(), end - begin);
  std::memset(base + end, 0, bytes - end);
}

/// Nothing accessible, nothing mapped but fresh pages.
bool Pool::wipe(std::uint32_t slot) {
  MemorySlot& state = memory_slots_[slot];
  // An image may have been mapped beyond what was made accessible.
  const std::uint64_t end =
      std::max(state.accessible, state.image == nullptr ? 0 : state.image->end());
  if (!platform::map_fresh(memory(slot), end, Access::None)) return false;
  state = {};
  return true;
}

void Pool::forget_image(const MemoryImage& image) {
  while (const auto slot = free_memories_.take_exactly(image.id())) {
    if (wipe(*slot)) free_memories_.give(*slot, 0);
  }
}

// ---- Tables.

Result<std::uint32_t> Pool::take_table() {
  const auto slot = free_tables_.take(0);
  if (!slot) return all_in_use("tables", "tables", settings_.tables);
  return *slot;
}

std::uint64_t* Pool::table(std::uint32_t slot) const {
  return reinterpret_cast<std::uint64_t*>(tables_.base() + slot * table_stride_);
}

/// Of a table that is given back, so much is cleared by writing: its next user fills it anyway, and
/// a fault for each page costs more than ten times what writing it does.
static constexpr std::uint64_t kKeptOfTable = std::uint64_t{128} << 10;

void Pool::give_table(std::uint32_t slot, std::uint64_t used) {
  std::uint8_t* base = tables_.base() + slot * table_stride_;
  const std::uint64_t page = platform::page_bytes();
  const std::uint64_t bytes = used * sizeof(std::uint64_t);
  const std::uint64_t keep = std::max(settings_.keep_resident_bytes, kKeptOfTable);
  const std::uint64_t kept = std::min(bytes, keep - keep % page);
  const std::uint64_t rest = base::align_up(bytes, page);
  std::memset(base, 0, kept);
  if (rest > kept && bytes > kept && !platform::discard_pages(base + kept, rest - kept)) {
    std::memset(base + kept, 0, bytes - kept);
  }
  free_tables_.give(slot, 0);
}

// ---- Instances.

Result<Pool::Block> Pool::take_block(std::uint64_t key, std::uint64_t bytes) {
  if (bytes > settings_.instance_bytes) {
    return Error(ErrorKind::Limit,
                 fmt::format("an instance of {} bytes is larger than those of the engine's pool, "
                             "{} bytes (PoolingOptions::instance_bytes)",
                             bytes, settings_.instance_bytes));
  }
  const auto slot = free_blocks_.take(key);
  if (!slot) return all_in_use("instances", "instances", settings_.instances);
  BlockSlot& state = block_slots_[*slot];
  Block out{blocks_.base() + *slot * block_stride_, *slot, state.key == key};
  if (!out.same) {
    std::memset(out.base, 0, state.used);
    state = {key, bytes};
  }
  return out;
}

void Pool::give_block(std::uint32_t slot, std::uint64_t key, std::uint64_t kept_from) {
  BlockSlot& state = block_slots_[slot];
  HOIST_CHECK(key == 0 || state.key == key, "a block is given back as it was taken");
  state.key = key;
  std::memset(blocks_.base() + slot * block_stride_, 0, kept_from);
  free_blocks_.give(slot, key);
}

void Pool::forget_block(std::uint64_t key) {
  while (const auto slot = free_blocks_.take_exactly(key)) {
    BlockSlot& state = block_slots_[*slot];
    std::uint8_t* base = blocks_.base() + *slot * block_stride_;
    if (platform::discard_pages(base, base::align_up(state.used, platform::page_bytes()))) {
      state = {};
    }
    free_blocks_.give(*slot, 0);
  }
}

}  // namespace hoist::runtime
