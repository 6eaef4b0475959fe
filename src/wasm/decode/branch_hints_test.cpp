// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branch hints are kept in order, or ignored as a whole.
#include <gtest/gtest.h>

#include "wasm/decode/test_module.hpp"

namespace hoist::wasm {
namespace {

using test::Bytes;
using test::section;

/// The hints that are kept of a section: "offset from the start of function 1's body: value".
std::string hints_of(std::string_view content, bool behind_the_code = false) {
  const Bytes custom = section(0, "19 'metadata.code.branch_hint' " + std::string(content));
  const Bytes code = test::code({"00 41 00 04 40 0b 0b", "00 02 40 41 01 0d 00 0b 0b"});
  const Bytes none;
  const Bytes bytes =
      test::module({section(1, "01 60 00 00"), section(3, "02 00 00"),
                    behind_the_code ? none : custom, code, behind_the_code ? custom : none});
  const Result<Module> module = decode(ModuleBytes::borrow(bytes));
  if (!module) return test::outcome(module.error());
  if (const Result<void> valid = validate_all(*module); !valid) {
    return test::outcome(valid.error());
  }
  std::string out;
  for (const BranchHint& hint : module->branch_hints_of(0)) {
    out += "f0+" + std::to_string(hint.offset - module->body(0).offset) + (hint.likely ? "+" : "-");
  }
  for (const BranchHint& hint : module->branch_hints_of(1)) {
    out += "f1+" + std::to_string(hint.offset - module->body(1).offset) + (hint.likely ? "+" : "-");
  }
  return out;
}

TEST(BranchHints, AreKeptByOffset) {
  EXPECT_EQ(hints_of("02 00 01 03 01 01 01 01 05 01 00"), "f0+3+f1+5-");
  EXPECT_EQ(hints_of("00"), "");
}

TEST(BranchHints, WrongSectionsAreIgnored) {
  EXPECT_EQ(hints_of("02 00 01 03 01 01 01 01 05 01 00", true), "");  // behind the code
  EXPECT_EQ(hints_of("02 01 01 05 01 00 00 01 03 01 01"), "");        // functions not in order
  EXPECT_EQ(hints_of("01 00 02 03 01 01 03 01 01"), "");              // offsets not in order
  EXPECT_EQ(hints_of("01 00 01 03 01 02"), "");                       // no such value
  EXPECT_EQ(hints_of("01 00 01 03 02 01 01"), "");                    // no such size
  EXPECT_EQ(hints_of("01 00 01 07 01 01"), "");                       // behind the body
  EXPECT_EQ(hints_of("01 02 01 03 01 01"), "");                       // no such function
  EXPECT_EQ(hints_of("01 00 01 03 01"), "");                          // cut off
  EXPECT_EQ(hints_of("01 00 01 03 01 01 00"), "");                    // too long
  EXPECT_EQ(hints_of("ff ff ff ff 0f"), "");
}

// A wrong custom section is no error, whatever it is called.
TEST(BranchHints, TheModuleIsGoodAllTheSame) {
  const Bytes bytes = test::module(
      {section(1, "01 60 00 00"), section(3, "01 00"),
       section(0, "19 'metadata.code.branch_hint' 01 00 02 00 01 00 01 01 01"),
       test::code({"00 0b"}), section(0, "04 'name' 01 ff 01 00"), section(0, "04 'name' 63")});
  EXPECT_EQ(test::check(bytes), "ok");
}

}  // namespace
}  // namespace hoist::wasm
