// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/trap.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <thread>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

constexpr const char* kTraps = R"((module $m
  (memory 1)
  (table $t 3 funcref)
  (elem (i32.const 0) $takes_f32)
  (type $v (func))
  (func $takes_f32 (param f32))
  (func $unreachable (export "unreachable") (unreachable))
  (func $div (export "div") (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
  (func $rem64 (export "rem64") (param i64 i64) (result i64) (i64.rem_u (local.get 0) (local.get 1)))
  (func $trunc (export "trunc") (param f64) (result i32) (i32.trunc_f64_s (local.get 0)))
  (func $load (export "load") (param i32) (result i32) (i32.load offset=65536 (local.get 0)))
  (func $far (export "far") (param i32) (result i32) (i32.load offset=0xffffffff (local.get 0)))
  (func $store (export "store") (param i32) (i64.store (local.get 0) (i64.const 1)))
  (func $fill (export "fill") (param i32) (memory.fill (local.get 0) (i32.const 1) (i32.const 10)))
  (func $get (export "get") (param i32) (drop (table.get $t (local.get 0))))
  (func $indirect (export "indirect") (param i32) (call_indirect (type $v) (local.get 0)))
  (func $nested (export "nested") (param i32) (call $indirect (local.get 0)))))";

TEST(Trap, EachKindHasItsCodeAndPlace) {
  const Guest guest(kTraps);
  EXPECT_TRAP(guest.call("unreachable"), TrapCode::Unreachable, "m!unreachable");
  EXPECT_TRAP(guest.call("div", {1, 0}), TrapCode::IntegerDivideByZero, "m!div");
  EXPECT_TRAP(guest.call("div", {INT32_MIN, -1}), TrapCode::IntegerOverflow, "m!div");
  EXPECT_TRAP(guest.call("rem64", {std::int64_t{1}, std::int64_t{0}}),
              TrapCode::IntegerDivideByZero, "m!rem64");
  EXPECT_TRAP(guest.call("trunc", {1e10}), TrapCode::IntegerOverflow, "m!trunc");
  EXPECT_TRAP(guest.call("trunc", {std::numeric_limits<double>::quiet_NaN()}),
              TrapCode::BadConversionToInteger, "m!trunc");
  EXPECT_TRAP(guest.call("load", {0}), TrapCode::MemoryOutOfBounds, "m!load");
  EXPECT_TRAP(guest.call("load", {-1}), TrapCode::MemoryOutOfBounds, "m!load");
  EXPECT_TRAP(guest.call("far", {-1}), TrapCode::MemoryOutOfBounds, "m!far");
  EXPECT_TRAP(guest.call("store", {65529}), TrapCode::MemoryOutOfBounds, "m!store");
  EXPECT_TRAP(guest.call("fill", {65530}), TrapCode::MemoryOutOfBounds, "m!fill");
  EXPECT_TRAP(guest.call("get", {3}), TrapCode::TableOutOfBounds, "m!get");
  EXPECT_TRAP(guest.call("indirect", {3}), TrapCode::UndefinedElement, "m!indirect");
  EXPECT_TRAP(guest.call("indirect", {1}), TrapCode::UninitializedElement, "m!indirect");
  EXPECT_TRAP(guest.call("nested", {0}), TrapCode::IndirectCallTypeMismatch, "m!indirect m!nested");
  // All of that again: nothing was left behind.
  EXPECT_TRAP(guest.call("load", {0}), TrapCode::MemoryOutOfBounds, "m!load");
  EXPECT_EQ(must(guest.call("div", {7, 2}))[0].i32(), 3);
}

