// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of users of the IR under agents and the sampler: really inlined ones, from the IR to
// what each profiler says of every instruction.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "demangle/demangle.hpp"
#include "hoist/profiler.hpp"
#include "ir/text/reader.hpp"
#include "jit/stack_sample.hpp"
#include "native/jit_module.hpp"
#include "opt/inline/inliner.hpp"
#include "profiling/agent.hpp"
#include "profiling/sampler/resolver.hpp"
#include "support.hpp"

namespace hoist {
namespace {

using ir::ExternalName;
using ir::I64;

// Divisions are where they are written: they may trap. %deep calls %spin, which is not inlined.
constexpr const char* kProgram = R"(
function %spin(i64) -> i64 system_v {
block0(v0: i64):
@0031 jump block1(v0)
block1(v1: i64):
@0032 v3 = iconst.i64 -1
@0032 v2 = iadd v1, v3
@0033 brif v2, block1(v2), block2
block2:
@0034 return v2
}
function %deep(i64, i64) -> i64 system_v {
    fn0 = %spin(i64) -> i64 system_v
block0(v0: i64, v1: i64):
@0003 v2 = udiv v0, v1
@0004 v3 = call fn0(v1)
@0005 v4 = iadd v2, v3
    return v4
}
function %middle(i64, i64) -> i64 system_v {
    fn0 = %deep(i64, i64) -> i64 system_v
block0(v0: i64, v1: i64):
@0010 v2 = urem v0, v1
@0011 v3 = call fn0(v2, v1)
@0012 v4 = iadd v3, v0
@0013 v5 = udiv v4, v1
    return v5
}
function %outer(i64, i64) -> i64 system_v {
    fn0 = %middle(i64, i64) -> i64 system_v
block0(v0: i64, v1: i64):
@0020 v2 = call fn0(v0, v1)
@0021 v3 = udiv v2, v1
@0022 v4 = call fn0(v3, v1)
@0023 v5 = udiv v4, v1
    return v5
}
)";

/// Lines of several files behind one number.
class Sources final : public native::SourceMap {
 public:
  Place find(std::uint32_t loc) const noexcept override {
    static constexpr const char* kFiles[] = {"/src/deep.c", "/src/middle.c", "/src/outer.c",
                                             "/src/spin.c"};
    return {kFiles[(loc >> 4) % 4], loc};
  }
};

class MiddleAndDeep final : public opt::InlinePolicy {
 public:
  explicit MiddleAndDeep(const ir::ParsedFile& file) : file_(file) {}
  opt::InlineDecision decide(const opt::InlineSite& site) override {
    const std::string& callee = site.caller.ext_funcs[site.callee].name.text;
    if (callee == "deep") return {&file_.functions[1].func, true};
    if (callee == "middle") return {&file_.functions[2].func, true};
    return {};
  }

 private:
  const ir::ParsedFile& file_;
};

/// %outer with everything but %spin inlined.
std::unique_ptr<native::JitModule> make_module(std::vector<std::shared_ptr<CodeListener>> listeners,
                                               bool with_sources = true) {
  const Result<ir::ParsedFile> file = ir::parse_file(kProgram);
  EXPECT_TRUE(file) << file.error().message();
  if (!file) return nullptr;
  ir::Function outer = file->functions[3].func;
  MiddleAndDeep policy(*file);
  opt::Inliner inliner;
  const auto report = inliner.run(outer, policy);
  EXPECT_TRUE(report);
  EXPECT_EQ(report->inlined, 4U);
  native::JitOptions options;
  options.name = "native.clif";
  options.listeners = std::move(listeners);
  if (with_sources) options.sources = std::make_shared<Sources>();
  auto made = native::JitModule::create(options);
  EXPECT_TRUE(made);
  std::unique_ptr<native::JitModule> module = *std::move(made);
  module->show_as(ExternalName::testcase("deep"), "_ZN4game4deepExx");
  EXPECT_TRUE(module->define(file->functions[0].func));
  const Result<void> defined = module->define(outer);
  EXPECT_TRUE(defined) << defined.error().message();
  const Result<void> done = module->finalise();
  EXPECT_TRUE(done) << done.error().message();
  return module;
}

std::string deep_name() {
  return demangle::is_available() ? "game::deep(long long, long long)" : "_ZN4game4deepExx";
}

/// What each division of %outer belongs to, in the order in which they run: innermost first.
struct Where {
  const char* function;
  std::uint32_t line;
};
std::vector<std::vector<Where>> divisions() {
  return {{{"middle", 0x10}, {"outer", 0x20}}, {{"deep", 0x03}, {"middle", 0x11}, {"outer", 0x20}},
          {{"middle", 0x13}, {"outer", 0x20}}, {{"outer", 0x21}},
          {{"middle", 0x10}, {"outer", 0x22}}, {{"deep", 0x03}, {"middle", 0x11}, {"outer", 0x22}},
          {{"middle", 0x13}, {"outer", 0x22}}, {{"outer", 0x23}}};
}
std::string name_of(const Where& where) {
  return where.function == std::string("deep") ? deep_name() : where.function;
}

/// Offsets of the divisions in %outer: instructions with a trap code say where they are by
/// themselves.
std::vector<std::uint32_t> division_offsets(const native::JitModule& module) {
  const image::Image& image = module.code()->image();
  const auto at = static_cast<const std::uint8_t*>(module.address(ExternalName::testcase("outer")));
  const image::FunctionEntry* entry =
      image.find_function(static_cast<std::uint32_t>(at - module.code()->base()));
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < entry->code_size; ++i) {
    if (image.trap_at(entry->offset + i) == image::TrapCode::IntegerDivideByZero) out.push_back(i);
  }
  EXPECT_EQ(out.size(), divisions().size());
  return out;
}

