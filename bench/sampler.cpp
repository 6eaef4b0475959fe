// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What the sampling profiler costs: one process runs a guest in slices, each between two slices
/// without a profiler, and says how much longer it took than the mean of these:
/// bench_sampler [--interval=NANOSECONDS] [--rounds=N] [PROGRAM.wasm ARGUMENTS]
/// Without a program, kernels of its own: shallow (arithmetic), calls (recursion, small functions)
/// and deep (a loop under 200 frames). A row: what interrupts, the CPU time of the guest's thread,
/// the time, the CPU time of the process; medians and quartiles in per cent; microseconds of each
/// per sample; samples in a slice.

#include <signal.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "measure.hpp"

namespace {

constexpr double kSliceSeconds = 0.06;

constexpr const char* kKernels = R"((module
  (memory 16)
  (func $spin (export "shallow") (param $n i32) (result i32) (local $x i32)
    (loop $more
      (local.set $x (i32.add (i32.mul (local.get $x) (i32.const 1664525)) (i32.const 1013904223)))
      (i32.store (i32.and (local.get $x) (i32.const 0xffffc))
        (i32.add (local.get $n) (i32.load (i32.and (i32.shr_u (local.get $x) (i32.const 8)) (i32.const 0xffffc)))))
      (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x))
  (func $fib (param $n i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $n) (i32.const 2))
      (then (local.get $n))
      (else (i32.add (call $fib (i32.sub (local.get $n) (i32.const 1)))
                     (call $fib (i32.sub (local.get $n) (i32.const 2)))))))
  (func (export "calls") (param $n i32) (result i32) (local $x i32)
    (loop $more
      (local.set $x (i32.add (local.get $x) (call $fib (i32.const 12))))
      (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x))
  (func $down (param $depth i32) (param $n i32) (result i32)
    (if (result i32) (local.get $depth)
      (then (i32.add (call $down (i32.sub (local.get $depth) (i32.const 1)) (local.get $n)) (i32.const 1)))
      (else (call $spin (local.get $n)))))
  (func (export "deep") (param $n i32) (result i32) (call $down (i32.const 200) (local.get $n)))))";

double clock_seconds(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Times {
  double thread = 0;
  double wall = 0;
  double process = 0;
  static Times now() {
    return {clock_seconds(CLOCK_THREAD_CPUTIME_ID), clock_seconds(CLOCK_MONOTONIC),
            clock_seconds(CLOCK_PROCESS_CPUTIME_ID)};
  }
};

/// A timer of the wall clock with a handler that does nothing: what the system takes by itself.
/// Made before the first profiler, which passes foreign signals on.
class EmptyHandler {
 public:
  EmptyHandler() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGPROF, &action, nullptr);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
    ::timer_create(CLOCK_MONOTONIC, &event, &timer_);
  }
  void set(std::uint64_t interval_ns) {
    itimerspec times = {};
    times.it_interval.tv_nsec = static_cast<long>(interval_ns);
    times.it_value = times.it_interval;
    ::timer_settime(timer_, 0, &times, nullptr);
  }

 private:
  timer_t timer_ = nullptr;
};

enum class Mode { Wall, Cpu, Empty };
constexpr const char* kModes[] = {"wall", "cpu", "empty handler"};