TEST(Trap, TextHasNamesAndOffsets) {
  const Guest guest("(module (func $inner (unreachable)) (func (export \"run\") (call $inner)))");
  const auto result = guest.call("run");
  ASSERT_FALSE(result);
  const Trap* trap = Trap::of(result.error());
  ASSERT_NE(trap, nullptr);
  ASSERT_EQ(trap->frames().size(), 2U);
  EXPECT_EQ(trap->frames()[0].function_index, 0U);
  EXPECT_EQ(trap->frames()[0].function_offset, 1U);  // behind the count of locals
  EXPECT_EQ(trap->frames()[1].function, "run");
  EXPECT_EQ(trap->to_string().substr(0, 40), "unreachable\nwasm backtrace:\n    0: inner");
  EXPECT_NE(trap->to_string().find(" @ 0x"), std::string::npos);
}

TEST(Trap, FramesOfSeveralModules) {
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define_instance("a", must(Instance::create(store, compile(R"((module $a
        (func $zero) (func $boom (export "boom") (unreachable))))")))));
  const auto b = must(linker.instantiate(store, compile(R"((module $b
    (import "a" "boom" (func $imported))
    (func $one (export "one") (call $imported))))")));
  EXPECT_TRAP(must(b.func("one")).call(), TrapCode::Unreachable, "a!boom b!one");
}

// ---- Stack overflow.

constexpr const char* kRecursion = R"((module
  (func $down (export "down") (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (i32.const 1) (call $down (i32.sub (local.get 0) (i32.const 1)))))
      (else (i32.const 0))))
  (func $a (export "a") (call $b))
  (func $b (call $a))))";

TEST(StackOverflow, IsATrapAndCanHappenAgain) {
  const Guest guest(kRecursion);
  for (int i = 0; i < 3; ++i) {
    const auto deep = guest.call("down", {100'000'000});
    ASSERT_FALSE(deep);
    EXPECT_EQ(deep.error().code(), static_cast<int>(TrapCode::StackOverflow));
    const Trap& trap = *Trap::of(deep.error());
    EXPECT_GT(trap.omitted(), 1000U);
    EXPECT_EQ(trap.frames().size(), 96U);
    EXPECT_EQ(trap.omitted_at(), 48U);
    EXPECT_NE(trap.to_string().find("frames ..."), std::string::npos);
    const auto mutual = guest.call("a");
    ASSERT_FALSE(mutual);
    EXPECT_EQ(mutual.error().code(), static_cast<int>(TrapCode::StackOverflow));
    EXPECT_EQ(must(guest.call("down", {1000}))[0].i32(), 1000);
  }
}

TEST(StackOverflow, OnThreadsWithSmallStacks) {
  for (const std::size_t bytes : {std::size_t{256} << 10, std::size_t{1} << 20}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_t thread;
    bool trapped = false;
    ASSERT_EQ(pthread_create(
                  &thread, &attributes,
                  [](void* out) -> void* {
                    const Guest guest(kRecursion);
                    for (int i = 0; i < 2; ++i) {
                      const auto deep = guest.call("down", {100'000'000});
                      *static_cast<bool*>(out) =
                          !deep && deep.error().code() == static_cast<int>(TrapCode::StackOverflow);
                    }
                    return nullptr;
                  },
                  &trapped),
              0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    EXPECT_TRUE(trapped) << bytes;
  }
}

TEST(StackOverflow, DepthFollowsTheConfiguration) {
  const auto depth_with = [](std::uint64_t bytes) {
    Config config;
    config.guest_stack_bytes = bytes;
    const Engine engine = must(Engine::create(config));
    const Guest guest(kRecursion, engine);
    std::int32_t good = 0;
    std::int32_t bad = 100'000'000;
    while (bad - good > 100) {
      const std::int32_t middle = good + (bad - good) / 2;
      (guest.call("down", {middle}) ? good : bad) = middle;
    }
    return good;
  };
  const std::int32_t small = depth_with(std::uint64_t{128} << 10);
  const std::int32_t large = depth_with(std::uint64_t{512} << 10);
  EXPECT_GT(large, small * 3);
  EXPECT_LT(large, small * 5);
  // As much as the thread has.
  EXPECT_GT(depth_with(UINT64_MAX), large);
}

TEST(StackOverflow, ThroughHostFunctionsAddsUp) {
  Store store(test_engine());
  Linker linker(test_engine());
  std::optional<Func> again;
  must(linker.define_func("h", "again", [&again]() -> Result<void> {
    auto result = again->call();
    if (!result) return std::move(result).error();
    return {};
  }));
  const auto instance = must(linker.instantiate(store, compile(R"((module
    (import "h" "again" (func $again))
    (func $f (export "f") (call $again))))")));
  again = must(instance.func("f"));
  const auto result = again->call();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), static_cast<int>(TrapCode::StackOverflow));
  EXPECT_FALSE(Trap::of(result.error())->frames().empty());
}

