// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/type_groups.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "wasm/format/limits.hpp"
#include "wasm/format/subtyping.hpp"

namespace hoist::wasm {

bool TypeGroups::Less::operator()(const List& a, const List& b) const {
  const auto words_of = [&](const List& list) {
    return std::span<const std::uint32_t>(*words).subspan(list.first, list.size);
  };
  const std::span<const std::uint32_t> x = words_of(a);
  const std::span<const std::uint32_t> y = words_of(b);
  if (x.size() != y.size()) return x.size() < y.size();
  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
}

std::optional<TypeFault> TypeGroups::add(std::uint32_t begin) {
  begin_ = begin;
  const auto end = static_cast<std::uint32_t>(module_.types.size());
  for (std::uint32_t type = begin; type < end; ++type) {
    if (auto fault = check_references(type)) return fault;
    if (auto fault = place_below_super(type)) return fault;
  }
  List list{words_.size(), 0, begin};
  for (std::uint32_t type = begin; type < end; ++type) describe(type);
  list.size = static_cast<std::uint32_t>(words_.size() - list.first);
  const auto [place, is_new] = known_.insert(list);
  if (!is_new) {
    words_.resize(list.first);
    for (std::uint32_t type = begin; type < end; ++type) {
      module_.canonical_types[type] = place->begin + (type - begin);
    }
  }
  for (std::uint32_t type = begin; type < end; ++type) resolve(type);
  // An equal group has been found good before.
  for (std::uint32_t type = begin; is_new && type < end; ++type) {
    const TypeDef& def = module_.type_defs[type];
    if (def.super == TypeDef::kNoSuper) continue;
    const bool final = module_.type_defs[def.super].is_final;
    if (!final && is_structural_subtype(module_, type, def.super)) continue;
    return TypeFault{fmt::format("sub type {} does not match super type {}{}", type, def.super,
                                 final ? ", which is final" : ""),
                     def.offset, false};
  }
  return std::nullopt;
}

std::optional<TypeFault> TypeGroups::check_references(std::uint32_t type) {
  const TypeDef& def = module_.type_defs[type];
  const std::size_t known = module_.types.size();
  std::optional<TypeFault> fault;
  const auto check = [&](ValType value) {
    if (fault || !value.is_ref() || value.heap().is_abstract()) return;
    const std::uint32_t index = value.heap().type_index();
    if (index < known) return;
    fault = TypeFault{
        fmt::format("unknown type {} in type {}: there are {} up to here", index, type, known),
        def.offset, false};
  };
  for (const ValType param : module_.types[type].params()) check(param);
  for (const ValType result : module_.types[type].results()) check(result);
  for (const FieldType& field : module_.fields_of(type)) check(field.type);
  return fault;
}

std::optional<TypeFault> TypeGroups::place_below_super(std::uint32_t type) {
  TypeDef& def = module_.type_defs[type];
  if (def.super == TypeDef::kNoSuper) return std::nullopt;
  if (def.super >= type) {
    return TypeFault{
        fmt::format("unknown type {}: sub type {} can only have one before it as super "
                    "type",
                    def.super, type),
        def.offset, false};
  }
  const std::uint32_t depth = module_.type_defs[def.super].depth + 1u;
  if (depth > kMaxSubtypeDepth) {
    return TypeFault{fmt::format("type {} has more than {} super types above each other", type,
                                 kMaxSubtypeDepth),
                     def.offset, true};
  }
  def.depth = static_cast<std::uint8_t>(depth);
  return std::nullopt;
}

void TypeGroups::describe(std::uint32_t type) {
  const TypeDef& def = module_.type_defs[type];
  const FuncType& func = module_.types[type];
  words_.push_back(static_cast<std::uint32_t>(def.kind) << 1 | (def.is_final ? 1u : 0u));
  if (def.super == TypeDef::kNoSuper) {
    describe(ValType());
  } else {
    describe(ValType::ref(HeapType::concrete(def.super), true));
  }
  if (def.kind == CompositeKind::Func) {
    words_.push_back(static_cast<std::uint32_t>(func.params().size()));
    words_.push_back(static_cast<std::uint32_t>(func.results().size()));
    for (const ValType param : func.params()) describe(param);
    for (const ValType result : func.results()) describe(result);
    return;
  }
  words_.push_back(def.num_fields);
  for (const FieldType& field : module_.fields_of(type)) {
    words_.push_back(static_cast<std::uint32_t>(field.packed) << 1 | (field.is_mutable ? 1u : 0u));
    describe(field.type);
  }
}

void TypeGroups::describe(ValType type) {
  constexpr std::uint32_t kInGroup = 0xffff'ff00;  // no type has these bits
  if (!type.is_ref() || type.heap().is_abstract()) {
    words_.push_back(type.bits());
  } else if (type.heap().type_index() >= begin_) {
    words_.push_back(kInGroup | static_cast<std::uint32_t>(type.kind()));
    words_.push_back(type.heap().type_index() - begin_);
  } else {
    words_.push_back(resolved(type).bits());
  }
}

ValType TypeGroups::resolved(ValType type) const {
  if (!type.is_ref() || type.heap().is_abstract()) return type;
  const std::uint32_t canonical = module_.canonical_type(type.heap().type_index());
  return ValType::ref(HeapType::concrete(canonical), type.is_nullable());
}

void TypeGroups::resolve(std::uint32_t type) {
  TypeDef& def = module_.type_defs[type];
  if (def.super != TypeDef::kNoSuper) def.super = module_.canonical_type(def.super);
  for (std::uint32_t i = 0; i < def.num_fields; ++i) {
    FieldType& field = module_.fields[def.first_field + i];
    field.type = resolved(field.type);
  }
  FuncType& func = module_.types[type];
  func.map([this](ValType value) { return resolved(value); });
}

}  // namespace hoist::wasm
