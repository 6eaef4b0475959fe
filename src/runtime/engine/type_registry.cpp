// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/type_registry.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "base/keyed_hash.hpp"
#include "image/layout/vm_layout.hpp"
#include "runtime/objects/types.hpp"

namespace hoist::runtime {

using wasm::CompositeKind;
using wasm::HeapType;
using wasm::TypeDef;
using wasm::ValType;

namespace {
/// Numbers fit a concrete heap type; some are left to the host's function types.
constexpr std::uint32_t kMaxTypes = HeapType::kAbstract - 65'536;
/// Marks words that name a type of the group itself.
constexpr std::uint64_t kOwn = std::uint64_t{1} << 40;
/// Marks the absence of a super type.
constexpr std::uint64_t kNoSuper = std::uint64_t{1} << 41;

bool is_concrete(ValType type) {
  return type.is_ref() && !type.heap().is_abstract();
}
}  // namespace

/// The types [first, first + size) of `module`; `ids` has the numbers of what is in front of them,
/// and gets theirs.
struct TypeRegistry::Source {
  const wasm::Module* module;
  std::uint32_t first;
  std::uint32_t size;
  std::vector<std::uint32_t>& ids;
  bool is_host = false;

  std::uint64_t word(std::uint32_t type) const {
    return type >= first ? (kOwn | (type - first)) : ids[type];
  }
  std::uint64_t word(ValType type) const {
    if (!is_concrete(type)) return type.bits();
    return std::uint64_t{type.is_nullable()} << 42 | std::uint64_t{1} << 43 |
           word(type.heap().type_index());
  }
};

std::size_t TypeRegistry::Hash::operator()(const Key& key) const {
  return static_cast<std::size_t>(base::keyed_hash(key));
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

// ---- Making.

std::uint32_t TypeRegistry::new_id() {
  if (free_.empty()) {
    const std::uint32_t block =
        static_cast<std::uint32_t>(std::bit_width(count_ / kFirstBlock + 1)) - 1;
    if (blocks_[block].load(std::memory_order_relaxed) == nullptr) {
      auto* places = new Place[std::size_t{kFirstBlock} << block]();
      blocks_[block].store(places, std::memory_order_release);
    }
    return count_++;
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  return id;
}

/// The group, not held by the caller yet. Null: no numbers are left for a module.
TypeRegistry::Group* TypeRegistry::find_or_make(const Source& source) {
  const wasm::Module& module = *source.module;
  const std::uint32_t end = source.first + source.size;
  key_.assign(1, source.size);
  const auto add_all = [&](std::span<const ValType> types) {
    key_.push_back(types.size());
    for (const ValType type : types) key_.push_back(source.word(type));
  };
  for (std::uint32_t i = source.first; i < end; ++i) {
    const TypeDef& def = module.type_defs[i];
    key_.push_back(static_cast<std::uint64_t>(def.kind) << 1 | (def.is_final ? 1 : 0));
    key_.push_back(def.super == TypeDef::kNoSuper ? kNoSuper : source.word(def.super));
    add_all(module.types[i].params());
    add_all(module.types[i].results());
    const auto fields = module.fields_of(i);
    key_.push_back(fields.size());
    for (const wasm::FieldType& field : fields) {
      key_.push_back(source.word(field.type));
      key_.push_back(static_cast<std::uint64_t>(field.packed) << 1 | (field.is_mutable ? 1 : 0));
    }
  }
  const auto at = groups_.find(key_);
  if (at != groups_.end()) {
    const std::vector<std::uint32_t>& found = at->second->ids;
    source.ids.insert(source.ids.end(), found.begin(), found.end());
    return at->second.get();
  }
  const std::size_t used = count_ - free_.size();
  if (used + source.size > (source.is_host ? HeapType::kAbstract : kMaxTypes)) return nullptr;

  const auto made = groups_.emplace(key_, std::make_unique<Group>()).first;
  Group* group = made->second.get();
  group->key = &made->first;
  std::vector<std::uint32_t>& ids = source.ids;
  for (std::uint32_t i = 0; i < source.size; ++i) {
    group->ids.push_back(new_id());
    ids.push_back(group->ids.back());
  }
  const auto name = [&](std::uint32_t type) {
    if (type < source.first) group->named.push_back(ids[type]);
  };
  const auto name_all = [&](std::span<const ValType> types) {
    for (const ValType type : types) {
      if (is_concrete(type)) name(type.heap().type_index());
    }
  };
  for (std::uint32_t i = source.first; i < end; ++i) {
    const TypeDef& def = module.type_defs[i];
    auto* entry = new Entry;
    entry->type = translate(module.types[i], ids);
    entry->public_type = to_public(entry->type);
    entry->kind = def.kind;
    entry->group = group;
    entry->supertypes.push_back(0);
    if (def.super != TypeDef::kNoSuper) {
      const Entry& super = this->entry(ids[def.super]);
      entry->depth = super.depth + 1;
      const auto first = super.supertypes.begin() + 1;
      entry->supertypes.insert(entry->supertypes.end(), first, first + super.depth + 1);
      name(def.super);
    }
    entry->supertypes.push_back(ids[i]);
    entry->supertypes.resize(
        std::max<std::size_t>(entry->supertypes.size(), image::kSupertypesAtLeast + 1),
        image::kNoType);
    entry->supertypes[0] = static_cast<std::uint32_t>(entry->supertypes.size() - 1);
    name_all(module.types[i].params());
    name_all(module.types[i].results());
    for (const wasm::FieldType& field : module.fields_of(i)) name_all({&field.type, 1});
    place(ids[i]).store(entry, std::memory_order_release);
  }
  std::sort(group->named.begin(), group->named.end());
  group->named.erase(std::unique(group->named.begin(), group->named.end()), group->named.end());
  for (const std::uint32_t id : group->named) {
    ++place(id).load(std::memory_order_relaxed)->group->holders;
  }
  return group;
}

Result<std::vector<std::uint32_t>> TypeRegistry::acquire(const wasm::Module& module) {
  return acquire(module, false);
}

Result<std::vector<std::uint32_t>> TypeRegistry::acquire(const wasm::Module& module, bool is_host) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::uint32_t> ids;
  ids.reserve(module.types.size());
  while (ids.size() < module.types.size()) {
    const auto first = static_cast<std::uint32_t>(ids.size());
    const std::uint32_t size = module.type_defs[first].group_size;
    if (const std::uint32_t canonical = module.canonical_type(first); canonical != first) {
      for (std::uint32_t i = 0; i < size; ++i) ids.push_back(ids[module.canonical_type(first + i)]);
    } else {
      if (find_or_make({&module, first, size, ids, is_host}) == nullptr) {
        for (const std::uint32_t id : ids) release_locked(id);
        return Error(ErrorKind::Limit,
                     fmt::format("the modules of the engine define more than {} types", kMaxTypes));
      }
    }
    for (std::uint32_t i = 0; i < size; ++i) {
      ++place(ids[first + i]).load(std::memory_order_relaxed)->group->holders;
    }
  }
  return ids;
}

std::uint32_t TypeRegistry::acquire(const wasm::FuncType& type) {
  wasm::Module module;
  module.types.push_back(type);
  module.type_defs.emplace_back();
  module.canonical_types.push_back(0);
  const Result<std::vector<std::uint32_t>> ids = acquire(module, true);
  HOIST_CHECK(ids.has_value(), "there are numbers left for types of the host");
  return ids->front();
}

void TypeRegistry::hold(std::uint32_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++place(id).load(std::memory_order_relaxed)->group->holders;
}

// ---- Unmaking.

void TypeRegistry::release(std::uint32_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  release_locked(id);
}

void TypeRegistry::release(std::span<const std::uint32_t> ids) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::uint32_t id : ids) release_locked(id);
}

