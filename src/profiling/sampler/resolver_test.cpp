// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/sampler/resolver.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "image/image_builder.hpp"
#include "jit/loaded_image.hpp"
#include "jit/stack_sample.hpp"
#include "profiling/sampler/sample_ring.hpp"

namespace hoist::profiling {
namespace {

namespace word = jit::sample_word;
using image::FuncKey;
using image::FuncKind;
using Words = std::vector<std::uint64_t>;

/// user[1], into which user[7] was inlined at 4 to 12 and into that, at 8, user[8].
std::unique_ptr<jit::LoadedImage> inlined_code() {
  image::ImageBuilder builder;
  const std::vector<std::uint8_t> code(16, 0x90);
  image::FunctionEntry entry;
  entry.key = FuncKey(FuncKind::User, 0, 1);
  const image::AddressEntry addresses[] = {{0, 10}, {4, 20}, {8, 30}, {12, 40}};
  image::FunctionTables tables;
  tables.inline_frames = {{FuncKey(FuncKind::User, 0, 7), image::kAbsent, 11},
                          {FuncKey(FuncKind::User, 0, 8), 0, 21}};
  tables.inline_ranges = {{0, image::kAbsent}, {4, 0}, {8, 1}, {12, image::kAbsent}};
  const std::uint32_t start = builder.add_function(entry, 16, code, {}, {}, addresses);
  // As the code generator describes a function without a frame: nothing to say.
  builder.add_tables(start, {}, &tables);
  auto loaded = jit::LoadedImage::load(builder.finish(), nullptr);
  EXPECT_TRUE(loaded);
  return *std::move(loaded);
}

std::string path(const Profile& profile, std::uint32_t node) {
  std::string out;
  for (; node != Profile::kNone; node = profile.nodes[node].parent) {
    out = frame_label(profile.frames[profile.nodes[node].frame], false) + (out.empty() ? "" : ";") +
          out;
  }
  return out;
}

TEST(Resolver, InlinedFramesAreMarked) {
  const auto code = inlined_code();
  const auto at = [&](std::uint32_t offset) {
    return reinterpret_cast<std::uint64_t>(code->base()) + offset;
  };
  Profile profile;
  Resolver resolver(profile);
  const auto resolved = [&](const Words& words) { return path(profile, resolver.add(words)); };
  EXPECT_EQ(resolved({word::kInCode, at(0), 0, 0}), "user[1]");
  EXPECT_EQ(resolved({word::kInCode, at(5), 0, 0}), "user[1];user[7] [inlined]");
  EXPECT_EQ(resolved({word::kInCode, at(8), 0, 0}), "user[1];user[7] [inlined];user[8] [inlined]");
  EXPECT_EQ(resolved({word::kInCode, at(12), 0, 0}), "user[1]");
  // Return addresses belong to what is before them.
  EXPECT_EQ(resolved({word::kInCode, at(0), 0, 0, at(12)}),
            "user[1];user[7] [inlined];user[8] [inlined];user[1]");
  EXPECT_EQ(resolved({word::kHost, at(4)}), "user[1];host [host]");
  EXPECT_EQ(resolved({word::kHost, at(4), word::kGap, at(12)}),
            "user[1];user[7] [inlined];user[8] [inlined];...;user[1];host [host]");
  EXPECT_EQ(resolver.add({}), Profile::kNone);
  EXPECT_EQ(resolver.add(Words{12345}), Profile::kNone);
  EXPECT_EQ(resolver.add(Words{word::kInCode}), Profile::kNone);
}

TEST(Resolver, TheCallerOfAFrameThatIsNotThereYet) {
  const auto code = inlined_code();
  const std::uint64_t base = reinterpret_cast<std::uint64_t>(code->base());
  Profile profile;
  Resolver resolver(profile);
  // Nothing is said about the frame: its caller is at the stack pointer.
  EXPECT_EQ(path(profile, resolver.add(Words{word::kInCode, base, base + 1, 0})),
            "user[1];user[1]");
}

TEST(SampleRing, WholeSamplesOrNone) {
  SampleRing ring;
  std::vector<std::uint64_t> buffer;
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
  const auto drain = [&] {
    ring.drain(buffer, [&](const auto& words) {
      ++count;
      for (const std::uint64_t each : words) {
        EXPECT_EQ(each, words[0]);
        sum += each;
      }
    });
  };
  // Three rounds around it.
  std::uint64_t expected = 0;
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    ring.begin();
    for (std::uint64_t k = 0; k < i % 70 + 1; ++k) {
      ring.put(i);
      expected += i;
    }
    ring.end();
    if (i % 100 == 0) drain();
  }
  drain();
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(count, 3000U);
  EXPECT_EQ(ring.lost(), 0U);
  // A full ring loses what does not fit and keeps what it has.
  for (std::uint64_t i = 0; i < SampleRing::kWords; ++i) {
    ring.begin();
    ring.put(1);
    ring.put(1);
    ring.end();
  }
  sum = 0;
  drain();
  EXPECT_EQ(sum, SampleRing::kWords / 3 * 2);
  EXPECT_EQ(ring.lost(), SampleRing::kWords - SampleRing::kWords / 3);
}

TEST(Profile, HotSpotsAndCollapsedStacks) {
  Profile profile;
  profile.frames = {{"main", "m", "/a/main.c", 3, FrameKind::Guest},
                    {"work", "m", "/a/w.c", 5, FrameKind::Guest},
                    {"work", "m", "/a/w.c", 6, FrameKind::Guest},
                    {"env.log", "", "", 0, FrameKind::Host}};
  // main -> work:5 -> work:6 (recursion) ; main -> log
  profile.nodes = {{Profile::kNone, 0, 1}, {0, 1, 10}, {1, 2, 5}, {0, 3, 4}};
  profile.samples = 20;
  const std::vector<Spot> functions = hot_functions(profile);
  ASSERT_EQ(functions.size(), 3U);
  EXPECT_EQ(profile.frames[functions[0].frame].function, "work");
  EXPECT_EQ(functions[0].self, 15U);
  EXPECT_EQ(functions[0].total, 15U);
  EXPECT_EQ(functions[2].total, 20U);
  const std::vector<Spot> lines = hot_lines(profile);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(profile.frames[lines[0].frame].line, 5U);
  EXPECT_EQ(lines[0].self, 10U);
  EXPECT_EQ(lines[0].total, 15U);
  EXPECT_EQ(collapsed(profile, false),
            "main 1\nmain;env.log [host] 4\nmain;work 10\nmain;work;work 5\n");
  EXPECT_EQ(collapsed(profile, true),
            "main main.c:3 1\nmain main.c:3;env.log [host] 4\nmain main.c:3;work w.c:5 10\n"
            "main main.c:3;work w.c:5;work w.c:6 5\n");
  const std::string page = flame_graph_html(profile, "</script>");
  EXPECT_EQ(page.find("</script>\\"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script\\u003e"), std::string::npos);
}

}  // namespace
}  // namespace hoist::profiling
