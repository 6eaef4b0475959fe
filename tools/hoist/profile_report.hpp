// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What `hoist profile` prints: the functions and lines that took most time, in the width of the
/// terminal.

#include <cstdint>
#include <string>

#include "hoist/hoist.hpp"

namespace hoist::cli {

struct ReportFacts {
  std::string file;
  bool wall_clock = true;
  std::uint64_t ran_ns = 0;  ///< from the sampler's start to its end
};

/// With a final newline. At least 40 columns are used.
std::string profile_report(const GuestProfile& profile, const ReportFacts& facts,
                           std::size_t columns);
/// Of $COLUMNS, else of the terminal behind stderr, else 100.
std::size_t report_columns();
/// As the report shows the path of a source file: relative to `folder` if it is in it; of the Rust
/// library and of cargo's packages, what is below them.
std::string short_path(const std::string& path, const std::string& folder);

}  // namespace hoist::cli
