// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/type_registry.hpp"

#include <bit>

#include "base/check.hpp"
#include "runtime/objects/types.hpp"

namespace hoist::runtime {

std::size_t TypeRegistry::Hash::operator()(const wasm::FuncType& type) const {
  std::uint64_t hash = type.params().size();
  const auto mix = [&](wasm::ValType value) {
    hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x9e37'79b9'7f4a'7c15U;
    hash ^= hash >> 29;
  };
  for (const wasm::ValType value : type.params()) mix(value);
  for (const wasm::ValType value : type.results()) mix(value);
  return hash;
}

TypeRegistry::~TypeRegistry() {
  for (std::uint32_t id = 0; id < count_; ++id) delete place(id).load(std::memory_order_relaxed);
  for (const std::atomic<Place*>& block : blocks_) delete[] block.load(std::memory_order_relaxed);
}

TypeRegistry::Place& TypeRegistry::place(std::uint32_t id) const {
  const std::uint32_t block = static_cast<std::uint32_t>(std::bit_width(id / kFirstBlock + 1)) - 1;
  const std::uint32_t first = kFirstBlock * ((std::uint32_t{1} << block) - 1);
  return blocks_[block].load(std::memory_order_acquire)[id - first];
}

const TypeRegistry::Entry& TypeRegistry::entry(std::uint32_t id) const {
  const Entry* found = place(id).load(std::memory_order_acquire);
  HOIST_CHECK(found != nullptr, "a type number that is held");
  return *found;
}

std::uint32_t TypeRegistry::acquire(const wasm::FuncType& type) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [at, fresh] = ids_.try_emplace(type, 0);
  if (fresh) {
    if (free_.empty()) {
      const std::uint32_t block =
          static_cast<std::uint32_t>(std::bit_width(count_ / kFirstBlock + 1)) - 1;
      if (blocks_[block].load(std::memory_order_relaxed) == nullptr) {
        auto* places = new Place[std::size_t{kFirstBlock} << block]();
        blocks_[block].store(places, std::memory_order_release);
      }
      free_.push_back(count_++);
    }
    at->second = free_.back();
    free_.pop_back();
    place(at->second).store(new Entry{type, to_public(type), 0}, std::memory_order_release);
  }
  ++place(at->second).load(std::memory_order_relaxed)->holders;
  return at->second;
}

void TypeRegistry::release(std::uint32_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  HOIST_CHECK(id < count_, "a type number that is held");
  Entry* held = place(id).load(std::memory_order_relaxed);
  HOIST_CHECK(held != nullptr, "a type number that is held");
  if (--held->holders != 0) return;
  ids_.erase(held->type);
  place(id).store(nullptr, std::memory_order_release);
  delete held;
  free_.push_back(id);
}

}  // namespace hoist::runtime
