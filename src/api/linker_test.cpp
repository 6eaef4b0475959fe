// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/linker.hpp"

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

TEST(Linker, ModulesUseEachOther) {
  Store store(test_engine());
  Linker linker(test_engine());
  const auto a = must(Instance::create(store, compile(R"((module
    (global $count (mut i32) (i32.const 0))
    (table (export "t") 2 funcref) (memory (export "m") 1)
    (elem (i32.const 0) $next)
    (func $next (export "next") (result i32)
      (global.set $count (i32.add (global.get $count) (i32.const 1))) (global.get $count))))")));
  must(linker.define_instance("a", a));
  must(linker.alias("a", "next", "env", "tick"));
  must(linker.alias_module("a", "a2"));
  const auto b = must(linker.instantiate(store, compile(R"((module
    (import "env" "tick" (func $tick (result i32)))
    (import "a2" "t" (table 1 funcref))
    (type $i (func (result i32)))
    (func $other (result i32) (i32.const 1000))
    (func (export "direct") (result i32) (call $tick))
    (func (export "indirect") (result i32) (call_indirect (type $i) (i32.const 0)))
    (export "again" (func $tick))))")));
  EXPECT_EQ(must(must(b.func("direct")).call())[0].i32(), 1);
  EXPECT_EQ(must(must(b.func("indirect")).call())[0].i32(), 2);
  EXPECT_EQ(must(must(b.func("again")).call())[0].i32(), 3);
  EXPECT_EQ(must(must(a.func("next")).call())[0].i32(), 4);
}

Result<Instance> link(Linker& linker, Store& store, const char* text) {
  return linker.instantiate(store, compile(text));
}

TEST(Linker, ErrorsNameWhatIsWantedAndFound) {
  Store store(test_engine());
  Linker linker(test_engine());
  must(linker.define_func("env", "log", [](std::int32_t) {}));
  must(linker.define("env", "m", must(Memory::create(store, {1, 5}))));
  must(linker.define("env", "g", must(Global::create(store, {ValKind::I32, false}, Val(1)))));
  EXPECT_ERROR(
      link(linker, store, "(module (import \"env\" \"log\" (func (param i64))))"), ErrorKind::Link,
      "incompatible import type: \"env\".\"log\" must be a function (i64) -> (), but a host "
      "function (i32) -> () was given");
  EXPECT_ERROR(
      link(linker, store, "(module (import \"env\" \"m\" (memory 1 4)))"), ErrorKind::Link,
      "incompatible import type: \"env\".\"m\" must be a memory 1..4 pages, but a memory 1..5 "
      "pages was given");
  EXPECT_ERROR(
      link(linker, store, "(module (import \"env\" \"m\" (memory 2)))"), ErrorKind::Link,
      "incompatible import type: \"env\".\"m\" must be a memory 2.. pages, but a memory 1..5 "
      "pages was given");
  EXPECT_ERROR(
      link(linker, store, "(module (import \"env\" \"g\" (global (mut i32))))"), ErrorKind::Link,
      "incompatible import type: \"env\".\"g\" must be a global mut i32, but a global i32 was "
      "given");
  EXPECT_ERROR(
      link(linker, store, "(module (import \"env\" \"m\" (func)))"), ErrorKind::Link,
      "incompatible import type: \"env\".\"m\" must be a function () -> (), but a memory 1..5 "
      "pages was given");
  EXPECT_ERROR(
      link(linker, store, "(module (import \"env\" \"print\" (func)))"), ErrorKind::Link,
      "unknown import: \"env\".\"print\", a function () -> (), is not defined; \"env\" has "
      "\"g\", \"log\", \"m\"");
  EXPECT_ERROR(
      link(linker, store, "(module (import \"wasi_snapshot_preview1\" \"fd_write\" (func)))"),
      ErrorKind::Link,
      "unknown import: \"wasi_snapshot_preview1\".\"fd_write\", a function () -> (), is not "
      "defined; "
      "WASI preview 1 provides it (hoist::add_wasi_to_linker)");
  must(link(linker, store, "(module (import \"env\" \"m\" (memory 1)))"));
  must(link(linker, store, "(module (import \"env\" \"m\" (memory 1 5)))"));
}

TEST(Linker, GrownMemoriesCountWithTheirSize) {
  Store store(test_engine());
  Linker linker(test_engine());
  Memory memory = must(Memory::create(store, {1, std::nullopt}));
  must(linker.define("e", "m", memory));
  EXPECT_FALSE(link(linker, store, "(module (import \"e\" \"m\" (memory 3)))"));
  must(memory.grow(2));
  must(link(linker, store, "(module (import \"e\" \"m\" (memory 3)))"));
}

TEST(Linker, NamesAreDefinedOnce) {
  Linker linker(test_engine());
  must(linker.define_func("a", "b", [] { return std::int32_t{1}; }));
  EXPECT_ERROR(
      linker.define_func("a", "b", [] { return std::int32_t{2}; }), ErrorKind::BadArgument,
      "\"a\".\"b\" is defined already; Linker::allow_shadowing permits defining a name again");
  linker.allow_shadowing(true);
  must(linker.define_func("a", "b", [] { return std::int32_t{2}; }));
  Store store(test_engine());
  const auto instance = must(link(linker, store, R"((module
    (import "a" "b" (func $b (result i32))) (func (export "f") (result i32) (call $b))))"));
  EXPECT_EQ(must(must(instance.func("f")).call())[0].i32(), 2);
}

// Under a leak checker: nothing of an instance or of one that could not be made stays.
TEST(Linker, ModulesThatImportAMemoryManyTimes) {
  const Module module = compile(R"((module (import "mod" "mem" (memory 0 1))
    (func (export "size") (result i32) (memory.size))))");
  for (int i = 0; i < 100; ++i) {
    Store store(test_engine());
    Linker linker(test_engine());
    const auto missing = linker.instantiate(store, module);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind(), ErrorKind::Link);
    EXPECT_EQ(missing.error().message().find("unknown import: \"mod\".\"mem\""), 0u);
    must(linker.define("mod", "mem", must(Memory::create(store, {1, 1}))));
    const Instance instance = must(linker.instantiate(store, module));
    EXPECT_EQ(must(must(instance.func("size")).call())[0].i32(), 1);
  }
}

