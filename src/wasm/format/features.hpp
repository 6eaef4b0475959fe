// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The language features that Hoist knows by name, and sets of them.

#include <cstdint>
#include <optional>
#include <string_view>

namespace hoist::wasm {

enum class Feature : std::uint8_t {
#define HOIST_WASM_FEATURE(name, text, status) name,
#include "wasm/format/features.def"
};

/// What can be done about a feature: see features.def.
enum class FeatureStatus : std::uint8_t { Always, On, Off, Later };

inline constexpr Feature kFeatures[] = {
#define HOIST_WASM_FEATURE(name, text, status) Feature::name,
#include "wasm/format/features.def"
};

/// "simd", "memory64", …
std::string_view text(Feature feature);
FeatureStatus status(Feature feature);
/// The feature that `text` calls so.
std::optional<Feature> find_feature(std::string_view name);

/// A set of features that a module may use. Without arguments: the defaults.
class Features {
 public:
  constexpr Features() = default;

  constexpr bool has(Feature feature) const { return ((bits_ >> index(feature)) & 1) != 0; }
  /// Adding a feature whose row says `Later` changes nothing but the place of the rejection.
  constexpr Features with(Feature feature) const {
    Features out = *this;
    out.bits_ |= std::uint64_t{1} << index(feature);
    return out;
  }
  constexpr Features without(Feature feature) const {
    Features out = *this;
    out.bits_ &= ~(std::uint64_t{1} << index(feature));
    return out;
  }
  friend constexpr bool operator==(Features, Features) = default;

 private:
  static constexpr unsigned index(Feature feature) { return static_cast<unsigned>(feature); }
  static constexpr std::uint64_t defaults() {
    std::uint64_t bits = 0;
#define HOIST_WASM_FEATURE(name, text, status)          \
  if (FeatureStatus::status == FeatureStatus::Always || \
      FeatureStatus::status == FeatureStatus::On) {     \
    bits |= std::uint64_t{1} << index(Feature::name);   \
  }
#include "wasm/format/features.def"
    return bits;
  }
  std::uint64_t bits_ = defaults();
};

}  // namespace hoist::wasm
