// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Pool: address space for many memories, tables and instances, reserved once and used again and
/// again. Any thread.
///
/// Guarantees: whoever takes a slot finds zeros, or the image that was asked for, and nothing of an
/// earlier user; what lies beyond the present size of a memory is not accessible; each memory has
/// the reservation and guard that compiled code relies on. A slot keeps the image that it has: the
/// next memory of the same module costs no system call.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "platform/pages.hpp"
#include "runtime/memory/memory_image.hpp"
#include "runtime/memory/slot_list.hpp"

namespace hoist::runtime {

struct PoolSettings {
  std::uint32_t instances = 1000;
  std::uint32_t memories = 1000;
  std::uint32_t tables = 1000;
  std::uint64_t memory_bytes = std::uint64_t{1} << 32;
  std::uint64_t table_elements = 20'000;
  std::uint64_t instance_bytes = std::uint64_t{1} << 20;
  /// Of each memory and each table: at most this much stays resident in a free slot.
  std::uint64_t keep_resident_bytes = 0;
};

class Pool {
 public:
  /// @error OutOfMemory: the address space is not to be had.
  static Result<std::unique_ptr<Pool>> create(const PoolSettings& settings);

  const PoolSettings& settings() const { return settings_; }

  // ---- Memories.
  /// A slot whose first `bytes` are accessible and hold `image` (may be null) and zeros.
  /// @error Limit: no slot is free, or `bytes` is more than a slot has; OutOfMemory
  Result<std::uint32_t> take_memory(const std::shared_ptr<const MemoryImage>& image,
                                    std::uint64_t bytes);
  /// Makes [from, to) accessible. @error OutOfMemory
  Result<void> grow_memory(std::uint32_t slot, std::uint64_t from, std::uint64_t to);
  void give_memory(std::uint32_t slot);
  std::uint8_t* memory(std::uint32_t slot) const { return memories_.base() + slot * kStride; }
  /// Reservation of one memory, guard included.
  static constexpr std::uint64_t slot_bytes() { return kStride; }

  // ---- Tables: zeros. `give_table`: all but the first `used` are still zero.
  Result<std::uint32_t> take_table();
  void give_table(std::uint32_t slot, std::uint64_t used);
  std::uint64_t* table(std::uint32_t slot) const;

  // ---- Instances.
  struct Block {
    std::uint8_t* base = nullptr;
    std::uint32_t slot = 0;
    bool same = false;  ///< see take_block
  };
  /// Zeros, or if `same`, zeros up to the `kept_from` of the last give_block.
  /// @error Limit: no slot is free, or it has less than `bytes`
  Result<Block> take_block(std::uint64_t key, std::uint64_t bytes);
  /// @param key        as it was taken, or 0: nothing in it is of use.
  /// @param kept_from  from there on the block depends on `key` and its place only.
  void give_block(std::uint32_t slot, std::uint64_t key, std::uint64_t kept_from);

  /// No user of the image or key will come again: free slots give back what they keep of it.
  void forget_image(const MemoryImage& image);
  void forget_block(std::uint64_t key);

 private:
  static constexpr std::uint64_t kStride = (std::uint64_t{1} << 32) + (std::uint64_t{1} << 31);
  /// What a memory slot maps. Belongs to whoever has the slot.
  struct MemorySlot {
    std::shared_ptr<const MemoryImage> image;
    std::uint64_t initial = 0;     // accessible after a reset
    std::uint64_t accessible = 0;  // now; all of the image is
  };
  struct BlockSlot {
    std::uint64_t key = 0;
    std::uint64_t used = 0;
  };

  explicit Pool(const PoolSettings& settings);
  Result<void> prepare(std::uint32_t slot, const std::shared_ptr<const MemoryImage>& image,
                       std::uint64_t bytes);
  bool reset(std::uint32_t slot);
  bool wipe(std::uint32_t slot);
  void restore(std::uint32_t slot, std::uint64_t bytes);

  PoolSettings settings_;
  SlotList free_memories_;
  SlotList free_tables_;
  SlotList free_blocks_;
  platform::PageRegion memories_;
  platform::PageRegion tables_;
  platform::PageRegion blocks_;
  std::uint64_t table_stride_ = 0;
  std::uint64_t block_stride_ = 0;
  std::vector<MemorySlot> memory_slots_;
  std::vector<BlockSlot> block_slots_;
};

}  // namespace hoist::runtime
