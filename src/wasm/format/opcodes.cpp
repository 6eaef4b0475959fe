// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The opcode and feature tables behind their accessors, so that headers stay cheap.
#include "wasm/format/opcodes.hpp"

#include "base/check.hpp"

namespace hoist::wasm {

static constexpr std::array<OpInfo, kOpNumbers> make_table() {
  std::array<OpInfo, kOpNumbers> table{};
#define HOIST_WASM_OP(group, name, prefix, code, text, imm, sig, feature) \
  table[op_number(prefix, code)] =                                        \
      OpInfo{text, sig, prefix, code, Imm::imm, Group::group, Feature::feature};
#include "wasm/format/opcodes.def"
  return table;
}

static constexpr std::array<OpInfo, kOpNumbers> kOps = make_table();

const OpInfo& op_info(Op op) {
  return op_info_at(static_cast<std::uint16_t>(op));
}

const OpInfo& op_info_at(std::uint16_t number) {
  static constexpr OpInfo kIllegal{};
  return number < kOps.size() ? kOps[number] : kIllegal;
}

std::string_view text(Op op) {
  return op_info(op).text;
}

std::string_view text(Feature feature) {
  switch (feature) {
#define HOIST_WASM_FEATURE(name, text, status) \
  case Feature::name: return text;
#include "wasm/format/features.def"
  }
  HOIST_UNREACHABLE("a feature is one of features.def");
}

FeatureStatus status(Feature feature) {
  switch (feature) {
#define HOIST_WASM_FEATURE(name, text, status) \
  case Feature::name: return FeatureStatus::status;
#include "wasm/format/features.def"
  }
  HOIST_UNREACHABLE("a feature is one of features.def");
}

std::optional<Feature> find_feature(std::string_view name) {
  for (const Feature feature : kFeatures) {
    if (text(feature) == name) return feature;
  }
  return std::nullopt;
}

}  // namespace hoist::wasm
