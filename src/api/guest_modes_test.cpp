// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hoist as a guest of its process: modes without signals, other handlers, floating-point modes,
// fork, several engines.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "api/test_support.hpp"
#include "platform/float_mode.hpp"

namespace hoist::api {
namespace {

constexpr const char* kTraps = R"((module $m
  (memory 1) (table $t 3 funcref) (elem (i32.const 0) $takes_f32) (type $v (func))
  (func $takes_f32 (param f32))
  (func $unreachable (export "unreachable") (unreachable))
  (func $div (export "div") (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
  (func $udiv (export "udiv") (param i32 i32) (result i32) (i32.div_u (local.get 0) (local.get 1)))
  (func $rem (export "rem") (param i32 i32) (result i32) (i32.rem_s (local.get 0) (local.get 1)))
  (func $div64 (export "div64") (param i64 i64) (result i64) (i64.div_s (local.get 0) (local.get 1)))
  (func $trunc (export "trunc") (param f64) (result i32) (i32.trunc_f64_s (local.get 0)))
  (func $load (export "load") (param i32) (result i32) (i32.load offset=4 (local.get 0)))
  (func $far (export "far") (param i32) (result i32) (i32.load offset=0xffffffff (local.get 0)))
  (func $store (export "store") (param i32) (i64.store (local.get 0) (i64.const 1)))
  (func $indirect (export "indirect") (param i32) (call_indirect (type $v) (local.get 0)))
  (func $deep (export "deep") (result i32) (i32.add (call $deep) (i32.const 1)))
  (func $many (export "many") (param f64 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (local i32)
    (local.set 11 (call $div (local.get 1) (local.get 2)))
    (i32.add (i32.div_s (i32.add (local.get 10) (i32.add (local.get 9) (local.get 8)))
                        (i32.sub (local.get 3) (local.get 3)))
             (i32.add (local.get 11) (i32.add (local.get 4) (local.get 5)))))))";

/// What a trap says, for comparison between modes: code and offsets of the frames.
std::string trap_text(const Result<std::vector<Val>>& result) {
  if (result) return "no trap";
  const Trap* trap = Trap::of(result.error());
  return trap == nullptr ? result.error().message() : trap->to_string();
}

std::vector<std::string> all_traps(const Engine& engine) {
  const Guest guest(kTraps, engine);
  std::vector<std::string> out;
  const auto add = [&](const char* name, std::initializer_list<Val> args) {
    out.push_back(trap_text(guest.call(name, args)));
  };
  add("unreachable", {});
  add("div", {1, 0});
  add("div", {INT32_MIN, -1});
  add("udiv", {1, 0});
  add("rem", {1, 0});
  add("rem", {INT32_MIN, -1});
  add("div64", {std::int64_t{1}, std::int64_t{0}});
  add("div64", {INT64_MIN, std::int64_t{-1}});
  add("trunc", {1e10});
  add("trunc", {std::numeric_limits<double>::quiet_NaN()});
  add("load", {65529});
  add("load", {65528});
  add("load", {-1});
  add("far", {0});
  add("far", {-1});
  add("store", {65529});
  add("store", {65528});
  add("indirect", {0});
  add("indirect", {1});
  add("indirect", {3});
  add("many", {1.0, 8, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  // Frames differ in size between the modes: only that it ends in the same way.
  out.push_back(std::to_string(guest.call("deep").error().code()));
  add("div", {1, 0});
  return out;
}

TEST(Modes, TrapsAreTheSame) {
  for (const OptLevel level : {OptLevel::None, OptLevel::Speed, OptLevel::Full}) {
    Config config;
    config.opt_level = level;
    config.verify_ir = config.check_allocation = true;
    const std::vector<std::string> expected = all_traps(must(Engine::create(config)));
    EXPECT_NE(expected[0].find("m!unreachable @ 0x"), std::string::npos) << expected[0];
    config.explicit_bounds_checks = true;
    EXPECT_EQ(all_traps(must(Engine::create(config))), expected);
    config.signals = false;
    EXPECT_EQ(all_traps(must(Engine::create(config))), expected);
    config.fuel = config.epoch = true;
    const Engine metered = must(Engine::create(config));
    Store store(metered);
    const Instance guest = must(Instance::create(store, compile(kTraps, metered)));
    must(store.set_fuel(1000));
    EXPECT_EQ(trap_text(must(guest.func("div")).call({1, 0})), expected[1]);
  }
}

TEST(Modes, MemoriesWithoutReservationMove) {
  Config config;
  config.explicit_bounds_checks = true;
  const Engine engine = must(Engine::create(config));
  Store store(engine);
  const Instance owner = must(Instance::create(store, compile(R"((module (memory (export "m") 1)
    (data (i32.const 65530) "hello")
    (func (export "grow") (param i32) (result i32) (drop (memory.grow (local.get 0)))
      (i32.load8_u (i32.const 65530)))))",
                                                              engine)));
  const Memory memory = must(owner.memory("m"));
  const Extern imports[] = {memory};
  const Instance user = must(Instance::create(store,
                                              compile(R"((module (import "o" "m" (memory 1))
    (func (export "get") (param i32) (result i32) (i32.load8_u (local.get 0)))
    (func (export "set") (param i32) (i32.store8 (local.get 0) (i32.const 7)))))",
                                                      engine),
                                              imports));
  const std::uint8_t* before = memory.data().data();
  for (const std::int32_t pages : {1, 5, 100, 1000}) {
    EXPECT_EQ(must(must(owner.func("grow")).call({pages}))[0].i32(), 'h');
    const auto last = static_cast<std::int32_t>(memory.size_bytes() - 1);
    must(must(user.func("set")).call({last}));
    EXPECT_EQ(must(must(user.func("get")).call({last}))[0].i32(), 7);
    EXPECT_FALSE(must(user.func("get")).call({last + 1}));
    EXPECT_EQ(must(must(user.func("get")).call({65531}))[0].i32(), 'e');
  }
  EXPECT_NE(memory.data().data(), before);
}

/// In a child, since handlers stay for good.
int in_child(int (*run)()) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

const void* handler_of(int signal) {
  struct sigaction now = {};
  ::sigaction(signal, nullptr, &now);
  return (now.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<const void*>(now.sa_sigaction)
                                          : reinterpret_cast<const void*>(now.sa_handler);
}

TEST(Modes, WithoutSignalsNoHandlerIsInstalled) {
  constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  const void* before[4] = {};
  for (int i = 0; i < 4; ++i) before[i] = handler_of(kSignals[i]);
  Config config;
  config.signals = false;
  const Engine engine = must(Engine::create(config));
  static_cast<void>(all_traps(engine));
  for (int i = 0; i < 4; ++i) {
    // Unless an engine of another test was there first: then nothing has changed either.
    EXPECT_EQ(handler_of(kSignals[i]), before[i]);
  }
  stack_t stack = {};
  ::sigaltstack(nullptr, &stack);
}

TEST(Modes, LargeArgumentListsCheckTheStack) {
  // The exit trampoline of so many arguments has a check of its own.
  std::string params;
  for (int i = 0; i < 80; ++i) params += " i64";
  const std::string text = "(module $m (type $t (func (param" + params +
                           "))) (import \"h\" \"f\" (func $f (type $t)))"
                           "(func (export \"run\") " +
                           [] {
                             std::string out;
                             for (int i = 0; i < 80; ++i)
                               out += "(i64.const " + std::to_string(i) + ")";
                             return out;
                           }() +
                           "(call $f)))";
  Config config;
  config.signals = false;
  const Engine engine = must(Engine::create(config));
  Store store(engine);
  const Func host =
      Func::create(store, FuncType(std::vector<ValType>(80, ValType(ValKind::I64)), {}),
                   [](Caller&, std::span<const Val> args, std::span<Val>) -> Result<void> {
                     EXPECT_EQ(args[79].i64(), 79);
                     return {};
                   });
  const Extern imports[] = {host};
  const Instance guest = must(Instance::create(store, compile(text, engine), imports));
  must(must(guest.func("run")).call({}));
}

// ---- Floating-point modes.

constexpr const char* kFloats = R"((module (import "h" "f" (func $f))
  (func (export "third") (result f64) (f64.div (f64.const 1) (f64.const 3)))
  (func (export "after") (result f64) (call $f) (f64.div (f64.const 1) (f64.const 3)))
  (func (export "tiny") (param f64) (result f64) (f64.mul (local.get 0) (f64.const 0.5)))
  (func (export "trap") unreachable)))";

