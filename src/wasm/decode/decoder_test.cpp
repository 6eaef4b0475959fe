// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/decoder.hpp"

#include <gtest/gtest.h>

#include "wasm/decode/test_module.hpp"

namespace hoist::wasm {
namespace {

using test::check;
using test::code;
using test::hex;
using test::module;
using test::section;

TEST(Decoder, Header) {
  EXPECT_EQ(check(module({})), "ok");
  EXPECT_EQ(check(hex("")), "malformed @0: unexpected end");
  EXPECT_EQ(check(hex("00 'as'")), "malformed @0: unexpected end");
  EXPECT_EQ(check(hex("'asm' 00 01 00 00 00")),
            "malformed @0: magic header not detected: a module begins with the bytes 00 61 73 6d");
  EXPECT_EQ(check(hex("00 'asm' 01 00")), "malformed @4: unexpected end");
  EXPECT_EQ(check(hex("00 'asm' 02 00 00 00")),
            "malformed @4: unknown binary version 02 00 00 00, not 01 00 00 00");
  EXPECT_EQ(check(hex("00 'asm' 0d 00 01 00")),
            "unsupported @4: unsupported feature: component-model (a component, not a module)");
}

TEST(Decoder, SectionFrames) {
  EXPECT_EQ(check(module({section(14, "")})), "malformed @8: malformed section id 14");
  EXPECT_EQ(check(module({hex("01 05 00")})),
            "malformed @9: length out of bounds: the type section claims 5 bytes, 1 are left");
  EXPECT_EQ(check(module({section(1, "00 00")})),
            "malformed @11: section size mismatch: 1 bytes of the type section are left over");
  EXPECT_EQ(
      check(module({section(3, "00"), section(1, "00")})),
      "malformed @11: unexpected content after last section: a type section after the function "
      "section");
  EXPECT_EQ(check(module({section(1, "00"), section(1, "00")})),
            "malformed @11: unexpected content after last section: a type section after the type "
            "section");
  EXPECT_EQ(check(module({section(0, "01 'a' 'xyz'"), section(1, "00"), section(0, "00")})), "ok");
  EXPECT_EQ(check(module({section(0, "")})),
            "malformed @10: unexpected end of section or function, length out of bounds");
}

// The data count section stands before the code, the tag section before the globals.
TEST(Decoder, SectionOrderIsNotTheOrderOfIds) {
  EXPECT_EQ(
      check(module({section(9, "00"), section(12, "00"), section(10, "00"), section(11, "00")})),
      "ok");
  EXPECT_EQ(check(module({section(5, "00"), section(13, "00"), section(6, "00")})), "ok");
  EXPECT_EQ(test::verdict(module({section(10, "00"), section(12, "00")})),
            "malformed: unexpected content after last section: a data count section after the code "
            "section");
}

TEST(Decoder, EmptySectionsAreFine) {
  for (const std::uint8_t id :
       std::initializer_list<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 9, 10, 11}) {
    EXPECT_EQ(check(module({section(id, "00")})), "ok") << int{id};
  }
}

TEST(Decoder, CountsAreCheckedBeforeMemoryIsTaken) {
  for (const std::uint8_t id :
       std::initializer_list<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 9, 10, 11}) {
    EXPECT_EQ(test::verdict(module({section(id, "ff ff ff ff 0f")})).substr(0, 32),
              "malformed: length out of bounds:")
        << int{id};
  }
}

TEST(Decoder, InconsistentCounts) {
  const test::Bytes type = section(1, "01 60 00 00");
  EXPECT_EQ(test::verdict(module({type, section(3, "01 00")})),
            "malformed: function and code section have inconsistent lengths: 1 and 0");
  EXPECT_EQ(test::verdict(module({type, code({"00 0b"})})),
            "malformed: function and code section have inconsistent lengths: 0 and 1");
  EXPECT_EQ(test::verdict(module({section(12, "01")})),
            "malformed: data count and data section have inconsistent lengths: 1 and 0");
  EXPECT_EQ(test::verdict(module(
                {section(5, "01 00 01"), section(12, "00"), section(11, "01 00 41 00 0b 00")})),
            "malformed: data count and data section have inconsistent lengths: 0 and 1");
}

