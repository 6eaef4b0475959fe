// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/instance.hpp"

#include <unistd.h>

#include <fstream>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

TEST(Memory, GrowsInPlaceUpToItsMaximum) {
  const Guest guest(R"((module
    (memory (export "m") 1 3)
    (func (export "size") (result i32) (memory.size))
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
    (func (export "poke") (param i32) (i32.store8 (local.get 0) (i32.const 7)))
    (func (export "grow_and_fill") (drop (memory.grow (i32.const 1)))
      (memory.fill (i32.const 131072) (i32.const 9) (i32.const 10)))))");
  Memory memory = must(guest.instance.memory("m"));
  const auto grow = must(guest.instance.typed<std::int32_t(std::int32_t)>("grow"));
  EXPECT_EQ(memory.type(), (MemoryType{1, 3}));
  EXPECT_FALSE(guest.call("poke", {65536}));
  const std::uint8_t* base = memory.data().data();
  EXPECT_EQ(must(grow(1)), 1);
  must(guest.call("poke", {65536}));
  EXPECT_EQ(memory.data().data(), base);
  EXPECT_EQ(memory.size_bytes(), 131072U);
  EXPECT_EQ(memory.data()[65536], 7);
  EXPECT_EQ(must(grow(-1)), -1);
  EXPECT_EQ(must(grow(2)), -1);
  must(guest.call("grow_and_fill"));
  EXPECT_EQ(memory.data()[131081], 9);
  EXPECT_ERROR(memory.grow(1), ErrorKind::Limit,
               "a memory of 3 pages cannot grow by 1: its limit is 3 pages");
  EXPECT_EQ(must(must(guest.instance.typed<std::int32_t()>("size"))()), 3);
}

TEST(Memory, CheckedAccess) {
  Store store(test_engine());
  const Memory memory = must(Memory::create(store, {1, std::nullopt}));
  must(memory.set<std::uint32_t>(65532, 0x01020304));
  EXPECT_EQ(must(memory.get<std::uint16_t>(65532)), 0x0304);
  EXPECT_ERROR(memory.get<std::uint32_t>(65533), ErrorKind::Trap,
               "out of bounds memory access: 4 bytes at 65533 of a memory of 65536 bytes");
  EXPECT_FALSE(memory.bytes(UINT64_MAX, 2));
  EXPECT_FALSE(memory.bytes(2, UINT64_MAX));
  EXPECT_TRUE(memory.bytes(65536, 0));
  EXPECT_FALSE(memory.bytes(65537, 0));
  EXPECT_FALSE(Memory::create(store, {3, 2}));
  EXPECT_FALSE(Memory::create(store, {65537, std::nullopt}));
}

TEST(Memory, WholeAddressRange) {
  const Guest guest(R"((module (memory 65536) (data (i32.const 0x80000000) "x")
    (func (export "get") (param i32) (result i32) (i32.load8_u (local.get 0)))
    (func (export "past") (param i32) (result i32) (i32.load (local.get 0)))))");
  EXPECT_EQ(must(guest.call("get", {INT32_MIN}))[0].i32(), 'x');
  EXPECT_EQ(must(guest.call("get", {-1}))[0].i32(), 0);
  EXPECT_EQ(must(guest.call("past", {-4}))[0].i32(), 0);
  EXPECT_FALSE(guest.call("past", {-3}));
}

TEST(Limits, OfAStore) {
  StoreLimits limits;
  limits.memory_bytes = 131072;
  limits.table_elements = 10;
  limits.instances = 1;
  Store store(test_engine(), limits);
  const auto module = compile(R"((module (memory 1) (table 5 funcref)
    (func (export "mem") (param i32) (result i32) (memory.grow (local.get 0)))
    (func (export "tab") (param i32) (result i32) (table.grow (ref.null func) (local.get 0)))))");
  const auto instance = must(Instance::create(store, module));
  const auto mem = must(instance.typed<std::int32_t(std::int32_t)>("mem"));
  const auto tab = must(instance.typed<std::int32_t(std::int32_t)>("tab"));
  EXPECT_EQ(must(mem(1)), 1);
  EXPECT_EQ(must(mem(1)), -1);
  EXPECT_EQ(must(tab(5)), 5);
  EXPECT_EQ(must(tab(1)), -1);
  EXPECT_EQ(must(tab(-1)), -1);
  EXPECT_ERROR(Instance::create(store, module), ErrorKind::Limit,
               "the store's limit of 1 instances is reached");
}

