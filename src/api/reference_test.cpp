// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References that the store's collector owns: who keeps them alive, when finalisers run.
#include "hoist/reference.hpp"

#include <string>
#include <thread>
#include <vector>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

/// Things of the host: number i is alive until its finaliser has run, once.
struct Things {
  static constexpr int kCount = 256;
  int ended[kCount] = {};
  int made = 0;

  static void finalize(void* thing) { ++*static_cast<int*>(thing); }
  ExternRef make(StoreRef store) {
    return must(ExternRef::create(store, &ended[made++], finalize));
  }
  int number(const ExternRef& ref) const {
    return ref.host == nullptr ? -1 : static_cast<int>(static_cast<int*>(ref.host) - ended);
  }
  int ends() const {
    int sum = 0;
    for (const int one : ended) sum += one;
    return sum;
  }
  bool none_twice() const {
    for (const int one : ended) {
      if (one > 1) return false;
    }
    return true;
  }
};

/// A guest with make, gc and use of the host.
struct Host {
  Things things;
  std::vector<int> used;
  Store store;
  Instance instance;

  static Instance link(Host& self, const Engine& engine, std::string_view text) {
    Linker linker(engine);
    must(linker.define_func("h", "make",
                            [&self](Caller& caller) { return self.things.make(caller.store()); }));
    must(linker.define_func("h", "gc", [](Caller& caller) { caller.store().collect(); }));
    must(linker.define_func(
        "h", "use", [&self](ExternRef ref) { self.used.push_back(self.things.number(ref)); }));
    must(linker.define_func("h", "again", [](Caller& caller, std::optional<Func> func) {
      must(func->call());
      caller.store().collect();
    }));
    return must(linker.instantiate(self.store, compile(text, engine)));
  }
  explicit Host(std::string_view text, const Engine& engine = test_engine())
      : store(engine), instance(link(*this, engine, text)) {}
  void call(std::string_view name) { must(must(instance.func(name)).call()); }
};

constexpr std::string_view kImports = R"(
  (import "h" "make" (func $make (result externref)))
  (import "h" "gc" (func $gc))
  (import "h" "use" (func $use (param externref)))
  (import "h" "again" (func $again (param funcref)))
)";

std::string module(std::string_view body) {
  return "(module " + std::string(kImports) + std::string(body) + ")";
}

/// Engines of both allocators, and one that collects at every chance.
std::vector<Engine> engines() {
  std::vector<Engine> out;
  for (const auto level : {OptLevel::None, OptLevel::Full}) {
    for (const bool always : {false, true}) {
      Config config;
      config.opt_level = level;
      config.verify_ir = true;
      config.check_allocation = true;
      config.collect_always = always;
      out.push_back(must(Engine::create(config)));
    }
  }
  return out;
}

TEST(References, LiveInAFrameOnly) {
  for (const Engine& engine : engines()) {
    Host host(module(R"(
      (func (export "run") (local $a externref) (local $b externref)
        (local.set $a (call $make))
        (local.set $b (call $make))
        (call $gc)
        (call $use (local.get $a))
        (call $gc)
        (call $use (local.get $a))
        (call $make) (drop)
        (call $gc))
    )"),
              engine);
    host.call("run");
    EXPECT_EQ(host.used, (std::vector<int>{0, 0}));
    EXPECT_EQ(host.things.ended[1], 1);
    EXPECT_EQ(host.things.ended[2], 1);
    host.store.collect();
    EXPECT_EQ(host.things.ended[0], 1);
    EXPECT_EQ(host.store.references(), 0u);
  }
}

TEST(References, ManyInOneFrame) {
  std::string body = "(func $many (param";
  for (int i = 0; i < 40; ++i) body += " externref";
  body += ") (call $gc)";
  for (int i = 40; i-- > 0;) body += " (call $use (local.get " + std::to_string(i) + "))";
  body += ") (func (export \"run\") (call $many";
  for (int i = 0; i < 40; ++i) body += " (call $make)";
  body += "))";
  for (const Engine& engine : engines()) {
    Host host(module(body), engine);
    host.call("run");
    ASSERT_EQ(host.used.size(), 40u);
    for (int i = 0; i < 40; ++i) EXPECT_EQ(host.used[static_cast<std::size_t>(i)], 39 - i);
    EXPECT_EQ(host.things.ends(), 0);
    host.store.collect();
    EXPECT_EQ(host.things.ends(), 40);
  }
}

