// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What comes out of the code generator beside the code: patchable calls, debug tags, keyed slots,
/// stack maps, inlining chains; and the convention preserve_all.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "image/inlined_frames.hpp"
#include "ir/text/reader.hpp"
#include "native/jit_test_support.hpp"

namespace hoist::native {
namespace {

using ir::DataValue;
using ir::ExternalName;
using ir::I64;

std::uint64_t hook_calls = 0;
std::uint64_t hook_sum = 0;
void host_hook(std::uint64_t x) {
  ++hook_calls;
  hook_sum += x;
}

class Metadata : public JitModuleTest {
 protected:
  void SetUp() override {
    hook_calls = hook_sum = 0;
    start("host_hook", host_hook);
  }
  const image::TableViews& tables() const { return module_->code()->image().tables(); }
  const image::FunctionEntry& function(const char* name) const {
    const auto* at =
        static_cast<const std::uint8_t*>(module_->address(ExternalName::testcase(name)));
    return *module_->code()->image().find_function(
        static_cast<std::uint32_t>(at - module_->code()->base()));
  }
};

// Every register that can hold a value does so across calls that change none of them: those of a
// callee that uses many itself and calls a host function, which changes all it may.
constexpr const char* kHook = R"(
function %hook(i64) preserve_all {
    fn0 = %host_hook(i64) system_v
block0(v0: i64):
    v1 = iadd v0, v0
    v2 = imul v0, v1
    v3 = fcvt_from_sint.f64 v2
    v4 = fadd v3, v3
    v5 = fcvt_to_sint.i64 v4
    call fn0(v0)
    v6 = isub v5, v2
    v7 = isub v6, v2
    trapnz v7, user9
    return
}
)";

std::string many_live_values(const char* callee) {
  std::string text = std::string("function %main(i64) -> i64 system_v {\n    fn0 = ") + callee +
                     "\nblock0(v0: i64):\n";
  const auto v = [](int n) { return "v" + std::to_string(n); };
  for (int i = 0; i < 12; ++i) {
    text += "    " + v(100 + i) + " = iconst.i64 " + std::to_string(3 + i) + "\n";
    text += "    " + v(10 + i) + " = imul v0, " + v(100 + i) + "\n";
    text += "    " + v(40 + i) + " = fcvt_from_sint.f64 " + v(10 + i) + "\n";
  }
  text += "    call fn0(v0)\n    call fn0(v10)\n    call fn0(v0)\n";
  int last = 0;
  for (int i = 0; i < 12; ++i) {
    const int base = 300 + 3 * i;
    text += "    " + v(base) + " = fcvt_to_sint.i64 " + v(40 + i) + "\n";
    text += "    " + v(base + 1) + " = iadd " + v(last) + ", " + v(base) + "\n";
    text += "    " + v(base + 2) + " = iadd " + v(base + 1) + ", " + v(10 + i) + "\n";
    last = base + 2;
  }
  return text + "    return " + v(last) + "\n}\n";
}

std::uint64_t sum_of_live_values(std::uint64_t x) {
  std::uint64_t sum = x;
  for (std::uint64_t i = 0; i < 12; ++i) sum += 2 * x * (3 + i);
  return sum;
}

TEST_P(Metadata, PreserveAllKeepsEveryRegister) {
  build(kHook + many_live_values("%hook(i64) preserve_all"));
  EXPECT_EQ(call("main", {{I64, 5, 0}}), sum_of_live_values(5));
  EXPECT_EQ(hook_calls, 3u);
  EXPECT_EQ(hook_sum, 5u + 15 + 5);
}

TEST_P(Metadata, PatchableCallsComeAndGo) {
  build(kHook + many_live_values("colocated patchable %hook(i64) preserve_all"));
  const image::PatchSites& sites = tables().patch_sites;
  ASSERT_EQ(sites.size(), 3u);
  const image::FunctionEntry& main = function("main");
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sites.site(i).length, 5u);
    EXPECT_EQ(module_->code()->base()[sites.site(i).return_offset - 5], 0xe8);
    EXPECT_GT(sites.site(i).return_offset, main.offset);
    EXPECT_LE(sites.site(i).return_offset, main.offset + main.code_size);
  }
  const std::uint32_t all[] = {0, 1, 2};
  const std::uint32_t second[] = {1};
  const std::uint32_t wrong[] = {0, 3};
  ASSERT_TRUE(module_->set_patchable_calls(all, false));
  EXPECT_EQ(call("main", {{I64, 5, 0}}), sum_of_live_values(5));
  EXPECT_EQ(hook_calls, 0u);
  ASSERT_TRUE(module_->set_patchable_calls(second, true));
  EXPECT_EQ(call("main", {{I64, 5, 0}}), sum_of_live_values(5));
  EXPECT_EQ(hook_calls, 1u);
  EXPECT_EQ(hook_sum, 15u);
  EXPECT_FALSE(module_->set_patchable_calls(wrong, true));
  ASSERT_TRUE(module_->set_patchable_calls(all, true));
  EXPECT_EQ(call("main", {{I64, 5, 0}}), sum_of_live_values(5));
  EXPECT_EQ(hook_calls, 4u);
  // Never writable and executable.
  std::ifstream maps("/proc/self/maps");
  const auto code = reinterpret_cast<std::uintptr_t>(module_->code()->base());
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    EXPECT_EQ(line.find("wx"), std::string::npos) << line;
    found |= line.find("r-xp") != std::string::npos && std::stoull(line, nullptr, 16) <= code &&
             code < std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
  }
  EXPECT_TRUE(found);
}