TEST(Table, FromHostAndGuest) {
  Guest guest(R"((module
    (table $t (export "t") 2 10 externref)
    (func (export "set") (param i32 externref) (table.set $t (local.get 0) (local.get 1)))
    (func (export "get") (param i32) (result externref) (table.get $t (local.get 0)))
    (func (export "size") (result i32) (table.size $t))))");
  int x = 0;
  const Table table = must(guest.instance.table("t"));
  EXPECT_EQ(must(table.grow(3, ExternRef{&x})), 2U);
  EXPECT_EQ(must(guest.call("get", {4}))[0].externref().host, &x);
  EXPECT_TRUE(must(guest.call("get", {1}))[0].is_null());
  must(guest.call("set", {0, ExternRef{&guest}}));
  EXPECT_EQ(must(table.get(0)).externref().host, &guest);
  EXPECT_EQ(must(guest.call("size"))[0].i32(), 5);
  EXPECT_ERROR(table.get(5), ErrorKind::Trap,
               "out of bounds table access: element 5 of a table of 5 elements");
  EXPECT_ERROR(table.set(0, Val(1)), ErrorKind::BadArgument,
               "the element is of type i32, but must be externref");
  EXPECT_FALSE(table.grow(6, Val::null(ValKind::ExternRef)));
}

TEST(Global, SharedBetweenInstancesAndHost) {
  Store store(test_engine());
  const Global global = must(Global::create(store, {ValKind::I64, true}, Val(std::int64_t{5})));
  Linker linker(test_engine());
  must(linker.define("env", "g", global));
  const auto module = compile(R"((module
    (import "env" "g" (global $g (mut i64)))
    (global $own (export "own") (mut f32) (f32.const 1.5))
    (global (export "fixed") i32 (i32.const 3))
    (func (export "add") (param i64)
      (global.set $g (i64.add (global.get $g) (local.get 0)))
      (global.set $own (f32.add (global.get $own) (f32.const 1))))))");
  const auto one = must(linker.instantiate(store, module));
  const auto two = must(linker.instantiate(store, module));
  must(must(one.func("add")).call({std::int64_t{10}}));
  must(must(two.func("add")).call({std::int64_t{100}}));
  EXPECT_EQ(global.get().i64(), 115);
  EXPECT_EQ(must(one.global("own")).get().f32(), 2.5F);
  must(must(one.global("own")).set(Val(8.0F)));
  must(must(one.func("add")).call({std::int64_t{0}}));
  EXPECT_EQ(must(one.global("own")).get().f32(), 9.0F);
  EXPECT_EQ(must(two.global("own")).get().f32(), 2.5F);
  EXPECT_ERROR(must(one.global("fixed")).set(Val(1)), ErrorKind::BadArgument,
               "the global is immutable");
  EXPECT_ERROR(global.set(Val(1)), ErrorKind::BadArgument,
               "the value is of type i32, but must be i64");
}

TEST(Segments, ActiveOnesBeforeTheBadOneStay) {
  Store store(test_engine());
  Linker linker(test_engine());
  const Memory memory = must(Memory::create(store, {1, std::nullopt}));
  const Table table =
      must(Table::create(store, {ValKind::FuncRef, 3, std::nullopt}, Val::null(ValKind::FuncRef)));
  must(linker.define("e", "m", memory));
  must(linker.define("e", "t", table));
  EXPECT_ERROR(
      linker.instantiate(store, compile(R"((module
                 (import "e" "m" (memory 1))
                 (data (i32.const 0) "abc") (data (i32.const 65535) "de") (data (i32.const 10) "f")))")),
      ErrorKind::Trap,
      "out of bounds memory access: data segment 1 (2 bytes at 65535) does not fit memory 0 "
      "of 65536 bytes");
  EXPECT_EQ(must(memory.text(0, 3)), "abc");
  EXPECT_EQ(memory.data()[65535], 0);
  EXPECT_EQ(memory.data()[10], 0);
  EXPECT_FALSE(linker.instantiate(store, compile(R"((module
                 (import "e" "t" (table 3 funcref)) (func $f (result i32) (i32.const 77))
                 (elem (i32.const 0) $f) (elem (i32.const 2) $f $f)))")));
  // The function of the failed instance is there and works.
  const auto func = must(table.get(0)).funcref();
  ASSERT_TRUE(func);
  EXPECT_EQ(must(func->call())[0].i32(), 77);
  EXPECT_TRUE(must(table.get(2)).is_null());
}

TEST(Segments, PassiveAndDropped) {
  const Guest guest(R"((module
    (memory (export "m") 1)
    (table $t 4 funcref)
    (global $f funcref (ref.func $one))
    (data $d "hello")
    (elem $e funcref (ref.null func) (ref.func $one) (global.get $f))
    (func $one (result i32) (i32.const 1))
    (func (export "init") (param i32 i32 i32) (memory.init $d (local.get 0) (local.get 1) (local.get 2)))
    (func (export "drop") (data.drop $d) (elem.drop $e))
    (func (export "elems") (param i32 i32 i32) (table.init $t $e (local.get 0) (local.get 1) (local.get 2)))
    (func (export "null") (param i32) (result i32) (ref.is_null (table.get $t (local.get 0))))))");
  must(guest.call("init", {10, 1, 3}));
  EXPECT_EQ(must(must(guest.instance.memory("m")).text(10, 4)), std::string_view("ell\0", 4));
  EXPECT_FALSE(guest.call("init", {10, 1, 5}));
  must(guest.call("elems", {0, 0, 3}));
  EXPECT_EQ(must(guest.call("null", {0}))[0].i32(), 1);
  EXPECT_EQ(must(guest.call("null", {1}))[0].i32(), 0);
  EXPECT_EQ(must(guest.call("null", {2}))[0].i32(), 0);
  must(guest.call("drop"));
  must(guest.call("init", {10, 0, 0}));
  EXPECT_FALSE(guest.call("init", {10, 0, 1}));
  EXPECT_FALSE(guest.call("elems", {0, 0, 1}));
}

