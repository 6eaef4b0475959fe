// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms of a profile: names that several modules have, threads, what is not used.
#include "profiling/sampler/profile.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hoist::profiling {
namespace {

/// main calls `work` of two modules, one inlined too, and `work` of the host; a frame that no
/// sample has.
Profile profile_of_twins() {
  Profile out;
  out.interval_ns = 1'000'000;
  out.samples = 10;
  out.frames = {
      {"main", "a", "a.c", 1, FrameKind::Guest},   {"work", "a", "a.c", 7, FrameKind::Guest},
      {"work", "b", "b.c", 9, FrameKind::Guest},   {"work", "", "", 0, FrameKind::Host},
      {"work", "a", "a.c", 8, FrameKind::Inlined}, {"unused", "a", "a.c", 3, FrameKind::Inlined}};
  out.nodes = {{Profile::kNone, 0, 1}, {0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {0, 4, 3}};
  out.threads = {{41, "main", {{0, 1, 2}, {5, 0, 1}}}, {42, "", {{1, 2, 3}}}, {43, "idle", {}}};
  return out;
}

TEST(Profile, SameNamesOfTwoModulesAreTwo) {
  const Profile profile = profile_of_twins();
  EXPECT_EQ(collapsed(profile, false),
            "main 1\nmain;work [a] 2\nmain;work [a] [inlined] 3\nmain;work [b] 3\nmain;work [host] "
            "1\n");
  EXPECT_NE(collapsed(profile, true).find("main a.c:1;work [b] b.c:9 3\n"), std::string::npos);
  const std::string json = firefox_json(profile, "twins");
  for (const char* name : {"\"work [a]\"", "\"work [b]\"", "\"work [host]\"", "\"main\""})
    EXPECT_NE(json.find(name), std::string::npos) << name;
  const std::string page = flame_graph_html(profile, "twins");
  EXPECT_NE(page.find("\"work [a]\""), std::string::npos);
  EXPECT_NE(page.find("\"work [b]\""), std::string::npos);
}

TEST(Profile, OneModuleNeedsNoMark) {
  Profile profile = profile_of_twins();
  profile.frames[2].module = "a";
  EXPECT_EQ(collapsed(profile, false),
            "main 1\nmain;work 5\nmain;work [host] 1\nmain;work [inlined] 3\n");
}

TEST(Profile, HotFunctionsCountInlinedOnesWithTheirFunction) {
  const Profile profile = profile_of_twins();
  const auto spots = hot_functions(profile);
  ASSERT_GE(spots.size(), 4U);
  EXPECT_EQ(spots[0].self, 5U);
  EXPECT_EQ(profile.frames[spots[0].frame].module, "a");
  EXPECT_EQ(spots[1].self, 3U);
  EXPECT_EQ(profile.frames[spots[1].frame].module, "b");
}

TEST(Profile, WhatNoSampleHasIsInNoForm) {
  const Profile profile = profile_of_twins();
  EXPECT_EQ(firefox_json(profile, "t").find("unused"), std::string::npos);
  EXPECT_EQ(firefox_json(profile, "t").find("[inlined]"), std::string::npos);
  EXPECT_EQ(flame_graph_html(profile, "t").find("\"unused\""), std::string::npos);
}

TEST(Profile, ThreadsHaveNames) {
  const Profile profile = profile_of_twins();
  const std::string json = firefox_json(profile, "t");
  EXPECT_NE(json.find("{\"name\":\"main\",\"isMainThread\":true"), std::string::npos);
  EXPECT_NE(json.find("{\"name\":\"thread 42\",\"isMainThread\":false"), std::string::npos);
  const std::string page = flame_graph_html(profile, "t");
  EXPECT_NE(page.find("\"threads\":[[\"main\",1,2,0,1],[\"thread 42\",2,3]]"), std::string::npos);
}

TEST(Profile, PageHoldsNoMarkupOfNames) {
  Profile profile = profile_of_twins();
  profile.frames[0].function = "</script><b>&\"\\";
  const std::string page = flame_graph_html(profile, "<i>&title");
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find("<i>"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script\\u003e\\u003cb\\u003e\\u0026\\u0022\\u005c"),
            std::string::npos);
}

}  // namespace
}  // namespace hoist::profiling
