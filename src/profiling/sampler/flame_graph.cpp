// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flame graph as one HTML page. The data is a tree as two JSON arrays; names in it have neither
// '<' nor '&', so nothing that a guest is called can become markup, and the script puts them into
// the page as text.
#include <fmt/core.h>
#include <fmt/format.h>

#include <iterator>

#include "profiling/sampler/flame_graph_page.hpp"
#include "profiling/sampler/profile.hpp"

namespace hoist::profiling {

std::string flame_graph_html(const Profile& profile, const std::string& title) {
  std::string data = "{\"title\":" + json_string(title);
  fmt::format_to(std::back_inserter(data),
                 ",\"interval_ns\":{},\"samples\":{},\"lost\":{},\"ms\":{}", profile.interval_ns,
                 profile.samples, profile.lost, profile.duration_ns / 1'000'000);
  data += ",\"frames\":[";
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const ProfileFrame& frame = profile.frames[i];
    if (i != 0) data += ',';
    fmt::format_to(std::back_inserter(data), "[{},{},{},{},{}]", json_string(frame.function),
                   json_string(frame.module), json_string(frame.file), frame.line,
                   static_cast<unsigned>(frame.kind));
  }
  data += "],\"nodes\":[";
  for (std::size_t i = 0; i < profile.nodes.size(); ++i) {
    const Profile::Node& node = profile.nodes[i];
    if (i != 0) data += ',';
    fmt::format_to(std::back_inserter(data), "[{},{},{}]",
                   node.parent == Profile::kNone ? -1 : static_cast<std::int64_t>(node.parent),
                   node.frame, node.self);
  }
  data += "]}";
  return std::string(kFlameGraphHead) + data + kFlameGraphTail;
}

}  // namespace hoist::profiling