TEST(FloatMode, OddModesOfTheHostDoNotMatter) {
#if defined(__x86_64__)
  constexpr std::uint32_t kOddModes[] = {0x1f80 | 0x8040,   // flush to zero, denormals are zero
                                         0x1f80 | 0x4000,   // round up
                                         0x1f80 | 0x6000,   // towards zero
                                         0x0000 | 0x0020};  // all exceptions unmasked
#else
  constexpr std::uint32_t kOddModes[] = {1u << 24, 1u << 22, 3u << 22};
#endif
  Store store(test_engine());
  static std::uint32_t odd = 0;
  const Func host = Func::wrap(store, [] { platform::set_float_mode(odd); });
  const Extern imports[] = {host};
  const Instance guest = must(Instance::create(store, compile(kFloats), imports));
  const std::uint32_t normal = platform::float_mode();
  constexpr double kThird = 1.0 / 3.0;
  for (const std::uint32_t mode : kOddModes) {
    odd = mode;
    const Func third = must(guest.func("third"));
    const Func after = must(guest.func("after"));
    const Func tiny = must(guest.func("tiny"));
    const Func trap = must(guest.func("trap"));
    Val result[1];
    const Val smallest[] = {Val(std::numeric_limits<double>::min())};
    platform::set_float_mode(mode);
    const bool fine = third.call({}, result).has_value();
    const std::uint32_t kept = platform::float_mode();
    const bool fine_after = after.call({}, std::span(result)).has_value();
    const bool trapped = !trap.call({}, {}).has_value();
    const std::uint32_t kept_too = platform::float_mode();
    Val product[1];
    const bool fine_tiny = tiny.call(smallest, product).has_value();
    platform::set_float_mode(normal);
    EXPECT_TRUE(fine && fine_after && trapped && fine_tiny);
    EXPECT_EQ(kept, mode);
    EXPECT_EQ(kept_too & platform::kFloatModeBits, mode & platform::kFloatModeBits);
    EXPECT_EQ(result[0].f64(), kThird);
    EXPECT_EQ(product[0].f64(), std::numeric_limits<double>::min() / 2);
  }
}

