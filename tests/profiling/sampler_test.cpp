// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sampler: right at every single instruction; with code that goes and comes; with several
// threads.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hoist/hoist.hpp"
#include "jit/code_registry.hpp"
#include "jit/stack_sample.hpp"
#include "profiling/sampler/resolver.hpp"

namespace hoist {
namespace {

// ---- Single steps (x86-64's trap flag): the handler takes a sample at each instruction.

struct Steps {
  std::vector<std::uint64_t> words;  // all samples, each after its length
  std::vector<std::uint64_t> one;
  std::uint64_t in_code = 0;
};
Steps* steps = nullptr;

void on_step(int, siginfo_t*, void* context) {
  const platform::MachineRegisters at = platform::read_context(context);
  {
    const jit::CodeLookup lookup;
    // In host code the heap may be locked.
    if (lookup.find(at.pc) == nullptr) return;
  }
  steps->one.clear();
  if (!jit::sample_stack(at, [](std::uint64_t word) { steps->one.push_back(word); })) return;
  steps->words.push_back(steps->one.size());
  steps->words.insert(steps->words.end(), steps->one.begin(), steps->one.end());
  ++steps->in_code;
}

#if defined(__x86_64__)
/// Below the red zone.
void set_trap_flag(bool on) {
  if (on) {
    __asm__ volatile(
        "leaq -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n leaq 128(%%rsp), %%rsp" ::
            : "memory", "cc");
  } else {
    __asm__ volatile(
        "leaq -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n leaq 128(%%rsp), "
        "%%rsp" ::
            : "memory", "cc");
  }
}

/// Every stack that occurs, outermost first, with how often.
std::map<std::string, int> stacks_of(const Steps& taken) {
  profiling::Profile profile;
  profiling::Resolver resolver(profile);
  std::map<std::string, int> out;
  for (std::size_t at = 0; at < taken.words.size();) {
    const std::size_t length = taken.words[at++];
    std::uint32_t node = resolver.add({&taken.words[at], length});
    at += length;
    std::string stack;
    for (; node != profiling::Profile::kNone; node = profile.nodes[node].parent) {
      const profiling::ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
      stack = profiling::frame_label(frame, false) + (stack.empty() ? "" : ";") + stack;
    }
    ++out[stack];
  }
  return out;
}

void check_steps(OptLevel level) {
  Config config;
  config.opt_level = level;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine);
  auto module = Module::from_text(*engine, R"((module
    (type $back (func (param i32)))
    (import "env" "back" (func $back (type $back)))
    (import "env" "through" (func $through (type $back)))
    (table 1 funcref)
    (elem (i32.const 0) func $through)
    (memory 1)
    (func $leaf (param i32) (result i32) (i32.mul (local.get 0) (i32.const 77)))
    (func $many (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
      (i32.add (call $leaf (local.get 15)) (local.get 14)))
    (func $tail (param i32) (result i32) (return_call $leaf (local.get 0)))
    (func $c (param i32) (result i32)
      (i32.add (call $leaf (local.get 0)) (call $tail (i32.const 3))))
    (func $b (param i32) (result i32) (local i32 i32 i32)
      (local.set 1 (call $c (local.get 0)))
      (local.set 2 (call $c (i32.const 9)))
      (local.set 3 (call $many (local.get 0) (i32.const 1) (i32.const 2) (i32.const 3) (i32.const 4)
        (i32.const 5) (i32.const 6) (i32.const 7) (i32.const 8) (i32.const 9) (i32.const 10) (i32.const 11)
        (i32.const 12) (i32.const 13) (i32.const 14) (local.get 1)))
      (drop (memory.grow (i32.const 0)))
      (call $back (local.get 0))
      (call_indirect (type $back) (local.get 0) (i32.const 0))
      (drop (memory.grow (i32.const 0)))
      (i32.add (local.get 0) (i32.add (local.get 1) (i32.add (local.get 2) (local.get 3)))))
    (func $inner (export "inner") (result i32) (call $leaf (i32.const 5)))
    (func $a (export "a") (param i32) (result i32) (i32.add (call $b (local.get 0)) (i32.const 1)))))");
  ASSERT_TRUE(module) << module.error().message();
  Store store(*engine);
  Linker linker(*engine);
  Instance* self = nullptr;
  ASSERT_TRUE(linker.define_func("env", "back", [&](std::int32_t) {
    static_cast<void>((*self->typed<std::int32_t()>("inner"))());
  }));
  ASSERT_TRUE(linker.define_func("env", "through", [&](std::int32_t) {
    static_cast<void>((*self->typed<std::int32_t()>("inner"))());
  }));
  auto instance = linker.instantiate(store, *module);
  ASSERT_TRUE(instance);
  self = &*instance;
  auto call = instance->typed<std::int32_t(std::int32_t)>("a");
  ASSERT_TRUE(call);
  ASSERT_TRUE((*call)(1));

