// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/engine.hpp"

#include <fmt/core.h>

#include <utility>

#include "api/impl.hpp"
#include "compiler/native_compiler.hpp"
#include "profiling/agent.hpp"
#include "wasm/format/feature_list.hpp"

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

static Result<std::unique_ptr<runtime::Pool>> make_pool(const PoolingOptions& options) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;
  const auto at_most = [](const char* name, std::uint64_t value,
                          std::uint64_t most) -> Result<void> {
    if (value <= most) return {};
    return Error(
        ErrorKind::BadArgument,
        fmt::format("PoolingOptions::{} is {}, but must be at most {}", name, value, most));
  };
  HOIST_TRY_VOID(at_most("memory_bytes", options.memory_bytes, kMostBytes));
  HOIST_TRY_VOID(at_most("table_elements", options.table_elements, kMostBytes - 1));
  HOIST_TRY_VOID(at_most("instance_bytes", options.instance_bytes, kMostBytes));
  runtime::PoolSettings settings;
  settings.instances = options.instances;
  settings.memories = options.memories;
  settings.tables = options.tables;
  settings.memory_bytes = options.memory_bytes;
  settings.table_elements = options.table_elements;
  settings.instance_bytes = options.instance_bytes;
  settings.keep_resident_bytes = options.keep_resident_bytes;
  return runtime::Pool::create(settings);
}

static Result<jit::CodeListeners> make_listeners(const Config& config) {
  jit::CodeListeners out;
  HOIST_TRY(std::shared_ptr<CodeListener> agent, profiling::make_agent(config.profiler));
  if (agent != nullptr) out.push_back(std::move(agent));
  if (config.code_listener != nullptr) out.push_back(config.code_listener);
  return out;
}

Result<Engine> Engine::create(const Config& config) noexcept {
  if (auto ok = check(config); !ok) return std::move(ok).error();
  HOIST_TRY(const wasm::Features features, wasm::parse_features(config.features));
  compiler::NativeOptions options;
  options.opt_level = static_cast<unsigned>(config.opt_level);
  options.threads = config.threads;
  options.verify = config.verify_ir;
  options.check_allocation = config.check_allocation;
  options.signals = config.signals;
  options.explicit_bounds = config.explicit_bounds_checks;
  options.fuel = config.fuel;
  options.epoch = config.epoch;
  options.interrupts = config.interruptible;
  options.canonical_nans = config.canonical_nans;
  options.deterministic_relaxed = config.deterministic_relaxed_simd;
  options.cpu = config.cpu;
  options.cache_directory = config.cache_directory;
  options.cache_bytes = config.cache_bytes;
  auto compiler = compiler::make_native_compiler(options);
  if (!compiler) return std::move(compiler).error();
  HOIST_TRY(jit::CodeListeners listeners, make_listeners(config));
  auto impl = std::make_shared<detail::EngineImpl>();
  impl->config = config;
  impl->features = features;
  impl->engine = std::make_shared<runtime::Engine>(
      runtime::EngineOptions{config.guest_stack_bytes, config.host_reserve_bytes, config.signals,
                             config.explicit_bounds_checks || !config.signals, config.fuel,
                             config.epoch, !config.demangle, config.collect_always},
      *std::move(compiler), std::move(listeners));
  if (config.pooling) {
    HOIST_TRY(std::unique_ptr<runtime::Pool> pool, make_pool(*config.pooling));
    impl->engine->use_pool(std::move(pool));
  }
  return Engine(std::move(impl));
}

Engine::Engine(std::shared_ptr<detail::EngineImpl> impl) noexcept : impl_(std::move(impl)) {}
Engine::Engine(const Engine&) noexcept = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(const Engine&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

const Config& Engine::config() const noexcept {
  static const Config& kDefaults = *new Config;  // never destroyed
  return impl_ == nullptr ? kDefaults : impl_->config;
}
std::string Engine::cpu_features() const noexcept {
  return impl_ == nullptr ? std::string() : impl_->engine->compiler().cpu_features();
}

void Engine::increment_epoch() const noexcept {
  if (impl_ != nullptr) impl_->engine->epoch().fetch_add(1, std::memory_order_relaxed);
}
std::uint64_t Engine::epoch() const noexcept {
  return impl_ == nullptr ? 0 : impl_->engine->epoch().load(std::memory_order_relaxed);
}

const char* version() noexcept {
  return "0.1.0";
}

}  // namespace hoist
