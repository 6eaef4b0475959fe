// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/limits.hpp"

#include <fmt/core.h>
#include <pthread.h>
#include <system_error>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <span>
#include <string_view>

#include "base/text/printable.hpp"
#include "wasm/format/feature_list.hpp"

namespace hoist::cli {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr Unit kDurations[] = {{"ns", 1},
                               {"us", 1'000},
                               {"ms", 1'000'000},
                               {"s", 1'000'000'000},
                               {"m", 60'000'000'000},
                               {"h", 3'600'000'000'000}};
constexpr Unit kSizes[] = {{"B", 1},
                           {"K", std::uint64_t{1} << 10},
                           {"KiB", std::uint64_t{1} << 10},
                           {"M", std::uint64_t{1} << 20},
                           {"MiB", std::uint64_t{1} << 20},
                           {"G", std::uint64_t{1} << 30},
                           {"GiB", std::uint64_t{1} << 30},
                           {"kB", 1'000},
                           {"MB", 1'000'000},
                           {"GB", 1'000'000'000}};

std::string names(std::span<const Unit> units) {
  std::string out;
  for (const Unit& unit : units) out += (out.empty() ? "" : ", ") + std::string(unit.name);
  return out;
}

Error wrong(const std::string& option, const std::string& text, const std::string& why) {
  return {ErrorKind::BadArgument,
          fmt::format("{}: '{}' {}", option, base::printable(text, 64), why)};
}

/// The digits in front of `text`, which then begins behind them.
Result<std::uint64_t> leading_number(const std::string& option, const std::string& all,
                                     std::string_view& text) {
  if (!text.empty() && text.front() == '-') return wrong(option, all, "is negative");
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::invalid_argument)
    return wrong(option, all, "does not begin with a number");
  if (code == std::errc::result_out_of_range) return wrong(option, all, "is too large");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

Result<std::uint64_t> with_unit(const std::string& option, const std::string& all,
                                std::span<const Unit> units) {
  std::string_view text = all;
  auto value = leading_number(option, all, text);
  if (!value) return value;
  if (text.empty()) return wrong(option, all, "has no unit: one of " + names(units));
  if (text.front() == '.') return wrong(option, all, "has a fraction: take a smaller unit");
  for (const Unit& unit : units) {
    if (unit.name != text) continue;
    if (*value > ~std::uint64_t{0} / unit.factor) return wrong(option, all, "is too large");
    return *value * unit.factor;
  }
  return wrong(option, all, "has no known unit: one of " + names(units));
}

/// For options that stand for "no limit" when they are not given.
Result<void> read_limit(Result<std::uint64_t> (*parse)(const std::string&, const std::string&),
                        const char* option, const std::string& text, std::uint64_t& out) {
  if (text.empty()) return {};
  auto value = parse(option, text);
  if (!value) return std::move(value).error();
  if (*value == 0) return wrong(option, text, "must be more than 0");
  out = *value;
  return {};
}

}  // namespace

Result<std::uint64_t> parse_duration(const std::string& option, const std::string& text) {
  return with_unit(option, text, kDurations);
}

Result<std::uint64_t> parse_size(const std::string& option, const std::string& text) {
  return with_unit(option, text, kSizes);
}

Result<std::uint64_t> parse_count(const std::string& option, const std::string& all) {
  std::string_view text = all;
  auto value = leading_number(option, all, text);
  if (value && !text.empty()) return wrong(option, all, "is not a plain number");
  return value;
}

bool on_stack(std::uint64_t bytes, void (*call)(void* context), void* context) {
  struct Start {
    void (*call)(void*);
    void* context;
  } start{call, context};
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread;
  const bool made = ::pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                    ::pthread_create(
                        &thread, &attributes,
                        [](void* from) -> void* {
                          const auto& self = *static_cast<Start*>(from);
                          self.call(self.context);
                          return nullptr;
                        },
                        &start) == 0;
  ::pthread_attr_destroy(&attributes);
  if (made) ::pthread_join(thread, nullptr);
  return made;
}

CLI::Option* add_features_option(CLI::App& app, std::string& features) {
  return app
      .add_option("--features", features,
                  fmt::format("Language features that modules may use, as differences from the "
                              "defaults; names: {}",
                              wasm::feature_names()))
      ->check([](const std::string& text) {
        const auto parsed = wasm::parse_features(text);
        return parsed ? std::string() : parsed.error().message();
      })
      ->type_name("+NAME,-NAME");
}

void add_code_options(CLI::App& app, CodeOptions& options) {
  add_features_option(app, options.features);
  app.add_option("--signals", options.signals,
                 "off: install no signal handlers; code checks everything itself (larger, slower)")
      ->check(CLI::IsMember({"on", "off"}).description(""))
      ->type_name("on|off");
  app.add_option("--bounds-checks", options.bounds_checks,
                 "explicit: compare the address of every memory access; auto (default): let the "
                 "processor find out")
      ->check(CLI::IsMember({"auto", "explicit"}).description(""))
      ->type_name("auto|explicit");
  app.add_option("--nan", options.nan,
                 "canonical: arithmetic gives one NaN only; any (default): the processor's")
      ->check(CLI::IsMember({"any", "canonical"}).description(""))
      ->type_name("any|canonical");
  app.add_option("--relaxed-simd", options.relaxed_simd,
                 "deterministic: relaxed vector instructions give the same on every CPU; fast "
                 "(default): what this CPU does best")
      ->check(CLI::IsMember({"fast", "deterministic"}).description(""))
      ->type_name("fast|deterministic");
  // For tests of the collector: not in the help.
  app.add_flag("--collect-always", options.collect_always)->group("");
}

void apply(const CodeOptions& options, Config& config) {
  config.signals = options.signals == "on";
  config.explicit_bounds_checks = options.bounds_checks == "explicit";
  config.features = options.features;
  config.collect_always = options.collect_always;
  config.canonical_nans = options.nan == "canonical";
  config.deterministic_relaxed_simd = options.relaxed_simd == "deterministic";
}

void RunLimits::add_options(CLI::App& app) {
  app.add_option("--timeout", timeout_,
                 "Stop the program after this time, instantiation included: 500ms, 10s, 2m")
      ->type_name("DURATION");
  app.add_option("--max-memory", max_memory_,
                 "Let all memories together grow to this size at most: 64MiB, 1G")
      ->type_name("SIZE");
  app.add_option("--max-table-elements", max_table_elements_,
                 "Let each table grow to this many elements at most (default 10000000)")
      ->type_name("N");
  app.add_option("--max-total-table-elements", max_total_table_elements_,
                 "Let all tables together have this many elements at most")
      ->type_name("N");
  app.add_option("--max-references", max_references_,
                 "Let the program keep this many exceptions and objects of the host at most "
                 "(default 10000000)")
      ->type_name("N");
  app.add_option("--max-stack", max_stack_, "Stack for the program (default 1MiB): 512K, 16MiB")
      ->type_name("SIZE");
  app.add_option("--fuel", fuel_,
                 "Stop the program when it has executed about N instructions (docs/limits.md)")
      ->type_name("N");
  app.add_flag(
      "--trap-on-grow-failure", trap_on_grow_failure_,
      "End the program when it is refused memory or table elements, instead of telling it");
}

Result<void> RunLimits::parse() {
  Result<void> done = read_limit(parse_duration, "--timeout", timeout_, timeout_ns_);
  if (done) done = read_limit(parse_size, "--max-memory", max_memory_, memory_bytes_);
  if (done) {
    done = read_limit(parse_count, "--max-table-elements", max_table_elements_, table_elements_);
  }
  if (done) {
    done = read_limit(parse_count, "--max-total-table-elements", max_total_table_elements_,
                      total_table_elements_);
  }
  if (done) done = read_limit(parse_count, "--max-references", max_references_, references_);
  if (done) done = read_limit(parse_size, "--max-stack", max_stack_, stack_bytes_);
  if (done) done = read_limit(parse_count, "--fuel", fuel_, fuel_units_);
  constexpr std::uint64_t kMostStack = std::uint64_t{1} << 40;
  constexpr std::uint64_t kLeastStack = std::uint64_t{64} << 10;  // Config::guest_stack_bytes
  if (done && stack_bytes_ > kMostStack)
    return wrong("--max-stack", max_stack_, "is more than 1024GiB");
  if (done && stack_bytes_ != 0 && stack_bytes_ < kLeastStack)
    return wrong("--max-stack", max_stack_, "is less than 64KiB");
  return done;
}

void RunLimits::apply(Config& config) const {
  if (stack_bytes_ != 0) config.guest_stack_bytes = stack_bytes_;
  config.fuel = fuel_units_ != 0;
  config.interruptible = timeout_ns_ != 0;
}

bool RunLimits::on_growth(void* self, const Growth& growth) {
  auto& limits = *static_cast<RunLimits*>(self);
  if (!growth.allowed) {
    const std::lock_guard<std::mutex> lock(limits.mutex_);
    if (limits.refusals_++ == 0) limits.refused_ = growth;
  }
  return growth.allowed;
}

/// The option behind a limit; null where there is none.
static const char* option_of(StoreLimit limit) {
  switch (limit) {
    case StoreLimit::TotalMemoryBytes:
    case StoreLimit::ReferenceBytes: return "--max-memory";
    case StoreLimit::TableElements: return "--max-table-elements";
    case StoreLimit::TotalTableElements: return "--max-total-table-elements";
    case StoreLimit::References: return "--max-references";
    case StoreLimit::MemoryBytes:
    case StoreLimit::Instances:
    case StoreLimit::Memories:
    case StoreLimit::Tables: return nullptr;
  }
  return nullptr;
}

StoreLimits RunLimits::store_limits() {
  StoreLimits out;
  if (memory_bytes_ != 0) {
    out.total_memory_bytes = memory_bytes_;
    // Exceptions that the guest keeps are memory too.
    out.reference_bytes = memory_bytes_;
  }
  if (table_elements_ != 0) out.table_elements = table_elements_;
  if (total_table_elements_ != 0) out.total_table_elements = total_table_elements_;
  if (references_ != 0) out.references = references_;
  out.name_of = option_of;
  out.trap_on_refused_growth = trap_on_grow_failure_;
  out.on_growth = on_growth;
  out.context = this;
  return out;
}

WasiThreadsConfig RunLimits::threads(std::uint32_t most, ProgramEnd& end) {
  end_ = &end;
  WasiThreadsConfig out;
  out.limits = store_limits();
  out.max_threads = most;
  out.context = this;
  out.on_start = [](void* self, StoreRef store) {
    const std::uint64_t units = static_cast<RunLimits*>(self)->fuel_units_;
    if (units != 0) static_cast<void>(store.set_fuel(units));
  };
  out.on_failure = [](void* self, std::int32_t thread, const Error& error) {
    static_cast<RunLimits*>(self)->end_->failed(thread, error);
  };
  return out;
}

void ProgramEnd::main_returned() {
  const std::lock_guard<std::mutex> lock(mutex_);
  returned_ = true;
  changed_.notify_all();
}

void ProgramEnd::failed(std::int32_t thread, const Error& error) {
  // Code that looks, and host functions that wait, end in far less.
  constexpr auto kPatience = std::chrono::milliseconds(500);
  std::unique_lock<std::mutex> lock(mutex_);
  if (changed_.wait_for(lock, kPatience, [&] { return returned_; })) return;
  abandon_(context_, thread, error);
}

std::string RunLimits::refusal() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (refusals_ == 0) return {};
  const bool memory = refused_.what == Growth::What::Memory;
  if (memory) {
    return fmt::format(
        "the program was refused memory: {} bytes wanted, the limit is {} (--max-memory)",
        refused_.desired, max_memory_);
  }
  const std::uint64_t each = table_elements_ != 0 ? table_elements_ : StoreLimits().table_elements;
  const bool total = refused_.desired <= each;
  return fmt::format(
      "the program was refused table elements: {} wanted, the limit is {} ({})", refused_.desired,
      total ? total_table_elements_ : each,
      total ? "--max-total-table-elements, of all together" : "--max-table-elements");
}

std::uint64_t RunLimits::thread_stack_bytes() const {
  // Beside the guest: the reserve for host functions, and what Hoist itself needs before and after.
  constexpr std::uint64_t kOwn = std::uint64_t{1} << 20;
  return stack_bytes_ == 0 ? 0 : stack_bytes_ + Config().host_reserve_bytes + kOwn;
}

Result<void> RunLimits::start(Store& store) {
  if (fuel_units_ != 0) {
    auto set = store.set_fuel(fuel_units_);
    if (!set) return set;
  }
  if (timeout_ns_ != 0) {
    try {
      watchdog_ = std::thread([this, handle = store.interrupt_handle()] { watch(handle); });
    } catch (const std::system_error& error) {
      return Error(
          ErrorKind::OutOfMemory,
          fmt::format("--timeout needs a thread, which the system refuses: {}", error.what()));
    }
  }
  return {};
}

void RunLimits::watch(InterruptHandle handle) {
  std::unique_lock<std::mutex> lock(mutex_);
  // In steps that no clock overflows with.
  constexpr std::uint64_t kStep = 3'600'000'000'000;
  std::uint64_t left = timeout_ns_;
  while (left != 0) {
    const std::uint64_t step = left < kStep ? left : kStep;
    if (changed_.wait_for(lock, std::chrono::nanoseconds(step), [this] { return stopped_; }))
      return;
    left -= step;
  }
  timed_out_ = true;
  handle.interrupt();
}

void RunLimits::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (watchdog_.joinable()) watchdog_.join();
}

bool RunLimits::timed_out() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return timed_out_;
}

}  // namespace hoist::cli
