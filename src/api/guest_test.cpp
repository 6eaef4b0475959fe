// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of guest memory: as parameters of host functions, as arguments, made by the host.
#include "hoist/guest.hpp"

#include <numeric>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

constexpr const char* kGuest = R"((module
  (import "h" "f" (func $f (param i32 i32)))
  (memory (export "memory") 1 3)
  (data (i32.const 8) "\01\00\00\00\02\00\00\00\03\00\00\00text")
  (func (export "run") (param i32 i32) (call $f (local.get 0) (local.get 1)))
  (func (export "sum") (param i32 i32) (result i32)
    (local i32)
    (block (loop
      (br_if 1 (i32.eqz (local.get 1)))
      (local.set 2 (i32.add (local.get 2) (i32.load (local.get 0))))
      (local.set 0 (i32.add (local.get 0) (i32.const 4)))
      (local.set 1 (i32.sub (local.get 1) (i32.const 1)))
      (br 0)))
    (local.get 2))))";

struct Host {
  Store store{test_engine()};
  Linker linker{test_engine()};
  std::optional<Instance> instance;

  template <typename F>
  explicit Host(F callback) {
    must(linker.define_func("h", "f", std::move(callback)));
    instance = must(linker.instantiate(store, compile(kGuest)));
  }
  Result<std::vector<Val>> run(std::uint32_t address, std::uint32_t count) {
    return must(instance->func("run")).call({Val(address), Val(count)});
  }
  Memory memory() { return must(instance->memory("memory")); }
};

TEST(GuestSpan, IsAnAddressAndACount) {
  int sum = 0;
  Host host([&](guest_span<const std::int32_t> values) {
    for (const std::int32_t value : values) sum += value;
    EXPECT_EQ(values.to_vector(), (std::vector<std::int32_t>{1, 2, 3}));
    EXPECT_EQ(values.address(), 8U);
    EXPECT_EQ(must(values.at(2)), 3);
    EXPECT_TRAP(values.at(3), TrapCode::MemoryOutOfBounds, "");
    EXPECT_EQ(must(values.subspan(1, 2))[0], 2);
    EXPECT_FALSE(values.subspan(1, 3));
  });
  must(host.run(8, 3));
  EXPECT_EQ(sum, 6);
}

TEST(GuestSpan, WritesAndTakesAnErrorAndACaller) {
  Host host([](Caller& caller, guest_span<std::int32_t> values) -> Result<void> {
    EXPECT_TRUE(caller.instance());
    values.set(0, values[0] + 10);
    const std::int32_t more[] = {7, 8, 9, 10};
    EXPECT_EQ(must(values.subspan(1, 2)).copy_from(more), 2U);
    return {};
  });
  must(host.run(8, 3));
  EXPECT_EQ(must(host.memory().get<std::int32_t>(8)), 11);
  EXPECT_EQ(must(host.memory().get<std::int32_t>(12)), 7);
  EXPECT_EQ(must(host.memory().get<std::int32_t>(16)), 8);
}

TEST(GuestSpan, OutOfBoundsAndUnalignedTrapBeforeTheHostRuns) {
  int calls = 0;
  Host host([&](guest_span<const std::int32_t>) { ++calls; });
  EXPECT_TRAP(host.run(65536, 1), TrapCode::MemoryOutOfBounds, "run");
  EXPECT_TRAP(host.run(65532, 2), TrapCode::MemoryOutOfBounds, "run");
  EXPECT_TRAP(host.run(0xffff'fffc, 1), TrapCode::MemoryOutOfBounds, "run");
  EXPECT_TRAP(host.run(0, 0xffff'ffff), TrapCode::MemoryOutOfBounds, "run");
  EXPECT_TRAP(host.run(65540, 0), TrapCode::MemoryOutOfBounds, "run");
  EXPECT_TRAP(host.run(9, 1), TrapCode::UnalignedAtomic, "run");
  EXPECT_EQ(calls, 0);
  must(host.run(65532, 1));
  must(host.run(65536, 0));
  EXPECT_EQ(calls, 2);
}

TEST(GuestSpan, StaysGoodWhileMemoryGrows) {
  Host host([](Caller& caller, guest_span<std::int32_t> values) {
    must(caller.memory()->grow(2));
    EXPECT_EQ(values[2], 3);
    values.set(2, 4);
    EXPECT_EQ(values.span()[2], 4);
  });
  must(host.run(8, 3));
}

TEST(GuestSpan, OutlivesItsStoreHarmlessly) {
  std::optional<guest_span<std::int32_t>> kept;
  {
    Host host([&](guest_span<std::int32_t> values) { kept = values; });
    must(host.run(8, 3));
    EXPECT_EQ((*kept)[0], 1);
  }
  EXPECT_FALSE(kept->at(0));
  EXPECT_TRUE(kept->span().empty());
  EXPECT_TRUE(kept->to_vector().empty());
  EXPECT_DEATH(static_cast<void>((*kept)[0]), "");
}

TEST(GuestString, IsText) {
  std::string seen;
  Host host([&](guest_string_view text) {
    seen = text.str();
    EXPECT_TRUE(text == "text");
  });
  must(host.run(20, 4));
  EXPECT_EQ(seen, "text");
  EXPECT_TRAP(host.run(65533, 4), TrapCode::MemoryOutOfBounds, "run");
}

TEST(GuestSpan, NeedsAMemoryOfTheCaller) {
  Store store(test_engine());
  const Func func = Func::wrap(store, [](guest_string_view) {});
  EXPECT_EQ(to_string(func.type()), "(i32, i32) -> ()");
  auto result = func.call({Val(0), Val(0)});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::Host);
}

TEST(GuestSpan, IsAnArgumentOfATypedCall) {
  Host host([](std::int32_t, std::int32_t) {});
  auto sum = must(host.instance->typed<std::int32_t(guest_span<const std::int32_t>)>("sum"));
  const auto values = must(guest_span<std::int32_t>::create(host.memory(), 8, 3));
  EXPECT_EQ(must(sum(values)), 6);
  EXPECT_FALSE(guest_span<std::int32_t>::create(host.memory(), 8, ~std::uint64_t{0}));
  Host other([](std::int32_t, std::int32_t) {});
  const auto foreign = must(guest_span<std::int32_t>::create(other.memory(), 8, 3));
  EXPECT_FALSE(sum(foreign));
  EXPECT_EQ(must(guest_string_view::create(host.memory(), 20, 4)).view(), "text");
}

}  // namespace
}  // namespace hoist::api
