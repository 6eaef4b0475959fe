// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/exception.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

Exception thrown_by(const Result<std::vector<Val>>& result) {
  if (result || !Exception::of(result.error())) {
    ADD_FAILURE() << (result ? "no error" : result.error().message());
    std::abort();
  }
  return *Exception::of(result.error());
}

TEST(Exceptions, UncaughtOnesAreValues) {
  const Guest guest(R"((module $m
    (tag $oops (export "oops") (param i32 i64 f32 f64 funcref))
    (func $deep (throw $oops (i32.const 7) (i64.const -8) (f32.const 0.5) (f64.const 1.5) (ref.func $deep)))
    (elem declare func $deep)
    (func $middle (call $deep))
    (func (export "run") (call $middle))
    (func (export "trap") (unreachable))))");
  const auto result = guest.call("run");
  const Exception thrown = thrown_by(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::Exception);
  EXPECT_EQ(result.error().message().substr(0, 56),
            "uncaught exception: oops (i32:7, i64:-8, f32:0.5, f64:1.");
  EXPECT_EQ(frame_names(result.error()), "m!deep m!middle m!run");
  EXPECT_FALSE(thrown.trace().is_guest_trap());
  const std::vector<Val> payload = thrown.payload();
  ASSERT_EQ(payload.size(), 5U);
  EXPECT_EQ(payload[0].i32(), 7);
  EXPECT_EQ(payload[1].i64(), -8);
  EXPECT_EQ(payload[2].f32(), 0.5F);
  EXPECT_EQ(payload[3].f64(), 1.5);
  EXPECT_EQ(payload[4].funcref()->name(), "deep");
  EXPECT_EQ(thrown.tag(), *guest.instance.get("oops")->tag());
  EXPECT_EQ(thrown.tag().name(), "oops");
  EXPECT_EQ(to_string(thrown.tag().type()), "(i32, i64, f32, f64, funcref) -> ()");
  EXPECT_EQ(guest.instance.get("oops")->type().tag, thrown.tag().type());
  EXPECT_FALSE(Exception::of(guest.call("trap").error()));
}

/// A host function `env.call` that calls the table's first function and passes the error on, after
/// `look` has seen it; a guest that goes through it.
struct ThroughHost {
  Store store{test_engine()};
  Linker linker{test_engine()};
  Tag tag = must(Tag::create(store, {ValKind::I32}));
  int calls = 0;
  ErrorKind seen = ErrorKind::Internal;
  std::optional<Instance> instance;

  explicit ThroughHost(std::string_view text) {
    must(linker.define("env", "tag", tag));
    must(linker.define_func("env", "call", [this](std::optional<Func> callee) -> Result<void> {
      ++calls;
      auto done = callee->call();
      if (done) return {};
      seen = done.error().kind();
      return std::move(done).error();
    }));
    must(linker.define_func("env", "throw", [this](std::int32_t value) -> Result<void> {
      const Val payload[] = {value};
      return must(Exception::create(tag, payload)).error();
    }));
    must(linker.define_func("env", "fail",
                            []() -> Result<void> { return Error(ErrorKind::Host, "failed"); }));
    instance = must(linker.instantiate(store, compile(text)));
  }
  Result<std::vector<Val>> call(std::string_view name) const {
    return must(instance->func(name)).call();
  }
};

constexpr std::string_view kThroughHost = R"((module $m
  (import "env" "tag" (tag $t (param i32)))
  (import "env" "call" (func $call (param funcref)))
  (import "env" "throw" (func $throw (param i32)))
  (import "env" "fail" (func $fail))
  (tag $own)
  (elem declare func $inner $deeper $fails $traps)
  (func $inner (throw $t (i32.const 5)))
  (func $deeper (call $call (ref.func $inner)))
  (func $fails (call $fail))
  (func $traps (unreachable))
  (func $catch (export "catch") (result i32)
    (block $h (result i32)
      (try_table (catch $t $h) (call $call (ref.func $inner))) (i32.const 1)))
  (func (export "catch_deep") (result i32) (local $e exnref)
    (block $h (result i32 exnref)
      (try_table (catch_ref $t $h) (call $call (ref.func $deeper))) (unreachable))
    (local.set $e)
    (drop)
    (block $h (result i32) (try_table (catch $t $h) (throw_ref (local.get $e))) (unreachable)))
  (func (export "host_throws") (result i32)
    (block $h (result i32) (try_table (catch $t $h) (call $throw (i32.const 9))) (unreachable)))
  (func (export "host_throws_uncaught") (call $throw (i32.const 11)))
  (func (export "pass") (call $call (ref.func $deeper)))
  (func (export "host_error") (block $h (try_table (catch_all $h) (call $call (ref.func $fails)))))
  (func (export "trap") (block $h (try_table (catch_all $h) (call $call (ref.func $traps)))))))";

