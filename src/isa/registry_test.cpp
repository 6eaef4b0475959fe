// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "isa/registry.hpp"

#include <gtest/gtest.h>

#include "asm/x64/regs.hpp"

namespace hoist::isa {
namespace {

using masm::x64::Feature;
using masm::x64::feature_bit;

TEST(Registry, FeaturesByName) {
  const Result<FeatureSet> two = features_by_name("x86_64", "avx2  fma");
  ASSERT_TRUE(two);
  EXPECT_EQ(*two, feature_bit(Feature::Avx2) | feature_bit(Feature::Fma));
  EXPECT_EQ(*features_by_name("x86_64", ""), 0u);
  const Result<FeatureSet> unknown = features_by_name("x86_64", "avx3");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("avx3"), std::string::npos);
  EXPECT_NE(unknown.error().message().find("avx512vpopcntdq"), std::string::npos);
}

TEST(Registry, TargetsNeedTheBaseline) {
  EXPECT_TRUE(make_target("x86_64", baseline_features("x86_64")));
  EXPECT_FALSE(make_target("x86_64", feature_bit(Feature::Base)));
  EXPECT_FALSE(make_target("z80", 0));
}

}  // namespace
}  // namespace hoist::isa
