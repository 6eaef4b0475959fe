// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/perf/perf_map.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "platform/clocks.hpp"
#include "platform/files.hpp"

namespace hoist::profiling {
namespace {

const void* address(std::uintptr_t value) {
  return reinterpret_cast<const void*>(value);
}

TEST(PerfMap, OneLineForEachSymbol) {
  const runtime::CodeSymbol symbols[] = {{"fib", address(0x1000), 32},
                                         {"two\nlines\r", address(0xabcdef), 1},
                                         {"nothing", address(0x2000), 0}};
  EXPECT_EQ(perf_map_lines(symbols), "1000 20 fib\nabcdef 1 two_lines_\n");
}

TEST(PerfMap, EnginesAppendToOneFile) {
  const std::string path = "/tmp/perf-" + std::to_string(platform::process_id()) + ".map";
  ::unlink(path.c_str());
  auto first = make_perf_map_listener();
  auto second = make_perf_map_listener();
  ASSERT_TRUE(first && second);
  const runtime::CodeSymbol a[] = {{"a", address(0x10), 1}};
  const runtime::CodeSymbol b[] = {{"b", address(0x20), 2}};
  (*first)->on_code_loaded(a);
  (*second)->on_code_loaded(b);
  const auto text = platform::read_file(path, 1000);
  ASSERT_TRUE(text);
  EXPECT_EQ(std::string(text->begin(), text->end()), "10 1 a\n20 2 b\n");
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace hoist::profiling
