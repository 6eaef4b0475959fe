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

/// Without a feature that another one builds upon, the other is not there either.
static FeatureSet complete(FeatureSet features) {
  struct Needs {
    Feature feature;
    Feature needed;
  };
  static constexpr Needs kNeeds[] = {{Feature::Avx, Feature::Sse42},
                                     {Feature::Avx2, Feature::Avx},
                                     {Feature::Fma, Feature::Avx},
                                     {Feature::F16c, Feature::Avx},
                                     {Feature::Avx512f, Feature::Avx2},
                                     {Feature::Avx512f, Feature::Fma},
                                     {Feature::Avx512vl, Feature::Avx512f},
                                     {Feature::Avx512dq, Feature::Avx512f},
                                     {Feature::Avx512bw, Feature::Avx512f},
                                     {Feature::Avx512cd, Feature::Avx512f},
                                     {Feature::Avx512vbmi, Feature::Avx512bw},
                                     {Feature::Avx512bitalg, Feature::Avx512bw},
                                     {Feature::Avx512vpopcntdq, Feature::Avx512f}};
  for (const Needs& n : kNeeds) {
    if ((features & feature_bit(n.needed)) == 0) features &= ~feature_bit(n.feature);
  }
  return features;
}

Result<std::unique_ptr<codegen::Target>> make_target(std::string_view name, FeatureSet features,
                                                     bool pins_register) {
  if (name != "x86_64") {
    return Error(ErrorKind::Unsupported,
                 "target \"" + std::string(name) + "\" (known targets: x86_64)");
  }
  const FeatureSet needed = kX64Baseline & ~feature_bit(Feature::Base);
  if ((features & needed) != needed) {
    return Error(ErrorKind::Unsupported, "x86_64 processor without SSE4.1 and SSSE3");
  }
  std::unique_ptr<codegen::Target> target =
      std::make_unique<x64::X64Target>(complete(features | kX64Baseline), pins_register);
  return target;
}

Result<FeatureSet> features_by_name(std::string_view target, std::string_view names) {
  FeatureSet out = 0;
  while (!names.empty()) {
    const std::size_t end = names.find(' ');
    const std::string_view name = names.substr(0, end);
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
    if (name.empty()) continue;
    bool known = false;
    for (unsigned n = 1; target == "x86_64" && n < masm::x64::kFeatureCount; ++n) {
      if (masm::x64::feature_name(static_cast<Feature>(n)) != name) continue;
      out |= feature_bit(static_cast<Feature>(n));
      known = true;
    }
    if (known) continue;
    std::string message =
        "no feature of " + std::string(target) + " is called " + std::string(name) + " (known are";
    for (unsigned n = 1; target == "x86_64" && n < masm::x64::kFeatureCount; ++n) {
      message += " ";
      message += masm::x64::feature_name(static_cast<Feature>(n));
    }
    return Error(ErrorKind::Malformed, message + ")");
  }
  return out;
}

FeatureSet baseline_features(std::string_view name) {
  return name == "x86_64" ? kX64Baseline : FeatureSet{0};
}

}  // namespace hoist::isa