// ---- Errors and exceptions of host functions.

TEST(HostError, ComesOutOfTheEnteringCallWithFrames) {
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define_func(
      "h", "fail", []() -> Result<void> { return Error(ErrorKind::Host, "the disk is full"); }));
  must(linker.define_func("h", "exit", []() -> Result<void> {
    return std::move(Error(ErrorKind::Exit, "exit").with_code(3));
  }));
  must(linker.define_func("h", "trap",
                          []() -> Result<void> { return make_trap(TrapCode::Unreachable); }));
  const auto instance = must(linker.instantiate(store, compile(R"((module
    (import "h" "fail" (func $fail)) (import "h" "exit" (func $exit)) (import "h" "trap" (func $trap))
    (func $a (export "a") (call $b)) (func $b (call $fail))
    (func $e (export "e") (call $exit))
    (func $t (export "t") (call $trap))))")));
  const auto failed = must(instance.func("a")).call();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), ErrorKind::Host);
  EXPECT_EQ(failed.error().message(), "the disk is full");
  EXPECT_EQ(frame_names(failed.error()), "b a");
  EXPECT_FALSE(Trap::of(failed.error())->is_guest_trap());
  const auto exited = must(instance.func("e")).call();
  ASSERT_FALSE(exited);
  EXPECT_EQ(exited.error().kind(), ErrorKind::Exit);
  EXPECT_EQ(exited.error().code(), 3);
  EXPECT_TRAP(must(instance.func("t")).call(), TrapCode::Unreachable, "t");
}

/// guest outer -> host bounce -> guest inner
struct Nested {
  Store store{test_engine()};
  std::optional<Instance> instance;
  explicit Nested(Result<void> (*inner)()) {
    Linker linker(test_engine());
    must(linker.define_func("h", "inner", inner));
    must(linker.define_func("h", "bounce", [](Caller& caller) -> Result<void> {
      const auto func = caller.get("inner")->func();
      auto result = func->call();
      if (!result) return std::move(result).error();
      return {};
    }));
    instance = must(linker.instantiate(store, compile(R"((module
      (import "h" "inner" (func $host)) (import "h" "bounce" (func $bounce))
      (func $inner (export "inner") (call $host))
      (func $outer (export "outer") (call $bounce))))")));
  }
  Result<std::vector<Val>> run() { return must(instance->func("outer")).call(); }
};

TEST(HostError, ThroughNestedCalls) {
  Nested nested([]() -> Result<void> { return make_trap(TrapCode::IntegerOverflow); });
  EXPECT_TRAP(nested.run(), TrapCode::IntegerOverflow, "inner outer");
}

TEST(Exceptions, ComeOutOfTheEnteringCall) {
  Nested nested([]() -> Result<void> { throw std::runtime_error("from the host"); });
  for (int i = 0; i < 2; ++i) {
    bool caught = false;
    try {
      static_cast<void>(nested.run());
    } catch (const std::runtime_error& error) {
      caught = std::string(error.what()) == "from the host";
    }
    EXPECT_TRUE(caught);
  }
  // Without exceptions it is an error.
  const auto raw = must(nested.instance->func("outer")).call_raw({});
  ASSERT_FALSE(raw);
  EXPECT_EQ(raw.error().kind(), ErrorKind::Host);
  EXPECT_EQ(raw.error().message(), "a host function threw an exception: from the host");
}

TEST(Exceptions, OfAnyTypeFromTypedCallsAndStartFunctions) {
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define_func("h", "f", []() { throw 42; }));
  const auto module =
      compile(R"((module (import "h" "f" (func $f)) (func $s (call $f)) (start $s)))");
  EXPECT_THROW(static_cast<void>(linker.instantiate(store, module)), int);
  const auto quiet = must(linker.instantiate(
      store, compile(R"((module (import "h" "f" (func $f)) (func (export "g") (call $f))))")));
  const auto typed = must(quiet.typed<void()>("g"));
  EXPECT_THROW(static_cast<void>(typed()), int);
}

