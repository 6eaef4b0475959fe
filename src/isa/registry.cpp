// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// See registry.hpp.
#include "isa/registry.hpp"

#include <string>

#include "isa/x64/target.hpp"

namespace hoist::isa {

using masm::x64::Feature;
using masm::x64::feature_bit;

static constexpr FeatureSet kX64Baseline = feature_bit(Feature::Base) | feature_bit(Feature::Sse3) |
                                           feature_bit(Feature::Ssse3) |
                                           feature_bit(Feature::Sse41);

Result<std::unique_ptr<codegen::Target>> make_target(std::string_view name, FeatureSet features) {
  if (name != "x86_64") {
    return Error(ErrorKind::Unsupported,
                 "target \"" + std::string(name) + "\" (known targets: x86_64)");
  }
  const FeatureSet needed = kX64Baseline & ~feature_bit(Feature::Base);
  if ((features & needed) != needed) {
    return Error(ErrorKind::Unsupported, "x86_64 processor without SSE4.1 and SSSE3");
  }
  std::unique_ptr<codegen::Target> target =
      std::make_unique<x64::X64Target>(features | kX64Baseline);
  return target;
}

FeatureSet baseline_features(std::string_view name) {
  return name == "x86_64" ? kX64Baseline : FeatureSet{0};
}

}  // namespace hoist::isa
