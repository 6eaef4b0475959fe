// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For the programs in this folder: medians of timed batches, resident memory, and giving up.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "hoist/hoist.hpp"

namespace bench {

template <typename T>
T must(hoist::Result<T> result) {
  if (!result) {
    fmt::print(stderr, "bench: {}\n", result.error().message());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Median over `batches` of the seconds that one of `count` calls in a row takes.
template <typename Body>
double median_seconds(int batches, int count, Body&& body) {
  std::vector<double> samples;
  for (int i = 0; i < batches; ++i) {
    const double start = seconds();
    for (int k = 0; k < count; ++k) body();
    samples.push_back((seconds() - start) / count);
  }
  std::nth_element(samples.begin(), samples.begin() + batches / 2, samples.end());
  return samples[static_cast<std::size_t>(batches) / 2];
}

inline std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long total = 0;
  long resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace bench