TEST(Decoder, Forms) {
  EXPECT_EQ(check(module({section(1, "01 61 00 00")})),
            "malformed @11: malformed definition type 0x61");
  EXPECT_EQ(check(module({section(1, "01 60 01 40 00")})),
            "malformed @13: malformed value type 0x40");
  EXPECT_EQ(check(module({section(2, "01 00 00 05 00")})),
            "malformed @13: malformed import kind 5");
  EXPECT_EQ(check(module({section(7, "01 00 05 00")})), "malformed @12: malformed export kind 5");
  EXPECT_EQ(check(module({section(4, "01 7f 00 00")})),
            "malformed @11: malformed reference type: found i32");
  EXPECT_EQ(check(module({section(4, "01 70 02 00")})),
            "malformed @12: malformed limits flags 0x2");
  EXPECT_EQ(check(module({section(5, "01 10 00")})), "malformed @11: malformed limits flags 0x10");
  EXPECT_EQ(check(module({section(6, "01 7f 02 41 00 0b")})),
            "malformed @12: malformed mutability 2, not 0 or 1");
  EXPECT_EQ(check(module({section(9, "01 08 00 00")})),
            "malformed @11: malformed elements segment kind 8");
  EXPECT_EQ(check(module({section(9, "01 01 01 00")})),
            "malformed @12: malformed element kind 1, not 0");
  EXPECT_EQ(check(module({section(11, "01 03 00")})),
            "malformed @11: malformed data segment kind 3");
  EXPECT_EQ(check(module({section(6, "01 7f 00 ff 0b")})), "malformed @13: illegal opcode ff");
  EXPECT_EQ(check(module({section(6, "01 7f 00 41 00")})),
            "malformed @15: unexpected end of section or function");
}

