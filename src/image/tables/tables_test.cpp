// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables against what was put in, and against damaged bytes: every lookup in a table with any
// byte changed or cut off ends and reads nothing outside (sanitizers watch).
#include <gtest/gtest.h>

#include <random>

#include "base/bits.hpp"
#include "image/tables/eh_frame_reader.hpp"
#include "image/tables/table_set.hpp"

namespace hoist::image {
namespace {

FunctionTables sample() {
  FunctionTables tables;
  tables.handlers = {
      {false, 1, kAbsent, 100}, {false, 2, 16, 110}, {true, 0, 16, 120}, {true, 0, kAbsent, 130}};
  tables.call_sites = {{10, 48, 3}, {30, 48, 4}};
  tables.stack_map = {{0, 4}, {8, 8}, {16, 4}};
  tables.safe_points = {{10, 48, 1}, {20, 48, 3}};
  tables.patch_sites = {{10, 5}, {20, 5}};
  tables.slots = {{0x1234'5678'9abc'def0, true, 32, 8}, {0, false, 40, 4}};
  tables.tags = {{false, 7}, {true, 1}, {false, 0xffff'ffff}};
  tables.points = {{10, false, 2}, {10, true, 2}, {12, true, 3}};
  tables.inline_frames = {{FuncKey(FuncKind::User, 0, 5), kAbsent, 70},
                          {FuncKey(FuncKind::User, 0, 6), 0, 60}};
  tables.inline_ranges = {{4, 0}, {8, 1}, {16, kAbsent}};
  tables.unwind = {
      {1, UnwindOp::Kind::DefCfaOffset, 0, 16},          {1, UnwindOp::Kind::Saved, kDwarfRbp, 16},
      {4, UnwindOp::Kind::DefCfaRegister, kDwarfRbp, 0}, {200, UnwindOp::Kind::RememberState, 0, 0},
      {200, UnwindOp::Kind::DefCfa, kDwarfRsp, 8},       {201, UnwindOp::Kind::RestoreState, 0, 0},
      {70'000, UnwindOp::Kind::Restore, kDwarfRbp, 0}};
  return tables;
}

TableBytes two_functions() {
  TableSetWriter writer;
  const FunctionTables tables = sample();
  writer.add_unwind(0, 300, tables.unwind);
  writer.add(0, 320, tables);
  writer.add_unwind(320, 12, {});
  writer.add_unwind(1000, 300, tables.unwind);
  writer.add(1000, 320, tables);
  return writer.finish();
}

TableViews views_of(const TableBytes& bytes) {
  TableViews out;
  EXPECT_TRUE(out.open([&](TableKind kind) -> std::span<const std::uint8_t> {
    return bytes[static_cast<std::size_t>(kind)];
  }));
  return out;
}

TEST(Tables, AreEmptyWithoutEntries) {
  TableSetWriter writer;
  const TableBytes bytes = writer.finish();
  for (const auto& table : bytes) EXPECT_TRUE(table.empty());
  const TableViews views = views_of(bytes);
  EXPECT_FALSE(views.exceptions.find(0));
  EXPECT_FALSE(views.stack_maps.find(0));
  EXPECT_FALSE(views.debug_points.find(0, true));
  EXPECT_EQ(views.inlining.frame_at(0), kAbsent);
  EXPECT_EQ(views.patch_sites.size(), 0u);
}

TEST(Tables, ExceptionsKeepTheOrderOfHandlers) {
  const TableBytes bytes = two_functions();
  const ExceptionTable table = views_of(bytes).exceptions;
  const auto site = table.find(1010);
  ASSERT_TRUE(site);
  EXPECT_EQ(site->frame_bytes, 48u);
  ASSERT_EQ(site->handlers.end - site->handlers.begin, 3u);
  const HandlerEntry first = table.handler(site->handlers.begin);
  EXPECT_FALSE(first.catches_all);
  EXPECT_EQ(first.tag, 1u);
  EXPECT_EQ(first.context, kAbsent);
  EXPECT_EQ(first.landing, 1100u);
  const HandlerEntry last = table.handler(site->handlers.begin + 2);
  EXPECT_TRUE(last.catches_all);
  EXPECT_EQ(last.context, 16u);
  EXPECT_EQ(last.landing, 1120u);
  EXPECT_FALSE(table.find(1009));
  EXPECT_FALSE(table.find(1011));
  EXPECT_EQ(table.site_count(), 4u);
}

TEST(Tables, StackMapsPatchSitesAndInlining) {
  const TableBytes bytes = two_functions();
  const TableViews views = views_of(bytes);
  const auto point = views.stack_maps.find(1020);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->slots.end - point->slots.begin, 2u);
  EXPECT_EQ(views.stack_maps.slot(point->slots.begin).sp_offset, 8u);
  EXPECT_EQ(views.patch_sites.size(), 4u);
  EXPECT_EQ(views.patch_sites.first_from(1000), 2u);
  EXPECT_EQ(views.patch_sites.site(2).return_offset, 1010u);
  const InlineTable& inlining = views.inlining;
  EXPECT_EQ(inlining.frame_at(3), kAbsent);
  EXPECT_EQ(inlining.frame_at(4), 0u);
  EXPECT_EQ(inlining.frame_at(9), 1u);
  EXPECT_EQ(inlining.frame_at(320), kAbsent);
  EXPECT_EQ(inlining.frame_at(1009), 3u);
  EXPECT_EQ(inlining.frame(3).parent, 2u);
  EXPECT_EQ(inlining.frame(3).call_source, 60u);
  EXPECT_EQ(inlining.frame(2).parent, kAbsent);
}

TEST(Tables, DebugPoints) {
  const TableBytes bytes = two_functions();
  const DebugPoints& table = views_of(bytes).debug_points;
  const auto call = table.find(1010, false);
  ASSERT_TRUE(call);
  ASSERT_EQ(call->tags.end - call->tags.begin, 2u);
  EXPECT_FALSE(table.tag(call->tags.begin).is_slot);
  EXPECT_EQ(table.tag(call->tags.begin).value, 7u);
  const DebugTag slot = table.tag(call->tags.begin + 1);
  EXPECT_TRUE(slot.is_slot);
  EXPECT_EQ(table.slot(slot.value).below_fp, 40u);
  EXPECT_FALSE(table.slot(slot.value).has_key);
  const EntryRange slots = table.slots_of(1000);
  ASSERT_EQ(slots.end - slots.begin, 2u);
  EXPECT_EQ(table.slot(slots.begin).key, 0x1234'5678'9abc'def0u);
  EXPECT_EQ(table.slots_of(320).begin, table.slots_of(320).end);
  const auto point = table.find(12, true);
  ASSERT_TRUE(point);
  EXPECT_EQ(table.tag(point->tags.begin).value, 0xffff'ffffu);
}

/// Looks everything up that there is.
void use_all(const TableViews& views) {
  for (const std::uint32_t at : {0u, 10u, 20u, 1010u, 0xffff'ffffu}) {
    if (const auto site = views.exceptions.find(at)) {
      for (std::uint32_t i = site->handlers.begin; i < site->handlers.end; ++i) {
        static_cast<void>(views.exceptions.handler(i));
      }
    }
    if (const auto point = views.stack_maps.find(at)) {
      for (std::uint32_t i = point->slots.begin; i < point->slots.end; ++i) {
        static_cast<void>(views.stack_maps.slot(i));
      }
    }
    for (const bool before : {false, true}) {
      if (const auto point = views.debug_points.find(at, before)) {
        for (std::uint32_t i = point->tags.begin; i < point->tags.end; ++i) {
          const DebugTag tag = views.debug_points.tag(i);
          if (tag.is_slot) static_cast<void>(views.debug_points.slot(tag.value));
        }
      }
    }
    std::uint32_t steps = 0;
    for (std::uint32_t f = views.inlining.frame_at(at); f != kAbsent;
         f = views.inlining.frame(f).parent) {
      ASSERT_LT(++steps, 10u);
    }
    static_cast<void>(views.patch_sites.site(views.patch_sites.first_from(at)));
  }
}

TEST(Tables, DamagedBytesAreHarmless) {
  const TableBytes good = two_functions();
  std::mt19937 random(1);  // NOLINT: the same every time
  for (std::size_t kind = 0; kind < kTableCount; ++kind) {
    for (std::size_t at = 0; at < good[kind].size(); ++at) {
      TableBytes bytes = good;
      const auto view = [&](TableKind k) -> std::span<const std::uint8_t> {
        return bytes[static_cast<std::size_t>(k)];
      };
      bytes[kind][at] = static_cast<std::uint8_t>(random());
      TableViews views;
      views.open(view);
      use_all(views);
      bytes[kind] = good[kind];
      bytes[kind].resize(at);
      bytes[kind].shrink_to_fit();
      views = TableViews();
      const bool opened = views.open(view);
      if (static_cast<TableKind>(kind) != TableKind::EhFrame) {
        EXPECT_EQ(opened, at == 0) << kind << " cut to " << at;
      }
      use_all(views);
    }
  }
}

TEST(EhFrame, IsPlacedAndIndexed) {
  const TableBytes bytes = two_functions();
  std::vector<std::uint8_t> section = bytes[static_cast<std::size_t>(TableKind::EhFrame)];
  ASSERT_TRUE(place_eh_frame(section, 8192));
  const std::vector<std::uint8_t> index = make_eh_frame_hdr(section, 4096);
  ASSERT_EQ(index.size(), 12u + 3 * 8);
  EXPECT_EQ(base::load_le<std::uint32_t>(&index[8]), 3u);
  // The header lies 4096 bytes before the section, 4096 behind the text.
  EXPECT_EQ(base::load_le<std::int32_t>(&index[12]), -4096);
  EXPECT_EQ(base::load_le<std::int32_t>(&index[20]), 320 - 4096);
  EXPECT_EQ(base::load_le<std::int32_t>(&index[28]), 1000 - 4096);
}

TEST(EhFrame, EachFunctionAlone) {
  const TableBytes bytes = two_functions();
  std::vector<std::uint8_t> section = bytes[static_cast<std::size_t>(TableKind::EhFrame)];
  ASSERT_TRUE(place_eh_frame(section, 8192));
  FrameReader reader(section);
  std::size_t count = 0;
  for (FrameRecord record = reader.next(); !record.bytes.empty(); record = reader.next()) {
    ++count;
    std::vector<std::uint8_t> out = {1, 2, 3};
    ASSERT_TRUE(append_single_eh_frame(out, record, 1024));
    const std::vector<std::uint8_t> alone(out.begin() + 3, out.end());
    const std::size_t frame = alone.size() - kSingleEhFrameHdr;
    // The same to whoever reads it.
    FrameReader again({alone.data(), frame});
    const FrameRecord read = again.next();
    EXPECT_EQ(std::vector(read.program().begin(), read.program().end()),
              std::vector(record.program().begin(), record.program().end()));
    EXPECT_TRUE(again.next().bytes.empty());
    // The function begins 1024 bytes before the section; the header leads to the section.
    const auto at = static_cast<std::size_t>(read.bytes.data() - alone.data()) + 8;
    EXPECT_EQ(static_cast<std::int64_t>(at) + base::load_le<std::int32_t>(&alone[at]), -1024);
    EXPECT_EQ(base::load_le<std::int32_t>(&alone[frame + 4]),
              -static_cast<std::int64_t>(frame) - 4);
    EXPECT_EQ(base::load_le<std::uint32_t>(&alone[frame + 8]), 0u);
    out.assign(5, 7);
    EXPECT_FALSE(append_single_eh_frame(out, record, std::int64_t{1} << 31));
    EXPECT_FALSE(append_single_eh_frame(out, {record.cie, record.bytes.first(8)}, 0));
    EXPECT_EQ(out.size(), 5u);
  }
  EXPECT_EQ(count, 3u);
}

TEST(EhFrame, RefusesDamagedSections) {
  const TableBytes bytes = two_functions();
  const std::vector<std::uint8_t>& good = bytes[static_cast<std::size_t>(TableKind::EhFrame)];
  std::vector<std::uint8_t> cut = good;
  for (std::size_t size = good.size(); size-- != 1;) {
    cut.resize(size);
    cut.shrink_to_fit();
    EXPECT_FALSE(place_eh_frame(cut, 0)) << size;
    EXPECT_TRUE(make_eh_frame_hdr(cut, 0).empty());
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned byte : {0u, 1u, 0x7fu, 0xffu}) {
      std::vector<std::uint8_t> damaged = good;
      damaged[at] = static_cast<std::uint8_t>(byte);
      static_cast<void>(make_eh_frame_hdr(damaged, 0));
      static_cast<void>(place_eh_frame(damaged, 0));
    }
  }
  std::vector<std::uint8_t> far = good;
  EXPECT_FALSE(place_eh_frame(far, std::int64_t{1} << 40));
}

}  // namespace
}  // namespace hoist::image
