// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the CPU of this machine can do.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hoist::platform {

enum class CpuFeature : std::uint8_t {
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, saved) name,
#include "platform/cpu_features.def"
};

std::string_view text(CpuFeature feature);

class CpuFeatures {
 public:
  constexpr CpuFeatures() = default;
  constexpr bool has(CpuFeature feature) const {
    return ((bits_ >> static_cast<unsigned>(feature)) & 1) != 0;
  }
  constexpr void add(CpuFeature feature) {
    bits_ |= std::uint32_t{1} << static_cast<unsigned>(feature);
  }
  /// A bit per row of cpu_features.def.
  constexpr std::uint64_t bits() const { return bits_; }
  static constexpr CpuFeatures from_bits(std::uint64_t bits) {
    CpuFeatures out;
    out.bits_ = static_cast<std::uint32_t>(bits);
    return out;
  }
  /// "sse3 ssse3 …"
  std::string to_string() const;

 private:
  std::uint32_t bits_ = 0;
};

/// "x86_64", "aarch64"
std::string_view cpu_architecture();

/// Of the CPU that runs this.
CpuFeatures detect_cpu_features();

/// What every supported CPU has.
CpuFeatures baseline_cpu_features();

/// "native" (this CPU), "baseline", or names of features beyond the baseline with commas:
/// "popcnt,avx2". What a feature needs comes with it. "native,-avx2": this CPU without a feature
/// and what needs it.
/// @error BadArgument: lists the known names
Result<CpuFeatures> parse_cpu_features(std::string_view text);

/// @error Unsupported: below what Hoist's code needs; names what is missing.
Result<void> check_cpu_baseline(CpuFeatures features);

}  // namespace hoist::platform