TEST(Exceptions, PassThroughHostFunctions) {
  const ThroughHost guest(kThroughHost);
  EXPECT_EQ(must(guest.call("catch"))[0].i32(), 5);
  EXPECT_EQ(guest.seen, ErrorKind::Exception);
  EXPECT_EQ(must(guest.call("catch_deep"))[0].i32(), 5);
  EXPECT_EQ(guest.calls, 3);
  EXPECT_EQ(must(guest.call("host_throws"))[0].i32(), 9);

  const auto uncaught = guest.call("host_throws_uncaught");
  EXPECT_EQ(thrown_by(uncaught).payload()[0].i32(), 11);
  EXPECT_EQ(thrown_by(uncaught).tag(), guest.tag);
  EXPECT_EQ(frame_names(uncaught.error()), "m!host_throws_uncaught");
  const auto passed = guest.call("pass");
  EXPECT_EQ(thrown_by(passed).payload()[0].i32(), 5);
  EXPECT_EQ(frame_names(passed.error()), "m!inner m!deeper m!pass");
  // What is no exception passes the handlers.
  EXPECT_ERROR(guest.call("host_error"), ErrorKind::Host, "failed");
  EXPECT_TRAP(guest.call("trap"), TrapCode::Unreachable, "m!traps m!trap");
}

TEST(Exceptions, CppExceptionsPassTheGuestsHandlers) {
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define_func("env", "f", []() -> void { throw std::runtime_error("C++"); }));
  const Instance instance = must(linker.instantiate(store, compile(R"((module
    (import "env" "f" (func $f))
    (func (export "run") (block $h (try_table (catch_all $h) (call $f))))))")));
  EXPECT_THROW((void)must(instance.func("run")).call(), std::runtime_error);
}

TEST(Exceptions, ErrorsKeepThemAndMayOutliveTheStore) {
  std::optional<Error> kept;
  {
    const Guest guest(
        R"((module (tag $t (param i32)) (func (export "run") (throw $t (i32.const 3)))))");
    std::vector<Error> errors;
    for (int i = 0; i < 100; ++i) errors.push_back(guest.call("run").error());
    kept = errors[50];
    EXPECT_EQ(Exception::of(errors[99])->payload()[0].i32(), 3);
    EXPECT_EQ(Exception::of(errors[0])->tag().name(), "t");
  }
  EXPECT_FALSE(Exception::of(*kept));
  EXPECT_EQ(kept->message(), "uncaught exception: t (i32:3)");
}

constexpr std::string_view kKeepsOne = R"((module (tag $t)
    (global $kept (mut exnref) (ref.null exn))
    (func (export "make") (result exnref)
      (block $h (result exnref) (try_table (catch_ref $t $h) (throw $t)) (unreachable)))
    (func (export "keep") (param exnref) (global.set $kept (local.get 0)))
    (func (export "throw") (throw_ref (global.get $kept)))))";

TEST(Exceptions, ErrorsMayEndOnAnotherThread) {
  const Guest guest(kKeepsOne);
  {
    const HandleScope scope(guest.store.ref());
    must(guest.call("keep", {must(guest.call("make"))[0]}));
  }
  constexpr int kEach = 3000;
  std::vector<Error> errors;
  for (int i = 0; i < kEach; ++i) errors.push_back(guest.call("throw").error());
  std::thread other([&errors] { errors.clear(); });
  std::vector<Error> more;
  for (int i = 0; i < kEach; ++i) more.push_back(guest.call("throw").error());
  other.join();
  more.resize(1, more[0]);
  must(guest.call("keep", {Val::null(ValKind::ExnRef)}));
  guest.store.ref().collect();
  EXPECT_EQ(guest.store.references(), 1U);
  EXPECT_TRUE(Exception::of(more[0]));
  more.clear();
  guest.store.ref().collect();
  EXPECT_EQ(guest.store.references(), 0U);
}

TEST(Exceptions, ReferencesUsedTooLateAreErrors) {
  const Guest guest(kKeepsOne);
  Val stale;
  {
    const HandleScope scope(guest.store.ref());
    stale = must(guest.call("make"))[0];
    must(guest.call("keep", {stale}));
    must(guest.call("keep", {Val::null(ValKind::ExnRef)}));
  }
  guest.store.ref().collect();
  EXPECT_EQ(guest.store.references(), 0U);
  // Some of these are where the first one was.
  const HandleScope scope(guest.store.ref());
  for (int i = 0; i < 8; ++i) {
    const Val fresh = must(guest.call("make"))[0];
    must(guest.call("keep", {fresh}));
    EXPECT_EQ(guest.call("keep", {stale}).error().kind(), ErrorKind::BadArgument);
  }
}

