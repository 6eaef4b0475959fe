// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/store/store_slot.hpp"

#include <mutex>

#include "platform/threads.hpp"

namespace hoist::runtime {
namespace {

/// Slots come in blocks that are kept for ever: a handle may look at its slot at any time.
struct SlotBlock {
  static constexpr int kSlots = 64;
  SlotBlock* next = nullptr;
  detail::StoreSlot slots[kSlots];
};

constinit std::mutex mutex;
constinit SlotBlock* blocks = nullptr;
constinit detail::StoreSlot* free_slots = nullptr;
constinit std::uint64_t last_id = 0;

void add_block() {
  auto* block = new SlotBlock;
  block->next = blocks;
  blocks = block;
  for (detail::StoreSlot& slot : block->slots) {
    slot.next_free = free_slots;
    free_slots = &slot;
  }
}

}  // namespace

/// Another thread may be at work here when the process forks.
static void prepare_for_forks() {
  static const bool done = [] {
    platform::at_fork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
    return true;
  }();
  static_cast<void>(done);
}

detail::StoreSlot* claim_store_slot(Store* store) {
  prepare_for_forks();
  const std::lock_guard<std::mutex> lock(mutex);
  if (free_slots == nullptr) add_block();
  detail::StoreSlot* slot = free_slots;
  free_slots = slot->next_free;
  slot->store = store;
  slot->id.store(++last_id, std::memory_order_release);
  return slot;
}

void free_store_slot(detail::StoreSlot* slot) {
  const std::lock_guard<std::mutex> lock(mutex);
  slot->id.store(0, std::memory_order_release);
  slot->store = nullptr;
  slot->next_free = free_slots;
  free_slots = slot;
}

}  // namespace hoist::runtime