TEST(References, LoopsSelectsAndMultipleResults) {
  for (const Engine& engine : engines()) {
    Host host(module(R"(
      (func $pair (result externref externref) (call $make) (call $make))
      (func (export "run") (local $i i32) (local $a externref) (local $b externref)
        (local.set $a (call $make))
        (loop $again
          (if (i32.and (local.get $i) (i32.const 1))
            (then (local.set $b (local.get $a)))
            (else (call $pair) (local.set $a) (drop)))
          (call $gc)
          (call $use (select (result externref) (local.get $a) (local.get $b)
                       (i32.and (local.get $i) (i32.const 2))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $again (i32.lt_u (local.get $i) (i32.const 6)))))
    )"),
              engine);
    host.call("run");
    // i: 0 b null; 1 b is a (2); 2 a is 4; 3 a; 4 b (4); 5 b is a (6)
    EXPECT_EQ(host.used, (std::vector<int>{-1, 2, 4, 4, 4, 6}));
    host.store.collect();
    EXPECT_EQ(host.things.ends(), host.things.made);
    EXPECT_TRUE(host.things.none_twice());
  }
}

TEST(References, TailCallsLetGo) {
  for (const Engine& engine : engines()) {
    Host host(module(R"(
      (func $second (param externref) (call $gc) (call $use (local.get 0)))
      (func $first (param externref) (return_call $second (call $make)))
      (func (export "run") (call $first (call $make)))
    )"),
              engine);
    host.call("run");
    EXPECT_EQ(host.used, (std::vector<int>{1}));
    EXPECT_EQ(host.things.ended[0], 1);
    EXPECT_EQ(host.things.ended[1], 0);
  }
}

TEST(References, HandlersAndExceptions) {
  for (const Engine& engine : engines()) {
    Host host(module(R"(
      (tag $t (param externref))
      (func $throw (param externref) (call $gc) (throw $t (local.get 0)))
      (func (export "run") (local $kept externref) (local $e exnref)
        (local.set $kept (call $make))
        (block $caught (result externref exnref)
          (try_table (catch_ref $t $caught) (call $throw (call $make)))
          (unreachable))
        (local.set $e)
        (call $gc)
        (call $use)
        (call $use (local.get $kept))
        (call $gc)
        ;; The exception still holds what it carried.
        (block $again (result externref)
          (try_table (catch $t $again) (throw_ref (local.get $e)))
          (unreachable))
        (call $use))
    )"),
              engine);
    host.call("run");
    EXPECT_EQ(host.used, (std::vector<int>{1, 0, 1}));
    EXPECT_EQ(host.things.ended[1], 0);
    host.store.collect();
    EXPECT_EQ(host.things.ends(), 2);
    EXPECT_EQ(host.store.references(), 0u);
  }
}

TEST(References, HostCallsThatReenter) {
  for (const Engine& engine : engines()) {
    Host host(module(R"(
      (global $depth (mut i32) (i32.const 4))
      (func $deeper (export "run") (local $mine externref)
        (local.set $mine (call $make))
        (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))
        (if (global.get $depth) (then (call $again (ref.func $deeper))))
        (call $gc)
        (call $use (local.get $mine)))
    )"),
              engine);
    host.call("run");
    EXPECT_EQ(host.used, (std::vector<int>{3, 2, 1, 0}));
    host.store.collect();
    EXPECT_EQ(host.things.ends(), 4);
  }
}