  Steps taken;
  taken.words.reserve(1 << 20);
  taken.one.reserve(1 << 12);
  steps = &taken;
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(::sigaction(SIGTRAP, &action, &before), 0);
  set_trap_flag(true);
  const auto result = (*call)(1);
  set_trap_flag(false);
  ::sigaction(SIGTRAP, &before, nullptr);
  ASSERT_TRUE(result);
  EXPECT_GT(taken.in_code, 100U);

  const std::map<std::string, int> stacks = stacks_of(taken);
  const auto entry = [](const std::string& type) { return "entry trampoline " + type; };
  const std::string nested = "a;b;env.back [host];";
  const std::string through = "a;b;env.through [host];";
  const std::vector<std::string> good = {entry("[i32] -> [i32]"),
                                         "a",
                                         "a;b",
                                         "a;b;c",
                                         "a;b;c;leaf",
                                         "a;b;c;tail",
                                         "a;b;many",
                                         "a;b;many;leaf",
                                         "a;b;builtin trampoline memory_grow",
                                         "a;b;exit trampoline [i32] -> []",
                                         nested + entry("[] -> [i32]"),
                                         nested + "inner",
                                         nested + "inner;leaf",
                                         through + entry("[] -> [i32]"),
                                         through + "inner",
                                         through + "inner;leaf"};
  for (const auto& [stack, count] : stacks) {
    EXPECT_TRUE(std::find(good.begin(), good.end(), stack) != good.end())
        << "level " << static_cast<int>(level) << ": " << stack << " at " << count
        << " instructions";
  }
  if (level == OptLevel::None) {
    for (const std::string& stack : good) EXPECT_EQ(stacks.count(stack), 1U) << stack;
  }
}

TEST(StackSample, RightAtEveryInstruction) {
  for (const OptLevel level : {OptLevel::None, OptLevel::Full}) check_steps(level);
}
#endif

// ---- Over time.

struct Stack {
  std::vector<std::string> frames;
  std::uint64_t weight = 0;
};

std::vector<Stack> stacks_in(const GuestProfile& profile) {
  std::vector<Stack> out;
  std::istringstream in(profile.to_string(ProfileFormat::Collapsed));
  for (std::string line; std::getline(in, line);) {
    const std::size_t space = line.rfind(' ');
    Stack& stack = out.emplace_back();
    stack.weight = std::stoull(line.substr(space + 1));
    std::istringstream names(line.substr(0, space));
    for (std::string name; std::getline(names, name, ';');) stack.frames.push_back(name);
  }
  return out;
}

std::string spinning_module(const std::string& name, int turns) {
  return "(module (func $spin_" + name +
         " (param i32) (result i32) (local i32)\n"
         "(loop (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const 1664525)) (local.get 0)))\n"
         "(br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))) (local.get 1))\n"
         "(func $run_" +
         name + " (export \"run\") (result i32) (i32.add (call $spin_" + name + " (i32.const " +
         std::to_string(turns) + ")) (i32.const 1))))";
}

Result<void> run_once(const Engine& engine, const std::string& text) {
  auto module = Module::from_text(engine, text);
  if (!module) return std::move(module).error();
  Store store(engine);
  auto instance = Linker(engine).instantiate(store, *module);
  if (!instance) return std::move(instance).error();
  auto call = instance->typed<std::int32_t()>("run");
  if (!call) return std::move(call).error();
  auto result = (*call)();
  if (!result) return std::move(result).error();
  return {};
}

class Addresses final : public CodeListener {
 public:
  void on_load(const LoadedCode& code) noexcept override { ++loads[code.address()]; }
  void on_unload(const LoadedCode&) noexcept override {}
  std::map<const void*, int> loads;
};

TEST(GuestProfiler, CodeThatGoesAndComesKeepsItsNames) {
  const auto addresses = std::make_shared<Addresses>();
  Config config;
  config.code_listener = addresses;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine);
  ProfilerOptions options;
  options.clock = ProfilerOptions::Clock::Wall;
  options.interval_ns = 200'000;
  auto profiler = GuestProfiler::start(options);
  ASSERT_TRUE(profiler) << profiler.error().message();
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(run_once(*engine, spinning_module(std::to_string(i), 3'000'000)));
  }
  const GuestProfile profile = profiler->stop();
  int reused = 0;
  for (const auto& [address, count] : addresses->loads) reused += count > 1;
  EXPECT_GT(reused, 0) << "no address was used twice: the test says nothing";
  std::map<std::string, std::uint64_t> by_module;
  for (const Stack& stack : stacks_in(profile)) {
    std::string module;
    for (const std::string& frame : stack.frames) {
      if (frame.find("trampoline") != std::string::npos) continue;
      const std::string number = frame.substr(frame.find('_') + 1);
      EXPECT_TRUE(module.empty() || module == number) << "a stack of two modules: " << frame;
      module = number;
    }
    by_module[module] += stack.weight;
  }
  EXPECT_GT(by_module.size(), 40U);
  // Each ran for as long as the others: none has collected another's samples.
  for (const auto& [module, weight] : by_module) EXPECT_LT(weight, profile.samples() / 6) << module;
}