TEST(Exceptions, OfAnotherStoreAreErrors) {
  const Guest other(R"((module (tag $t) (func (export "run") (throw $t))))");
  const Error foreign = other.call("run").error();
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define_func("env", "f", [&]() -> Result<void> { return foreign; }));
  const Instance instance = must(linker.instantiate(store, compile(R"((module
    (import "env" "f" (func $f))
    (func (export "run") (block $h (try_table (catch_all $h) (call $f))))))")));
  EXPECT_EQ(must(instance.func("run")).call().error().kind(), ErrorKind::Exception);
}

TEST(Exceptions, CreateChecksThePayload) {
  Store store(test_engine());
  const Tag tag = must(Tag::create(store, {ValKind::I32, ValKind::V128}));
  const Val few[] = {1};
  EXPECT_ERROR(Exception::create(tag, few), ErrorKind::BadArgument,
               "exceptions with tag of the host carry 2 values, but 1 were given");
  const Val wrong[] = {Val(1), Val(2)};
  const auto made = Exception::create(tag, wrong);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind(), ErrorKind::BadArgument);
  const Val right[] = {Val(1), Val(V128::of<std::uint64_t>({2, 3}))};
  const Exception good = must(Exception::create(tag, right));
  EXPECT_EQ(good.payload()[1].v128().lanes<std::uint64_t>()[1], 3U);
  EXPECT_TRUE(good.trace().frames().empty());
}

TEST(Exceptions, TagsAreLinkedByIdentityAndType) {
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define("env", "t", must(Tag::create(store, {ValKind::I64}))));
  EXPECT_ERROR(
      linker.instantiate(store, compile("(module (import \"env\" \"t\" (tag (param i32))))")),
      ErrorKind::Link,
      "incompatible import type: \"env\".\"t\" must be a tag (i32) -> (), but a tag (i64) -> "
      "() was given");
  const Module module =
      compile("(module (import \"env\" \"t\" (tag (param i64))) (tag (export \"x\")))");
  const Instance a = must(linker.instantiate(store, module));
  const Instance b = must(linker.instantiate(store, module));
  EXPECT_NE(*a.get("x")->tag(), *b.get("x")->tag());
}

TEST(Exceptions, EndlessThrowingIsInterrupted) {
  Config config;
  config.epoch = true;
  const Engine engine = must(Engine::create(config));
  Guest guest(R"((module (tag $t (param i32))
    (func $throw (throw $t (i32.const 1)))
    (func (export "run")
      (loop $l (block $h (result i32) (try_table (catch $t $h) (call $throw)) (unreachable)) (drop) (br $l)))
    (func (export "run_ref")
      (loop $l (block $h (result i32 exnref) (try_table (catch_ref $t $h) (call $throw)) (unreachable)) (drop) (drop) (br $l)))
    (func $tail (export "tail") (param i32) (result i32) (return_call $tail (i32.add (local.get 0) (i32.const 1))))))",
              engine);
  for (const char* name : {"run", "run_ref", "tail"}) {
    const InterruptHandle handle = guest.store.interrupt_handle();
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      handle.interrupt();
    });
    const bool takes = std::string_view(name) == "tail";
    const auto result = takes ? guest.call(name, {1}) : guest.call(name);
    other.join();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), static_cast<int>(TrapCode::Interrupted)) << name;
  }
}

TEST(Exceptions, ThrowingTakesTimeLinearInTheFrames) {
  const Guest guest(R"((module (tag $t)
    (func $plain (param i32)
      (if (i32.eqz (local.get 0)) (then (throw $t)))
      (call $plain (i32.sub (local.get 0) (i32.const 1))))
    (func (export "run") (param i32)
      (block $h (try_table (catch $t $h) (call $plain (local.get 0))) (unreachable)))))");
  const auto seconds = [&](int frames, int throws) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < throws; ++i) must(guest.call("run", {frames}));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  seconds(2000, 5);
  // Ten times the frames for a tenth of the throws; a factor of 10 would be quadratic.
  const double few = std::min(seconds(500, 200), seconds(500, 200));
  const double many = std::min(seconds(5000, 20), seconds(5000, 20));
  EXPECT_LT(many, 6 * few + 0.01);
}

}  // namespace
}  // namespace hoist::api
