// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/assignments.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace hoist::ir {

void Assignments::start(std::uint32_t variables) {
  regions_.assign(1, {});
  events_.clear();
  variables_ = variables;
  current_ = 0;
}

void Assignments::open(RegionKind kind) {
  const Region& parent = regions_[current_];
  const Region& far = regions_[parent.jump];
  Region region;
  region.begin = static_cast<std::uint32_t>(events_.size());
  region.parent = current_;
  region.depth = parent.depth + 1;
  region.kind = kind;
  const bool balanced = parent.depth - far.depth == far.depth - regions_[far.jump].depth;
  region.jump = balanced ? far.jump : current_;
  const auto index = static_cast<std::uint32_t>(regions_.size());
  region.loop = kind == RegionKind::Loop ? index : parent.loop;
  regions_.push_back(region);
  current_ = index;
}

void Assignments::close() {
  regions_[current_].end = static_cast<std::uint32_t>(events_.size());
  current_ = regions_[current_].parent;
}

void Assignments::assign(Variable var) {
  events_.push_back({var, current_, Block::none()});
}

void Assignments::finish() {
  HOIST_CHECK(current_ == 0, "every region is closed");
  first_.assign(std::size_t{variables_} + 1, 0);
  for (const Event& event : events_) ++first_[event.var.index() + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  by_variable_.resize(events_.size());
  // From the back, each start moves down to where it belongs.
  for (std::size_t i = events_.size(); i-- > 0;) {
    by_variable_[--first_[events_[i].var.index() + 1]] = static_cast<std::uint32_t>(i);
  }
  // first_[v + 1] is now where v starts.
  first_.erase(first_.begin());
  first_.push_back(static_cast<std::uint32_t>(events_.size()));
}

void Assignments::reached_start(Block entry) {
  places_.clear();
  current_ = 0;
  next_ = 1;
  position_ = 0;
  regions_[0].from = entry;
}

void Assignments::reached_open(Block from, Block header) {
  HOIST_DCHECK(next_ < regions_.size(), "the passes agree");
  current_ = next_++;
  regions_[current_].from = from;
  regions_[current_].header = header;
}

void Assignments::reached_close(Block after) {
  regions_[current_].after = after;
  current_ = regions_[current_].parent;
}

Block Assignments::site(Variable var, Block block) const {
  const Place place = places_[block];
  if (var.index() >= variables_ || !place.known) return block;
  const std::uint32_t* const begin = by_variable_.data() + first_[var.index()];
  const std::uint32_t* const end = by_variable_.data() + first_[var.index() + 1];
  const std::uint32_t* const following = std::lower_bound(begin, end, place.position);
  // The innermost loop around that assigns it later on, but not before this place, decides.
  if (following != end) {
    const std::uint32_t next = *following;
    const std::uint32_t assigns =
        innermost(place.region, [&](const Region& region) { return region.end > next; });
    const std::uint32_t loop = regions_[assigns].loop;
    if (loop != 0 && (following == begin || following[-1] < regions_[loop].begin)) {
      return regions_[loop].header;
    }
  }
  if (following == begin) return regions_[0].from;
  // Otherwise the last assignment before: where the region ends that it is in and this place not.
  const std::uint32_t last = following[-1];
  const std::uint32_t common =
      innermost(place.region, [&](const Region& region) { return region.begin <= last; });
  const Region& around = regions_[common];
  const Event& event = events_[last];
  if (event.region == common) return event.block;
  if (around.kind == RegionKind::Choice) return around.from;  // it is in another arm
  const std::uint32_t child = innermost(
      event.region, [&](const Region& region) { return region.depth <= around.depth + 1; });
  const Block after = regions_[child].after;
  return after.is_some() ? after : block;
}

}  // namespace hoist::ir
