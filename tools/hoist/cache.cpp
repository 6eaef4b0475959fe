// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist cache: show or empty the compilation cache; and the options of the commands that use it.
#include "hoist/cache.hpp"

#include <fmt/core.h>

#include <memory>

#include "base/text/printable.hpp"
#include "compiler/cache/code_cache.hpp"
#include "hoist/cli.hpp"
#include "platform/private_dir.hpp"

namespace hoist::cli {

/// $XDG_CACHE_HOME/hoist, else ~/.cache/hoist; empty if neither is an absolute path.
static std::string default_directory() {
  const std::string base = platform::environment_variable("XDG_CACHE_HOME");
  if (base.starts_with('/')) return base + "/hoist";
  const std::string home = platform::environment_variable("HOME");
  return home.starts_with('/') ? home + "/.cache/hoist" : std::string();
}

static std::string directory_of(const CacheOptions& options) {
  return options.directory.empty() ? default_directory() : options.directory;
}

void add_cache_options(CLI::App& sub, CacheOptions& options) {
  sub.add_flag("--no-cache", options.off, "Neither use nor fill the compilation cache");
  sub.add_option("--cache-dir", options.directory,
                 "Directory of the compilation cache (default: $XDG_CACHE_HOME/hoist or "
                 "~/.cache/hoist)")
      ->type_name("DIR");
}

void use_cache(const CacheOptions& options, Config& config) {
  if (!options.off) config.cache_directory = directory_of(options);
}

namespace {

struct CacheCommand {
  CacheOptions cache;
  bool clear = false;
};

int run(const CacheCommand& options) {
  const std::string directory = directory_of(options.cache);
  if (directory.empty()) return fail("there is no cache: neither XDG_CACHE_HOME nor HOME is set");
  const compiler::CodeCache cache(directory, Config().cache_bytes);
  const auto usage = options.clear ? cache.clear() : cache.usage();
  if (!usage) return fail(usage.error().message());
  print(fmt::format("{}: {}{} module{}, {} bytes (limit {})\n", base::printable(directory),
                    options.clear ? "removed " : "", usage->entries, usage->entries == 1 ? "" : "s",
                    usage->bytes, Config().cache_bytes));
  return 0;
}

}  // namespace

void add_cache(CLI::App& app, int& status) {
  const auto options = std::make_shared<CacheCommand>();
  CLI::App* sub = app.add_subcommand("cache", "Show or empty the cache of compiled modules");
  sub->footer(
      "Modules that `hoist run` compiled are kept, so that they start at once the next time. What "
      "is\n"
      "not used for longest goes when there is no room.");
  sub->add_flag("--clear", options->clear, "Remove all that is kept");
  sub->add_option("--cache-dir", options->cache.directory,
                  "Another directory than $XDG_CACHE_HOME/hoist or ~/.cache/hoist")
      ->type_name("DIR");
  sub->callback([options, &status] { status = run(*options); });
}

}  // namespace hoist::cli
