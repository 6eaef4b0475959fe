// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/perf/perf_map.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "platform/clocks.hpp"
#include "platform/files.hpp"
#include "profiling/test_support.hpp"

namespace hoist::profiling {
namespace {

TEST(PerfMap, OneLineForEachPiece) {
  const FakeCode code(1, {{"fib", 0x1000, 32}, {"two\nlines\r", 0xabcdef, 1}, {"no", 0x2000, 0}});
  EXPECT_EQ(perf_map_lines(code), "1000 20 fib\nabcdef 1 two_lines_\n");
}

TEST(PerfMap, EnginesAppendToOneFile) {
  const std::string path = "/tmp/perf-" + std::to_string(platform::process_id()) + ".map";
  ::unlink(path.c_str());
  auto first = make_perf_map_agent();
  auto second = make_perf_map_agent();
  ASSERT_TRUE(first && second);
  (*first)->on_load(FakeCode(1, {{"a", 0x10, 1}}));
  (*second)->on_load(FakeCode(2, {{"b", 0x20, 2}}));
  const auto text = platform::read_file(path, 1000);
  ASSERT_TRUE(text);
  EXPECT_EQ(std::string(text->begin(), text->end()), "10 1 a\n20 2 b\n");
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace hoist::profiling
