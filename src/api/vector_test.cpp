// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of type v128 through every door of the API.
#include "api/test_support.hpp"

namespace hoist::api {
namespace {

const V128 kOneToFour = V128::of<std::int32_t>({1, 2, 3, 4});
const V128 kTens = V128::of<std::int32_t>({10, 20, 30, 40});

constexpr const char* kModule = R"((module
  (func (export "add") (param v128 i32 v128) (result v128)
    (i32x4.add (local.get 0) (i32x4.add (local.get 2) (i32x4.splat (local.get 1)))))
  (func (export "swap") (param v128 f64 v128) (result v128 f64 v128)
    (local.get 2) (local.get 1) (local.get 0))
  (global (export "constant") v128 (v128.const i64x2 1 -1))
  (global (export "variable") (mut v128) (v128.const i64x2 0 0))
  (func (export "read") (result v128) (global.get 1))))";

TEST(Vectors, LanesOfAllTypes) {
  EXPECT_EQ(V128::of<float>({1, 2, 3, 4}).lanes<std::uint32_t>()[2], 0x4040'0000U);
  EXPECT_EQ(kOneToFour.bytes[4], 2);
  EXPECT_EQ(V128::of<double>({0.5, -2}).lanes<double>()[1], -2);
  EXPECT_EQ(Val(kOneToFour).v128(), kOneToFour);
  EXPECT_EQ(Val(kOneToFour).kind(), ValKind::V128);
  EXPECT_EQ(to_string(Val(kOneToFour)), "v128:0x00000004000000030000000200000001");
  EXPECT_EQ(Val::zero(ValKind::V128).v128(), V128());
}

TEST(Vectors, UntypedAndTypedCalls) {
  const Guest guest(kModule);
  const auto sum = must(guest.call("add", {Val(kOneToFour), Val(100), Val(kTens)}));
  EXPECT_EQ(sum[0].v128(), V128::of<std::int32_t>({111, 122, 133, 144}));
  const auto swapped = must(guest.call("swap", {Val(kOneToFour), Val(2.5), Val(kTens)}));
  EXPECT_EQ(swapped[0].v128(), kTens);
  EXPECT_EQ(swapped[1].f64(), 2.5);
  EXPECT_EQ(swapped[2].v128(), kOneToFour);
  const auto typed = must(guest.instance.typed<V128(V128, std::int32_t, V128)>("add"));
  EXPECT_EQ(must(typed(kOneToFour, -1, kOneToFour)), V128::of<std::int32_t>({1, 3, 5, 7}));
  EXPECT_ERROR(guest.call("add", {Val(1), Val(2), Val(kTens)}), ErrorKind::BadArgument,
               "argument 0 of 'add' is of type i32, but must be v128");
}

TEST(Vectors, HostFunctions) {
  Store store(test_engine());
  Linker linker(test_engine());
  const Func wrapped = Func::wrap(store, [](V128 x, std::int32_t add) {
    auto lanes = x.lanes<std::int32_t>();
    for (std::int32_t& lane : lanes) lane += add;
    return V128::of<std::int32_t>(lanes);
  });
  const Func made = Func::create(store, FuncType({ValKind::V128, ValKind::I64}, {ValKind::V128}),
                                 [](Caller&, std::span<const Val> args, std::span<Val> results) {
                                   auto lanes = args[0].v128().lanes<std::int64_t>();
                                   std::swap(lanes[0], lanes[1]);
                                   lanes[0] += args[1].i64();
                                   results[0] = Val(V128::of<std::int64_t>(lanes));
                                   return Result<void>();
                                 });
  must(linker.define("host", "wrapped", wrapped));
  must(linker.define("host", "made", made));
  const Module module = compile(R"((module
    (import "host" "wrapped" (func $wrapped (param v128 i32) (result v128)))
    (import "host" "made" (func $made (param v128 i64) (result v128)))
    (func (export "both") (param v128) (result v128)
      (call $made (call $wrapped (local.get 0) (i32.const 5)) (i64.const 1)))))");
  const Instance instance = must(linker.instantiate(store, module));
  const auto both = must(instance.typed<V128(V128)>("both"));
  EXPECT_EQ(must(both(kOneToFour)), V128::of<std::int32_t>({9, 9, 6, 7}));
  const auto direct = must(wrapped.call({Val(kOneToFour), Val(1)}));
  EXPECT_EQ(direct[0].v128(), V128::of<std::int32_t>({2, 3, 4, 5}));
}

TEST(Vectors, Globals) {
  const Guest guest(kModule);
  const Global constant = must(guest.instance.global("constant"));
  EXPECT_EQ(constant.get().v128(), V128::of<std::int64_t>({1, -1}));
  const Global variable = must(guest.instance.global("variable"));
  must(variable.set(Val(kTens)));
  EXPECT_EQ(must(guest.call("read"))[0].v128(), kTens);

  Store store(test_engine());
  Linker linker(test_engine());
  const Global own = must(Global::create(store, {ValKind::V128, true}, Val(kOneToFour)));
  EXPECT_EQ(own.get().v128(), kOneToFour);
  must(linker.define("host", "g", own));
  const Instance instance = must(linker.instantiate(store, compile(R"((module
    (import "host" "g" (global (mut v128)))
    (func (export "twice") (global.set 0 (i32x4.add (global.get 0) (global.get 0))))))")));
  must(must(instance.typed<void()>("twice"))());
  EXPECT_EQ(own.get().v128(), V128::of<std::int32_t>({2, 4, 6, 8}));
}

TEST(Vectors, MoreThanRegisters) {
  std::string types;
  std::string gets;
  for (int i = 0; i < 20; ++i) {
    types += " v128";
    gets += "(local.get " + std::to_string(20 - i) + ")";
  }
  const Guest guest("(module (func (export \"f\") (param i32" + types + " i32) (result" + types +
                    ")" + gets + "))");
  std::vector<Val> args{Val(1)};
  for (int i = 0; i < 20; ++i) args.push_back(Val(V128::of<std::int32_t>({i, i, i, -i})));
  args.push_back(Val(2));
  const auto out = must(guest.func("f").call(args));
  ASSERT_EQ(out.size(), 20U);
  for (int i = 0; i < 20; ++i) {
    const int was = 19 - i;
    EXPECT_EQ(out[static_cast<std::size_t>(i)].v128(),
              V128::of<std::int32_t>({was, was, was, -was}));
  }
}

TEST(Vectors, ModesAreSettingsOfTheEngine) {
  Config config;
  config.canonical_nans = true;
  const Engine engine = must(Engine::create(config));
  const Guest guest(R"((module (func (export "f") (param i32) (result i32)
    (i32.reinterpret_f32 (f32.add (f32.const 1) (f32.reinterpret_i32 (local.get 0)))))))",
                    engine);
  EXPECT_EQ(must(guest.call("f", {Val(0xffc0'1234U)}))[0].i32(), 0x7fc0'0000);
  const std::uint8_t empty[] = {0, 'a', 's', 'm', 1, 0, 0, 0};
  const auto image = must(Module::precompile(engine, empty));
  EXPECT_FALSE(Module::deserialize(test_engine(), image));
  EXPECT_TRUE(Module::deserialize(engine, image));
}

}  // namespace
}  // namespace hoist::api
