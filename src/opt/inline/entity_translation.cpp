// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/inline/entity_translation.hpp"

#include <string_view>

#include "base/keyed_hash.hpp"

namespace hoist::opt {

using ir::ExternalName;
using ir::ExtFunc;
using ir::GlobalValueData;

namespace {

class Hasher {
 public:
  Hasher& add(std::uint64_t number) {
    hash_ = base::keyed_hash(number, hash_);
    return *this;
  }
  Hasher& add(std::string_view text) {
    for (const char c : text) add(std::uint64_t{static_cast<unsigned char>(c)});
    return add(std::uint64_t{text.size()});
  }
  Hasher& add(const ExternalName& name) {
    return add(std::uint64_t{static_cast<std::uint8_t>(name.kind)})
        .add(std::uint64_t{name.name_space})
        .add(std::uint64_t{name.index})
        .add(std::string_view(name.text));
  }
  Hasher& add(ir::Type type) { return add(std::uint64_t{type.raw()}); }
  std::size_t take() const { return static_cast<std::size_t>(hash_); }

 private:
  std::uint64_t hash_ = 0x1234'5678'9abc'def1u;
};

std::size_t hash_signature(const ir::Signature& sig) {
  Hasher hash;
  hash.add(std::uint64_t{static_cast<std::uint8_t>(sig.call_conv)});
  for (const auto* list : {&sig.params, &sig.returns}) {
    hash.add(std::uint64_t{list->size()});
    for (const ir::AbiParam& param : *list) {
      hash.add(param.type).add(std::uint64_t{static_cast<std::uint8_t>(param.purpose)});
    }
  }
  return hash.take();
}

std::size_t hash_function(const ExtFunc& func) {
  return Hasher().add(func.name).take();
}
bool same_function(const ExtFunc& x, const ExtFunc& y) {
  return x.name == y.name && x.signature == y.signature && x.colocated == y.colocated &&
         x.patchable == y.patchable;
}

std::size_t hash_global(const GlobalValueData& global) {
  return Hasher()
      .add(std::uint64_t{static_cast<std::uint8_t>(global.kind)})
      .add(std::uint64_t{global.base.index()})
      .add(static_cast<std::uint64_t>(global.offset))
      .add(global.name)
      .take();
}
bool same_global(const GlobalValueData& x, const GlobalValueData& y) {
  return x.kind == y.kind && x.base == y.base && x.offset == y.offset && x.type == y.type &&
         x.flags == y.flags && x.name == y.name && x.colocated == y.colocated && x.tls == y.tls;
}

std::size_t hash_region(const ir::AliasRegionData& region) {
  return Hasher().add(std::uint64_t{region.user_id}).take();
}

std::size_t hash_dynamic_type(const ir::DynamicTypeData& type) {
  return Hasher().add(type.base).add(std::uint64_t{type.scale.index()}).take();
}

}  // namespace

void EntityTranslation::begin(ir::Function& caller) {
  caller_ = &caller;
  out_of_flags_ = false;
  signature_index_.reset();
  function_index_.reset();
  global_index_.reset();
  region_index_.reset();
  dynamic_type_index_.reset();
}

void EntityTranslation::begin_body(const ir::Function& body) {
  body_ = &body;
  signatures_.clear();
  functions_.clear();
  globals_.clear();
  slots_.clear();
  dynamic_slots_.clear();
  regions_.clear();
  flags_.clear();
  // A key makes a slot visible from outside even where no code names it.
  for (std::size_t i = 0; i < body.stack_slots.size(); ++i) {
    if (body.stack_slots[ir::StackSlot(i)].has_key) stack_slot(ir::StackSlot(i));
  }
}

ir::SigRef EntityTranslation::signature(ir::SigRef sig) {
  ir::SigRef& known = signatures_[sig];
  if (known.is_none()) {
    known = signature_index_.find_or_push(
        caller_->signatures, body_->signatures[sig], hash_signature,
        [](const ir::Signature& x, const ir::Signature& y) { return x == y; });
  }
  return known;
}

ir::FuncRef EntityTranslation::function(ir::FuncRef func) {
  ir::FuncRef& known = functions_[func];
  if (known.is_none()) {
    ExtFunc data = body_->ext_funcs[func];
    data.signature = signature(data.signature);
    known = function_index_.find_or_push(caller_->ext_funcs, std::move(data), hash_function,
                                         same_function);
  }
  return known;
}

ir::GlobalValue EntityTranslation::global_value(ir::GlobalValue global) {
  chain_.clear();
  for (ir::GlobalValue at = global; at.is_some() && globals_[at].is_none();
       at = body_->global_values[at].base) {
    chain_.push_back(at);
  }
  for (; !chain_.empty(); chain_.pop_back()) {
    GlobalValueData data = body_->global_values[chain_.back()];
    if (data.base.is_some()) data.base = globals_[data.base];
    if (data.flags.is_some()) data.flags = flags(data.flags);
    globals_[chain_.back()] = global_index_.find_or_push(caller_->global_values, std::move(data),
                                                         hash_global, same_global);
  }
  return globals_[global];
}

ir::StackSlot EntityTranslation::stack_slot(ir::StackSlot slot) {
  ir::StackSlot& known = slots_[slot];
  if (known.is_none()) known = caller_->stack_slots.push(body_->stack_slots[slot]);
  return known;
}

ir::DynamicType EntityTranslation::dynamic_type(ir::DynamicType type) {
  ir::DynamicTypeData data = body_->dynamic_types[type];
  if (data.scale.is_some()) data.scale = global_value(data.scale);
  return dynamic_type_index_.find_or_push(
      caller_->dynamic_types, std::move(data), hash_dynamic_type,
      [](const ir::DynamicTypeData& x, const ir::DynamicTypeData& y) {
        return x.base == y.base && x.scale == y.scale;
      });
}

ir::DynamicStackSlot EntityTranslation::dynamic_stack_slot(ir::DynamicStackSlot slot) {
  if (dynamic_slots_[slot].is_none()) {
    const ir::DynamicType type = dynamic_type(body_->dynamic_stack_slots[slot].type);
    dynamic_slots_[slot] = caller_->dynamic_stack_slots.push({type});
  }
  return dynamic_slots_[slot];
}

ir::AliasRegion EntityTranslation::region(ir::AliasRegion region) {
  ir::AliasRegion& known = regions_[region];
  if (known.is_none()) {
    known = region_index_.find_or_push(
        caller_->alias_regions, body_->alias_regions[region], hash_region,
        [](const ir::AliasRegionData& x, const ir::AliasRegionData& y) {
          return x.user_id == y.user_id;
        });
  }
  return known;
}

ir::MemFlagsRef EntityTranslation::flags(ir::MemFlagsRef flags) {
  ir::MemFlagsRef& known = flags_[flags];
  if (known.is_none()) {
    ir::MemFlags data = body_->mem_flags(flags);
    if (data.region.is_some()) data.region = region(data.region);
    const std::optional<ir::MemFlagsRef> made = caller_->intern_exactly(data);
    out_of_flags_ |= !made.has_value();
    known = made.value_or(ir::MemFlagsRef(std::size_t{0}));
  }
  return known;
}

}  // namespace hoist::opt
