// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Uses an engine in every way that makes code.

#include <gtest/gtest.h>

#include "hoist/hoist.hpp"

namespace hoist {

inline constexpr const char* kShopModule = R"((module $shop
  (import "env" "log" (func $log (param i32)))
  (memory (export "memory") 1)
  (table (export "table") 2 funcref)
  (func $buy (export "buy") (param i32) (result i32)
    (call $log (local.get 0))
    (drop (memory.grow (i32.const 0)))
    (i32.add (local.get 0) (i32.const 1)))
  (func (export "through") (param i32 i64)
    (call_indirect (param i32 i64) (local.get 0) (local.get 1) (i32.const 0)))))";

/// The module is there as long as this is.
class UsedEngine {
 public:
  explicit UsedEngine(const Engine& engine) : store_(engine) { use(engine); }

 private:
  void use(const Engine& engine) {
    auto module = Module::from_text(engine, kShopModule);
    ASSERT_TRUE(module) << module.error().message();
    Linker linker(engine);
    ASSERT_TRUE(linker.define_func("env", "log", [](std::int32_t) {}));
    auto instance = linker.instantiate(store_, *module);
    ASSERT_TRUE(instance) << instance.error().message();
    auto result = instance->typed<std::int32_t(std::int32_t)>("buy");
    ASSERT_TRUE(result);
    EXPECT_EQ(*(*result)(41), 42);
    // A type that no module has, called through a table: a trampoline made on the fly.
    Func made = Func::create(
        store_, FuncType({ValType(ValKind::I32), ValType(ValKind::I64)}, {}),
        [](Caller&, std::span<const Val>, std::span<Val>) -> Result<void> { return {}; });
    auto table = instance->table("table");
    ASSERT_TRUE(table);
    ASSERT_TRUE(table->set(0, Val(made)));
    auto through = instance->typed<void(std::int32_t, std::int64_t)>("through");
    ASSERT_TRUE(through);
    EXPECT_TRUE((*through)(1, 2));
  }

  Store store_;
};

}  // namespace hoist
