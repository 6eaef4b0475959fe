// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/engine.hpp"

#include <fmt/core.h>

#include <utility>

#include "api/impl.hpp"
#include "compiler/native_compiler.hpp"
#include "profiling/perf/perf_map.hpp"

namespace hoist {

static constexpr std::uint64_t kSmallestGuestStack = std::uint64_t{64} << 10;
static constexpr std::uint64_t kSmallestHostReserve = std::uint64_t{32} << 10;

static Result<void> check(const Config& config) {
  const auto at_least = [](const char* name, std::uint64_t value,
                           std::uint64_t smallest) -> Result<void> {
    if (value >= smallest) return {};
    return Error(ErrorKind::BadArgument,
                 fmt::format("Config::{} is {}, but must be at least {}", name, value, smallest));
  };
  if (auto ok = at_least("guest_stack_bytes", config.guest_stack_bytes, kSmallestGuestStack); !ok) {
    return ok;
  }
  if (auto ok = at_least("host_reserve_bytes", config.host_reserve_bytes, kSmallestHostReserve);
      !ok) {
    return ok;
  }
  const auto level = static_cast<unsigned>(config.opt_level);
  if (level > 2) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("Config::opt_level is {}, but must be 0, 1 or 2", level));
  }
  return {};
}

Result<Engine> Engine::create(const Config& config) noexcept {
  if (auto ok = check(config); !ok) return std::move(ok).error();
  compiler::NativeOptions options;
  options.opt_level = static_cast<unsigned>(config.opt_level);
  options.threads = config.threads;
  options.verify = config.verify_ir;
  options.check_allocation = config.check_allocation;
  auto compiler = compiler::make_native_compiler(options);
  if (!compiler) return std::move(compiler).error();
  std::unique_ptr<runtime::CodeListener> listener;
  if (config.profiler == Profiler::PerfMap) {
    auto made = profiling::make_perf_map_listener();
    if (!made) return std::move(made).error();
    listener = *std::move(made);
  }
  auto impl = std::make_shared<detail::EngineImpl>();
  impl->config = config;
  impl->engine = std::make_shared<runtime::Engine>(
      runtime::EngineOptions{config.guest_stack_bytes, config.host_reserve_bytes},
      *std::move(compiler), std::move(listener));
  return Engine(std::move(impl));
}

Engine::Engine(std::shared_ptr<detail::EngineImpl> impl) noexcept : impl_(std::move(impl)) {}
Engine::Engine(const Engine&) noexcept = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(const Engine&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

const Config& Engine::config() const noexcept {
  return impl_->config;
}
std::string Engine::cpu_features() const noexcept {
  return impl_->engine->compiler().cpu_features();
}

const char* version() noexcept {
  return "0.1.0";
}

}  // namespace hoist
