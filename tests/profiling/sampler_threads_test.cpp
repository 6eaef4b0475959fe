// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sampler and the host: names of host functions however they are called, threads that wait, and
// everything that may happen at once.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hoist/hoist.hpp"

namespace hoist {
namespace {

double now_ms() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

void busy_for(double milliseconds) {
  const double end = now_ms() + milliseconds;
  while (now_ms() < end) {
  }
}

ProfilerOptions wall_clock(std::uint64_t interval_ns = 1'000'000) {
  ProfilerOptions options;
  options.clock = ProfilerOptions::Clock::Wall;
  options.interval_ns = interval_ns;
  return options;
}

std::map<std::string, std::uint64_t> self_of(const GuestProfile& profile) {
  std::map<std::string, std::uint64_t> out;
  for (const HotSpot& spot : profile.functions()) out[spot.function] += spot.self;
  return out;
}

constexpr const char* kCallers = R"((module
  (type $none (func))
  (import "env" "direct" (func $direct))
  (import "env" "table" (func $in_table))
  (import "env" "ref" (func $by_ref))
  (import "env" "tail" (func $tailed))
  (import "env" "unnamed" (func $unnamed (type $none)))
  (table (export "t") 3 funcref)
  (elem (i32.const 0) func $in_table $unnamed $nested)
  (elem declare func $by_ref)
  (func $nested (call_indirect (type $none) (i32.const 1)))
  (func $jump (return_call $tailed))
  (func $call_ref (param (ref $none)) (call_ref $none (local.get 0)))
  (func (export "run")
    (call $direct)
    (call_indirect (type $none) (i32.const 0))
    (call $call_ref (ref.func $by_ref))
    (call $jump)
    (call_indirect (type $none) (i32.const 1)))
  (func (export "again") (call_indirect (type $none) (i32.const 2)))))";

TEST(GuestProfiler, HostFunctionsHaveNamesHoweverTheyAreCalled) {
  auto engine = Engine::create();
  ASSERT_TRUE(engine);
  auto module = Module::from_text(*engine, kCallers);
  ASSERT_TRUE(module) << module.error().message();
  auto profiler = GuestProfiler::start(wall_clock());
  ASSERT_TRUE(profiler) << profiler.error().message();
  {
    Store store(*engine);
    Linker linker(*engine);
    std::unique_ptr<Instance> self;
    bool inner = false;
    for (const char* name : {"direct", "ref", "tail"})
      ASSERT_TRUE(linker.define_func("env", name, [] { busy_for(20); }));
    ASSERT_TRUE(linker.define_func("env", "table", [&] {
      // What is called within does not change what runs here.
      inner = true;
      static_cast<void>((*self->typed<void()>("again"))());
      inner = false;
      busy_for(20);
    }));
    const Func unnamed =
        Func::create(store, FuncType({}, {}),
                     [&](Caller&, std::span<const Val>, std::span<Val>) -> Result<void> {
                       busy_for(inner ? 10 : 20);
                       return {};
                     });
    ASSERT_TRUE(linker.define("env", "unnamed", unnamed));
    auto instance = linker.instantiate(store, *module);
    ASSERT_TRUE(instance) << instance.error().message();
    self = std::make_unique<Instance>(*instance);
    ASSERT_TRUE((*instance->typed<void()>("run"))());
    // Store, linker and functions go before the samples are asked for.
  }
  const GuestProfile profile = profiler->stop();
  const auto self = self_of(profile);
  for (const char* name : {"env.direct [host]", "env.table [host]", "env.ref [host]",
                           "env.tail [host]", "host () -> () [host]"}) {
    const auto at = self.find(name);
    EXPECT_TRUE(at != self.end() && at->second > 5) << name << "\n"
                                                    << profile.to_string(ProfileFormat::Collapsed);
  }
  EXPECT_EQ(self.count("host [host]"), 0U);
}

