// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the forms of a profile share, and the collapsed form.
#include "profiling/sampler/profile.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace hoist::profiling {

/// What a frame is called, behind the name of its function.
static std::string with_marks(std::string name, const ProfileFrame& frame, bool with_line) {
  if (frame.kind == FrameKind::Host) name += " [host]";
  if (frame.kind == FrameKind::Inlined) name += " [inlined]";
  if (with_line && frame.line != 0) {
    const std::size_t slash = frame.file.rfind('/');
    name += fmt::format(" {}:{}", frame.file.substr(slash == std::string::npos ? 0 : slash + 1),
                        frame.line);
  }
  return name;
}

std::string frame_label(const ProfileFrame& frame, bool with_line) {
  return with_marks(frame.function, frame, with_line);
}

std::vector<bool> used_frames(const Profile& profile) {
  std::vector<bool> out(profile.frames.size());
  for (const Profile::Node& node : profile.nodes) out[node.frame] = true;
  return out;
}

std::vector<std::string> function_names(const Profile& profile) {
  const std::vector<bool> used = used_frames(profile);
  struct Modules {
    const std::string* first = nullptr;
    bool several = false;
  };
  std::unordered_map<std::string_view, Modules> modules;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const ProfileFrame& frame = profile.frames[i];
    if (!used[i] || frame.kind == FrameKind::Host || frame.kind == FrameKind::Gap) continue;
    Modules& of = modules[frame.function];
    if (of.first == nullptr) of.first = &frame.module;
    of.several |= *of.first != frame.module;
  }
  std::vector<std::string> out;
  out.reserve(profile.frames.size());
  for (const ProfileFrame& frame : profile.frames) {
    std::string& name = out.emplace_back(frame.function);
    const auto of = modules.find(frame.function);
    const bool has_module = frame.kind != FrameKind::Host && frame.kind != FrameKind::Gap;
    if (has_module && of != modules.end() && of->second.several) {
      name += fmt::format(" [{}]", frame.module.empty() ? "no module" : frame.module);
    }
  }
  return out;
}

std::string thread_label(const Profile::Thread& thread) {
  return thread.name.empty() ? fmt::format("thread {}", thread.id) : thread.name;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Also fit for a script within HTML: no '<' and no '&'.
    if (byte < 0x20 || c == '"' || c == '\\' || c == '<' || c == '&' || c == '>' || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// ---- Hot spots.

namespace {

/// Frames that are one spot have one number.
class Grouping {
 public:
  Grouping(const Profile& profile, bool by_line) : numbers_(profile.frames.size()) {
    std::map<std::tuple<std::string, std::string, std::string, std::uint32_t>, std::uint32_t> seen;
    for (std::uint32_t i = 0; i < profile.frames.size(); ++i) {
      const ProfileFrame& frame = profile.frames[i];
      std::string name = frame.function + (frame.kind == FrameKind::Host ? " [host]" : "");
      const auto number = static_cast<std::uint32_t>(representatives_.size());
      const auto [at, fresh] =
          seen.try_emplace({std::move(name), frame.module, by_line ? frame.file : std::string(),
                            by_line ? frame.line : 0},
                           number);
      if (fresh) representatives_.push_back(i);
      numbers_[i] = at->second;
    }
  }
  std::uint32_t of(std::uint32_t frame) const { return numbers_[frame]; }
  const std::vector<std::uint32_t>& representatives() const { return representatives_; }

 private:
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> representatives_;
};

std::vector<Spot> hot_spots(const Profile& profile, bool by_line) {
  const Grouping grouping(profile, by_line);
  std::vector<Spot> spots;
  for (const std::uint32_t frame : grouping.representatives()) spots.push_back({frame, 0, 0});
  // Weights with all that is called, from the leaves up: parents have smaller numbers.
  std::vector<std::uint64_t> total(profile.nodes.size());
  for (std::size_t i = profile.nodes.size(); i-- != 0;) {
    total[i] += profile.nodes[i].self;
    if (profile.nodes[i].parent != Profile::kNone) total[profile.nodes[i].parent] += total[i];
  }
  for (std::size_t i = 0; i < profile.nodes.size(); ++i) {
    const Profile::Node& node = profile.nodes[i];
    const std::uint32_t spot = grouping.of(node.frame);
    spots[spot].self += node.self;
    // Of a recursion, the outermost call counts.
    bool recursive = false;
    for (std::uint32_t at = node.parent; at != Profile::kNone && !recursive;
         at = profile.nodes[at].parent)
      recursive = grouping.of(profile.nodes[at].frame) == spot;
    if (!recursive) spots[spot].total += total[i];
  }
  if (by_line) {
    std::erase_if(spots, [&](const Spot& spot) { return profile.frames[spot.frame].line == 0; });
  }
  std::sort(spots.begin(), spots.end(), [&](const Spot& a, const Spot& b) {
    const ProfileFrame& first = profile.frames[a.frame];
    const ProfileFrame& second = profile.frames[b.frame];
    return std::tie(b.self, b.total, first.function, first.file, first.line) <
           std::tie(a.self, a.total, second.function, second.file, second.line);
  });
  return spots;
}

}  // namespace

std::vector<Spot> hot_functions(const Profile& profile) {
  return hot_spots(profile, false);
}

std::vector<Spot> hot_lines(const Profile& profile) {
  return hot_spots(profile, true);
}

// ---- Collapsed stacks.

std::string collapsed(const Profile& profile, bool by_line) {
  std::map<std::string, std::uint64_t> stacks;
  std::vector<std::string> labels;
  const std::vector<std::string> names = function_names(profile);
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    std::string label = with_marks(names[i], profile.frames[i], by_line);
    for (char& c : label) c = c == ';' ? ':' : c;
    labels.push_back(std::move(label));
  }
  std::vector<std::uint32_t> path;
  for (const Profile::Node& node : profile.nodes) {
    if (node.self == 0) continue;
    path.assign(1, node.frame);
    for (std::uint32_t at = node.parent; at != Profile::kNone; at = profile.nodes[at].parent)
      path.push_back(profile.nodes[at].frame);
    std::string stack;
    for (std::size_t i = path.size(); i-- != 0;) {
      stack += labels[path[i]];
      if (i != 0) stack += ';';
    }
    stacks[std::move(stack)] += node.self;
  }
  std::string out;
  for (const auto& [stack, weight] : stacks)
    fmt::format_to(std::back_inserter(out), "{} {}\n", stack, weight);
  return out;
}

}  // namespace hoist::profiling
