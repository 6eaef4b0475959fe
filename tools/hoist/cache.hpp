// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The compilation cache of the command: where it is and the options about it.

#include <CLI/CLI.hpp>
#include <string>

#include "hoist/config.hpp"

namespace hoist::cli {

struct CacheOptions {
  bool off = false;
  std::string directory;
};

/// --no-cache and --cache-dir.
void add_cache_options(CLI::App& sub, CacheOptions& options);
/// Turns the cache on, unless it is off or there is no place for it.
void use_cache(const CacheOptions& options, Config& config);

}  // namespace hoist::cli