TEST(References, TablesAndGlobalsKeep) {
  for (const Engine& engine : engines()) {
    Host host(module(R"(
      (table $t 4 externref)
      (global $g (export "g") (mut externref) (ref.null extern))
      (func (export "fill")
        (table.set $t (i32.const 1) (call $make))
        (global.set $g (call $make))
        (table.fill $t (i32.const 2) (call $make) (i32.const 2)))
      (func (export "use")
        (call $use (table.get $t (i32.const 1))) (call $use (global.get $g))
        (call $use (table.get $t (i32.const 3))))
      (func (export "clear")
        (table.set $t (i32.const 1) (ref.null extern)) (table.set $t (i32.const 3) (ref.null extern)))
    )"),
              engine);
    host.call("fill");
    host.store.collect();
    host.call("use");
    EXPECT_EQ(host.used, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(host.things.ends(), 0);
    host.call("clear");
    host.store.collect();
    EXPECT_EQ(host.things.ended[0], 1);
    EXPECT_EQ(host.things.ended[2], 0);  // still at 2
    const Global global = *host.instance.get("g")->global();
    must(global.set(Val::null(ValKind::ExternRef)));
    host.store.collect();
    EXPECT_EQ(host.things.ends(), 2);
  }
}

TEST(References, FinalisersRunOnceAtTheEndOfTheStore) {
  Things things;
  {
    Store store(test_engine());
    const Table table = must(Table::create(store, {ValKind::ExternRef, 3, {}}, things.make(store)));
    must(table.set(1, things.make(store)));
    {
      const HandleScope scope(store);
      things.make(store);
    }
    store.collect();
    EXPECT_EQ(things.ends(), 1);
  }
  EXPECT_EQ(things.ends(), 3);
  EXPECT_TRUE(things.none_twice());
}

TEST(References, ScopesAndRoots) {
  Things things;
  Store store(test_engine());
  Val stale;
  Root root;
  {
    const HandleScope scope(store);
    const ExternRef one = things.make(store);
    const ExternRef two = things.make(store);
    store.collect();
    EXPECT_EQ(things.ends(), 0);
    stale = one;
    root = must(Root::create(store, two));
  }
  store.collect();
  EXPECT_EQ(things.ended[0], 1);
  EXPECT_EQ(things.ended[1], 0);
  {
    const HandleScope scope(store);
    EXPECT_EQ(things.number(root.get().externref()), 1);
  }
  // What has ended is an error, also when its place is taken.
  const ExternRef three = things.make(store);
  const Global global =
      must(Global::create(store, {ValKind::ExternRef, true}, Val::null(ValKind::ExternRef)));
  EXPECT_ERROR(global.set(stale), ErrorKind::BadArgument,
               "the value is an externref of another store, or one whose HandleScope has ended");
  EXPECT_EQ(stale.externref().host, nullptr);
  EXPECT_FALSE(stale.externref().is_null());
  must(global.set(three));
  EXPECT_EQ(global.get().externref(), three);
  Store other(test_engine());
  const Global far =
      must(Global::create(other, {ValKind::ExternRef, true}, Val::null(ValKind::ExternRef)));
  EXPECT_EQ(far.set(three).error().kind(), ErrorKind::BadArgument);
  root = Root();
  store.collect();
  EXPECT_EQ(things.ended[1], 1);
}

TEST(References, PointersAreOnlyPointers) {
  Guest guest(
      "(module (func (export \"same\") (param externref) (result externref) (local.get 0)))");
  const auto same = must(guest.instance.typed<ExternRef(ExternRef)>("same"));
  int x = 0;
  for (const std::uintptr_t word :
       {reinterpret_cast<std::uintptr_t>(&x), std::uintptr_t{1}, ~std::uintptr_t{0},
        std::uintptr_t{1} << 63, std::uintptr_t{1} << 62}) {
    const ExternRef ref(reinterpret_cast<void*>(word));
    EXPECT_EQ(must(same(ref)), ref);
    EXPECT_EQ(must(guest.call("same", {ref}))[0].externref(), ref);
  }
  EXPECT_TRUE(must(same(ExternRef())).is_null());
}

TEST(References, NoGrowthWhenPassedManyTimes) {
  Things things;
  Guest guest(
      "(module (func (export \"same\") (param externref) (result externref) (local.get 0)))");
  const auto same = must(guest.instance.typed<ExternRef(ExternRef)>("same"));
  const ExternRef ref = things.make(guest.store);
  for (int i = 0; i < 10'000; ++i) {
    ExternRef copy = must(same(ref));
    const ExternRef moved = std::move(copy);
    ASSERT_EQ(moved, ref);
  }
  EXPECT_EQ(guest.store.references(), 1u);
  EXPECT_EQ(things.ends(), 0);
}

TEST(References, CollectsByItself) {
  static int ended;
  ended = 0;
  Store store(test_engine());
  for (int i = 0; i < 50'000; ++i) {
    const HandleScope scope(store);
    must(ExternRef::create(store, nullptr, [](void*) { ++ended; }));
  }
  EXPECT_GT(ended, 30'000);
  EXPECT_LT(store.references(), 20'000u);
}

TEST(References, Limit) {
  StoreLimits limits;
  limits.references = 10;
  Things things;
  Store store(test_engine(), limits);
  {
    const HandleScope scope(store);
    for (int i = 0; i < 10; ++i) things.make(store);
    const auto more = ExternRef::create(store, &things.ended[20], Things::finalize);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().kind(), ErrorKind::Limit);
    EXPECT_EQ(more.error().message(),
              "the store's references have reached their limit: 10 objects of 10 "
              "(StoreLimits::references)");
  }
  things.make(store);
  EXPECT_EQ(things.ends(), 10);
  EXPECT_EQ(things.ended[20], 0);
}

TEST(References, StoresOfSeveralThreads) {
  Config config;
  config.collect_always = true;
  const Engine engine = must(Engine::create(config));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&engine] {
      for (int i = 0; i < 20; ++i) {
        Host host(module(R"(
          (func (export "run") (local $a externref)
            (local.set $a (call $make))
            (call $make) (drop)
            (call $use (local.get $a)))
        )"),
                  engine);
        host.call("run");
        EXPECT_EQ(host.used, (std::vector<int>{0}));
        host.store.collect();
        EXPECT_EQ(host.things.ends(), 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- Types of function references at run time.

TEST(References, TypedFunctionsAreChecked) {
  Guest guest(R"((module
    (type $sig (func (result i32)))
    (type $other (func (result i64)))
    (func $f (export "f") (type $sig) (i32.const 7))
    (func (export "g") (type $other) (i64.const 8))
    (table (export "t") 2 (ref null $sig))
    (table (export "full") 2 (ref $sig) (ref.func $f))
    (global (export "v") (mut (ref $sig)) (ref.func $f))
    (func (export "call") (param (ref $sig)) (result i32) (call_ref $sig (local.get 0)))
  ))");
  const Func f = guest.func("f");
  const Func g = guest.func("g");
  EXPECT_EQ(must(guest.call("call", {f}))[0].i32(), 7);
  EXPECT_ERROR(guest.call("call", {g}), ErrorKind::BadArgument,
               "argument 0 of 'call' is funcref:g, which is no function of type [] -> [i32]");
  EXPECT_EQ(guest.call("call", {Val::null(ValKind::FuncRef)}).error().kind(),
            ErrorKind::BadArgument);
  EXPECT_FALSE(guest.instance.typed<std::int32_t(std::optional<Func>)>("call"));
  const Table table = *guest.instance.get("t")->table();
  must(table.set(0, f));
  must(table.set(0, Val::null(ValKind::FuncRef)));
  EXPECT_FALSE(table.set(0, g));
  const Table full = *guest.instance.get("full")->table();
  EXPECT_TRUE(must(full.get(1)).funcref().has_value());
  EXPECT_ERROR(full.set(1, Val::null(ValKind::FuncRef)), ErrorKind::BadArgument,
               "the element is null, but must not be");
  const Global global = *guest.instance.get("v")->global();
  EXPECT_FALSE(global.set(g));
  EXPECT_FALSE(global.set(Val::null(ValKind::FuncRef)));
  must(global.set(f));
}

}  // namespace
}  // namespace hoist::api