TEST(Instances, Thousands) {
  const auto module = compile(R"((module (memory (export "m") 1)
    (func (export "f") (param i32) (result i32) (i32.store (i32.const 0) (local.get 0))
      (i32.load (i32.const 0)))))");
  Store store(test_engine());
  std::vector<Instance> instances;
  for (int i = 0; i < 3000; ++i) instances.push_back(must(Instance::create(store, module)));
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(must(must(instances[static_cast<std::size_t>(i)].func("f")).call({i}))[0].i32(), i);
  }
  EXPECT_EQ(must(must(instances[5].memory("m")).get<std::int32_t>(0)), 5);
}

TEST(Instances, StoresComeAndGo) {
  const auto module = compile("(module (memory 1) (table 10 funcref) (func (export \"f\")))");
  for (int i = 0; i < 2000; ++i) {
    Store store(test_engine());
    must(must(must(Instance::create(store, module)).func("f")).call());
  }
}

TEST(Module, Reflection) {
  const auto module = compile(R"((module $name
    (import "a" "f" (func (param i32) (result f64)))
    (import "a" "m" (memory 1 2))
    (import "b" "t" (table 3 externref))
    (import "b" "g" (global (mut i64)))
    (func (export "run")) (export "mem" (memory 0))))");
  std::string text;
  for (const ImportType& import : module.imports()) {
    text += import.module + "." + import.field + ": " + to_string(import.type) + "\n";
  }
  for (const ExportType& item : module.exports())
    text += item.name + ": " + to_string(item.type) + "\n";
  EXPECT_EQ(text,
            "a.f: function (i32) -> (f64)\n"
            "a.m: memory 1..2 pages\n"
            "b.t: table 3.. of externref\n"
            "b.g: global mut i64\n"
            "run: function () -> ()\n"
            "mem: memory 1..2 pages\n");
  EXPECT_EQ(module.name(), "name");
  EXPECT_FALSE(module.has_start());
  EXPECT_TRUE(module.find_export("run"));
  EXPECT_FALSE(module.find_export("walk"));
  EXPECT_EQ(module.stats().functions, 1U);
}

TEST(Module, BadInputIsAnError) {
  EXPECT_ERROR(Module::from_file(test_engine(), "/nonexistent.wasm"), ErrorKind::Io,
               "cannot read '/nonexistent.wasm': No such file or directory");
  const std::uint8_t junk[] = {0, 'a', 's', 'm', 9, 0, 0, 0};
  const auto bad = Module::compile(test_engine(), junk);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind(), ErrorKind::Malformed);
  const auto invalid = Module::from_text(test_engine(), "(module (func (result i32)))");
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().kind(), ErrorKind::Invalid);
}

TEST(Engine, PerfMapNamesFunctionsAndTrampolines) {
  Config config;
  config.profiler = Profiler::PerfMap;
  const Engine engine = must(Engine::create(config));
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  const auto module = compile(R"((module (import "a" "b" (func (param i32)))
    (func $one (export "uno")) (func (export "two") (result i64) (i64.const 1))))",
                              engine);
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ::unlink(path.c_str());
  for (const char* name :
       {" one\n", " two\n", " entry trampoline [] -> [i64]\n", " exit trampoline [i32] -> []\n"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << " in\n" << text;
  }
}

TEST(Engine, BadConfigurationIsAnError) {
  Config config;
  config.guest_stack_bytes = 1000;
  EXPECT_ERROR(Engine::create(config), ErrorKind::BadArgument,
               "Config::guest_stack_bytes is 1000, but must be at least 65536");
}

}  // namespace
}  // namespace hoist::api