void TypeRegistry::release_locked(std::uint32_t id) {
  HOIST_CHECK(id < count_, "a type number that is held");
  const Entry* held = place(id).load(std::memory_order_relaxed);
  HOIST_CHECK(held != nullptr, "a type number that is held");
  if (--held->group->holders == 0) drop(held->group);
}

/// Groups may hold each other in long chains: no recursion.
void TypeRegistry::drop(Group* group) {
  std::vector<Group*> work{group};
  while (!work.empty()) {
    Group* dead = work.back();
    work.pop_back();
    for (const std::uint32_t id : dead->named) {
      Group* named = place(id).load(std::memory_order_relaxed)->group;
      if (--named->holders == 0) work.push_back(named);
    }
    for (const std::uint32_t id : dead->ids) {
      delete place(id).exchange(nullptr, std::memory_order_acq_rel);
      free_.push_back(id);
    }
    groups_.erase(groups_.find(*dead->key));
  }
}

// ---- Matching.

bool TypeRegistry::is_below(std::uint32_t id, std::uint32_t super) const {
  if (id == super) return true;
  const Entry& below = entry(id);
  const std::uint32_t depth = entry(super).depth;
  return depth < below.depth && below.supertypes[depth + 1] == super;
}

bool TypeRegistry::matches(HeapType sub, HeapType super) const {
  if (sub == super) return true;
  using enum HeapType::Abstract;
  if (!super.is_abstract()) {
    if (!sub.is_abstract()) return is_below(sub.type_index(), super.type_index());
    if (sub.abstract() == Bot) return true;
    return sub.abstract() == (is_func(super.type_index()) ? NoFunc : None);
  }
  const HeapType::Abstract top = super.abstract();
  if (!sub.is_abstract()) {
    switch (entry(sub.type_index()).kind) {
      case CompositeKind::Func: return top == Func;
      case CompositeKind::Struct: return top == Struct || top == Eq || top == Any;
      case CompositeKind::Array: return top == Array || top == Eq || top == Any;
    }
  }
  switch (sub.abstract()) {
    case Bot: return true;
    case NoExn: return top == Exn;
    case NoFunc: return top == Func;
    case NoExtern: return top == Extern;
    case None: return top == I31 || top == Struct || top == Array || top == Eq || top == Any;
    case I31:
    case Struct:
    case Array: return top == Eq || top == Any;
    case Eq: return top == Any;
    case Func:
    case Extern:
    case Any:
    case Exn: return false;
  }
  HOIST_UNREACHABLE("a heap type");
}

bool TypeRegistry::matches(ValType sub, ValType super) const {
  if (sub == super) return true;
  if (!sub.is_ref() || !super.is_ref()) return false;
  if (sub.is_nullable() && !super.is_nullable()) return false;
  return matches(sub.heap(), super.heap());
}

// ---- Translation.

ValType TypeRegistry::translate(ValType type, std::span<const std::uint32_t> ids) {
  if (!is_concrete(type)) return type;
  return ValType::ref(HeapType::concrete(ids[type.heap().type_index()]), type.is_nullable());
}

wasm::FuncType TypeRegistry::translate(const wasm::FuncType& type,
                                       std::span<const std::uint32_t> ids) {
  std::vector<ValType> params;
  std::vector<ValType> results;
  for (const ValType param : type.params()) params.push_back(translate(param, ids));
  for (const ValType result : type.results()) results.push_back(translate(result, ids));
  return {params, results};
}

}  // namespace hoist::runtime
