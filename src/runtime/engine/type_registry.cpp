// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/type_registry.hpp"

#include <bit>

#include "base/check.hpp"

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

std::uint32_t TypeRegistry::acquire(const wasm::FuncType& type) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [at, fresh] = ids_.try_emplace(type, 0);
  if (fresh) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    at->second = free_.back();
    free_.pop_back();
    entries_[at->second] = std::make_unique<Entry>(Entry{type, 0});
  }
  ++entries_[at->second]->holders;
  return at->second;
}

void TypeRegistry::release(std::uint32_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  HOIST_CHECK(id < entries_.size() && entries_[id] != nullptr, "a type number that is held");
  if (--entries_[id]->holders != 0) return;
  ids_.erase(entries_[id]->type);
  entries_[id].reset();
  free_.push_back(id);
}

const wasm::FuncType& TypeRegistry::get(std::uint32_t id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  HOIST_CHECK(id < entries_.size() && entries_[id] != nullptr, "a type number that is held");
  return entries_[id]->type;
}

}  // namespace hoist::runtime
