// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Entities of a callee's preamble in its caller: found by what they are, or made, on first use.
/// Stack slots are made for each copy.

#include <bit>
#include <vector>

#include "ir/function.hpp"

namespace hoist::opt {

/// Entries of a table by hash; follows a table that others extend. Open addressing, entry + 1.
template <typename E>
class ValueIndex {
 public:
  void reset() {
    slots_.clear();
    hashes_.clear();
  }
  template <typename Table, typename Hash, typename Equal, typename Item>
  E find_or_push(Table& table, Item&& item, const Hash& hash, const Equal& equal) {
    while (hashes_.size() < table.size()) add(hash(table[E(hashes_.size())]));
    const std::size_t wanted = hash(item);
    if (!slots_.empty()) {
      for (std::size_t at = wanted; slots_[at & (slots_.size() - 1)] != 0; ++at) {
        const std::size_t entry = slots_[at & (slots_.size() - 1)] - 1;
        if (hashes_[entry] == wanted && equal(table[E(entry)], item)) return E(entry);
      }
    }
    const E made = table.push(std::forward<Item>(item));
    add(wanted);
    return made;
  }

 private:
  void add(std::size_t hash) {
    hashes_.push_back(hash);
    if (slots_.size() < 2 * hashes_.size()) {
      slots_.assign(4 * std::bit_ceil(hashes_.size()), 0);
      for (std::size_t i = 0; i < hashes_.size(); ++i) enter(i);
    } else {
      enter(hashes_.size() - 1);
    }
  }
  void enter(std::size_t entry) {
    std::size_t at = hashes_[entry];
    while (slots_[at & (slots_.size() - 1)] != 0) ++at;
    slots_[at & (slots_.size() - 1)] = static_cast<std::uint32_t>(entry + 1);
  }
  std::vector<std::uint32_t> slots_;
  std::vector<std::size_t> hashes_;
};

class EntityTranslation {
 public:
  void begin(ir::Function& caller);
  void begin_body(const ir::Function& body);

  ir::SigRef signature(ir::SigRef sig);
  ir::FuncRef function(ir::FuncRef func);
  ir::GlobalValue global_value(ir::GlobalValue global);
  ir::StackSlot stack_slot(ir::StackSlot slot);
  ir::DynamicStackSlot dynamic_stack_slot(ir::DynamicStackSlot slot);
  ir::AliasRegion region(ir::AliasRegion region);
  ir::MemFlagsRef flags(ir::MemFlagsRef flags);
  ir::Constant constant(ir::Constant constant) {
    return caller_->intern_constant(body_->constants[constant]);
  }
  ir::Immediate immediate(ir::Immediate immediate) {
    return caller_->intern_immediate(body_->immediates[immediate]);
  }
  /// Did the handles of memory flags run out?
  bool out_of_flags() const { return out_of_flags_; }

 private:
  ir::DynamicType dynamic_type(ir::DynamicType type);

  ir::Function* caller_ = nullptr;
  const ir::Function* body_ = nullptr;
  bool out_of_flags_ = false;
  ValueIndex<ir::SigRef> signature_index_;
  ValueIndex<ir::FuncRef> function_index_;
  ValueIndex<ir::GlobalValue> global_index_;
  ValueIndex<ir::AliasRegion> region_index_;
  ValueIndex<ir::DynamicType> dynamic_type_index_;
  // By entity of the body; none: not met yet.
  base::EntityMap<ir::SigRef, ir::SigRef> signatures_;
  base::EntityMap<ir::FuncRef, ir::FuncRef> functions_;
  base::EntityMap<ir::GlobalValue, ir::GlobalValue> globals_;
  base::EntityMap<ir::StackSlot, ir::StackSlot> slots_;
  base::EntityMap<ir::DynamicStackSlot, ir::DynamicStackSlot> dynamic_slots_;
  base::EntityMap<ir::AliasRegion, ir::AliasRegion> regions_;
  base::EntityMap<ir::MemFlagsRef, ir::MemFlagsRef> flags_;
  std::vector<ir::GlobalValue> chain_;
};

}  // namespace hoist::opt
