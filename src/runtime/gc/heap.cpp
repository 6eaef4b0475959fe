// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gc/heap.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/check.hpp"
#include "platform/embedder_call.hpp"

namespace hoist::runtime {

using image::VmException;
using image::VmObject;

namespace {
/// Serials are given to heaps in runs, so that allocation seldom touches what threads share.
constexpr std::uint64_t kSerialRun = 1 << 16;
// 0 is no object, 1 has a meaning in Val.
constinit std::atomic<std::uint64_t> next_run{2};
}  // namespace

Heap::~Heap() {
  collecting_ = true;  // finalisers find nothing that they could collect
  for (const auto& slab : slabs_) {
    for (std::size_t i = 0; i < kSlab; ++i) {
      VmObject& object = slab[i];
      if (std::exchange(object.serial, 0) == 0) continue;
      if (object.finalize != nullptr)
        platform::embedder_call([&] { object.finalize(object.host); });
    }
  }
}

// ---- Allocation.

/// Collects, and decides when that is worth it again.
void Heap::collect_for(std::uint64_t bytes) {
  const bool many = objects_ >= limits.objects;
  const bool large = bytes_ + bytes > limits.bytes;
  const std::uint64_t objects = objects_;
  const std::uint64_t had = bytes_;
  collect();
  const std::uint64_t paid = looked_at_ / kWorkForAllocation;
  object_threshold_ = objects_ + std::max({kFirstThreshold, objects_, paid});
  byte_threshold_ = std::max(kFirstThreshold * 64, 2 * (bytes_ + bytes)) + paid * sizeof(VmObject);
  const bool little =
      (many && objects - objects_ < objects / 16) || (large && had - bytes_ < had / 16);
  // A short one may come each time.
  patience_ = little && looked_at_ > kFirstThreshold ? paid : 0;
  attempts_ = 0;
}

Result<void> Heap::make_room(std::uint64_t bytes) {
  const auto full = [&] { return objects_ >= limits.objects || bytes_ + bytes > limits.bytes; };
  const bool due = objects_ >= object_threshold_ || bytes_ + bytes >= byte_threshold_;
  const bool at_limit = full() && attempts_ >= patience_;
  ++attempts_;
  if (!collecting_ && (stress || due || at_limit)) collect_for(bytes);
  if (full()) return owner_.references_full();
  return {};
}

Result<VmObject*> Heap::new_object(void* host, void (*finalize)(void*)) {
  HOIST_TRY_VOID(make_room(sizeof(VmObject)));
  if (free_ == nullptr) {
    slabs_.push_back(std::make_unique<VmObject[]>(kSlab));
    for (std::size_t i = kSlab; i-- > 0;) {
      slabs_.back()[i].next = std::exchange(free_, &slabs_.back()[i]);
    }
  }
  if (next_serial_ == end_serial_) {
    next_serial_ = next_run.fetch_add(kSerialRun, std::memory_order_relaxed);
    end_serial_ = next_serial_ + kSerialRun;
  }
  VmObject* object = std::exchange(free_, free_->next);
  *object = {next_serial_++, host, finalize, collections_, 0, nullptr};
  ++objects_;
  bytes_ += sizeof(VmObject);
  push(word_of(*object));
  return object;
}

// ---- Roots.

void Heap::push(std::uint64_t word) {
  if (word == 0 || (word & image::kHostWord) != 0) return;
  if (VmObject* object = object_of(word)) {
    // Once is enough: scopes end in the opposite order.
    if (object->root < scoped_.size() && scoped_[object->root] == word) return;
    object->root = scoped_.size();
  } else if (!scoped_.empty() && scoped_.back() == word) {
    return;
  }
  scoped_.push_back(word);
}

std::uint32_t Heap::add_root(std::uint64_t word) {
  if (free_roots_.empty()) {
    roots_.push_back(word);
    return static_cast<std::uint32_t>(roots_.size() - 1);
  }
  const std::uint32_t number = free_roots_.back();
  free_roots_.pop_back();
  roots_[number] = word;
  return number;
}

void Heap::drop_root(std::uint32_t number) {
  roots_[number] = 0;
  free_roots_.push_back(number);
}

// ---- Collection.

void Heap::mark(std::uint64_t word) {
  if (VmObject* object = object_of(word)) {
    HOIST_DCHECK(object->serial != 0, "a reference to an object that has ended");
    object->mark = collections_;
    return;
  }
  VmException* exception = exception_of(word);
  if (exception->is_marked) return;
  exception->is_marked = true;
  work_.push_back(exception);
}

void Heap::collect() {
  if (collecting_) return;  // asked for by a finaliser
  collecting_ = true;
  ++collections_;
  looked_at_ = objects_ + slabs_.size() * kSlab;
  patience_ = 0;
  Marker marker(*this);
  for (const std::uint64_t word : scoped_) marker.mark(word);
  for (const std::uint64_t word : roots_) marker.mark(word);
  owner_.mark_roots(marker);
  while (!work_.empty()) {
    const VmException* exception = work_.back();
    work_.pop_back();
    owner_.mark_payload(*exception, marker);
  }
  owner_.sweep_exceptions();
  std::vector<std::pair<void (*)(void*), void*>> ended;
  for (const auto& slab : slabs_) {
    for (std::size_t i = 0; i < kSlab; ++i) {
      VmObject& object = slab[i];
      if (object.serial == 0 || object.mark == collections_) continue;
      if (object.finalize != nullptr) ended.push_back({object.finalize, object.host});
      object.serial = 0;
      object.next = std::exchange(free_, &object);
      --objects_;
      bytes_ -= sizeof(VmObject);
    }
  }
  for (const auto& each : ended) platform::embedder_call([&] { each.first(each.second); });
  collecting_ = false;
}

}  // namespace hoist::runtime