// What is off is named, but only if the rest of the module is well-formed.
TEST(Decoder, FeaturesThatAreOff) {
  const auto without = [](Feature feature, std::initializer_list<test::Bytes> sections) {
    const test::Bytes bytes = module(sections);
    EXPECT_EQ(test::verdict(bytes).find("unsupported"), std::string::npos);
    const std::string text = test::verdict(bytes, Features().without(feature));
    return text.substr(0, text.find(" ("));
  };
  const auto expected = [](Feature feature) {
    return "unsupported: unsupported feature: " + std::string(text(feature));
  };
  struct Row {
    Feature feature;
    std::initializer_list<test::Bytes> sections;
  };
  const test::Bytes v128 =
      section(6, "01 7b 00 fd 0c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 0b");
  const Row rows[] = {
      {Feature::Simd, {section(1, "01 60 01 7b 00")}},
      {Feature::Simd, {v128}},
      {Feature::Gc, {section(1, "01 5e 78 00")}},
      {Feature::Gc, {section(1, "01 4e 01 50 00 5f 01 7f 01")}},
      {Feature::Gc, {section(1, "01 60 01 6e 00")}},
      {Feature::Gc, {section(1, "01 60 01 64 6b 00")}},
      {Feature::Exceptions, {section(1, "01 60 01 69 00")}},
      {Feature::Exceptions, {section(1, "01 60 00 00"), section(13, "01 00 00")}},
      {Feature::FunctionReferences, {section(1, "01 60 01 64 70 00")}},
      {Feature::FunctionReferences, {section(1, "02 60 00 00 60 01 63 00 00")}},
      {Feature::FunctionReferences, {section(4, "01 40 00 70 00 01 d0 70 0b")}},
      {Feature::ExtendedConst, {section(6, "01 7f 00 41 01 41 02 6a 0b")}},
      {Feature::MultiValue, {section(1, "01 60 00 02 7f 7f")}},
      {Feature::BulkMemory, {section(11, "01 01 00")}},
      {Feature::BulkMemory, {section(9, "01 01 00 00")}},
      {Feature::ReferenceTypes, {section(4, "01 6f 00 00")}},
      {Feature::MutableGlobals, {section(2, "01 00 00 03 7f 01")}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(without(row.feature, row.sections), expected(row.feature));
  }
  // Active segments need no bulk memory, also with a 64-bit offset.
  EXPECT_EQ(
      test::verdict(module({section(4, "01 70 04 01"), section(9, "01 02 00 42 00 0b 00 00")}),
                    Features().without(Feature::BulkMemory)),
      "ok");
  // A flag of limits that means nothing is malformed.
  const auto limits = [](Feature feature, const test::Bytes& part) {
    EXPECT_EQ(test::verdict(module({part})), "ok");
    return test::verdict(module({part}), Features().without(feature));
  };
  EXPECT_EQ(
      limits(Feature::Memory64, section(5, "01 04 01")),
      "malformed: malformed limits flags 0x4, unsupported feature: memory64 (flag of limits)");
  EXPECT_EQ(
      limits(Feature::Memory64, section(4, "01 70 05 01 02")),
      "malformed: malformed limits flags 0x5, unsupported feature: memory64 (flag of limits)");
  EXPECT_EQ(limits(Feature::Threads, section(5, "01 03 01 02")),
            "malformed: malformed limits flags 0x3, unsupported feature: threads (flag of limits)");
  EXPECT_EQ(
      limits(Feature::CustomPageSizes, section(5, "01 08 01 00")),
      "malformed: malformed limits flags 0x8, unsupported feature: custom-page-sizes (flag of "
      "limits)");
  EXPECT_EQ(test::verdict(module({section(5, "02 00 01 00 01")}),
                          Features().without(Feature::MultiMemory)),
            "invalid: multiple memories: the feature multi-memory is off");
  EXPECT_EQ(test::verdict(module({section(1, "01 60 01 7b 00"), section(2, "01 00 00 07 00")}),
                          Features().without(Feature::Simd)),
            "malformed: malformed import kind 7");
}

TEST(Decoder, NullableFuncIsFuncref) {
  EXPECT_EQ(check(module({section(4, "01 63 70 00 01")})), "ok");
}

TEST(Decoder, IndexSpacesStartWithImports) {
  const test::Bytes bytes =
      module({section(1, "03 60 00 00 60 01 7f 00 60 00 00"),
              section(2,
                      "05 01 'a' 01 'f' 00 01  01 'a' 01 't' 01 6f 01 01 02  01 'a' 01 'm' 02 00 03"
                      "01 'a' 01 'g' 03 7c 01  01 'b' 01 'h' 00 02"),
              section(3, "01 00"), section(7, "02 01 'x' 00 02 01 'y' 03 00"), section(8, "02"),
              section(9, "02 03 00 01 00 05 70 02 d0 70 0b d2 01 0b"), code({"00 0b"})});
  const Result<Module> decoded = decode(ModuleBytes::borrow(bytes));
  ASSERT_TRUE(decoded);
  const Module& m = *decoded;
  EXPECT_EQ(m.num_imported_functions, 2u);
  EXPECT_EQ(m.num_functions(), 3u);
  EXPECT_EQ(m.num_defined_functions(), 1u);
  EXPECT_EQ(m.imports[4].index, 1u);
  EXPECT_EQ(m.imports[4].module, "b");
  EXPECT_EQ(m.imports[4].field, "h");
  EXPECT_EQ(m.tables[0].type.element, ValType(TypeKind::ExternRef));
  EXPECT_EQ(m.tables[0].type.limits.max, 2u);
  EXPECT_TRUE(m.globals[0].type.is_mutable);
  EXPECT_EQ(m.canonical_type(0), 0u);
  EXPECT_EQ(m.canonical_type(1), 1u);
  EXPECT_EQ(m.canonical_type(2), 0u);
  EXPECT_EQ(m.find_export("x")->index, 2u);
  EXPECT_EQ(m.find_export("z"), nullptr);
  EXPECT_EQ(m.start, 2u);
  EXPECT_EQ(m.elements[0].mode, SegmentMode::Declarative);
  EXPECT_EQ(m.elements[1].items[0].kind, ElemItem::Kind::Null);
  EXPECT_EQ(m.elements[1].items[1].kind, ElemItem::Kind::Func);
  EXPECT_EQ(m.elements[1].items[1].index, 1u);
  EXPECT_TRUE(m.escaping_functions.contains(0));
  EXPECT_TRUE(m.escaping_functions.contains(1));
  EXPECT_TRUE(m.escaping_functions.contains(2));
  const std::span<const std::uint8_t> body = m.bytes_of(m.body(2));
  EXPECT_EQ(test::Bytes(body.begin(), body.end()), hex("00 0b"));
}

TEST(Decoder, FunctionsEscapeThroughExportsGlobalsAndSegments) {
  const test::Bytes bytes =
      module({section(1, "01 60 00 00"), section(3, "04 00 00 00 00"),
              section(6, "01 70 00 d2 01 0b"), section(7, "01 00 00 03"), section(8, "00"),
              code({"00 0b", "00 0b", "00 0b", "00 10 02 0b"})});
  const Result<Module> decoded = decode(ModuleBytes::borrow(bytes));
  ASSERT_TRUE(decoded);
  EXPECT_FALSE(decoded->escaping_functions.contains(0));  // the start function alone does not
  EXPECT_TRUE(decoded->escaping_functions.contains(1));
  EXPECT_FALSE(decoded->escaping_functions.contains(2));
  EXPECT_TRUE(decoded->escaping_functions.contains(3));
}

TEST(Decoder, KeepsItsBytesAlive) {
  Result<Module> decoded = decode(ModuleBytes::own(module({section(0, "03 'abc' 01 02")})));
  ASSERT_TRUE(decoded);
  const Module moved = std::move(*decoded);
  ASSERT_EQ(moved.customs.size(), 1u);
  EXPECT_EQ(moved.customs[0].name, "abc");
  EXPECT_EQ(moved.bytes_of(moved.customs[0].content).size(), 2u);
}

}  // namespace
}  // namespace hoist::wasm
