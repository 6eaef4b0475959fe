// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Image: placement, linking, lookups.
#include "image/image_builder.hpp"

#include <gtest/gtest.h>

#include "base/bits.hpp"
#include "image/layout/instance_layout.hpp"

namespace hoist::image {
namespace {

FuncKey wasm(std::uint32_t index) {
  return {FuncKind::WasmFunction, 0, index};
}

/// Three functions in an order that is not that of their keys.
Image sample() {
  ImageBuilder builder;
  builder.reserve(100, 3);
  const std::vector<std::uint8_t> code(20, 0x90);
  const ImageBuilder::Reloc call{4, ImageBuilder::RelocKind::PcRel32, wasm(9), -4};
  const TrapEntry traps[] = {{2, TrapCode::HeapOutOfBounds}, {8, TrapCode::Unreachable}};
  const AddressEntry addresses[] = {{0, 100}, {6, 104}, {9, 104}, {12, 90}};
  builder.add_function({wasm(5)}, 16, code, {&call, 1}, traps, addresses);
  builder.add_function({FuncKey(FuncKind::ExitTrampoline, 0, 1)}, 16, code, {}, {}, {});
  const ImageBuilder::Reloc back{0, ImageBuilder::RelocKind::PcRel32, wasm(5), 7};
  builder.add_function({wasm(9)}, 64, std::span(code).first(7), {&back, 1}, {&traps[0], 1},
                       addresses);
  EXPECT_TRUE(builder.fits());
  return builder.finish();
}

TEST(Image, PlacesFunctionsAligned) {
  const Image image = sample();
  ASSERT_EQ(image.functions().size(), 3u);
  EXPECT_EQ(image.functions()[0].offset, 0u);
  EXPECT_EQ(image.functions()[1].offset, 32u);
  EXPECT_EQ(image.functions()[2].offset, 64u);
  EXPECT_EQ(image.functions()[2].size, 7u);
  EXPECT_EQ(image.text().size(), 71u);
  EXPECT_EQ(image.text()[20], 0xcc);
}

TEST(Image, LinksCallsByKey) {
  const Image image = sample();
  // From the field at 4 to 64, and -4 for the end of the field.
  EXPECT_EQ(base::load_le<std::int32_t>(image.text().data() + 4), 64 - 4 - 4);
  EXPECT_EQ(base::load_le<std::int32_t>(image.text().data() + 64), 0 + 7 - 64);
}

TEST(Image, FindsFunctionsByPlaceAndKey) {
  const Image image = sample();
  EXPECT_EQ(image.find_function(0)->key, wasm(5));
  EXPECT_EQ(image.find_function(19)->key, wasm(5));
  EXPECT_EQ(image.find_function(20), nullptr);  // padding
  EXPECT_EQ(image.find_function(64)->key, wasm(9));
  EXPECT_EQ(image.find_function(71), nullptr);
  EXPECT_EQ(image.function(wasm(9))->offset, 64u);
  EXPECT_EQ(image.function(wasm(6)), nullptr);
  EXPECT_EQ(image.function(FuncKey(FuncKind::ExitTrampoline, 0, 1))->offset, 32u);
}

TEST(Image, FindsTrapsExactly) {
  const Image image = sample();
  EXPECT_EQ(image.trap_at(2), TrapCode::HeapOutOfBounds);
  EXPECT_EQ(image.trap_at(3), TrapCode::None);
  EXPECT_EQ(image.trap_at(8), TrapCode::Unreachable);
  EXPECT_EQ(image.trap_at(66), TrapCode::HeapOutOfBounds);
  EXPECT_EQ(image.trap_at(0), TrapCode::None);
}

TEST(Image, FindsSourceWithinTheFunction) {
  const Image image = sample();
  EXPECT_EQ(image.source_at(5), 100u);
  EXPECT_EQ(image.source_at(6), 104u);
  EXPECT_EQ(image.source_at(11), 104u);
  EXPECT_EQ(image.source_at(12), 90u);
  EXPECT_EQ(image.source_at(25), 0xffff'ffffu);  // padding
  EXPECT_EQ(image.source_at(32), 0xffff'ffffu);  // the trampoline has no locations
  EXPECT_EQ(image.source_at(64), 100u);
}

TEST(Image, EmptyImage) {
  ImageBuilder builder;
  const Image image = builder.finish();
  EXPECT_EQ(image.find_function(0), nullptr);
  EXPECT_EQ(image.function(wasm(0)), nullptr);
  EXPECT_EQ(image.source_at(0), 0xffff'ffffu);
}

TEST(ImageDeathTest, MissingTargetIsABug) {
  const std::vector<std::uint8_t> code(8, 0);
  const ImageBuilder::Reloc call{0, ImageBuilder::RelocKind::PcRel32, wasm(1), 0};
  ImageBuilder builder;
  builder.add_function({wasm(0)}, 16, code, {&call, 1}, {}, {});
  EXPECT_DEATH(builder.finish(), "relocation names a function of the image");
}

TEST(VmLayout, PartsDoNotOverlap) {
  VmLayout::Counts counts;
  counts.types = 3;
  counts.imported_funcs = 2;
  counts.func_refs = 5;
  counts.tables = 1;
  counts.memories = 2;
  counts.imported_globals = 1;
  counts.defined_globals = 4;
  const VmLayout layout(counts);
  EXPECT_GE(layout.global(0), static_cast<std::int32_t>(sizeof(VmContextHeader)));
  EXPECT_EQ(layout.global(0) % 16, 0);
  EXPECT_EQ(layout.memory_base(0), layout.global(4));
  EXPECT_EQ(layout.memory(0), layout.memory_base(2));
  EXPECT_EQ(layout.table(0), layout.memory(2));
  EXPECT_EQ(layout.imported_global(0), layout.table(1));
  EXPECT_EQ(layout.func_import(0), layout.imported_global(1));
  EXPECT_EQ(layout.func_ref(0), layout.func_import(2));
  EXPECT_EQ(layout.type_id(0), layout.func_ref(5));
  EXPECT_GE(layout.size(), static_cast<std::uint64_t>(layout.type_id(3)));
}

}  // namespace
}  // namespace hoist::image
