// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/script_settings.hpp"

#include <gtest/gtest.h>

#include "wasm/format/feature_list.hpp"

namespace hoist::wasm {
namespace {

TEST(ScriptSettings, FoldersOfTheOfficialSuite) {
  EXPECT_EQ(script_settings("spec/i32.wast", "").features, "-custom-page-sizes");
  EXPECT_EQ(script_settings("x/proposals/threads/memory.wast", "").features, "-multi-memory");
  EXPECT_EQ(script_settings("proposals/threads/memory.wast", "").features, "-multi-memory");
  EXPECT_EQ(script_settings("x/legacy/throw.wast", "").features, "+legacy-exceptions");
  EXPECT_EQ(script_settings("x/legacy.wast", "").features, "");
}

TEST(ScriptSettings, Headers) {
  const ScriptSettings settings = script_settings(
      "a.wast",
      ";;! simd = true\n;; a comment\n\n;;! nan_canonicalization = true\n;;! gc=false\n(module)\n"
      ";;! late = true\n");
  EXPECT_EQ(settings.features, "+simd,-gc");
  EXPECT_TRUE(settings.canonical_nans);
  EXPECT_TRUE(settings.problems.empty());
}

TEST(ScriptSettings, HeadersThatAreNotUnderstood) {
  const ScriptSettings settings =
      script_settings("a.wast", ";;! what = true\n;;! simd\n;;! simd = 1\n");
  ASSERT_EQ(settings.problems.size(), 3u);
  EXPECT_EQ(settings.problems[0].line, 1u);
  EXPECT_EQ(settings.problems[0].message, "header 'what = true' has an unknown key");
  EXPECT_EQ(settings.problems[2].line, 3u);
}

TEST(FeatureList, DifferencesFromTheDefaults) {
  const auto parsed = parse_features("+legacy-exceptions,-threads");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->has(Feature::LegacyExceptions));
  EXPECT_FALSE(parsed->has(Feature::Threads));
  EXPECT_TRUE(parsed->has(Feature::Simd));
  EXPECT_TRUE(*parse_features("") == Features());
  EXPECT_TRUE(*parse_features("+all") == all_features());
  const auto few = parse_features("-all,+simd");
  ASSERT_TRUE(few);
  EXPECT_TRUE(few->has(Feature::Simd));
  EXPECT_FALSE(few->has(Feature::BulkMemory));
  EXPECT_TRUE(few->has(Feature::Core));
}

TEST(FeatureList, Mistakes) {
  const auto message = [](std::string_view text) {
    const auto parsed = parse_features(text);
    return parsed ? std::string("no error") : parsed.error().message();
  };
  EXPECT_EQ(message("+smid"), "features: '+smid' is no feature; there are all, " + feature_names());
  EXPECT_NE(message("simd").find("does not begin with + or -"), std::string::npos);
  EXPECT_NE(message("+simd,").find("no error"), std::string::npos);
  EXPECT_NE(message("-core").find("cannot be switched off"), std::string::npos);
  EXPECT_NE(message("+custom-descriptors").find("is not implemented"), std::string::npos);
}

}  // namespace
}  // namespace hoist::wasm