TEST(NativeCode, ListenersHearOfIt) {
  const auto recorder = std::make_shared<Recorder>();
  auto module = make_module({recorder});
  ASSERT_EQ(recorder->live.size(), 1U);
  const Recorder::Code& code = recorder->live.begin()->second;
  EXPECT_EQ(code.module, "native.clif");
  EXPECT_EQ(recorder->names["outer"], 1);
  EXPECT_EQ(recorder->names["spin"], 1);
  EXPECT_EQ(recorder->names["entry trampoline (i64, i64) -> i64 system_v"], 1);
  const auto outer = std::find_if(code.pieces.begin(), code.pieces.end(),
                                  [](const auto& p) { return p.code.name == "outer"; });
  ASSERT_NE(outer, code.pieces.end());
  EXPECT_EQ(outer->code.kind, CodeKind::Function);
  EXPECT_EQ(outer->code.address, module->address(ExternalName::testcase("outer")));
  ASSERT_EQ(outer->inlined.size(), 4U);
  // For each division, the line, and the chain of calls whose ranges it is in.
  const std::vector<std::uint32_t> offsets = division_offsets(*module);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::vector<Where> wanted = divisions()[i];
    std::size_t line = 0;
    while (line + 1 < outer->lines.size() && outer->lines[line + 1].offset <= offsets[i]) ++line;
    EXPECT_EQ(outer->lines[line].line, wanted[0].line) << i;
    EXPECT_EQ(outer->files[line], std::string("/src/") + wanted[0].function + ".c") << i;
    std::uint32_t call = InlinedCode::kNone;
    for (std::uint32_t k = 0; k < outer->inlined.size(); ++k) {
      for (const InlinedCode::Range& range : outer->inlined[k].ranges) {
        if (range.begin <= offsets[i] && offsets[i] < range.end) call = k;
      }
    }
    for (std::size_t k = 0; k + 1 < wanted.size(); ++k) {
      ASSERT_NE(call, InlinedCode::kNone) << i;
      EXPECT_EQ(outer->inlined[call].name, name_of(wanted[k])) << i;
      EXPECT_EQ(outer->inlined[call].call.line, wanted[k + 1].line) << i;
      EXPECT_EQ(outer->call_files[call], std::string("/src/") + wanted[k + 1].function + ".c");
      call = outer->inlined[call].parent;
    }
    EXPECT_EQ(call, InlinedCode::kNone) << i;
  }
  module.reset();
  EXPECT_TRUE(recorder->live.empty());
}

TEST(NativeCode, WithoutAMapLocationsAreLinesOfTheModule) {
  const auto recorder = std::make_shared<Recorder>();
  const auto module = make_module({recorder}, false);
  for (const Recorder::Piece& piece : recorder->live.begin()->second.pieces) {
    if (piece.code.name != "spin") continue;
    ASSERT_FALSE(piece.lines.empty());
    EXPECT_EQ(piece.files.back(), "native.clif");
    EXPECT_EQ(piece.lines.back().line, 0x34U);
  }
}