// ---- Other handlers.

TEST(Handlers, InstalledLaterAndChainingToOurs) {
  static int seen = 0;
  static struct sigaction ours;
  static_cast<void>(test_engine());  // installs ours
  struct sigaction later = {};
  later.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  later.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
    ++seen;
    ours.sa_sigaction(signal, info, context);
  };
  ::sigaction(SIGSEGV, &later, &ours);
  const Guest guest(kTraps);
  EXPECT_TRAP(guest.call("load", {-1}), TrapCode::MemoryOutOfBounds, "m!load");
  EXPECT_TRAP(guest.call("load", {-1}), TrapCode::MemoryOutOfBounds, "m!load");
  ::sigaction(SIGSEGV, &ours, nullptr);
  EXPECT_EQ(seen, 2);
}

// ---- Fork and several engines.

int use_everything() {
  Config config;
  config.threads = 2;
  const Engine engine = must(Engine::create(config));
  for (const Engine& each : {test_engine(), engine}) {
    const Guest guest(kTraps, each);
    if (guest.call("load", {-1}).has_value()) return 1;
    if (guest.call("div", {6, 3}).value()[0].i32() != 2) return 2;
  }
  return 0;
}

TEST(Fork, ChildGoesOn) {
  const Guest guest(kTraps);
  EXPECT_TRAP(guest.call("load", {-1}), TrapCode::MemoryOutOfBounds, "m!load");
  EXPECT_EQ(in_child([] { return use_everything(); }), 0);
  // While other threads load and unload code and trap.
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const Engine engine = must(Engine::create());
        const Guest busy(kTraps, engine);
        static_cast<void>(busy.call("load", {-1}));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([] {
                ::alarm(20);
                return use_everything();
              }),
              0);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(Engines, OfSeveralSettingsSideBySide) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (unsigned i = 0; i < 6; ++i) {
        Config config;
        config.signals = (t + i) % 2 == 0;
        config.epoch = (t + i) % 3 == 0;
        config.opt_level = static_cast<OptLevel>(i % 3);
        const Engine engine = must(Engine::create(config));
        const Guest guest(kTraps, engine);
        EXPECT_TRAP(guest.call("load", {-1}), TrapCode::MemoryOutOfBounds, "m!load");
        EXPECT_TRAP(guest.call("div", {1, 0}), TrapCode::IntegerDivideByZero, "m!div");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hoist::api
