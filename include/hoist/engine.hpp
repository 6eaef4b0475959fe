// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Engine: configuration, compiler and what modules share. One per process is usual; several can
/// live side by side.

#include <memory>
#include <string>

#include "hoist/config.hpp"
#include "hoist/detail/export.hpp"
#include "hoist/result.hpp"

namespace hoist {

namespace detail {
struct EngineImpl;
}

/// A counted handle; copies name the same engine. Any thread may use it at any time.
class HOIST_API Engine {
 public:
  /// Installs Hoist's signal handlers (SIGSEGV, SIGBUS, SIGILL, SIGFPE) on first use in the
  /// process, unless Config::signals is off; faults that are not the guest's go on to the handlers
  /// that were there before.
  /// @error BadArgument: a setting outside its range; Unsupported: the CPU lacks SSE4.1 or SSSE3,
  /// or
  ///        is not of a kind that Hoist generates code for.
  static Result<Engine> create(const Config& config = {}) noexcept;

  Engine(const Engine&) noexcept;
  Engine(Engine&&) noexcept;
  Engine& operator=(const Engine&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  const Config& config() const noexcept;
  /// Features of this CPU that code is generated for: "sse4.1 ssse3 popcnt bmi1 …".
  std::string cpu_features() const noexcept;
  /// A counter for deadlines (Store::set_epoch_deadline), which whoever likes counts up, say a
  /// thread of the embedder every millisecond. Starts at 0. Signal handlers may use both too.
  void increment_epoch() const noexcept;
  std::uint64_t epoch() const noexcept;
  /// Same engine?
  friend bool operator==(const Engine& a, const Engine& b) noexcept { return a.impl_ == b.impl_; }

  /// For Hoist's own code.
  explicit Engine(std::shared_ptr<detail::EngineImpl> impl) noexcept;
  const std::shared_ptr<detail::EngineImpl>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::EngineImpl> impl_;
};

/// "0.1.0"
HOIST_API const char* version() noexcept;

}  // namespace hoist
