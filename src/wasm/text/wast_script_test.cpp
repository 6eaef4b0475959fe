// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/wast_script.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hoist::wasm {
namespace {

TEST(WastScript, CommandsOfEveryKind) {
  const Script script = parse_script(R"wast(
(module $m (func (export "f")))
(module definition $d (func))
(module instance $i $d)
(module binary "\00asm" "\01\00\00\00")
(module $q quote "(func)")
(register "m" $m)
(invoke $m "f" (i32.const 1))
(get "g")
(assert_return (invoke "f") (i64.const -1) (ref.null func))
(assert_trap (invoke "f") "unreachable")
(assert_trap (module (func) (start 0)) "unreachable")
(assert_exhaustion (invoke "f") "call stack exhausted")
(assert_exception (invoke "f"))
(assert_malformed (module quote "(fun)") "unexpected token")
(assert_malformed_custom (module quote "(@custom)") "@custom")
(assert_invalid (module (func (result i32))) "type mismatch")
(assert_invalid_custom (module) "")
(assert_unlinkable (module (import "a" "b" (func))) "unknown import")
(assert_suspension (invoke "f") "unhandled")
(thread $t (shared (module $m)) (register "m" $m) (assert_return (invoke "f")))
(wait $t)
)wast");
  const CommandKind kinds[] = {CommandKind::Module,
                               CommandKind::ModuleDefinition,
                               CommandKind::ModuleInstance,
                               CommandKind::Module,
                               CommandKind::Module,
                               CommandKind::Register,
                               CommandKind::Action,
                               CommandKind::Action,
                               CommandKind::AssertReturn,
                               CommandKind::AssertTrap,
                               CommandKind::AssertTrapModule,
                               CommandKind::AssertExhaustion,
                               CommandKind::AssertException,
                               CommandKind::AssertMalformed,
                               CommandKind::AssertMalformedCustom,
                               CommandKind::AssertInvalid,
                               CommandKind::AssertInvalidCustom,
                               CommandKind::AssertUnlinkable,
                               CommandKind::AssertSuspension,
                               CommandKind::Thread,
                               CommandKind::Wait};
  ASSERT_EQ(script.commands.size(), std::size(kinds));
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const Command& command = script.commands[i];
    EXPECT_EQ(command.kind, kinds[i]) << i << ": " << to_string(command.kind) << ' '
                                      << (command.error ? command.error->message() : "");
    EXPECT_EQ(command.line, i + 2);
    EXPECT_EQ(command.column, 1u);
  }
  EXPECT_EQ(script.commands[0].module.id, "m");
  EXPECT_EQ(script.commands[2].id, "i");
  EXPECT_EQ(script.commands[2].of, "d");
  EXPECT_EQ(script.commands[3].module.form, ModuleForm::Binary);
  EXPECT_EQ(script.commands[3].module.bytes.size(), 8u);
  EXPECT_EQ(script.commands[5].name, "m");
  EXPECT_EQ(script.commands[6].action.module, "m");
  EXPECT_EQ(script.commands[6].action.arguments[0].low, 1u);
  EXPECT_EQ(script.commands[7].action.kind, ActionKind::Get);
  EXPECT_EQ(script.commands[8].results.size(), 2u);
  EXPECT_EQ(script.commands[9].message, "unreachable");
  EXPECT_TRUE(script.commands[13].module.error.has_value());
  EXPECT_FALSE(script.commands[15].module.error.has_value());
  EXPECT_EQ(script.commands[19].shared, std::vector<std::string>{"m"});
  EXPECT_EQ(script.commands[19].nested.size(), 2u);
}