template <typename Work>
void measure(const char* name, int rounds, std::uint64_t interval_ns, EmptyHandler& empty,
             Work&& work) {
  constexpr std::size_t kColumns = 3;
  std::vector<double> ratios[std::size(kModes)][kColumns];
  double extra[std::size(kModes)][kColumns] = {};
  double samples[std::size(kModes)] = {};
  double around[2] = {0, 0};  // starting, and stopping, of the sampler
  const auto slice = [&] {
    const Times begin = Times::now();
    work();
    const Times end = Times::now();
    return Times{end.thread - begin.thread, end.wall - begin.wall, end.process - begin.process};
  };
  work();
  Times before = slice();
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t m = 0; m < std::size(kModes); ++m) {
      const auto mode = static_cast<Mode>(m);
      hoist::ProfilerOptions options;
      options.interval_ns = interval_ns;
      options.clock = mode == Mode::Cpu ? hoist::ProfilerOptions::Clock::Cpu
                                        : hoist::ProfilerOptions::Clock::Wall;
      const double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
      std::optional<hoist::GuestProfiler> profiler;
      if (mode == Mode::Empty) {
        empty.set(interval_ns);
      } else {
        profiler.emplace(bench::must(hoist::GuestProfiler::start(options)));
      }
      const double started = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
      const Times on = slice();
      const double stop = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
      if (profiler) {
        const hoist::GuestProfile profile = profiler->stop();
        samples[m] += static_cast<double>(profile.samples());
        around[0] += started - start;
        around[1] += clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - stop;
      } else {
        empty.set(0);
        samples[m] += on.wall * 1e9 / static_cast<double>(interval_ns);
      }
      const Times after = slice();
      const double off[] = {(before.thread + after.thread) / 2, (before.wall + after.wall) / 2,
                            (before.process + after.process) / 2};
      const double now[] = {on.thread, on.wall, on.process};
      for (std::size_t c = 0; c < kColumns; ++c) {
        ratios[m][c].push_back(100 * (now[c] / off[c] - 1));
        extra[m][c] += now[c] - off[c];
      }
      before = after;
    }
  }
  for (std::size_t m = 0; m < std::size(kModes); ++m) {
    fmt::print("{:10} {:14}", name, kModes[m]);
    for (std::vector<double>& values : ratios[m]) {
      std::sort(values.begin(), values.end());
      const std::size_t last = values.size() - 1;
      fmt::print("  {:6.2f} [{:6.2f} {:6.2f}]", values[last / 2], values[last / 4],
                 values[last - last / 4]);
    }
    for (const double total : extra[m])
      fmt::print(" {:7.2f}", 1e6 * total / std::max(samples[m], 1.0));
    fmt::print(" {:7.1f}\n", samples[m] / rounds);
  }
  fmt::print("{:10} starting {:.0f} us, stopping {:.0f} us of CPU time\n", name,
             1e6 * around[0] / (2 * rounds), 1e6 * around[1] / (2 * rounds));
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t interval_ns = 1'000'000;
  int rounds = 100;
  int at = 1;
  for (; at < argc && std::strncmp(argv[at], "--", 2) == 0; ++at) {
    const std::string_view option = argv[at];
    if (option.starts_with("--interval=")) {
      interval_ns = std::strtoull(argv[at] + 11, nullptr, 10);
    } else if (option.starts_with("--rounds=")) {
      rounds = std::max(1, std::atoi(argv[at] + 9));
    } else {
      return 2;
    }
  }
  EmptyHandler empty;
  const hoist::Engine engine = bench::must(hoist::Engine::create());
  fmt::print("{:25}  {:23}  {:23}  {:23} {:>23} {:>7}\n", "", "thread CPU, % [quartiles]",
             "time, %", "process CPU, %", "the same, us per sample", "samples");
  if (at < argc) {
    const hoist::Module module = bench::must(hoist::Module::from_file(engine, argv[at]));
    std::vector<std::string> arguments(argv + at, argv + argc);
    const auto run = [&] {
      hoist::WasiConfig config;
      config.args = arguments;
      config.out = hoist::WasiStream::null();
      hoist::Linker linker(engine);
      hoist::Store store(engine);
      bench::must(hoist::add_wasi_to_linker(linker, std::move(config)));
      const auto instance = bench::must(linker.instantiate(store, module));
      static_cast<void>(bench::must(instance.func("_start")).call({}, {}));
    };
    measure("program", rounds, interval_ns, empty, run);
    return 0;
  }
  const hoist::Module module = bench::must(hoist::Module::from_text(engine, kKernels));
  for (const char* name : {"shallow", "calls", "deep"}) {
    hoist::Store store(engine);
    const hoist::Instance instance = bench::must(hoist::Linker(engine).instantiate(store, module));
    const auto kernel = bench::must(instance.typed<std::int32_t(std::int32_t)>(name));
    std::int32_t turns = 1000;
    for (double took = 0; took < kSliceSeconds / 2;) {
      turns *= 2;
      const double start = bench::seconds();
      bench::must(kernel(turns));
      took = bench::seconds() - start;
    }
    turns = turns / 2 * 3;
    measure(name, rounds, interval_ns, empty, [&] { bench::must(kernel(turns)); });
  }
  return 0;
}
