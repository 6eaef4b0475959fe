// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// SlotList: which slots of a pool are free, and what each served last, so that it serves the same
/// again. Any thread; every operation is O(1).

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace hoist::runtime {

class SlotList {
 public:
  explicit SlotList(std::uint32_t count) : nodes_(count) {}

  /// A slot for `key` (0: nothing in particular): the one that served `key` most lately; else one
  /// that served nothing in particular, then one never used, then the one free for longest.
  std::optional<std::uint32_t> take(std::uint64_t key);
  /// Frees a slot, which now suits `key`.
  void give(std::uint32_t slot, std::uint64_t key);
  /// A free slot that served `key`.
  std::optional<std::uint32_t> take_exactly(std::uint64_t key);
  std::uint32_t count() const { return static_cast<std::uint32_t>(nodes_.size()); }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Links {
    std::uint32_t previous = kNone;  // towards the most lately freed
    std::uint32_t next = kNone;
  };
  struct Node {
    std::uint64_t key = 0;
    Links all;
    Links same;  // of the same key
  };
  void unlink(std::uint32_t slot);
  void link_same(std::uint32_t slot, std::uint64_t key);
  void unlink_same(std::uint32_t slot);

  std::mutex mutex_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> latest_;  // of each key that has a free slot
  std::uint32_t newest_ = kNone;
  std::uint32_t oldest_ = kNone;
  std::uint32_t used_ = 0;  // slots from here on were never taken
};

}  // namespace hoist::runtime