TEST(GuestProfiler, SeveralThreadsAndStores) {
  auto engine = Engine::create();
  ASSERT_TRUE(engine);
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  const auto work = [&](const std::string& name) {
    while (!stop.load())
      if (!run_once(*engine, spinning_module(name, 2'000'000))) ++failures;
  };
  std::thread early([&] { work("early"); });
  for (int round = 0; round < 3; ++round) {
    auto profiler = GuestProfiler::start();
    ASSERT_TRUE(profiler);
    EXPECT_FALSE(GuestProfiler::start()) << "one at a time";
    std::thread late([&] {
      for (int i = 0; i < 30; ++i)
        if (!run_once(*engine, spinning_module("late", 2'000'000))) ++failures;
    });
    late.join();
    const GuestProfile profile = profiler->stop();
    std::map<std::string, std::uint64_t> seen;
    for (const HotSpot& spot : profile.functions()) seen[spot.function] = spot.self;
    EXPECT_GT(seen["spin_early"], 0U);
    EXPECT_GT(seen["spin_late"], 0U);
    EXPECT_EQ(profile.lost(), 0U);
    EXPECT_EQ(profiler->stop().samples(), 0U);
  }
  stop = true;
  early.join();
  EXPECT_EQ(failures, 0);
}

TEST(GuestProfiler, RefusesBadIntervals) {
  ProfilerOptions options;
  options.interval_ns = 1000;
  EXPECT_FALSE(GuestProfiler::start(options));
  EXPECT_FALSE(GuestProfile::format_of("a.pdf"));
  EXPECT_EQ(GuestProfile().samples(), 0U);
  EXPECT_EQ(GuestProfile().to_string(ProfileFormat::Collapsed), "");
}

TEST(GuestProfiler, TrapsAndDeepRecursion) {
  auto engine = Engine::create();
  ASSERT_TRUE(engine);
  auto module = Module::from_text(*engine, R"((module
    (func $deep (export "deep") (param i32) (result i32)
      (if (result i32) (local.get 0)
        (then (i32.add (call $deep (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))
        (else (unreachable))))))");
  ASSERT_TRUE(module);
  Store store(*engine);
  auto instance = Linker(*engine).instantiate(store, *module);
  ASSERT_TRUE(instance);
  auto call = instance->typed<std::int32_t(std::int32_t)>("deep");
  ProfilerOptions options;
  options.clock = ProfilerOptions::Clock::Wall;
  options.interval_ns = 100'000;
  auto profiler = GuestProfiler::start(options);
  ASSERT_TRUE(profiler);
  for (int i = 0; i < 2000; ++i) EXPECT_FALSE((*call)(i * 3));
  const GuestProfile profile = profiler->stop();
  EXPECT_GT(profile.samples(), 0U);
  for (const Stack& stack : stacks_in(profile)) EXPECT_LE(stack.frames.size(), 300U);
}

}  // namespace
}  // namespace hoist
