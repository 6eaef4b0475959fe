// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/names.hpp"

#include <gtest/gtest.h>

#include "wasm/decode/test_module.hpp"

namespace hoist::wasm {
namespace {

using test::code;
using test::module;
using test::section;

Module with_names(std::string_view names) {
  return *decode(ModuleBytes::own(
      module({section(1, "01 60 00 00"), section(3, "02 00 00"), section(7, "01 03 'exp' 00 01"),
              code({"00 0b", "00 0b"}), section(0, "04 'name'" + std::string(names))})));
}

TEST(Names, ModuleFunctionsAndLocals) {
  const Module m = with_names(
      "00 04 03 'mod'  01 05 01 00 02 'f0'"
      "02 0e 02 00 01 00 01 'a' 01 02 01 01 'b' 05 01 'c'");
  const ModuleNames names = read_names(m);
  EXPECT_EQ(names.module, "mod");
  EXPECT_EQ(names.function(0), "f0");
  EXPECT_EQ(names.function(1), "");
  EXPECT_EQ(names.function(7), "");
  EXPECT_EQ(find_function_name(m, 0), "f0");
  EXPECT_EQ(find_function_name(m, 1), "exp");
  const LocalNames locals = read_local_names(m, 1);
  ASSERT_EQ(locals.size(), 2u);
  EXPECT_EQ(locals[0].first, 1u);
  EXPECT_EQ(locals[0].second, "b");
  EXPECT_EQ(locals[1].second, "c");
  EXPECT_EQ(read_local_names(m, 0).size(), 1u);
  EXPECT_TRUE(read_local_names(m, 9).empty());
}

// Custom sections never make a module bad.
TEST(Names, MalformedSectionsAreIgnored) {
  const Module overrun = with_names("00 7f 03 'mod'");
  EXPECT_EQ(read_names(overrun).module, "");
  const Module stray = with_names("00 04 03 'mod' 01 ff");
  EXPECT_EQ(read_names(stray).module, "mod");
  const Module cut = with_names("01 06 02 00 02 'f0' 09");
  EXPECT_EQ(read_names(cut).function(0), "f0");
  const Module beyond = with_names("01 05 01 63 02 'f0'");
  EXPECT_EQ(read_names(beyond).functions.size(), 0u);
  const Module huge = with_names("02 05 ff ff ff ff 0f");
  EXPECT_TRUE(read_local_names(huge, 0).empty());
}

TEST(Names, OneThatIsNotUtf8CostsNoOthers) {
  const Module m = with_names("01 09 02 00 02 ff fe 01 02 'f1'");
  const ModuleNames names = read_names(m);
  EXPECT_TRUE(names.damaged);
  EXPECT_EQ(names.function(0), "");
  EXPECT_EQ(names.function(1), "f1");
}

TEST(Names, LongNamesAreCutBetweenCharacters) {
  std::string text =
      "01 4c 01 00 49 '" + std::string(63, 'x') + "' e2 82 ac '" + std::string(7, 'y') + "'";
  EXPECT_EQ(find_function_name(with_names(text), 0), std::string(63, 'x') + "...");
}

}  // namespace
}  // namespace hoist::wasm
