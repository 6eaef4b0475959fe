// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flame graph as one HTML page: page/, put together when Hoist is built, around the profile as
// JSON. Names in it have neither '<' nor '&', so nothing that a guest is called can become markup,
// and the script puts them into the page as text.
#include <fmt/core.h>
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include <hoist_flame_graph_page.hpp>
#include "demangle/short_name.hpp"
#include "profiling/sampler/profile.hpp"

namespace hoist::profiling {

namespace {

class PageData {
 public:
  explicit PageData(const Profile& profile) : profile_(profile) {}

  std::string run(const std::string& title) {
    const std::string frames = this->frames();
    std::string out = fmt::format(
        "{{\"title\":{},\"clock\":\"{}\",\"interval_ns\":{},\"samples\":{},\"lost\":{},\"ms\":{},"
        "\"start\":{},\"strings\":[",
        json_string(title), profile_.wall_clock ? "wall" : "cpu", profile_.interval_ns,
        profile_.samples, profile_.lost, static_cast<double>(profile_.duration_ns) / 1e6,
        profile_.start_unix_ms);
    return out + strings_ + "],\"frames\":[" + frames + "],\"nodes\":[" + nodes() +
           "],\"threads\":[" + threads() + "]}";
  }

 private:
  std::size_t string(const std::string& text) {
    const auto [at, fresh] = numbers_.try_emplace(text, numbers_.size());
    if (fresh) {
      if (at->second != 0) strings_ += ',';
      strings_ += json_string(text);
    }
    return at->second;
  }

  /// [function, short function, module, file, line, kind], names as numbers of strings.
  std::string frames() {
    const std::vector<std::string> names = function_names(profile_);
    const std::vector<bool> used = used_frames(profile_);
    frame_numbers_.resize(used.size());
    std::size_t count = 0;
    std::string out;
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      frame_numbers_[i] = count++;
      const ProfileFrame& frame = profile_.frames[i];
      const bool is_guest = frame.kind == FrameKind::Guest || frame.kind == FrameKind::Inlined;
      // One after the other: each may make a new string.
      const std::size_t name = string(names[i]);
      const std::size_t shorter = is_guest ? string(demangle::short_name(names[i])) : name;
      const std::size_t module = string(frame.module);
      const std::size_t file = string(frame.file);
      fmt::format_to(std::back_inserter(out), "{}[{},{},{},{},{},{}]", count == 1 ? "" : ",", name,
                     shorter, module, file, frame.line, static_cast<unsigned>(frame.kind));
    }
    return out;
  }

  /// Parent (-1: none), frame and weight of each, in one row.
  std::string nodes() const {
    std::string out;
    for (const Profile::Node& node : profile_.nodes) {
      fmt::format_to(std::back_inserter(out), "{}{},{},{}", out.empty() ? "" : ",",
                     node.parent == Profile::kNone ? -1 : static_cast<std::int64_t>(node.parent),
                     frame_numbers_[node.frame], node.self);
    }
    return out;
  }

  /// [name, node, weight, node, weight...] of each, if there are several.
  std::string threads() const {
    std::string out;
    std::vector<std::uint64_t> weights(profile_.nodes.size());
    std::vector<std::uint32_t> nodes;
    for (const Profile::Thread& thread : profile_.threads) {
      if (thread.samples.empty()) continue;
      nodes.clear();
      for (const Profile::Sample& sample : thread.samples) {
        if (weights[sample.node] == 0) nodes.push_back(sample.node);
        weights[sample.node] += sample.weight;
      }
      out += out.empty() ? "[" : ",[";
      out += json_string(thread_label(thread));
      for (const std::uint32_t node : nodes) {
        fmt::format_to(std::back_inserter(out), ",{},{}", node, weights[node]);
        weights[node] = 0;
      }
      out += "]";
    }
    return out;
  }

  const Profile& profile_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::string strings_;
  std::vector<std::size_t> frame_numbers_;
};

}  // namespace

std::string flame_graph_html(const Profile& profile, const std::string& title) {
  return std::string(kFlameGraphHead) + PageData(profile).run(title) + kFlameGraphTail;
}

}  // namespace hoist::profiling