TEST(NativeCode, JumpsToHostFunctionsHaveNames) {
  const auto recorder = std::make_shared<Recorder>();
  native::JitOptions options;
  options.listeners = {recorder};
  auto module = native::JitModule::create(options);
  ASSERT_TRUE(module);
  static std::uint64_t host = 0;
  (*module)->define_host_symbol("hook", &host);
  const auto file = ir::parse_file(R"(
function u3:4(i64) system_v {
    fn0 = colocated patchable %hook(i64) preserve_all
block0(v0: i64):
    call fn0(v0)
    return
}
)");
  ASSERT_TRUE(file) << file.error().message();
  const Result<void> defined = (*module)->define(file->functions[0].func);
  ASSERT_TRUE(defined) << defined.error().message();
  const Result<void> done = (*module)->finalise();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(recorder->names["u3:4"], 1);
  EXPECT_EQ(recorder->names["jump to hook"], 1);
}

void vtune_hears_inlined_calls() {
  TempFolder folder;
  const std::string log = folder.file("itt.log");
  ::setenv("INTEL_JIT_PROFILER64", HOIST_ITT_COLLECTOR, 1);
  ::setenv("ITT_LOG", log.c_str(), 1);
  auto agent = profiling::make_agent(Profiler::VTune);
  ASSERT_TRUE(agent) << agent.error().message();
  auto module = make_module({*agent});
  const std::vector<std::uint32_t> offsets = division_offsets(*module);
  const auto base =
      reinterpret_cast<std::uintptr_t>(module->address(ExternalName::testcase("outer")));
  module.reset();
  std::map<std::string, Event> by_id;
  std::string outer;
  for (const Event& event : read_log(log)) {
    if (event.at("event") == "unload") continue;
    by_id[event.at("id")] = event;
    if (event.at("name") == "outer") outer = event.at("id");
  }
  ASSERT_FALSE(outer.empty());
  const auto covers = [&](const Event& event, std::uintptr_t at) {
    const std::uintptr_t begin = std::stoull(event.at("address"), nullptr, 16);
    return at >= begin && at < begin + std::stoull(event.at("size"));
  };
  // An entry covers what is before its offset.
  const auto line_at = [&](const Event& event, std::uintptr_t at) {
    const std::uintptr_t offset = at - std::stoull(event.at("address"), nullptr, 16);
    std::size_t from = 0;
    const std::string& lines = event.at("lines");
    while (from < lines.size()) {
      const std::uintptr_t end = std::stoull(lines.substr(from));
      const std::size_t colon = lines.find(':', from);
      if (offset < end) return static_cast<std::uint32_t>(std::stoul(lines.substr(colon + 1)));
      from = std::min(lines.find(',', colon), lines.size() - 1) + 1;
    }
    return 0U;
  };
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::vector<Where> wanted = divisions()[i];
    const std::uintptr_t at = base + offsets[i];
    // From %outer inwards.
    std::string id = outer;
    for (std::size_t k = wanted.size(); k-- != 0;) {
      const Event& event = by_id[id];
      EXPECT_EQ(event.at("name"), name_of(wanted[k])) << i;
      EXPECT_EQ(line_at(event, at), wanted[k].line) << i << " " << event.at("lines");
      EXPECT_EQ(event.at("source"), std::string("/src/") + wanted[k].function + ".c");
      std::string inner;
      for (const auto& [number, other] : by_id) {
        if (other.count("parent") != 0 && other.at("parent") == id && covers(other, at))
          inner = number;
      }
      EXPECT_EQ(inner.empty(), k == 0) << i;
      id = inner;
    }
  }
}

TEST(NativeCode, VTuneHearsInlinedCalls) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((vtune_hears_inlined_calls(), exit_as_tested()), testing::ExitedWithCode(0), "");
}

void jitdump_names_the_lines() {
  TempFolder folder;
  ::setenv("JITDUMPDIR", folder.path().c_str(), 1);
  const std::string dump = folder.file("jit-" + std::to_string(::getpid()) + ".dump");
  std::vector<std::uint32_t> offsets;
  std::uintptr_t base = 0;
  {
    auto agent = profiling::make_agent(Profiler::JitDump);
    ASSERT_TRUE(agent) << agent.error().message();
    const auto module = make_module({*agent});
    offsets = division_offsets(*module);
    base = reinterpret_cast<std::uintptr_t>(module->address(ExternalName::testcase("outer")));
  }
  const std::string command = "python3 -B " HOIST_PROFILING_TESTS "/jitdump.py --lines " + dump;
  std::FILE* reader = ::popen(command.c_str(), "r");
  ASSERT_NE(reader, nullptr);
  std::map<std::uintptr_t, std::string> lines;
  std::string name;
  char text[1024];
  while (std::fgets(text, sizeof text, reader) != nullptr) {
    std::string line(text);
    line.pop_back();
    if (line[0] != ' ') {
      name = line.substr(line.find(' ', line.find(' ') + 1) + 1);
    } else if (name == "outer") {
      const std::size_t space = line.find(' ', 2);
      lines[std::stoull(line.substr(2), nullptr, 16)] = line.substr(space + 1);
    }
  }
  ASSERT_EQ(::pclose(reader), 0);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Where wanted = divisions()[i][0];
    auto at = lines.upper_bound(base + offsets[i]);
    ASSERT_NE(at, lines.begin()) << i;
    EXPECT_EQ((--at)->second,
              std::string("/src/") + wanted.function + ".c:" + std::to_string(wanted.line))
        << i;
  }
}