TEST(Trap, HostCanCatchAndGoOn) {
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define_func("h", "try", [](Caller& caller) -> std::int32_t {
    return caller.get("bad")->func()->call() ? 0 : 1;
  }));
  const auto instance = must(linker.instantiate(store, compile(R"((module
    (import "h" "try" (func $try (result i32)))
    (func (export "bad") (unreachable))
    (func $after (export "after") (result i32)
      (i32.add (call $try) (i32.add (call $try) (i32.const 40))))
    (func $then (export "then") (drop (call $try)) (unreachable))))")));
  EXPECT_EQ(must(must(instance.func("after")).call())[0].i32(), 42);
  EXPECT_TRAP(must(instance.func("then")).call(), TrapCode::Unreachable, "then");
}

TEST(Trap, CostOfNestedActivationsIsLinear) {
  // Frames of all activations appear once, in order. Sanitizers make host frames several times
  // larger.
  Config config;
  config.guest_stack_bytes = std::uint64_t{4} << 20;
  const Engine engine = must(Engine::create(config));
  Store store(engine);
  Linker linker(engine);
  must(linker.define_func("h", "again", [](Caller& caller, std::int32_t n) -> Result<void> {
    auto result = caller.get("f")->func()->call({n - 1});
    if (!result) return std::move(result).error();
    return {};
  }));
  const auto instance = must(linker.instantiate(store, must(Module::from_text(engine, R"((module
    (import "h" "again" (func $again (param i32)))
    (func $f (export "f") (param i32)
      (if (i32.eqz (local.get 0)) (then (unreachable)))
      (call $again (local.get 0)))))"))));
  const auto shallow = must(instance.func("f")).call({9});
  ASSERT_FALSE(shallow);
  EXPECT_EQ(Trap::of(shallow.error())->frames().size(), 10U);
  const auto deep = must(instance.func("f")).call({199});
  ASSERT_FALSE(deep);
  const Trap& trap = *Trap::of(deep.error());
  EXPECT_EQ(trap.frames().size() + trap.omitted(), 200U);
}

// Bytes 3 to 6 of the code section's content are line 10 of src/a.c, 7 to 12 line 12: `if` and what
// follows.
constexpr const char* kWithLines = R"((module $m
    (func $f (export "f") (param i32)
      (if (i32.eqz (local.get 0)) (then (unreachable))) (call $f (i32.const 0)))
    (@custom ".debug_line"
      "\39\00\00\00\04\00\1f\00\00\00\01\01\01\fb\0e\0d\00\01\01\01\01\00\00\00"
      "\01\00\00\01\73\72\63\00\00\61\2e\63\00\01\00\00\00\00\05\02\03\00\00\00"
      "\03\09\01\02\04\03\02\01\02\06\00\01\01")))";

TEST(Trap, FramesKnowTheirLines) {
  std::optional<Error> error;
  {
    const Engine engine = must(Engine::create());
    const Module module = must(Module::from_text(engine, kWithLines));
    Store store(engine);
    const auto instance = must(Linker(engine).instantiate(store, module));
    auto result = must(instance.func("f")).call({1});
    ASSERT_FALSE(result);
    error = std::move(result).error();
  }
  // Nobody has asked while the module was there.
  const Trap& trap = *Trap::of(*error);
  ASSERT_EQ(trap.frames().size(), 2U);
  for (const Frame& frame : trap.frames()) {
    const SourcePlace place = frame.source();
    EXPECT_EQ(place.file, "src/a.c");
    EXPECT_EQ(place.line, 12U);
  }
  EXPECT_NE(trap.to_string().find("0: m!f @ 0x"), std::string::npos);
  EXPECT_NE(trap.to_string().find(" at src/a.c:12\n"), std::string::npos);
}

