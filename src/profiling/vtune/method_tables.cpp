// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/vtune/method_tables.hpp"

#include <algorithm>

namespace hoist::profiling {

void MethodTables::clear() {
  lines_.clear();
  inlined_.clear();
  segments_.clear();
  regions_.clear();
}

void MethodTables::read(const LoadedCode& code, std::size_t number) {
  clear();
  code.lines(number, lines_);
  code.inlined(number, inlined_);
  for (std::uint32_t i = 0; i < inlined_.size(); ++i) {
    for (const InlinedCode::Range& range : inlined_[i].ranges) {
      if (range.begin < range.end) segments_.push_back({range.begin, range.end, i});
    }
  }
  std::sort(segments_.begin(), segments_.end(),
            [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  make_regions();
}

void MethodTables::make_regions() {
  // The regions that end where the next segment begins, outermost first.
  std::vector<std::uint32_t> open, chain;
  std::uint32_t last_end = 0;
  for (const Segment& segment : segments_) {
    chain.clear();
    for (std::uint32_t at = segment.call; at < inlined_.size(); at = inlined_[at].parent)
      chain.push_back(at);
    std::reverse(chain.begin(), chain.end());
    std::size_t kept = 0;
    while (segment.begin == last_end && kept < open.size() && kept < chain.size() &&
           regions_[open[kept]].call == chain[kept])
      ++kept;
    open.resize(kept);
    for (const std::uint32_t number : open) regions_[number].end = segment.end;
    for (std::size_t i = kept; i < chain.size(); ++i) {
      const std::uint32_t parent = open.empty() ? kItself : open.back();
      open.push_back(static_cast<std::uint32_t>(regions_.size()));
      regions_.push_back({chain[i], segment.begin, segment.end, parent, 0});
    }
    last_end = segment.end;
  }
}

std::uint32_t MethodTables::step_towards(std::uint32_t call, std::uint32_t inner) const {
  while (inner != call) {
    const std::uint32_t parent =
        inlined_[inner].parent < inlined_.size() ? inlined_[inner].parent : kItself;
    if (parent == call) return inner;
    if (parent == kItself) return call;
    inner = parent;
  }
  return call;
}

std::string_view MethodTables::put_lines(std::uint32_t call, std::uint64_t begin, std::uint64_t end,
                                         std::vector<itt::LineNumber>& out) const {
  std::string_view file;
  const auto add = [&](std::uint64_t to, const CodeLine& line) {
    if (file.empty()) file = line.file;
    // A method has one file: what the guest's compiler inlined from others stays with the line
    // before it.
    const bool is_ours = line.line != 0 && line.file == file;
    const auto offset = static_cast<unsigned>(to - begin);
    if (!out.empty() && (!is_ours || out.back().line == line.line)) {
      out.back().offset = offset;
    } else if (is_ours) {
      // Code of no line before the first one counts for that.
      out.push_back({offset, line.line});
    }
  };
  auto line = std::upper_bound(lines_.begin(), lines_.end(), begin,
                               [](std::uint64_t at, const CodeLine& l) { return at < l.offset; });
  if (line != lines_.begin()) --line;
  auto segment = std::lower_bound(segments_.begin(), segments_.end(), begin,
                                  [](const Segment& s, std::uint64_t at) { return s.end <= at; });
  for (std::uint64_t at = begin; at < end;) {
    while (segment != segments_.end() && segment->end <= at) ++segment;
    const bool inside = segment != segments_.end() && segment->begin <= at;
    std::uint64_t next = end;
    if (segment != segments_.end())
      next = std::min<std::uint64_t>(next, inside ? segment->end : segment->begin);
    const std::uint32_t step = inside ? step_towards(call, segment->call) : call;
    if (step != call) {
      add(next, inlined_[step].call);
      at = next;
      continue;
    }
    while (line != lines_.end() && line + 1 != lines_.end() && (line + 1)->offset <= at) ++line;
    if (line == lines_.end()) break;
    if (line->offset > at) {
      at = std::min<std::uint64_t>(next, line->offset);
      continue;
    }
    if (line + 1 != lines_.end()) next = std::min<std::uint64_t>(next, (line + 1)->offset);
    add(next, *line);
    at = next;
  }
  return file;
}

}  // namespace hoist::profiling