TEST(WastScript, ValuesAndPatterns) {
  const Script script = parse_script(R"wast(
(assert_return (invoke "f" (f32.const 1.5) (f64.const -inf) (ref.extern 7) (ref.host 3) (ref.null any)
    (v128.const i16x8 1 2 3 4 5 6 7 -1))
  (f32.const nan:canonical) (f64.const nan:arithmetic) (v128.const f32x4 1 nan:canonical 2 nan:arithmetic)
  (either (i32.const 1) (i32.const 2)) (ref.extern) (ref.extern 7) (ref.func) (ref.null) (ref.i31)
  (ref.struct) (ref.array) (ref.eq) (ref.any) (ref.exn) (ref.null $t) (ref.host 1))
)wast");
  ASSERT_EQ(script.commands.size(), 1u);
  const Command& command = script.commands[0];
  ASSERT_EQ(command.kind, CommandKind::AssertReturn) << command.error->message();
  const auto& args = command.action.arguments;
  EXPECT_EQ(args[0].low, 0x3fc00000u);
  EXPECT_EQ(args[1].low, 0xfff0000000000000u);
  EXPECT_EQ(args[2].low, 7u);
  EXPECT_EQ(args[3].type, ScriptType::RefHost);
  EXPECT_EQ(args[4].heap, 0x6e);
  EXPECT_EQ(args[5].low, 0x0004000300020001u);
  EXPECT_EQ(args[5].high, 0xffff000700060005u);
  const auto& results = command.results;
  EXPECT_EQ(results[0].nan[0], NanPattern::Canonical);
  EXPECT_EQ(results[1].nan[0], NanPattern::Arithmetic);
  EXPECT_EQ(results[2].nan[1], NanPattern::Canonical);
  EXPECT_EQ(results[2].nan[3], NanPattern::Arithmetic);
  EXPECT_EQ(results[2].low, 0x3f800000u);
  EXPECT_EQ(results[2].high, 0x40000000u);
  EXPECT_EQ(results[3].alternatives.size(), 2u);
  EXPECT_FALSE(results[4].has_number);
  EXPECT_TRUE(results[5].has_number);
  EXPECT_EQ(results[6].type, ScriptType::RefFunc);
  EXPECT_EQ(results[7].heap, 0);
}

TEST(WastScript, GoesOnBehindBrokenCommands) {
  const Script script = parse_script(R"wast((module)
(assert_retrun (invoke "f"))
stray
(assert_return (invoke "f" (i32.const 99999999999)))
(assert_return (invoke "f")
(invoke "g")
)wast");
  ASSERT_EQ(script.commands.size(), 6u);
  EXPECT_EQ(script.commands[0].kind, CommandKind::Module);
  for (int i = 1; i < 5; ++i) {
    EXPECT_EQ(script.commands[static_cast<std::size_t>(i)].kind, CommandKind::Broken) << i;
    EXPECT_TRUE(script.commands[static_cast<std::size_t>(i)].error.has_value()) << i;
  }
  EXPECT_EQ(script.commands[3].error->message(), "i32 constant out of range: \"99999999999\"");
  EXPECT_EQ(script.commands[5].kind, CommandKind::Action);
}

TEST(WastScript, AMalformedModuleIsNoBrokenCommand) {
  const Script script = parse_script("(module\n  (func i32.ad))\n(invoke \"f\")");
  ASSERT_EQ(script.commands.size(), 2u);
  ASSERT_TRUE(script.commands[0].module.error.has_value());
  EXPECT_EQ(script.commands[0].module.error->line(), 2u);
}

TEST(WastScript, AModuleWithoutParentheses) {
  const Script script = parse_script("(func) (memory 0) (func (export \"f\"))");
  ASSERT_EQ(script.commands.size(), 1u);
  EXPECT_EQ(script.commands[0].kind, CommandKind::Module);
  EXPECT_FALSE(script.commands[0].module.error.has_value());
}

TEST(WastScript, DeepNestingUsesNoStack) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "(thread $t ";
  EXPECT_FALSE(parse_script(text).commands.empty());
  for (int i = 0; i < 300'000; ++i) text += ")";
  EXPECT_FALSE(parse_script(text).commands.empty());
  text = "(assert_return (invoke \"f\") ";
  for (int i = 0; i < 300'000; ++i) text += "(either ";
  EXPECT_EQ(parse_script(text).commands[0].kind, CommandKind::Broken);
}

TEST(WastScript, AnyPrefixGivesAnAnswer) {
  const std::string text =
      "(module $m (func (export \"f\"))) (assert_return (invoke $m \"f\" (v128.const f32x4 1 2 3 "
      "4))"
      " (either (i32.const 1) (f32.const nan:canonical)) (ref.extern 1))\n"
      "(thread $t (shared (module $m)) (invoke \"f\")) (wait $t) (assert_malformed (module quote "
      "\"(\")"
      " \"x\") (register \"a\" $m)";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    parse_script(std::string_view(text).substr(0, length));
    parse_script(std::string_view(text).substr(length));
  }
}

}  // namespace
}  // namespace hoist::wasm