// The texts of types show the general kind of references: a message says so where they are equal.
TEST(Linker, TypesBehindReferences) {
  Store store(test_engine());
  Linker linker(test_engine());
  const Instance a = must(linker.instantiate(store, compile(R"((module
    (type $a (func)) (type $b (func (param i32)))
    (func (export "f") (param (ref null $a))) (table (export "t") 1 (ref null $a))))")));
  must(linker.define("a", "f", *a.get("f")));
  must(linker.define("a", "t", *a.get("t")));
  EXPECT_ERROR(linker.instantiate(store, compile(R"((module (type $b (func (param i32)))
                 (import "a" "f" (func (param (ref null $b))))))")),
               ErrorKind::Link,
               "incompatible import type: \"a\".\"f\" must be a function (funcref) -> (), but a "
               "function (funcref) -> () with other types behind its references was given");
  EXPECT_ERROR(linker.instantiate(store, compile(R"((module (import "a" "t" (table 1 funcref))))")),
               ErrorKind::Link,
               "incompatible import type: \"a\".\"t\" must be a table 1.. of funcref, but a table "
               "1.. of funcref with other types behind its references was given");
}

TEST(Linker, UnknownImports) {
  constexpr const char* kText = R"((module
    (import "x" "f" (func $f (param i32 i32) (result i64 f32)))
    (import "x" "g" (global $g i32))
    (import "x" "m" (memory 2))
    (func $call (export "f") (result i64 f32) (call $f (i32.const 1) (i32.const 2)))
    (func (export "g") (result i32) (global.get $g))
    (func (export "m") (result i32) (memory.size))))";
  Store store(test_engine());
  Linker linker(test_engine());
  linker.unknown_imports(UnknownImports::Default);
  const auto zeros = must(link(linker, store, kText));
  const auto out = must(must(zeros.func("f")).call());
  EXPECT_EQ(out[0].i64(), 0);
  EXPECT_EQ(out[1].f32(), 0.0F);
  EXPECT_EQ(must(must(zeros.func("g")).call())[0].i32(), 0);
  EXPECT_EQ(must(must(zeros.func("m")).call())[0].i32(), 2);
  linker.unknown_imports(UnknownImports::Trap);
  EXPECT_FALSE(link(linker, store, kText));
  const auto traps = must(link(linker, store, R"((module
    (import "x" "f" (func $f)) (func $call (export "f") (call $f))))"));
  const auto trapped = must(traps.func("f")).call();
  EXPECT_TRAP(trapped, TrapCode::UnknownImport, "call");
  EXPECT_EQ(trapped.error().message(), "unknown import called: \"x\".\"f\"");
}

TEST(Linker, StoresAndEnginesDoNotMix) {
  Store one(test_engine());
  Store two(test_engine());
  Linker linker(test_engine());
  must(linker.define("e", "m", must(Memory::create(one, {1, std::nullopt}))));
  EXPECT_ERROR(link(linker, two, "(module (import \"e\" \"m\" (memory 1)))"), ErrorKind::Link,
               "\"e\".\"m\" is defined by something of another store");
  const Engine other = must(Engine::create());
  Store foreign(other);
  EXPECT_ERROR(linker.instantiate(foreign, compile("(module)")), ErrorKind::BadArgument,
               "linker, store and module must be of the same engine");
  EXPECT_ERROR(Instance::create(foreign, compile("(module)")), ErrorKind::BadArgument,
               "the module is of another engine than the store");
  const Extern item = must(Memory::create(one, {1, std::nullopt}));
  EXPECT_ERROR(Instance::create(two, compile("(module (import \"\" \"\" (memory 1)))"), {&item, 1}),
               ErrorKind::Link, "import 0 is a memory of another store");
}

}  // namespace
}  // namespace hoist::api
