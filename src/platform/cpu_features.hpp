// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the CPU of this machine can do.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hoist::platform {

enum class CpuFeature : std::uint8_t {
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, avx) name,
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
  /// "sse3 ssse3 …"
  std::string to_string() const;

 private:
  std::uint32_t bits_ = 0;
};

/// "x86_64", "aarch64"
std::string_view cpu_architecture();

/// Of the CPU that runs this.
CpuFeatures detect_cpu_features();

/// @error Unsupported: below what Hoist's code needs; names what is missing.
Result<void> check_cpu_baseline(CpuFeatures features);

}  // namespace hoist::platform
