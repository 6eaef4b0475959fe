// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Agents as an embedder meets them: its own listener, and VTune with the stand-in collector, from
// two threads and two engines.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "hoist/hoist.hpp"
#include "profiling/test_support.hpp"
#include "profiling/vtune/vtune.hpp"

namespace hoist {
namespace {

constexpr const char* kModule = R"((module $shop
  (import "env" "log" (func $log (param i32)))
  (memory (export "memory") 1)
  (table (export "table") 2 funcref)
  (func $buy (export "buy") (param i32) (result i32)
    (call $log (local.get 0))
    (drop (memory.grow (i32.const 0)))
    (i32.add (local.get 0) (i32.const 1)))
  (func (export "through") (param i32 i64)
    (call_indirect (param i32 i64) (local.get 0) (local.get 1) (i32.const 0)))))";

/// Uses the engine in every way that makes code.
void use(const Engine& engine) {
  auto module = Module::from_text(engine, kModule);
  ASSERT_TRUE(module) << module.error().message();
  Store store(engine);
  Linker linker(engine);
  ASSERT_TRUE(linker.define_func("env", "log", [](std::int32_t) {}));
  auto instance = linker.instantiate(store, *module);
  ASSERT_TRUE(instance) << instance.error().message();
  auto result = instance->typed<std::int32_t(std::int32_t)>("buy");
  ASSERT_TRUE(result);
  EXPECT_EQ(*(*result)(41), 42);
  // A type that no module has, called through a table: a trampoline made on the fly.
  Func made = Func::create(
      store, FuncType({ValType(ValKind::I32), ValType(ValKind::I64)}, {}),
      [](Caller&, std::span<const Val>, std::span<Val>) -> Result<void> { return {}; });
  auto table = instance->table("table");
  ASSERT_TRUE(table);
  ASSERT_TRUE(table->set(0, Val(made)));
  auto through = instance->typed<void(std::int32_t, std::int64_t)>("through");
  ASSERT_TRUE(through);
  EXPECT_TRUE((*through)(1, 2));
}

class Recorder final : public CodeListener {
 public:
  void on_load(const LoadedCode& code) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_TRUE(live.insert(code.id()).second);
    EXPECT_TRUE(ever.insert(code.id()).second) << "an id comes twice";
    ++loads;
    for (std::size_t i = 0; i < code.piece_count(); ++i) {
      const CodePiece piece = code.piece(i);
      ++names[piece.name];
      const auto begin = reinterpret_cast<std::uintptr_t>(piece.address);
      const auto base = reinterpret_cast<std::uintptr_t>(code.address());
      EXPECT_GE(begin, base);
      EXPECT_LE(begin + piece.size, base + code.size());
      EXPECT_LE(piece.code_size, piece.size);
    }
    EXPECT_FALSE(code.unwind_info().empty());
  }
  void on_unload(const LoadedCode& code) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_EQ(live.erase(code.id()), 1U);
    // Everything is still there.
    for (std::size_t i = 0; i < code.piece_count(); ++i) EXPECT_FALSE(code.piece(i).name.empty());
  }

  std::mutex mutex;
  std::set<std::uint64_t> live, ever;
  std::map<std::string, int> names;
  int loads = 0;
};

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

std::vector<std::map<std::string, std::string>> read_log(const std::string& path) {
  std::vector<std::map<std::string, std::string>> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::map<std::string, std::string>& event = out.emplace_back();
    event["event"] = line.substr(0, line.find(' '));
    for (const char* key : {"id", "parent", "address", "size", "module", "source"}) {
      const std::size_t at = line.find(std::string(" ") + key + "=");
      if (at == std::string::npos) continue;
      const std::size_t begin = at + std::string(key).size() + 2;
      event[key] = line.substr(begin, line.find(' ', begin) - begin);
    }
    const std::size_t name = line.find(" name=");
    const std::size_t lines = line.find(" lines=");
    if (name != std::string::npos) event["name"] = line.substr(name + 6, lines - name - 6);
    if (lines != std::string::npos) event["lines"] = line.substr(lines + 7);
  }
  return out;
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

TEST(VTune, TheCollectorHearsEverythingOnce) {
  static bool before = false;
  if (std::exchange(before, true)) GTEST_SKIP() << "a process has one collector";
  const std::string log = "/tmp/hoist-itt-" + std::to_string(::getpid()) + ".log";
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
  const auto events = read_log(log);
  ::unlink(log.c_str());
  std::map<std::string, int> names;
  std::set<std::string> ids;
  int loads = 0;
  int unloads = 0;
  std::map<std::string, std::string> by_name_lines, by_name_parent, by_name_id;
  for (auto event : events) {
    if (event["event"] == "load" || event["event"] == "inline") {
      EXPECT_TRUE(ids.insert(event["id"]).second) << "an id comes twice: " << event["id"];
      ++names[event["name"]];
      by_name_lines[event["name"]] = event["lines"];
      by_name_parent[event["name"]] = event["parent"];
      by_name_id[event["name"]] = event["id"];
    }
    loads += event["event"] == "load";
    unloads += event["event"] == "unload";
  }
  EXPECT_EQ(loads, unloads);
  EXPECT_EQ(names["buy"], 6);
  EXPECT_EQ(names["exit trampoline [i32 i64] -> []"], 2);
  EXPECT_GE(names["entry trampoline [i32] -> [i32]"], 6);
  EXPECT_GE(names["exit trampoline [i32] -> []"], 6);
  EXPECT_GE(names["builtin trampoline memory_grow"], 6);
  // In what was inlined, the function is at the call.
  EXPECT_EQ(by_name_lines["outer"], "8:10,12:15,16:15,20:15,32:11");
  EXPECT_EQ(by_name_lines["inner"], "8:0,12:20,16:0,20:21");
  EXPECT_EQ(by_name_lines["deep"], "12:0,16:30");
  EXPECT_EQ(by_name_parent["inner"], by_name_id["outer"]);
  EXPECT_EQ(by_name_parent["deep"], by_name_id["inner"]);
}

TEST(Profilers, AreErrorsWhenTheyCannotBe) {
  Config config;
  config.profiler = static_cast<Profiler>(99);
  EXPECT_FALSE(Engine::create(config));
}

}  // namespace
}  // namespace hoist
