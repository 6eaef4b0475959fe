// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/func.hpp"

#include <cmath>
#include <limits>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

TEST(Func, CallsWithValues) {
  const Guest guest(R"((module
    (func (export "sum") (param i32 i64 f32 f64) (result f64)
      (f64.add (f64.add (f64.convert_i32_s (local.get 0)) (f64.convert_i64_s (local.get 1)))
               (f64.add (f64.promote_f32 (local.get 2)) (local.get 3))))))");
  const auto out = must(guest.call("sum", {Val(-1), Val(std::int64_t{20}), Val(0.5F), Val(0.25)}));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].f64(), 19.75);
}

TEST(Func, CallsWithoutBoxing) {
  const Guest guest(R"((module
    (func (export "swap") (param i32 f64) (result f64 i32) (local.get 1) (local.get 0))
    (func (export "neg") (param i32) (result i64) (i64.extend_i32_s (local.get 0)))
    (func (export "high") (param i32) (result i64) (i64.extend_i32_u (local.get 0)))
    (func (export "nothing"))))");
  const auto swap =
      must(guest.instance.typed<std::tuple<double, std::int32_t>(std::int32_t, double)>("swap"));
  EXPECT_EQ(must(swap(7, 2.5)), (std::tuple<double, std::int32_t>(2.5, 7)));
  const auto neg = must(guest.instance.typed<std::int64_t(std::int32_t)>("neg"));
  EXPECT_EQ(must(neg(-5)), -5);
  const auto high = must(guest.instance.typed<std::uint64_t(std::uint32_t)>("high"));
  EXPECT_EQ(must(high(0xffff'ffff)), 0xffff'ffffU);
  must(must(guest.instance.typed<void()>("nothing"))());
}

TEST(Func, ManyParametersAndResults) {
  std::string params;
  std::string gets;
  for (int i = 0; i < 40; ++i) {
    params += i % 2 == 0 ? " i64" : " f32";
    gets += "(local.get " + std::to_string(39 - i) + ")";
  }
  std::string results;
  for (int i = 0; i < 40; ++i) results += (39 - i) % 2 == 0 ? " i64" : " f32";
  const Guest guest("(module (func (export \"f\") (param" + params + ") (result" + results + ")" +
                    gets + "))");
  std::vector<Val> args;
  for (int i = 0; i < 40; ++i) {
    args.push_back(i % 2 == 0 ? Val(std::int64_t{i}) : Val(static_cast<float>(i)));
  }
  const auto out = must(guest.func("f").call(args));
  ASSERT_EQ(out.size(), 40U);
  for (int i = 0; i < 40; ++i) {
    const int was = 39 - i;
    if (was % 2 == 0) {
      EXPECT_EQ(out[static_cast<std::size_t>(i)].i64(), was);
    } else {
      EXPECT_EQ(out[static_cast<std::size_t>(i)].f32(), static_cast<float>(was));
    }
  }
}

TEST(Func, WrongArgumentsAreErrors) {
  Guest guest("(module (func $f (export \"f\") (param i32) (result i32) (local.get 0)))");
  EXPECT_ERROR(guest.call("f"), ErrorKind::BadArgument, "'f' takes 1 arguments, but 0 were given");
  EXPECT_ERROR(guest.call("f", {Val(1.0)}), ErrorKind::BadArgument,
               "argument 0 of 'f' is of type f64, but must be i32");
  EXPECT_ERROR(guest.instance.typed<void(std::int64_t)>("f"), ErrorKind::BadArgument,
               "'f' has type (i32) -> (i32), not (i64) -> ()");
  EXPECT_ERROR(guest.instance.func("g"), ErrorKind::BadArgument,
               "there is no export 'g'; there are 'f'");
  EXPECT_ERROR(guest.instance.memory("f"), ErrorKind::BadArgument,
               "the export 'f' is a function, not a memory");
}

TEST(Func, HandlesOutliveTheirStore) {
  std::optional<Func> func;
  std::optional<Memory> memory;
  std::optional<TypedFunc<void()>> typed;
  {
    Guest guest("(module (memory (export \"m\") 1) (func (export \"f\")))");
    func = guest.func("f");
    memory = must(guest.instance.memory("m"));
    typed = must(guest.instance.typed<void()>("f"));
    EXPECT_TRUE(func->store().alive());
  }
  EXPECT_FALSE(func->store().alive());
  EXPECT_ERROR(func->call(), ErrorKind::BadArgument, "the store that this belongs to is gone");
  EXPECT_ERROR((*typed)(), ErrorKind::BadArgument, "the store that this belongs to is gone");
  EXPECT_EQ(memory->size_bytes(), 0U);
  EXPECT_TRUE(memory->data().empty());
}

// ---- Host functions.

TEST(HostFunc, TypedFromALambda) {
  Store store(test_engine());
  int calls = 0;
  Linker linker(test_engine());
  must(linker.define_func("h", "add", [&calls](std::int32_t a, std::uint64_t b) {
    ++calls;
    return static_cast<double>(a) + static_cast<double>(b);
  }));
  must(linker.define_func("h", "two", [](float x) { return std::tuple(x * 2, std::int64_t{9}); }));
  must(linker.define_func("h", "none", [&calls] { ++calls; }));
  const auto instance = must(linker.instantiate(store, compile(R"((module
    (import "h" "add" (func $add (param i32 i64) (result f64)))
    (import "h" "two" (func $two (param f32) (result f32 i64)))
    (import "h" "none" (func $none))
    (func (export "add") (result f64) (call $none) (call $add (i32.const -3) (i64.const 10)))
    (func (export "two") (param f32) (result i64 f32) (local $r i64)
      (call $two (local.get 0)) (local.set $r) (local.set 0) (local.get $r) (local.get 0))))")));
  EXPECT_EQ(must(must(instance.typed<double()>("add"))()), 7.0);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(must(must(instance.typed<std::tuple<std::int64_t, float>(float)>("two"))(1.5F)),
            std::tuple(std::int64_t{9}, 3.0F));
}

TEST(HostFunc, DynamicFromATypeAndACallback) {
  Store store(test_engine());
  const FuncType type({ValKind::I32, ValKind::F64}, {ValKind::F64, ValKind::I32});
  const Func swap = Func::create(
      store, type, [](Caller&, std::span<const Val> args, std::span<Val> results) -> Result<void> {
        results[0] = args[1];
        results[1] = args[0];
        return {};
      });
  const Extern imports[] = {swap};
  const auto instance = must(Instance::create(store, compile(R"((module
    (import "" "" (func $swap (param i32 f64) (result f64 i32)))
    (func (export "f") (param i32 f64) (result f64 i32) (call $swap (local.get 0) (local.get 1)))))"),
                                              imports));
  const auto out = must(must(instance.func("f")).call({Val(5), Val(1.5)}));
  EXPECT_EQ(out[0].f64(), 1.5);
  EXPECT_EQ(out[1].i32(), 5);
  // The host can call it as well.
  const auto direct = must(swap.call({Val(6), Val(2.5)}));
  EXPECT_EQ(direct[1].i32(), 6);
}

TEST(HostFunc, WrongResultTypeIsAnError) {
  Store store(test_engine());
  const Func bad =
      Func::create(store, FuncType({}, {ValKind::I32}),
                   [](Caller&, std::span<const Val>, std::span<Val> results) -> Result<void> {
                     results[0] = Val(1.0);
                     return {};
                   });
  EXPECT_ERROR(bad.call(), ErrorKind::BadArgument,
               "result 0 of a host function is of type f64, but must be i32");
}

TEST(HostFunc, CallerKnowsTheInstance) {
  Store store(test_engine());
  int data = 0;
  store.set_data(&data);
  Linker linker(test_engine());
  must(
      linker.define_func("h", "read", [](Caller& caller, std::uint32_t at) -> Result<std::int32_t> {
        *static_cast<int*>(caller.store().data()) += 1;
        auto value = caller.memory("mem")->get<std::int32_t>(at);
        if (!value) return std::move(value).error();
        return *value;
      }));
  const auto module = compile(R"((module
    (import "h" "read" (func $read (param i32) (result i32)))
    (memory (export "mem") 1)
    (func (export "f") (param $at i32) (param $v i32) (result i32)
      (i32.store (local.get $at) (local.get $v)) (call $read (local.get $at)))
    (func $far (export "far") (result i32) (call $read (i32.const -1)))))");
  const auto one = must(linker.instantiate(store, module));
  const auto two = must(linker.instantiate(store, module));
  const auto f1 = must(one.typed<std::int32_t(std::int32_t, std::int32_t)>("f"));
  const auto f2 = must(two.typed<std::int32_t(std::int32_t, std::int32_t)>("f"));
  EXPECT_EQ(must(f1(100, 11)), 11);
  EXPECT_EQ(must(f2(100, 22)), 22);
  EXPECT_EQ(must(f1(200, 12)), 12);
  EXPECT_EQ(data, 3);
  EXPECT_TRAP(must(one.func("far")).call(), TrapCode::MemoryOutOfBounds, "far");
}

