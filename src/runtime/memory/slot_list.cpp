// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/slot_list.hpp"

#include "base/check.hpp"

namespace hoist::runtime {

std::optional<std::uint32_t> SlotList::take(std::uint64_t key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto at = latest_.find(key);
  if (at == latest_.end() && key != 0) at = latest_.find(0);
  std::uint32_t slot = kNone;
  if (at != latest_.end()) {
    slot = at->second;
  } else if (used_ < nodes_.size()) {
    return used_++;
  } else {
    slot = oldest_;
  }
  if (slot == kNone) return std::nullopt;
  unlink(slot);
  return slot;
}

void SlotList::give(std::uint32_t slot, std::uint64_t key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  HOIST_CHECK(slot < used_, "a slot that was taken");
  Node& node = nodes_[slot];
  node.all = {kNone, newest_};
  if (newest_ != kNone) nodes_[newest_].all.previous = slot;
  newest_ = slot;
  if (oldest_ == kNone) oldest_ = slot;
  link_same(slot, key);
}

std::optional<std::uint32_t> SlotList::take_exactly(std::uint64_t key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = latest_.find(key);
  if (at == latest_.end()) return std::nullopt;
  const std::uint32_t slot = at->second;
  unlink(slot);
  return slot;
}

void SlotList::unlink(std::uint32_t slot) {
  const Links links = nodes_[slot].all;
  (links.previous == kNone ? newest_ : nodes_[links.previous].all.next) = links.next;
  (links.next == kNone ? oldest_ : nodes_[links.next].all.previous) = links.previous;
  unlink_same(slot);
}

void SlotList::link_same(std::uint32_t slot, std::uint64_t key) {
  Node& node = nodes_[slot];
  node.key = key;
  node.same = {};
  const auto [at, fresh] = latest_.try_emplace(key, slot);
  if (fresh) return;
  node.same.next = at->second;
  nodes_[at->second].same.previous = slot;
  at->second = slot;
}

void SlotList::unlink_same(std::uint32_t slot) {
  const Node& node = nodes_[slot];
  const Links links = node.same;
  if (links.next != kNone) nodes_[links.next].same.previous = links.previous;
  if (links.previous != kNone) {
    nodes_[links.previous].same.next = links.next;
  } else if (links.next != kNone) {
    latest_[node.key] = links.next;
  } else {
    latest_.erase(node.key);
  }
}

}  // namespace hoist::runtime