TEST(NativeCode, JitDumpNamesTheLines) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((jitdump_names_the_lines(), exit_as_tested()), testing::ExitedWithCode(0), "");
}

void jitdumps_of_agents_and_forks() {
  TempFolder folder;
  ::setenv("JITDUMPDIR", folder.path().c_str(), 1);
  const auto dump = [&](::pid_t process) {
    return folder.file("jit-" + std::to_string(process) + ".dump");
  };
  const auto use = [] {
    auto agent = profiling::make_agent(Profiler::JitDump);
    ASSERT_TRUE(agent) << agent.error().message();
    static_cast<void>(make_module({*agent}));
  };
  use();
  use();  // the file goes on behind what was its end
  const ::pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    use();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  use();
  for (const ::pid_t process : {::getpid(), child}) {
    const std::string command = "python3 -B " HOIST_PROFILING_TESTS "/jitdump.py --names " +
                                dump(process) + " | grep -c outer";
    std::FILE* reader = ::popen(command.c_str(), "r");
    ASSERT_NE(reader, nullptr);
    int count = 0;
    EXPECT_EQ(std::fscanf(reader, "%d", &count), 1);
    ::pclose(reader);
    EXPECT_EQ(count, process == child ? 1 : 3);
  }
}

TEST(NativeCode, JitDumpsOfAgentsAndForks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((jitdumps_of_agents_and_forks(), exit_as_tested()), testing::ExitedWithCode(0), "");
}

TEST(NativeCode, TheSamplersFrames) {
  const auto module = make_module({});
  const std::vector<std::uint32_t> offsets = division_offsets(*module);
  const auto base =
      reinterpret_cast<std::uintptr_t>(module->address(ExternalName::testcase("outer")));
  profiling::Profile profile;
  profiling::Resolver resolver(profile);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::vector<Where> wanted = divisions()[i];
    const std::uint64_t words[] = {jit::sample_word::kInCode, base + offsets[i], 0, 0};
    std::uint32_t node = resolver.add(words);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      ASSERT_NE(node, profiling::Profile::kNone) << i;
      const profiling::ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
      EXPECT_EQ(frame.function, name_of(wanted[k])) << i;
      EXPECT_EQ(frame.line, wanted[k].line) << i;
      EXPECT_EQ(frame.file, std::string("/src/") + wanted[k].function + ".c");
      EXPECT_EQ(frame.module, "native.clif");
      EXPECT_EQ(frame.kind, k + 1 == wanted.size() ? profiling::FrameKind::Guest
                                                   : profiling::FrameKind::Inlined);
      node = profile.nodes[node].parent;
    }
    EXPECT_EQ(node, profiling::Profile::kNone) << i;
  }
}

TEST(NativeCode, TheSamplerNamesCodeThatIsGone) {
  ProfilerOptions options;
  options.clock = ProfilerOptions::Clock::Wall;
  auto profiler = GuestProfiler::start(options);
  ASSERT_TRUE(profiler) << profiler.error().message();
  {
    const auto module = make_module({});
    // Half a second or so in %spin.
    const auto outcome =
        module->call(ExternalName::testcase("outer"),
                     std::vector<ir::DataValue>{{I64, 7, 0}, {I64, 200'000'000, 0}});
    ASSERT_TRUE(outcome) << outcome.error().message();
  }
  const GuestProfile profile = profiler->stop();
  const std::string stacks = profile.to_string(ProfileFormat::Collapsed);
  EXPECT_GT(profile.samples(), 10U);
  EXPECT_NE(stacks.find("outer;middle [inlined];" + deep_name() + " [inlined];spin "),
            std::string::npos)
      << stacks;
  ASSERT_FALSE(profile.lines().empty());
  EXPECT_EQ(profile.lines()[0].file, "/src/spin.c");
}

}  // namespace
}  // namespace hoist