TEST(HostFunc, ReferencesCrossTheBorder) {
  Store store(test_engine());
  Linker linker(test_engine());
  int x = 0;
  must(linker.define_func("h", "same", [](ExternRef ref) { return ref; }));
  must(linker.define_func("h", "call", [](std::optional<Func> func) -> Result<std::int32_t> {
    if (!func) return -1;
    auto typed = func->typed<std::int32_t()>();
    if (!typed) return std::move(typed).error();
    return (*typed)();
  }));
  const auto instance = must(linker.instantiate(store, compile(R"((module
    (import "h" "same" (func $same (param externref) (result externref)))
    (import "h" "call" (func $call (param funcref) (result i32)))
    (table $t (export "t") 4 funcref)
    (type $i (func (result i32)))
    (func $five (export "five") (result i32) (i32.const 5))
    (func (export "same") (param externref) (result externref) (call $same (local.get 0)))
    (func (export "host") (param i32) (result i32) (call $call (table.get $t (local.get 0))))
    (func (export "in") (param i32) (result i32) (call_indirect (type $i) (local.get 0)))
    (func (export "out") (result funcref) (ref.func $five))))")));
  const auto same = must(instance.typed<ExternRef(ExternRef)>("same"));
  EXPECT_EQ(must(same(ExternRef{&x})).host, &x);
  EXPECT_TRUE(must(same(ExternRef{})).is_null());
  const Table table = must(instance.table("t"));
  must(table.set(0, must(instance.func("five"))));
  must(table.set(1, Func::wrap(store, [] { return std::int32_t{6}; })));
  const auto host = must(instance.typed<std::int32_t(std::int32_t)>("host"));
  const auto in = must(instance.typed<std::int32_t(std::int32_t)>("in"));
  EXPECT_EQ(must(host(0)), 5);
  EXPECT_EQ(must(host(1)), 6);
  EXPECT_EQ(must(host(2)), -1);
  EXPECT_EQ(must(in(0)), 5);
  EXPECT_EQ(must(in(1)), 6);
  const auto out = must(must(instance.func("out")).call());
  EXPECT_EQ(must(out[0].funcref()->typed<std::int32_t()>().value()()), 5);
  Store other(test_engine());
  EXPECT_ERROR(table.set(0, Func::wrap(other, [] {})), ErrorKind::BadArgument,
               "the element is a function of another store");
}

TEST(HostFunc, ClosuresAreDestroyedOnceWithTheirOwners) {
  struct Counter {
    int* count;
    explicit Counter(int* the_count) : count(the_count) { ++*count; }
    Counter(const Counter& other) : count(other.count) { ++*count; }
    Counter(Counter&& other) noexcept : count(other.count) { ++*count; }
    Counter& operator=(const Counter&) = delete;
    ~Counter() { --*count; }
    void operator()() const {}
  };
  int alive = 0;
  {
    Store store(test_engine());
    {
      Linker linker(test_engine());
      must(linker.define_func("h", "f", Counter(&alive)));
      must(linker.instantiate(store, compile("(module (import \"h\" \"f\" (func)))")));
      EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 1);  // the store's instance may still call it
    static_cast<void>(Func::wrap(store, Counter(&alive)));
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace hoist::api
