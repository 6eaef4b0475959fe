// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/compile_module.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compiler/trampolines.hpp"
#include "image/layout/builtin.hpp"
#include "isa/registry.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist::compiler {
namespace {

using image::FuncKey;
using image::FuncKind;

const codegen::Target& target() {
  static const codegen::Target* made = [] {
    auto result = isa::make_target("x86_64", isa::baseline_features("x86_64"));
    return result ? (*std::move(result)).release() : nullptr;
  }();
  return *made;
}

wasm::Module module_of(std::string_view wat) {
  auto bytes = wasm::assemble_wat(wat);
  EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().message());
  auto module = wasm::decode(wasm::ModuleBytes::own(*std::move(bytes)));
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().message());
  const auto valid = wasm::validate_module(*module);
  EXPECT_TRUE(valid.has_value()) << (valid ? "" : valid.error().message());
  return *std::move(module);
}

CompilerOptions options(unsigned opt_level, unsigned threads) {
  CompilerOptions out;
  out.target = &target();
  out.opt_level = opt_level;
  out.threads = threads;
  out.verify = true;
  out.check_allocation = true;
  return out;
}

/// Many functions that call each other, with loops, memory accesses, tables.
std::string large_module(unsigned functions) {
  std::string wat =
      "(module (memory 1) (table 4 4 funcref) (type $t (func (param i32) (result i32)))"
      "(global $g (mut i32) (i32.const 0))";
  for (unsigned i = 0; i < functions; ++i) {
    const std::string n = std::to_string(i);
    const std::string callee = std::to_string((i * 7 + 3) % functions);
    wat +=
        "(func (param i32) (result i32) (local i32)"
        "(loop (local.set 1 (i32.add (local.get 1) (i32.load offset=" +
        n +
        " (local.get 0))))"
        "(br_if 0 (i32.lt_s (local.tee 0 (i32.sub (local.get 0) (i32.const " +
        n +
        "))) (i32.const 5))))"
        "(global.set $g (call " +
        callee +
        " (local.get 1)))"
        "(call_indirect (type $t) (memory.grow (global.get $g)) (i32.const 2)))";
  }
  return wat + "(export \"f\" (func 0)))";
}

TEST(CompileModule, ImageDoesNotDependOnThreads) {
  const wasm::Module module = module_of(large_module(300));
  for (const unsigned level : {0u, 1u, 2u}) {
    const auto one = compile_module(module, options(level, 1));
    ASSERT_TRUE(one.has_value()) << one.error().message();
    for (const unsigned threads : {2u, 5u}) {
      const auto more = compile_module(module, options(level, threads));
      ASSERT_TRUE(more.has_value()) << more.error().message();
      EXPECT_TRUE(std::equal(one->text().begin(), one->text().end(), more->text().begin(),
                             more->text().end()));
      ASSERT_EQ(one->traps().size(), more->traps().size());
      ASSERT_EQ(one->addresses().size(), more->addresses().size());
      for (std::size_t i = 0; i < one->traps().size(); ++i) {
        EXPECT_EQ(one->traps()[i].offset, more->traps()[i].offset);
        EXPECT_EQ(one->traps()[i].code, more->traps()[i].code);
      }
    }
  }
}

TEST(CompileModule, ImageHasWhatTheModuleNeeds) {
  const wasm::Module module = module_of(R"((module
    (import "m" "f" (func (param i32)))
    (type $unused (func (param f64) (result f64)))
    (memory 1)
    (func (export "e") (param i64) (result i64) (local.get 0))
    (func (drop (memory.grow (i32.const 1))))
    (start 2)))");
  CompileStats stats;
  const auto image = compile_module(module, options(2, 1), &stats);
  ASSERT_TRUE(image.has_value()) << image.error().message();
  const auto has = [&](FuncKind kind, std::uint32_t index) {
    return image->function(FuncKey(kind, 0, index)) != nullptr;
  };
  const auto type_of = [&](std::uint32_t func) {
    return module.canonical_type(module.functions[func].type_index);
  };
  EXPECT_FALSE(has(FuncKind::WasmFunction, 0));
  EXPECT_TRUE(has(FuncKind::WasmFunction, 1));
  EXPECT_TRUE(has(FuncKind::WasmFunction, 2));
  EXPECT_TRUE(has(FuncKind::ExitTrampoline, type_of(0)));
  EXPECT_FALSE(has(FuncKind::EntryTrampoline, type_of(0)));
  EXPECT_TRUE(has(FuncKind::EntryTrampoline, type_of(1)));
  EXPECT_TRUE(has(FuncKind::EntryTrampoline, type_of(2)));
  EXPECT_TRUE(has(FuncKind::BuiltinTrampoline, static_cast<unsigned>(image::Builtin::memory_grow)));
  EXPECT_FALSE(
      has(FuncKind::BuiltinTrampoline, static_cast<unsigned>(image::Builtin::memory_fill)));
  EXPECT_EQ(image->functions().size(), 2u + 1u + 2u + 1u);
  EXPECT_EQ(stats.functions, 2u);
  EXPECT_EQ(stats.trampolines, 4u);
  EXPECT_EQ(stats.text_bytes, image->text().size());
}

TEST(CompileModule, ReportsTheFirstErrorForAnyNumberOfThreads) {
  std::string wat = "(module (func) ";
  for (int i = 0; i < 200; ++i) {
    // Functions 40, 80 … leave a value on the stack.
    wat += i % 40 == 39 ? "(func (i32.const 1))" : "(func (drop (i32.const 1)))";
  }
  const wasm::Module module = module_of(wat + ")");
  CompilerOptions opts = options(1, 1);
  const auto expected = compile_module(module, opts);
  ASSERT_FALSE(expected.has_value());
  EXPECT_EQ(expected.error().kind(), ErrorKind::Invalid);
  for (unsigned run = 0; run < 20; ++run) {
    opts.threads = 4;
    const auto other = compile_module(module, opts);
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().offset(), expected.error().offset());
    EXPECT_EQ(other.error().message(), expected.error().message());
  }
  EXPECT_TRUE(module.body(40).offset <= expected.error().offset() &&
              expected.error().offset() <= module.body(40).end());
}

TEST(CompileModule, EmptyModule) {
  const auto image = compile_module(module_of("(module)"), options(2, 4));
  ASSERT_TRUE(image.has_value());
  EXPECT_TRUE(image->functions().empty());
}

TEST(Trampolines, OnDemand) {
  const wasm::FuncType type({wasm::TypeKind::I32, wasm::TypeKind::F64}, {wasm::TypeKind::I64});
  const auto exit = compile_exit_trampoline(type, target());
  ASSERT_TRUE(exit.has_value()) << exit.error().message();
  EXPECT_NE(exit->function(FuncKey(FuncKind::ExitTrampoline, 0, 0)), nullptr);
}

}  // namespace
}  // namespace hoist::compiler