TEST_P(Metadata, PatchableHostFunctions) {
  build(R"(
function %main(i64) -> i64 system_v {
    sig0 = (i64) system_v
    sig1 = (i64) tail
    fn0 = colocated patchable %host_hook sig0
    fn1 = colocated patchable %quiet sig1
block0(v0: i64):
    call fn0(v0)
    try_call fn1(v0), sig1, block1, [ default: block2(exn0) ]
block1:
    return v0
block2(v1: i64):
    return v1
}
function %quiet(i64) tail {
block0(v0: i64):
    return
}
)");
  EXPECT_EQ(tables().patch_sites.size(), 2u);
  EXPECT_EQ(call("main", {{I64, 5, 0}}), 5u);
  EXPECT_EQ(hook_calls, 1u);
  const std::uint32_t first[] = {0};
  ASSERT_TRUE(module_->set_patchable_calls(first, false));
  EXPECT_EQ(call("main", {{I64, 5, 0}}), 5u);
  EXPECT_EQ(hook_calls, 1u);
  EXPECT_FALSE(module_->call(ExternalName::testcase("host_hook"), {}));
}

TEST_P(Metadata, TagsKeysAndStackMaps) {
  build(R"(
function %main(i64) -> i64 system_v {
    ss0 = explicit_slot 16
    ss1 = explicit_slot 8, key = 1311768467463790320
    ss2 = explicit_slot 8
    fn0 = %host_hook(i64) system_v
block0(v0: i64):
    v1 = stack_addr.i64 ss1
    store notrap v0, v1
<ss1, 7, 4294967295> sequence_point
    v2 = load.i64 notrap v1
<ss0, 1> call fn0(v2), stack_map=[i64 @ ss2+0, i32 @ ss0+12]
<2> sequence_point
<3> sequence_point
    return v2
}
)");
  const image::DebugPoints& table = tables().debug_points;
  const image::FunctionEntry& main = function("main");
  ASSERT_EQ(table.size(), 4u);
  const auto first = table.point(0);
  EXPECT_TRUE(first.before);
  ASSERT_EQ(first.tags.end - first.tags.begin, 3u);
  const image::DebugTag slot = table.tag(first.tags.begin);
  ASSERT_TRUE(slot.is_slot);
  EXPECT_EQ(table.slot(slot.value).key, 1311768467463790320u);
  EXPECT_TRUE(table.slot(slot.value).has_key);
  EXPECT_EQ(table.tag(first.tags.begin + 2).value, 0xffff'ffffu);
  const auto second = table.point(1);
  EXPECT_FALSE(second.before);
  EXPECT_GT(second.offset, first.offset);
  EXPECT_EQ(table.point(2).offset, second.offset + 0);
  EXPECT_TRUE(table.point(2).before);
  const image::EntryRange slots = table.slots_of(main.offset);
  ASSERT_EQ(slots.end - slots.begin, 3u);
  // Slots do not overlap and lie in the frame.
  for (std::uint32_t i = slots.begin; i < slots.end; ++i) {
    EXPECT_GE(table.slot(i).below_fp, table.slot(i).bytes);
    for (std::uint32_t j = i + 1; j < slots.end; ++j) {
      const image::DebugSlot a = table.slot(i);
      const image::DebugSlot b = table.slot(j);
      EXPECT_TRUE(a.below_fp - a.bytes >= b.below_fp || b.below_fp - b.bytes >= a.below_fp);
    }
  }
  const auto map = tables().stack_maps.find(second.offset);
  ASSERT_TRUE(map);
  ASSERT_EQ(map->slots.end - map->slots.begin, 2u);
  const image::StackMapSlot one = tables().stack_maps.slot(map->slots.begin);
  EXPECT_EQ(one.bytes, 8u);
  EXPECT_EQ(map->frame_bytes - one.sp_offset, table.slot(slots.begin + 2).below_fp);
  const image::StackMapSlot two = tables().stack_maps.slot(map->slots.begin + 1);
  EXPECT_EQ(two.bytes, 4u);
  EXPECT_EQ(map->frame_bytes - two.sp_offset, table.slot(slots.begin).below_fp - 12);
}

// Of a tail call the state before it.
TEST_P(Metadata, TagsOfTailCalls) {
  build(R"(
function %last(i64) -> i64 tail {
block0(v0: i64):
    return v0
}
function %next(i64) -> i64 tail {
    fn0 = %last(i64) -> i64 tail
block0(v0: i64):
    v1 = iadd v0, v0
<5, 6> return_call fn0(v1)
}
function %main(i64) -> i64 system_v {
    fn0 = %next(i64) -> i64 tail
block0(v0: i64):
    v1 = call fn0(v0)
    return v1
}
)");
  EXPECT_EQ(call("main", {{I64, 21, 0}}), 42u);
  const image::DebugPoints& table = tables().debug_points;
  const image::FunctionEntry& next = function("next");
  ASSERT_EQ(table.size(), 1u);
  const auto point = table.point(0);
  EXPECT_TRUE(point.before);
  EXPECT_GE(point.offset, next.offset);
  EXPECT_LT(point.offset, next.offset + next.code_size);
  ASSERT_EQ(point.tags.end - point.tags.begin, 2u);
  EXPECT_EQ(table.tag(point.tags.begin).value, 5u);
  EXPECT_EQ(table.tag(point.tags.begin + 1).value, 6u);
}

// A call inlined into inlined code, as the inliner leaves it.
TEST_P(Metadata, InliningChains) {
  const Result<ir::ParsedFile> file = ir::parse_file(R"(
function %outer(i64, i64) -> i64 system_v {
block0(v0: i64, v1: i64):
@0010 v2 = udiv v0, v1
@0020 v3 = sdiv v2, v1
@0030 v4 = urem v3, v1
@0040 v5 = srem v4, v1
    return v5
}
function %leaf(i64) -> i64 system_v {
block0(v0: i64):
@0001 return v0
}
)");
  ASSERT_TRUE(file) << file.error().message();
  ir::Function func = file->functions[0].func;
  const ir::InlineFrame middle =
      func.inline_frames.push({ExternalName::user(9, 3), ir::SourceLoc{0x40}});
  const ir::SourceLoc call = func.make_inlined_loc(ir::SourceLoc{0x77}, middle);
  const ir::InlineFrame leaf = func.inline_frames.push({ExternalName::testcase("leaf"), call});
  std::vector<ir::Inst> insts;
  for (ir::Inst i = func.first_inst(func.entry_block()); i.is_some(); i = func.next_inst(i)) {
    insts.push_back(i);
  }
  func.set_loc(insts[1], func.make_inlined_loc(ir::SourceLoc{0x21}, middle));
  func.set_loc(insts[2], func.make_inlined_loc(ir::SourceLoc{0x31}, leaf));
  ASSERT_TRUE(module_->define(file->functions[1].func));
  const Result<void> defined = module_->define(func);
  ASSERT_TRUE(defined) << defined.error().message();
  ASSERT_TRUE(module_->finalise());
  const image::Image& image = module_->code()->image();
  const image::FunctionEntry& outer = function("outer");
  const image::FuncKey leaf_key = function("leaf").key;
  std::map<std::uint32_t, std::string> seen;  // innermost source: the whole chain
  for (std::uint32_t at = outer.offset; at < outer.offset + outer.code_size; ++at) {
    std::string chain;
    std::uint32_t innermost = 0;
    image::for_each_source_frame(image, at, [&](image::FuncKey key, std::uint32_t source) {
      if (chain.empty()) innermost = source;
      chain += (key == outer.key  ? "outer"
                : key == leaf_key ? "leaf"
                                  : "middle") +
               std::string("@") + std::to_string(source) + " ";
      if (key != outer.key && key != leaf_key) {
        EXPECT_EQ(key, image::FuncKey(image::FuncKind::User, 1, 0));  // only known inlined
      }
    });
    const auto [known, is_new] = seen.emplace(innermost, chain);
    EXPECT_EQ(known->second, chain);
  }
  EXPECT_EQ(seen[0x10], "outer@16 ");
  EXPECT_EQ(seen[0x21], "middle@33 outer@64 ");
  EXPECT_EQ(seen[0x31], "leaf@49 middle@119 outer@64 ");
  EXPECT_EQ(seen[0x40], "outer@64 ");
}

INSTANTIATE_TEST_SUITE_P(Levels, Metadata, testing::Values(0u, 1u, 2u));

}  // namespace
}  // namespace hoist::native
