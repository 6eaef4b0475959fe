// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/format/opcodes.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "wasm/decode/body_reader.hpp"
#include "wasm/format/types.hpp"

namespace hoist::wasm {
namespace {

struct Row {
  Op op;
  const char* text;
  const char* signature;
  Imm imm;
  Group group;
};

constexpr Row kRows[] = {
#define HOIST_WASM_OP(group, name, prefix, code, text, imm, sig, feature) \
  {Op::name, text, sig, Imm::imm, Group::group},
#include "wasm/format/opcodes.def"
};

TEST(Opcodes, NumbersAreDistinctAndInRange) {
  std::set<std::uint16_t> numbers;
  for (const Row& row : kRows) {
    const auto number = static_cast<std::uint16_t>(row.op);
    EXPECT_LT(number, kOpNumbers) << row.text;
    EXPECT_TRUE(numbers.insert(number).second) << row.text;
    EXPECT_EQ(text(row.op), row.text);
  }
}

TEST(Opcodes, OutOfRangeNumbersAreIllegal) {
  EXPECT_EQ(op_number(0xfc, 0x20), 0xffff);
  EXPECT_EQ(op_number(0xfd, 0x120), 0xffff);
  EXPECT_EQ(op_info_at(0xffff).group, Group::Illegal);
  EXPECT_EQ(op_info_at(0xff).group, Group::Illegal);
  EXPECT_EQ(op_info_at(op_number(0xfd, 0x9a)).group, Group::Illegal);
}

TEST(Opcodes, SignaturesAreWellFormed) {
  for (const Row& row : kRows) {
    const std::string signature = row.signature;
    if (signature == "-") continue;
    EXPECT_EQ(signature.find_first_not_of("ilfdva:"), std::string::npos) << row.text;
    EXPECT_EQ(std::count(signature.begin(), signature.end(), ':'), 1) << row.text;
  }
}

// The body decoder relies on it: one result, operands of one type, as many as the group says.
TEST(Opcodes, NumericGroupsHaveUniformOperands) {
  for (const Row& row : kRows) {
    std::size_t operands = 0;
    if (row.group == Group::Unary || row.group == Group::Convert || row.group == Group::Test) {
      operands = 1;
    } else if (row.group == Group::Binary || row.group == Group::Compare) {
      operands = 2;
    } else {
      continue;
    }
    ASSERT_EQ(std::strlen(row.signature), operands + 2) << row.text;
    EXPECT_EQ(row.signature[0], row.signature[operands - 1]) << row.text;
    EXPECT_NE(kOpMeta[static_cast<std::size_t>(row.op)].in, TypeKind::Bottom) << row.text;
    EXPECT_NE(kOpMeta[static_cast<std::size_t>(row.op)].out, TypeKind::Bottom) << row.text;
  }
}

TEST(Opcodes, AccessSizes) {
  EXPECT_EQ(access_bytes(op_info(Op::I64Load32U).imm), 4u);
  EXPECT_EQ(access_bytes(op_info(Op::I32Store8).imm), 1u);
  EXPECT_EQ(access_bytes(op_info(Op::V128Load).imm), 16u);
  EXPECT_EQ(access_bytes(op_info(Op::V128Load16Lane).imm), 2u);
  EXPECT_EQ(access_bytes(op_info(Op::I32Add).imm), 0u);
  EXPECT_EQ(kOpMeta[static_cast<std::size_t>(Op::I64Load32U)].align_log2, 2);
}

TEST(Types, PrintAndCompare) {
  EXPECT_EQ(ValType::ref(HeapType(HeapType::Func), true), ValType(TypeKind::FuncRef));
  EXPECT_EQ(to_string(ValType::ref(HeapType(HeapType::Extern), false)), "(ref extern)");
  EXPECT_EQ(to_string(ValType::ref(HeapType::concrete(7), true)), "(ref null 7)");
  EXPECT_EQ(to_string(FuncType({TypeKind::I32, TypeKind::FuncRef}, {TypeKind::F64})),
            "[i32 funcref] -> [f64]");
  EXPECT_TRUE(ValType(TypeKind::ExternRef).is_ref());
  EXPECT_EQ(ValType(TypeKind::FuncRef).heap(), HeapType(HeapType::Func));
  EXPECT_EQ(ValType(TypeKind::ExternRef).non_null().nullable(), ValType(TypeKind::ExternRef));
  EXPECT_FALSE(ValType::ref(HeapType::concrete(1), false).is_defaultable());
  EXPECT_TRUE(ValType(TypeKind::I64).is_defaultable());
  EXPECT_FALSE(ValType(TypeKind::V128).is_ref());
  EXPECT_FALSE(ValType(TypeKind::V128).is_num());
  EXPECT_FALSE(ValType().is_ref());
}

TEST(Features, Defaults) {
  const Features features;
  EXPECT_TRUE(features.has(Feature::BulkMemory));
  EXPECT_TRUE(features.has(Feature::Simd));
  EXPECT_FALSE(features.has(Feature::LegacyExceptions));
  EXPECT_FALSE(features.has(Feature::CustomDescriptors));
  EXPECT_FALSE(features.without(Feature::Simd).has(Feature::Simd));
  EXPECT_EQ(features.without(Feature::Gc).with(Feature::Gc), features);
}

TEST(Features, AreFoundByName) {
  for (const Feature feature : kFeatures) EXPECT_EQ(find_feature(text(feature)), feature);
  EXPECT_EQ(find_feature("memory64"), Feature::Memory64);
  EXPECT_EQ(find_feature("memory-64"), std::nullopt);
  EXPECT_EQ(status(Feature::LegacyExceptions), FeatureStatus::Off);
  EXPECT_EQ(status(Feature::CustomDescriptors), FeatureStatus::Later);
}

// The decoder looks these up by the lanes in the name and the shape.
TEST(Opcodes, VectorsHaveShapesAndLanes) {
  const auto meta = [](Op op) { return kOpMeta[static_cast<std::size_t>(op)]; };
  EXPECT_EQ(meta(Op::I16x8ExtractLaneS).align_log2, 8);
  EXPECT_EQ(meta(Op::I8x16ReplaceLane).align_log2, 16);
  EXPECT_EQ(meta(Op::F64x2ReplaceLane).align_log2, 2);
  for (const Row& row : kRows) {
    const OpShape& shape = kOpShapes[static_cast<std::size_t>(row.op)];
    if (row.group != Group::Vector && row.group != Group::VectorLane) continue;
    EXPECT_GE(shape.num_in, 1) << row.text;
    EXPECT_LE(shape.num_in, 3) << row.text;
    EXPECT_EQ(shape.num_out, 1) << row.text;
    for (int i = 0; i < shape.num_in; ++i) EXPECT_NE(shape.in[i], TypeKind::Bottom) << row.text;
  }
}

}  // namespace
}  // namespace hoist::wasm
