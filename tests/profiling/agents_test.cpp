// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Agents as an embedder meets them: its own listener, and VTune with the stand-in collector, from
// two threads and two engines.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hoist/hoist.hpp"
#include "profiling/vtune/vtune.hpp"
#include "support.hpp"
#include "use_engine.hpp"

namespace hoist {
namespace {

void use(const Engine& engine) {
  const UsedEngine used(engine);
}

TEST(CodeListener, HearsOfEverythingThatRunsAndOfItsEnd) {
  const auto recorder = std::make_shared<Recorder>();
  {
    Config config;
    config.code_listener = recorder;
    auto engine = Engine::create(config);
    ASSERT_TRUE(engine);
    use(*engine);
    EXPECT_EQ(recorder->live.size(), 1U);  // the trampoline on the fly lives as long as the engine
  }
  EXPECT_TRUE(recorder->live.empty());
  EXPECT_EQ(recorder->loads, 2);
  for (const char* name :
       {"buy", "through", "entry trampoline [i32] -> [i32]", "exit trampoline [i32] -> []",
        "exit trampoline [i32 i64] -> []", "builtin trampoline memory_grow"}) {
    EXPECT_EQ(recorder->names.count(name), 1U) << name;
  }
}

TEST(CodeListener, TwoEnginesOnTwoThreads) {
  const auto recorder = std::make_shared<Recorder>();
  const auto work = [&] {
    for (int i = 0; i < 5; ++i) {
      Config config;
      config.threads = 1;
      config.code_listener = recorder;
      auto engine = Engine::create(config);
      ASSERT_TRUE(engine);
      use(*engine);
      use(*engine);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_TRUE(recorder->live.empty());
  EXPECT_EQ(recorder->loads, 2 * 5 * 3);
}

class InlinedCodeFake final : public LoadedCode {
 public:
  std::uint64_t id() const noexcept override { return 1'000'000'000; }
  std::string module_name() const noexcept override { return "inlined"; }
  const void* address() const noexcept override { return kCode; }
  std::uint64_t size() const noexcept override { return sizeof kCode; }
  std::size_t piece_count() const noexcept override { return 1; }
  CodePiece piece(std::size_t) const noexcept override {
    return {"outer", CodeKind::Function, 0, kCode, sizeof kCode, sizeof kCode};
  }
  void lines(std::size_t, std::vector<CodeLine>& out) const noexcept override {
    out = {{0, 1, "outer.c", 10},
           {8, 2, "inner.c", 20},
           {12, 3, "deep.c", 30},
           {16, 4, "inner.c", 21},
           {20, 5, "outer.c", 11}};
  }
  void inlined(std::size_t, std::vector<InlinedCode>& out) const noexcept override {
    InlinedCode inner{"inner", 1, InlinedCode::kNone, {0, 9, "outer.c", 15}, {{8, 12}, {16, 20}}};
    InlinedCode deep{"deep", 2, 0, {0, 9, "inner.c", 25}, {{12, 16}}};
    out = {inner, deep};
  }
  std::span<const std::uint8_t> unwind_info() const noexcept override { return {}; }

 private:
  static constexpr std::uint8_t kCode[32] = {};
};

/// A process has one collector: tests of it are processes.
class VTune : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void hear_everything_once() {
  TempFolder folder;
  const std::string log = folder.file("itt.log");
  ::setenv("INTEL_JIT_PROFILER64", HOIST_ITT_COLLECTOR, 1);
  ::setenv("ITT_LOG", log.c_str(), 1);
  const auto work = [] {
    Config config;
    config.threads = 1;
    config.profiler = Profiler::VTune;
    auto engine = Engine::create(config);
    ASSERT_TRUE(engine) << engine.error().message();
    for (int i = 0; i < 3; ++i) use(*engine);
  };
  std::thread other(work);
  work();
  other.join();
  {
    auto agent = profiling::make_vtune_agent();
    ASSERT_TRUE(agent);
    const InlinedCodeFake code;
    (*agent)->on_load(code);
    (*agent)->on_unload(code);
  }
  std::map<std::string, int> names;
  std::set<std::string> ids;
  std::map<std::string, int> kinds;
  std::map<std::string, Event> by_name;
  for (const Event& event : read_log(log)) {
    ++kinds[event.at("event")];
    if (event.at("event") == "unload") continue;
    EXPECT_TRUE(ids.insert(event.at("id")).second) << "an id comes twice: " << event.at("id");
    ++names[event.at("name")];
    by_name[event.at("name")] = event;
  }
  EXPECT_EQ(kinds["load"], kinds["unload"]);
  EXPECT_EQ(names["buy"], 6);
  EXPECT_EQ(names["exit trampoline [i32 i64] -> []"], 2);
  EXPECT_GE(names["entry trampoline [i32] -> [i32]"], 6);
  EXPECT_GE(names["exit trampoline [i32] -> []"], 6);
  EXPECT_GE(names["builtin trampoline memory_grow"], 6);
  EXPECT_EQ(by_name["buy"]["module"], "shop");
  EXPECT_EQ(by_name["buy"]["source"], "-");
  // In what was inlined, the caller is at the call.
  EXPECT_EQ(by_name["outer"]["lines"], "8:10,20:15,32:11");
  EXPECT_EQ(by_name["outer"]["source"], "outer.c");
  EXPECT_EQ(by_name["inner"]["lines"], "4:20,8:25,12:21");
  EXPECT_EQ(by_name["inner"]["size"], "12");
  EXPECT_EQ(by_name["inner"]["source"], "inner.c");
  EXPECT_EQ(by_name["deep"]["lines"], "4:30");
  EXPECT_EQ(by_name["deep"]["source"], "deep.c");
  EXPECT_EQ(by_name["inner"]["parent"], by_name["outer"]["id"]);
  EXPECT_EQ(by_name["deep"]["parent"], by_name["inner"]["id"]);
}

TEST_F(VTune, TheCollectorHearsEverythingOnce) {
  EXPECT_EXIT((hear_everything_once(), exit_as_tested()), testing::ExitedWithCode(0), "");
}

TEST(Profilers, AreErrorsWhenTheyCannotBe) {
  Config config;
  config.profiler = static_cast<Profiler>(99);
  EXPECT_FALSE(Engine::create(config));
}

}  // namespace
}  // namespace hoist
