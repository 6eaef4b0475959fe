// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/passes/value_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/keyed_hash.hpp"

namespace hoist::opt {

namespace {

bool commutes(ir::Op op) {
  using ir::Op;
  return op == Op::Iadd || op == Op::Imul || op == Op::Band || op == Op::Bor || op == Op::Bxor;
}

}  // namespace

void ValueTable::reset(std::size_t instructions) {
  const std::size_t wanted = std::bit_ceil(std::clamp<std::size_t>(instructions, 64, 1 << 20));
  buckets_.assign(wanted, kNone);
  mask_ = static_cast<std::uint32_t>(wanted - 1);
  entries_.clear();
}

void ValueTable::leave(std::uint32_t mark) {
  while (entries_.size() > mark) {
    const Entry& last = entries_.back();
    buckets_[last.hash & mask_] = last.next;
    entries_.pop_back();
  }
}

std::uint32_t ValueTable::hash(const ir::InstData& data, ir::Type type) {
  std::uint32_t a = data.a;
  std::uint32_t b = data.b;
  if (commutes(data.op) && a > b) std::swap(a, b);
  const std::uint64_t what =
      std::uint64_t{data.c} << 32 | static_cast<std::uint64_t>(data.op) << 16 | data.aux;
  return static_cast<std::uint32_t>(
      base::keyed_hash(std::uint64_t{a} << 32 | b, what ^ std::uint64_t{type.raw()} << 16));
}

ir::Inst ValueTable::find(const ir::Function& func, const ir::InstData& data, ir::Type type,
                          std::uint32_t hash) const {
  for (std::uint32_t at = buckets_[hash & mask_]; at != kNone; at = entries_[at].next) {
    const Entry& entry = entries_[at];
    if (entry.hash != hash) continue;
    const ir::InstData& other = func.data(entry.inst);
    if (!(other == data)) {
      ir::InstData exchanged = data;
      std::swap(exchanged.a, exchanged.b);
      if (!commutes(data.op) || !(other == exchanged)) continue;
    }
    const std::span<const ir::Value> results = func.results(entry.inst);
    if (results.empty() ? !type.is_valid() : func.type(results.front()) == type) return entry.inst;
  }
  return ir::Inst::none();
}

void ValueTable::insert(ir::Inst inst, std::uint32_t hash) {
  std::uint32_t& bucket = buckets_[hash & mask_];
  entries_.push_back({hash, inst, bucket});
  bucket = static_cast<std::uint32_t>(entries_.size() - 1);
}

void MemoryTable::reset(std::size_t accesses) {
  const std::size_t wanted = std::bit_ceil(std::clamp<std::size_t>(accesses, 64, 1 << 18));
  buckets_.assign(wanted, kNone);
  mask_ = static_cast<std::uint32_t>(wanted - 1);
  entries_.clear();
}

void MemoryTable::leave(std::uint32_t mark) {
  while (entries_.size() > mark) {
    buckets_[entries_.back().bucket] = entries_.back().next;
    entries_.pop_back();
  }
}

ir::Value MemoryTable::find(const ir::InstData& load, ir::Type type) const {
  const std::uint32_t bucket = ValueTable::hash(load, type) & mask_;
  for (std::uint32_t at = buckets_[bucket]; at != kNone; at = entries_[at].next) {
    const Entry& entry = entries_[at];
    if (entry.load == load && entry.type == type) return entry.value;
  }
  return ir::Value::none();
}

void MemoryTable::insert(const ir::InstData& load, ir::Type type, ir::Value value) {
  const std::uint32_t bucket = ValueTable::hash(load, type) & mask_;
  entries_.push_back({load, bucket, buckets_[bucket], value, type});
  buckets_[bucket] = static_cast<std::uint32_t>(entries_.size() - 1);
}

}  // namespace hoist::opt
