// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/format/feature_list.hpp"

#include <fmt/core.h>

namespace hoist::wasm {

namespace {

bool can_switch(Feature feature) {
  return status(feature) == FeatureStatus::On || status(feature) == FeatureStatus::Off;
}

Features set(Features features, Feature feature, bool on) {
  return on ? features.with(feature) : features.without(feature);
}

Result<Features> apply_item(std::string_view item, Features features) {
  const auto wrong = [&](std::string_view why) {
    return Error(ErrorKind::BadArgument, fmt::format("features: '{}' {}", item.substr(0, 64), why));
  };
  if (item.empty() || (item.front() != '+' && item.front() != '-')) {
    return wrong("does not begin with + or - (as in +simd,-threads)");
  }
  const bool on = item.front() == '+';
  const std::string_view name = item.substr(1);
  if (name == "all") {
    for (const Feature feature : kFeatures) {
      if (can_switch(feature)) features = set(features, feature, on);
    }
    return features;
  }
  const std::optional<Feature> feature = find_feature(name);
  if (!feature) return wrong("is no feature; there are all, " + feature_names());
  if (status(*feature) == FeatureStatus::Later && on) return wrong("is not implemented");
  if (status(*feature) == FeatureStatus::Always && !on) return wrong("cannot be switched off");
  return set(features, *feature, on);
}

}  // namespace

Result<Features> parse_features(std::string_view text, Features base) {
  Features features = base;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    HOIST_TRY(features, apply_item(text.substr(0, comma), features));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return features;
}

std::string feature_names() {
  return switchable_names(~std::uint64_t{0});
}

std::string switchable_names(std::uint64_t bits) {
  std::string names;
  for (const Feature feature : kFeatures) {
    const bool is_asked = ((bits >> static_cast<unsigned>(feature)) & 1) != 0;
    if (!can_switch(feature) || !is_asked) continue;
    if (!names.empty()) names += ", ";
    names += text(feature);
  }
  return names;
}

Features all_features() {
  Features features;
  for (const Feature feature : kFeatures) {
    if (can_switch(feature)) features = features.with(feature);
  }
  return features;
}

std::uint64_t bits_of(Features features) {
  std::uint64_t bits = 0;
  for (const Feature feature : kFeatures) {
    if (features.has(feature)) bits |= std::uint64_t{1} << static_cast<unsigned>(feature);
  }
  return bits;
}

Features features_of_bits(std::uint64_t bits) {
  Features features;
  for (const Feature feature : kFeatures) {
    const bool is_there = ((bits >> static_cast<unsigned>(feature)) & 1) != 0;
    features = is_there ? features.with(feature) : features.without(feature);
  }
  return features;
}

}  // namespace hoist::wasm
