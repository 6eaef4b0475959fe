// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no program should do: moved-from objects, dead handles, things of another store or type. The
// answer is an error or a neutral value.
#include <utility>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

constexpr const char* kModule = R"((module
  (func (export "f") (param i32) (result i32) (local.get 0))
  (memory (export "m") 1) (table (export "t") 1 funcref)
  (global (export "g") (mut i32) (i32.const 7))))";

TEST(Misuse, MovedFromEngine) {
  Engine engine = must(Engine::create());
  const Engine taken = std::move(engine);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_ERROR(Module::from_text(engine, "(module)"), ErrorKind::BadArgument,
               "the engine was moved from");
  EXPECT_EQ(engine.cpu_features(), "");
  EXPECT_EQ(engine.config().threads, 0U);
  Store store(engine);
  EXPECT_FALSE(store.ref().alive());
  EXPECT_FALSE(Memory::create(store, {1, {}}));
  Linker linker(engine);
  EXPECT_ERROR(linker.define_func("a", "b", [] {}), ErrorKind::BadArgument,
               "the linker was moved from");
  // NOLINTEND(bugprone-use-after-move)
}

TEST(Misuse, MovedFromModule) {
  Module module = compile(kModule);
  const Module taken = std::move(module);
  Store store(test_engine());
  Linker linker(test_engine());
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_TRUE(module.imports().empty() && module.exports().empty());
  EXPECT_TRUE(!module.find_export("f") && module.name().empty() && !module.has_start());
  EXPECT_TRUE(module.custom_sections("x").empty());
  EXPECT_EQ(module.stats().functions, 0U);
  EXPECT_ERROR(Instance::create(store, module), ErrorKind::BadArgument,
               "the module was moved from");
  EXPECT_ERROR(linker.instantiate(store, module), ErrorKind::BadArgument,
               "the module was moved from");
  EXPECT_FALSE(module.serialize());
  // NOLINTEND(bugprone-use-after-move)
}

TEST(Misuse, MovedFromLinkerAndStore) {
  Linker linker(test_engine());
  Linker linker2 = std::move(linker);
  Store store(test_engine());
  const Module module = compile(kModule);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_FALSE(linker.has("a", "b"));
  linker.allow_shadowing(true);
  linker.unknown_imports(UnknownImports::Trap);
  EXPECT_FALSE(linker.alias("a", "b", "c", "d"));
  EXPECT_FALSE(linker.alias_module("a", "b"));
  EXPECT_FALSE(linker.instantiate(store, module));
  const Store moved = std::move(store);
  EXPECT_FALSE(linker2.instantiate(store, module));
  EXPECT_FALSE(Instance::create(store, module));
  EXPECT_FALSE(Func::wrap(store, [] {}).call());
  // NOLINTEND(bugprone-use-after-move)
}

TEST(Misuse, DeadHandles) {
  std::optional<Guest> guest(std::in_place, kModule);
  const Func func = guest->func("f");
  const auto typed = must(func.typed<std::int32_t(std::int32_t)>());
  Memory memory = must(guest->instance.memory("m"));
  const Table table = must(guest->instance.table("t"));
  const Global global = must(guest->instance.global("g"));
  const Instance instance = guest->instance;
  const StoreRef ref = guest->store.ref();
  guest.reset();
  const auto is_gone = [](const auto& result) {
    return !result && result.error().message() == "the store that this belongs to is gone";
  };
  EXPECT_TRUE(is_gone(func.call({Val(1)})));
  EXPECT_TRUE(is_gone(typed(1)));
  EXPECT_TRUE(is_gone(func.typed<void()>()));
  EXPECT_TRUE(is_gone(memory.grow(1)));
  EXPECT_TRUE(is_gone(memory.bytes(0, 1)));
  EXPECT_TRUE(memory.data().empty());
  EXPECT_TRUE(is_gone(table.get(0)));
  EXPECT_TRUE(is_gone(table.set(0, Val::null(ValKind::FuncRef))));
  EXPECT_TRUE(is_gone(global.set(Val(1))));
  static_cast<void>(global.get());
  EXPECT_FALSE(instance.get("f"));
  EXPECT_TRUE(instance.exports().empty());
  EXPECT_TRUE(is_gone(instance.func("f")));
  EXPECT_TRUE(is_gone(Memory::create(ref, {1, {}})));
  EXPECT_EQ(Extern(func).type().kind, ExternKind::Func);
}

TEST(Misuse, OtherStoreAndOtherTypes) {
  Guest a(kModule);
  Guest b(kModule);
  const Func of_b = b.func("f");
  const Table table = must(a.instance.table("t"));
  EXPECT_FALSE(table.set(0, Val(of_b)));
  EXPECT_FALSE(table.grow(1, Val(of_b)));
  EXPECT_FALSE(table.set(0, Val(1)));
  EXPECT_FALSE(must(a.instance.global("g")).set(Val(1.0)));
  EXPECT_FALSE(a.call("f", {Val(1.0)}));
  EXPECT_FALSE(a.call("f", {}));
  EXPECT_FALSE(a.func("f").typed<void()>());
  const Module importer = compile("(module (import \"\" \"\" (func (param i32) (result i32))))");
  const Extern imports[] = {of_b};
  EXPECT_FALSE(Instance::create(a.store, importer, imports));
  Linker linker(test_engine());
  must(linker.define("", "", of_b));
  EXPECT_FALSE(linker.instantiate(a.store, importer));
  const Engine other = must(Engine::create());
  EXPECT_FALSE(Instance::create(a.store, compile(kModule, other)));
}

}  // namespace
}  // namespace hoist::api
