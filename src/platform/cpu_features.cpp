// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/cpu_features.hpp"

#include <fmt/core.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hoist::platform {

std::string_view text(CpuFeature feature) {
  switch (feature) {
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, saved) \
  case CpuFeature::name: return text;
#include "platform/cpu_features.def"
  }
  return "";
}

std::string CpuFeatures::to_string() const {
  std::string out;
  const auto add_name = [&](CpuFeature feature) {
    if (!has(feature)) return;
    if (!out.empty()) out += ' ';
    out += text(feature);
  };
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, saved) add_name(CpuFeature::name);
#include "platform/cpu_features.def"
  return out;
}

CpuFeatures baseline_cpu_features() {
  CpuFeatures out;
#if defined(__x86_64__)
  for (const CpuFeature feature : {CpuFeature::Sse3, CpuFeature::Ssse3, CpuFeature::Sse41}) {
    out.add(feature);
  }
#endif
  return out;
}

Result<CpuFeatures> parse_cpu_features(std::string_view text) {
  if (text == "native") return detect_cpu_features();
  CpuFeatures out = baseline_cpu_features();
  if (text == "baseline") return out;
  if (text.starts_with("native,")) {
    out = detect_cpu_features();
    text.remove_prefix(7);
  }
  std::uint64_t removed = 0;
  struct Row {
    CpuFeature feature;
    std::string_view name;
  };
  static constexpr Row kRows[] = {
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, saved) {CpuFeature::name, text},
#include "platform/cpu_features.def"
  };
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const bool remove = name.starts_with('-');
    if (remove) name.remove_prefix(1);
    std::string known;
    bool found = false;
    for (const Row& row : kRows) {
      if (row.name == name) {
        if (remove) {
          removed |= std::uint64_t{1} << static_cast<unsigned>(row.feature);
        } else {
          out.add(row.feature);
        }
        found = true;
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
    }
    if (!found) {
      return Error(
          ErrorKind::BadArgument,
          fmt::format("unknown CPU feature '{}': native, baseline, or some of {} (after native: "
                      "also -FEATURE)",
                      name, known));
    }
  }
  // What a feature needs comes with it, so that the set is one that a CPU can have.
  bool avx512 = false;
  for (const Row& row : kRows) avx512 |= row.name.starts_with("avx512") && out.has(row.feature);
  if (avx512) {
    for (const CpuFeature f : {CpuFeature::Avx512f, CpuFeature::Avx2, CpuFeature::Fma}) out.add(f);
  }
  if (out.has(CpuFeature::Avx2) || out.has(CpuFeature::Fma) || out.has(CpuFeature::F16c)) {
    out.add(CpuFeature::Avx);
  }
  if (out.has(CpuFeature::Avx)) out.add(CpuFeature::Sse42);
  if (removed == 0) return out;
  // What needs a feature goes with it.
  const auto is_removed = [&](CpuFeature feature) {
    return ((removed >> static_cast<unsigned>(feature)) & 1) != 0;
  };
  CpuFeatures left;
  for (const Row& row : kRows) {
    const bool is_avx512 = row.name.starts_with("avx512");
    const bool needs_avx = is_avx512 || row.feature == CpuFeature::Avx2 ||
                           row.feature == CpuFeature::Fma || row.feature == CpuFeature::F16c;
    bool goes = is_removed(row.feature);
    if (needs_avx || row.feature == CpuFeature::Avx) goes |= is_removed(CpuFeature::Sse42);
    if (needs_avx) goes |= is_removed(CpuFeature::Avx);
    if (is_avx512) {
      goes |= is_removed(CpuFeature::Avx2) || is_removed(CpuFeature::Fma) ||
              is_removed(CpuFeature::Avx512f);
    }
    if (out.has(row.feature) && !goes) left.add(row.feature);
  }
  return left;
}

#if defined(__x86_64__)

std::string_view cpu_architecture() {
  return "x86_64";
}

/// Which registers the system saves: the bits of XCR0.
static unsigned saved_registers() {
  unsigned regs[4] = {};
  constexpr unsigned kOsxsave = 1U << 27;
  if (__get_cpuid(1, &regs[0], &regs[1], &regs[2], &regs[3]) == 0 || (regs[2] & kOsxsave) == 0) {
    return 0;
  }
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

CpuFeatures detect_cpu_features() {
  const unsigned system_saves = saved_registers();
  CpuFeatures out;
  const auto probe = [&](CpuFeature feature, unsigned leaf, unsigned reg, unsigned bit,
                         unsigned saved) {
    unsigned regs[4] = {};
    if (__get_cpuid_count(leaf, 0, &regs[0], &regs[1], &regs[2], &regs[3]) == 0) return;
    if (((regs[reg] >> bit) & 1) != 0 && (system_saves & saved) == saved) out.add(feature);
  };
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, saved) \
  probe(CpuFeature::name, leaf, reg, bit, saved);
#include "platform/cpu_features.def"
  return out;
}

Result<void> check_cpu_baseline(CpuFeatures features) {
  std::string missing;
  for (const CpuFeature feature : {CpuFeature::Sse3, CpuFeature::Ssse3, CpuFeature::Sse41}) {
    if (!features.has(feature)) missing += fmt::format(" {}", text(feature));
  }
  if (missing.empty()) return {};
  return Error(ErrorKind::Unsupported,
               fmt::format("this CPU lacks{}: code for x86-64 needs SSE4.1 and SSSE3", missing));
}

#else

std::string_view cpu_architecture() {
  return "aarch64";
}
CpuFeatures detect_cpu_features() {
  return {};
}
Result<void> check_cpu_baseline(CpuFeatures) {
  return Error(ErrorKind::Unsupported,
               "there is no code generator for this CPU (aarch64): x86-64 only");
}

#endif

}  // namespace hoist::platform
