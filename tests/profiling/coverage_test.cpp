// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that executes has a name, at any time and on any thread.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hoist/hoist.hpp"
#include "ir/text/reader.hpp"
#include "native/jit_module.hpp"
#include "support.hpp"
#include "use_engine.hpp"

namespace hoist {
namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Executable memory that is of no file.
std::vector<Range> anonymous_code() {
  std::vector<Range> out;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t space = line.find(' ');
    if (line[space + 3] != 'x' || line.find('/') != std::string::npos ||
        line.find("[v") != std::string::npos)
      continue;
    out.push_back({std::stoull(line, nullptr, 16),
                   std::stoull(line.substr(line.find('-') + 1), nullptr, 16)});
  }
  return out;
}

/// What may lie between pieces: no code.
bool is_padding(std::uint8_t byte) {
  return byte == 0xcc || byte == 0x90 || byte == 0x00;
}

TEST(Coverage, EveryExecutableByteHasAName) {
  const std::vector<Range> before = anonymous_code();
  const auto recorder = std::make_shared<Recorder>();
  Config config;
  config.code_listener = recorder;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine);
  UsedEngine first(*engine);
  UsedEngine second(*engine);
  native::JitOptions options;
  options.listeners = {recorder};
  auto native_module = native::JitModule::create(options);
  ASSERT_TRUE(native_module);
  const auto file = ir::parse_file(
      "function %f(f32) -> f32 system_v {\n fn0 = %CeilF32(f32) -> f32 system_v\n"
      "block0(v0: f32):\n v1 = call fn0(v0)\n return v1\n}\n");
  ASSERT_TRUE(file);
  ASSERT_TRUE((*native_module)->define(file->functions[0].func));
  ASSERT_TRUE((*native_module)->finalise());

  const std::uintptr_t page = 4096;
  std::size_t found = 0;
  for (const Range& range : anonymous_code()) {
    bool is_old = false;
    for (const Range& old : before) is_old |= range.begin >= old.begin && range.end <= old.end;
    if (is_old) continue;
    // Every page of it is a page of something that was told about.
    for (std::uintptr_t at = range.begin; at < range.end; at += page) {
      bool is_known = false;
      for (const auto& [id, code] : recorder->live)
        is_known |= at + page > code.begin && at < code.end;
      EXPECT_TRUE(is_known) << std::hex << at << " of " << range.begin << "-" << range.end;
      ++found;
    }
  }
  EXPECT_GE(found, 3U);
  // And every byte of that belongs to a piece, or is padding.
  for (const auto& [id, code] : recorder->live) {
    std::uintptr_t at = code.begin;
    const auto expect_padding = [&](std::uintptr_t end) {
      for (; at < end; ++at)
        ASSERT_TRUE(is_padding(*reinterpret_cast<const std::uint8_t*>(at)))
            << code.module << " " << std::hex << at - code.begin;
    };
    for (const Recorder::Piece& piece : code.pieces) {
      expect_padding(reinterpret_cast<std::uintptr_t>(piece.code.address));
      at += piece.code.size;
    }
    expect_padding(code.end);
  }
}

TEST(Coverage, FourThreadsTwoEnginesAndListenersThatCome) {
  const auto shared = std::make_shared<Recorder>();
  Config config;
  config.threads = 1;
  config.code_listener = shared;
  auto first = Engine::create(config);
  auto second = Engine::create(config);
  ASSERT_TRUE(first && second);
  std::atomic<int> own_loads{0};
  const auto work = [&](const Engine& engine) {
    for (int i = 0; i < 8; ++i) {
      const UsedEngine used(engine);
      // A listener that comes while others run hears of its own engine's code, from the start to
      // the end of that.
      const auto own = std::make_shared<Recorder>();
      Config with_own = config;
      with_own.code_listener = own;
      {
        auto late = Engine::create(with_own);
        ASSERT_TRUE(late);
        const UsedEngine more(*late);
      }
      EXPECT_TRUE(own->live.empty());
      EXPECT_EQ(own->loads, 2);
      own_loads += own->loads;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i % 2 == 0 ? *first : *second);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(own_loads, 4 * 8 * 2);
  EXPECT_EQ(shared->loads, 4 * 8 + 2);
  EXPECT_EQ(shared->live.size(), 2U);  // the trampolines made on the fly
  *first = Engine(std::move(*second));
  EXPECT_EQ(shared->live.size(), 1U);
}

TEST(Coverage, CodeOfAnEngineThatWasDroppedIsNotMissed) {
  // A module keeps its engine, and the engine its listener, whatever the embedder drops first.
  const auto recorder = std::make_shared<Recorder>();
  std::unique_ptr<Module> module;
  {
    Config config;
    config.code_listener = recorder;
    auto engine = Engine::create(config);
    ASSERT_TRUE(engine);
    auto made = Module::from_text(*engine, "(module (func (export \"f\")))");
    ASSERT_TRUE(made);
    module = std::make_unique<Module>(*made);
  }
  EXPECT_EQ(recorder->live.size(), 1U);
  module.reset();
  EXPECT_TRUE(recorder->live.empty());
}

}  // namespace
}  // namespace hoist