TEST(Trap, FramesWithoutLines) {
  const Guest guest(kTraps);
  const auto result = guest.call("unreachable");
  ASSERT_FALSE(result);
  const Frame& frame = Trap::of(result.error())->frames()[0];
  EXPECT_EQ(frame.source().file, "");
  EXPECT_EQ(frame.source().line, 0U);
  EXPECT_EQ(Frame().source().line, 0U);
}

TEST(Trap, BacktraceWithoutATrap) {
  Store store(test_engine());
  Linker linker(test_engine());
  std::string seen;
  must(linker.define_func("h", "look", [&seen](Caller& caller) {
    for (const Frame& frame : caller.backtrace().frames()) seen += frame.function + " ";
  }));
  must(linker.define_func("h", "bounce", [](Caller& caller) -> Result<void> {
    auto result = caller.get("inner")->func()->call();
    if (!result) return std::move(result).error();
    return {};
  }));
  const auto instance = must(linker.instantiate(store, compile(R"((module
    (import "h" "look" (func $look)) (import "h" "bounce" (func $bounce))
    (func $inner (export "inner") (call $look))
    (func $outer (export "outer") (call $bounce))))")));
  must(must(instance.func("outer")).call());
  EXPECT_EQ(seen, "inner outer ");
}

// ---- Signals.

/// In a fresh process, so that the handler below is there before Hoist's.
void run_with_handler_before(Result<void> (*host)()) {
  struct sigaction action = {};
  action.sa_handler = [](int) { ::_exit(17); };
  for (const int signal : {SIGSEGV, SIGFPE}) ::sigaction(signal, &action, nullptr);
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define_func("h", "f", host));
  const auto instance = must(linker.instantiate(store, compile(R"((module
    (import "h" "f" (func $f))
    (func (export "trap") (unreachable))
    (func (export "f") (call $f))))")));
  if (must(instance.func("trap")).call()) std::exit(1);
  static_cast<void>(must(instance.func("f")).call());
  std::exit(0);
}

TEST(SignalsDeathTest, FaultsInHostFunctionsGoToTheHandlerBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_with_handler_before([]() -> Result<void> {
                volatile int* volatile nowhere = nullptr;
                *nowhere = 1;
                return {};
              }),
              testing::ExitedWithCode(17), "");
}

TEST(SignalsDeathTest, SignalsThatWereSentGoToTheHandlerBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_with_handler_before([]() -> Result<void> {
                ::raise(SIGFPE);
                return {};
              }),
              testing::ExitedWithCode(17), "");
}

TEST(Threads, StoresInParallel) {
  const auto module = compile(kTraps);
  const auto work = [&module](bool* good) {
    for (int i = 0; i < 50; ++i) {
      Store store(test_engine());
      const auto instance = must(Instance::create(store, module));
      const auto out = must(instance.func("load")).call({0});
      const auto fine = must(instance.func("div")).call({i, 1});
      if (out || !fine || (*fine)[0].i32() != i) return;
    }
    *good = true;
  };
  bool good[4] = {};
  std::thread threads[] = {std::thread(work, &good[0]), std::thread(work, &good[1]),
                           std::thread(work, &good[2]), std::thread(work, &good[3])};
  for (std::thread& thread : threads) thread.join();
  for (const bool one : good) EXPECT_TRUE(one);
}

TEST(Threads, AStoreMayMove) {
  Guest guest(kRecursion);
  std::thread([&] {
    const auto deep = guest.call("down", {100'000'000});
    EXPECT_FALSE(deep);
    EXPECT_EQ(must(guest.call("down", {10}))[0].i32(), 10);
  }).join();
  EXPECT_EQ(must(guest.call("down", {5000}))[0].i32(), 5000);
}

}  // namespace
}  // namespace hoist::api
