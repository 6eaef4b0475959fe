// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The "processed profile" of the Firefox profiler: tables as columns. Source:
// docs-developer/processed-profile-format.md of firefox-devtools/profiler; what is left out there
// is added when it upgrades a profile from this version.
#include <fmt/core.h>
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "platform/clocks.hpp"
#include "platform/cpu_features.hpp"
#include "profiling/sampler/profile.hpp"

namespace hoist::profiling {

namespace {

// In the order of "categories".
enum Category { kOther, kGuest, kHost, kTrampoline };

Category category_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::Guest:
    case FrameKind::Inlined: return kGuest;
    case FrameKind::Host: return kHost;
    case FrameKind::Trampoline: return kTrampoline;
    case FrameKind::Gap: break;
  }
  return kOther;
}

/// A column of a table: "name":[...].
class Column {
 public:
  explicit Column(const char* name) : text_(fmt::format("\"{}\":[", name)) {}
  void add(std::string_view value) {
    if (!first_) text_ += ',';
    first_ = false;
    text_ += value;
  }
  void add(std::uint64_t value) { add(std::to_string(value)); }
  std::string done() const { return text_ + "]"; }

 private:
  std::string text_;
  bool first_ = true;
};

class Strings {
 public:
  std::uint64_t number(const std::string& text) {
    const auto [at, fresh] = numbers_.try_emplace(text, numbers_.size());
    if (fresh) column_.add(json_string(text));
    return at->second;
  }
  std::string done() const { return column_.done(); }

 private:
  std::map<std::string, std::uint64_t> numbers_;
  Column column_{"stringArray"};
};

