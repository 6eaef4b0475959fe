// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/cpu_features.hpp"

#include <fmt/core.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hoist::platform {

std::string_view text(CpuFeature feature) {
  switch (feature) {
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, avx) \
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
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, avx) add_name(CpuFeature::name);
#include "platform/cpu_features.def"
  return out;
}

#if defined(__x86_64__)

std::string_view cpu_architecture() {
  return "x86_64";
}

/// Whether the system saves the upper halves of the AVX registers.
static bool system_saves_avx() {
  unsigned regs[4] = {};
  constexpr unsigned kOsxsave = 1U << 27;
  if (__get_cpuid(1, &regs[0], &regs[1], &regs[2], &regs[3]) == 0 || (regs[2] & kOsxsave) == 0) {
    return false;
  }
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & 6) == 6;
}

CpuFeatures detect_cpu_features() {
  const bool avx_saved = system_saves_avx();
  CpuFeatures out;
  const auto probe = [&](CpuFeature feature, unsigned leaf, unsigned reg, unsigned bit, bool avx) {
    unsigned regs[4] = {};
    if (__get_cpuid_count(leaf, 0, &regs[0], &regs[1], &regs[2], &regs[3]) == 0) return;
    if (((regs[reg] >> bit) & 1) != 0 && (!avx || avx_saved)) out.add(feature);
  };
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, avx) \
  probe(CpuFeature::name, leaf, reg, bit, avx);
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
