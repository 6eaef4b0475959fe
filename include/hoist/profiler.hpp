// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// GuestProfiler: samples the stacks of guests while they run, for machines without perf
/// (docs/profiling.md).
///
///   auto profiler = hoist::GuestProfiler::start();
///   ... run guests, in any stores, on any threads ...
///   hoist::GuestProfile profile = profiler->stop();
///   hoist::Result<void> written = profile.write("profile.html");

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hoist/detail/export.hpp"
#include "hoist/result.hpp"

namespace hoist {

namespace detail {
struct ProfilerImpl;
struct ProfileImpl;
}  // namespace detail

enum class ProfileFormat : std::uint8_t {
  Firefox,         ///< JSON for profiler.firefox.com
  Collapsed,       ///< "outer;inner 42" a line, for flame graph tools
  CollapsedLines,  ///< the same by source line
  FlameGraph       ///< one HTML file that needs nothing else
};

/// A function, or a line of one, and the time that was spent in it.
struct HotSpot {
  std::string function;
  std::string module;
  std::string file;         ///< may be empty
  std::uint32_t line = 0;   ///< 0: of a function, or not known
  std::uint64_t self = 0;   ///< samples in it
  std::uint64_t total = 0;  ///< samples in it and what it called
};

/// What was sampled. Immutable; copies share it.
class HOIST_API GuestProfile {
 public:
  GuestProfile() = default;
  std::uint64_t interval_ns() const noexcept;
  /// Samples that were taken in guests and what they call; periods of Clock::Cpu that went by at
  /// once count.
  std::uint64_t samples() const noexcept;
  /// That found no room, because the sampler's thread did not come to run.
  std::uint64_t lost() const noexcept;
  /// What took time itself, most first.
  std::vector<HotSpot> functions() const noexcept;
  /// The same by source line, of code that has lines.
  std::vector<HotSpot> lines() const noexcept;
  /// `title` is what the page is headed with.
  std::string to_string(ProfileFormat format, const std::string& title = "Hoist") const noexcept;
  /// @error Io
  Result<void> write(const std::string& path, ProfileFormat format,
                     const std::string& title = "Hoist") const noexcept;

  /// The format that goes with a file's name: .json, .txt, .collapsed, .html.
  /// @error BadArgument: names what there is
  static Result<ProfileFormat> format_of(const std::string& path) noexcept;

  /// For Hoist's own code.
  explicit GuestProfile(std::shared_ptr<const detail::ProfileImpl> impl) noexcept;

 private:
  std::shared_ptr<const detail::ProfileImpl> impl_;
};

struct ProfilerOptions {
  enum class Clock : std::uint8_t {
    /// Time in which a guest or what it calls runs. A thread that waits is left alone. Systems
    /// measure it in ticks of their own, often 4 ms: a shorter interval then gives fewer samples
    /// that count more.
    Cpu,
    /// Time: waiting in host functions counts. A thread that waits is interrupted once, and then
    /// counts without that as long as it waits there (where the system has /proc): system calls of
    /// host functions return EINTR a little more often.
    Wall
  };
  std::uint64_t interval_ns = 1'000'000;  ///< at least 100,000
  Clock clock = Clock::Cpu;
};

/// One runs at a time in a process. Ends with `stop` or with the object.
class HOIST_API GuestProfiler {
 public:
  /// @error BadArgument: one runs already, or a bad interval; Unsupported: the system gives no
  /// timers or thread
  static Result<GuestProfiler> start(const ProfilerOptions& options = {}) noexcept;
  GuestProfiler(GuestProfiler&&) noexcept;
  GuestProfiler& operator=(GuestProfiler&&) noexcept;
  ~GuestProfiler();
  /// Ends it; what was sampled. Empty the second time.
  GuestProfile stop() noexcept;

 private:
  GuestProfiler() = default;
  std::unique_ptr<detail::ProfilerImpl> impl_;
};

}  // namespace hoist