TEST(GuestProfiler, WaitingIsSeenAndLeftAlone) {
  auto engine = Engine::create();
  ASSERT_TRUE(engine);
  auto module = Module::from_text(*engine, R"((module
    (import "env" "wait" (func $wait)) (func (export "run") (call $wait))))");
  ASSERT_TRUE(module);
  Store store(*engine);
  Linker linker(*engine);
  int interrupted = 0;
  ASSERT_TRUE(linker.define_func("env", "wait", [&] {
    const double end = now_ms() + 300;
    for (double left = 300; left > 0; left = end - now_ms()) {
      if (::poll(nullptr, 0, static_cast<int>(left) + 1) < 0 && errno == EINTR) ++interrupted;
    }
  }));
  auto instance = linker.instantiate(store, *module);
  ASSERT_TRUE(instance);
  auto profiler = GuestProfiler::start(wall_clock());
  ASSERT_TRUE(profiler);
  ASSERT_TRUE((*instance->typed<void()>("run"))());
  const GuestProfile profile = profiler->stop();
  const auto self = self_of(profile);
  ASSERT_EQ(self.count("env.wait [host]"), 1U);
  // One each millisecond; the machine may have other things to do.
  EXPECT_GT(self.at("env.wait [host]"), 50U);
  EXPECT_LE(self.at("env.wait [host]"), 320U);
  // Where the system does not say that a thread waits, it is interrupted each time.
  if (::access("/proc/self/syscall", R_OK) == 0) {
    EXPECT_LE(interrupted, 10);
  }
}

std::string spinning_module(int number) {
  const std::string name = std::to_string(number);
  return "(module (import \"env\" \"host\" (func $host)) (table 1 funcref) (elem (i32.const 0) "
         "func $host)\n"
         "(func $spin_" +
         name +
         " (param i32) (result i32) (local i32)\n"
         "(loop (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const 1664525)) (local.get 0)))\n"
         "(br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))) (local.get 1))\n"
         "(func $run_" +
         name +
         " (export \"run\") (result i32) (call_indirect (i32.const 0))\n"
         "(i32.add (call $spin_" +
         name + " (i32.const 100000)) (i32.const 1))))";
}

bool run_one(const Engine& engine, int number) {
  auto module = Module::from_text(engine, spinning_module(number));
  if (!module) return false;
  Store store(engine);
  Linker linker(engine);
  if (!linker.define_func("env", "host", [] { busy_for(0.05); })) return false;
  auto instance = linker.instantiate(store, *module);
  if (!instance) return false;
  auto call = instance->typed<std::int32_t()>("run");
  return call && (*call)().has_value();
}

// A profiler that comes and goes, while threads run guests, and threads, modules, stores and host
// functions end.
TEST(GuestProfiler, StartsAndStopsWhileEverythingComesAndGoes) {
  auto engine = Engine::create();
  ASSERT_TRUE(engine);
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int n = 0; n < 2; ++n) {
    threads.emplace_back([&, n] {
      for (int i = n; !stop.load(); i += 4) failures += run_one(*engine, i % 50) ? 0 : 1;
    });
  }
  for (int n = 2; n < 4; ++n) {
    threads.emplace_back([&, n] {
      for (int i = n; !stop.load(); i += 4)
        std::thread([&] { failures += run_one(*engine, i % 50) ? 0 : 1; }).join();
    });
  }
  std::uint64_t samples = 0;
  const double end = now_ms() + 2000;
  for (int round = 0; now_ms() < end; ++round) {
    ProfilerOptions options = wall_clock(100'000);
    if (round % 2 == 1) options.clock = ProfilerOptions::Clock::Cpu;
    auto profiler = GuestProfiler::start(options);
    ASSERT_TRUE(profiler) << profiler.error().message();
    if (round % 3 != 0) std::this_thread::sleep_for(std::chrono::milliseconds(round % 20));
    const GuestProfile profile = profiler->stop();
    samples += profile.samples();
    for (const HotSpot& spot : profile.functions()) {
      const std::string& name = spot.function;
      EXPECT_TRUE(name.starts_with("spin_") || name.starts_with("run_") ||
                  name.find("trampoline") != std::string::npos || name == "env.host [host]" ||
                  name == "...")
          << name;
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GT(samples, 100U);
}

// The child of a fork is not profiled, and can start a profiler of its own.
TEST(GuestProfiler, ForkWhileItRuns) {
  auto engine = Engine::create();
  ASSERT_TRUE(engine);
  ASSERT_TRUE(run_one(*engine, 1));
  auto profiler = GuestProfiler::start(wall_clock(100'000));
  ASSERT_TRUE(profiler);
  for (int i = 0; i < 10; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);
      bool fine = run_one(*engine, i);
      fine = fine && profiler->stop().samples() == 0;
      auto own = GuestProfiler::start(wall_clock(100'000));
      for (int k = 0; k < 20; ++k) fine = fine && run_one(*engine, k);
      fine = fine && own && own->stop().samples() > 0;
      ::_exit(fine ? 0 : 1);
    }
    EXPECT_TRUE(run_one(*engine, i));
    int status = -1;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_GT(profiler->stop().samples(), 0U);
}

}  // namespace
}  // namespace hoist