/// The tables of frames and stacks are the same for all threads.
class Writer {
 public:
  Writer(const Profile& profile, const std::string& title)
      : profile_(profile), title_(title), names_(function_names(profile)) {
    // A host function is another than the guest's of that name.
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (profile.frames[i].kind == FrameKind::Host) names_[i] += " [host]";
    }
  }

  std::string run() {
    tables();
    std::string out =
        "{" + meta() +
        ",\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"counters\":[],\"threads\":[";
    for (std::size_t i = 0; i < profile_.threads.size(); ++i) {
      if (i != 0) out += ',';
      out += thread(profile_.threads[i], profile_.threads[i].name == "main" || i == 0);
    }
    return out + "]}\n";
  }

 private:
  double ms(std::uint64_t ns) const { return static_cast<double>(ns) / 1e6; }

  std::string meta() const {
    static constexpr const char* kCategories =
        R"([{"name":"Other","color":"grey","subcategories":["Other"]},)"
        R"({"name":"Guest","color":"blue","subcategories":["Other"]},)"
        R"({"name":"Host","color":"orange","subcategories":["Other"]},)"
        R"({"name":"Trampoline","color":"purple","subcategories":["Other"]}])";
    return fmt::format(
        "\"meta\":{{\"version\":24,\"preprocessedProfileVersion\":46,\"interval\":{},\"startTime\":"
        "{},"
        "\"processType\":0,\"product\":{},\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
        "\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
        "\"sourceCodeIsNotOnSearchfox\":true,\"oscpu\":\"Linux {}\",\"categories\":{},"
        "\"markerSchema\":[],"
        "\"sampleUnits\":{{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\\u00b5s\"}},"
        "\"extensions\":{{\"baseURL\":[],\"id\":[],\"length\":0,\"name\":[]}},\"pausedRanges\":[]}"
        "}",
        ms(profile_.interval_ns), profile_.start_unix_ms, json_string(title_),
        platform::cpu_architecture(), kCategories);
  }

  struct Function {
    std::uint64_t number = 0;
    std::map<std::string_view, std::uint64_t> files;  // with the weight of its frames in them
    std::string_view file;
  };

  /// The format has one source file a function: that in which most of its time is. What the
  /// compiler has inlined from others are frames without a line.
  std::map<std::string_view, Function> functions() const {
    std::vector<std::uint64_t> weights(profile_.frames.size());
    for (const Profile::Node& node : profile_.nodes) weights[node.frame] += node.self;
    std::map<std::string_view, Function> out;
    for (std::size_t i = 0; i < profile_.frames.size(); ++i) {
      const ProfileFrame& frame = profile_.frames[i];
      if (frame.file.empty() || !used_[i]) continue;
      out[names_[i]].files[frame.file] += weights[i];
    }
    for (auto& [key, function] : out) {
      std::uint64_t most = 0;
      for (const auto& [file, weight] : function.files) {
        if (!function.file.empty() && weight <= most) continue;
        function.file = file;
        most = weight;
      }
    }
    return out;
  }

  void tables() {
    auto funcs = functions();
    std::uint64_t func_count = 0;
    Column func_name("name"), func_js("isJS"), func_relevant("relevantForJS"),
        func_resource("resource"), func_file("fileName"), func_line("lineNumber"),
        func_column("columnNumber");
    Column frame_address("address"), frame_depth("inlineDepth"), frame_category("category"),
        frame_sub("subcategory"), frame_func("func"), frame_native("nativeSymbol"),
        frame_window("innerWindowID"), frame_impl("implementation"), frame_line("line"),
        frame_column("column");
    std::vector<std::uint64_t> frame_numbers(profile_.frames.size());
    std::uint64_t frame_count = 0;
    for (std::size_t i = 0; i < profile_.frames.size(); ++i) {
      const ProfileFrame& frame = profile_.frames[i];
      if (!used_[i]) continue;
      frame_numbers[i] = frame_count++;
      Function& function = funcs[names_[i]];
      if (function.number == 0) {
        function.number = ++func_count;
        func_name.add(strings_.number(names_[i]));
        func_js.add("false");
        func_relevant.add("false");
        func_resource.add("-1");
        func_file.add(function.file.empty()
                          ? "null"
                          : std::to_string(strings_.number(std::string(function.file))));
        func_line.add("null");
        func_column.add("null");
      }
      frame_address.add("-1");
      frame_depth.add(frame.kind == FrameKind::Inlined ? 1 : 0);
      frame_category.add(category_of(frame.kind));
      frame_sub.add(0);
      frame_func.add(function.number - 1);
      frame_native.add("null");
      frame_window.add(0);
      frame_impl.add("null");
      frame_line.add(frame.line == 0 || frame.file != function.file ? "null"
                                                                    : std::to_string(frame.line));
      frame_column.add("null");
    }
    Column stack_prefix("prefix"), stack_frame("frame"), stack_category("category"),
        stack_sub("subcategory");
    for (const Profile::Node& node : profile_.nodes) {
      stack_prefix.add(node.parent == Profile::kNone ? "null" : std::to_string(node.parent));
      stack_frame.add(frame_numbers[node.frame]);
      stack_category.add(category_of(profile_.frames[node.frame].kind));
      stack_sub.add(0);
    }
    tables_ = fmt::format(
        "\"funcTable\":{{\"length\":{},{},{},{},{},{},{},{}}},"
        "\"frameTable\":{{\"length\":{},{},{},{},{},{},{},{},{},{},{}}},"
        "\"stackTable\":{{\"length\":{},{},{},{},{}}},",
        func_count, func_name.done(), func_js.done(), func_relevant.done(), func_resource.done(),
        func_file.done(), func_line.done(), func_column.done(), frame_count, frame_address.done(),
        frame_depth.done(), frame_category.done(), frame_sub.done(), frame_func.done(),
        frame_native.done(), frame_window.done(), frame_impl.done(), frame_line.done(),
        frame_column.done(), profile_.nodes.size(), stack_prefix.done(), stack_frame.done(),
        stack_category.done(), stack_sub.done());
  }

  std::string thread(const Profile::Thread& thread, bool is_main) const {
    Column stack("stack"), time("time"), weight("weight");
    for (const Profile::Sample& sample : thread.samples) {
      stack.add(sample.node);
      time.add(fmt::format("{:.3f}", ms(sample.time_ns)));
      weight.add(sample.weight);
    }
    const std::uint32_t process = platform::process_id();
    return fmt::format(
        "{{\"name\":{},\"isMainThread\":{},\"processName\":{},\"processType\":\"default\","
        "\"pid\":\"{}\",\"tid\":{},\"registerTime\":0,\"unregisterTime\":null,"
        "\"processStartupTime\":0,\"processShutdownTime\":null,\"pausedRanges\":[],"
        "\"showMarkersInTimeline\":false,"
        "\"samples\":{{\"length\":{},{},{},{},\"weightType\":\"samples\"}},"
        "\"markers\":{{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],"
        "\"phase\":[],"
        "\"startTime\":[]}},"
        "\"resourceTable\":{{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]}},"
        "\"nativeSymbols\":{{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],"
        "\"name\":[]}},"
        "{}{}}}",
        json_string(thread_label(thread)), is_main ? "true" : "false", json_string(title_), process,
        thread.id, thread.samples.size(), stack.done(), time.done(), weight.done(), tables_,
        strings_.done());
  }

  const Profile& profile_;
  const std::string& title_;
  std::vector<std::string> names_;  // of frames
  const std::vector<bool> used_ = used_frames(profile_);
  Strings strings_;
  std::string tables_;
};

}  // namespace

std::string firefox_json(const Profile& profile, const std::string& title) {
  return Writer(profile, title).run();
}

}  // namespace hoist::profiling
