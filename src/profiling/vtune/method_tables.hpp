// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Lines and inlined calls of one piece of code as VTune wants them: stretches of code that nest,
/// each with a table of lines in the source of its own function. Linear in what the piece has,
/// times the depth of its inlined calls.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hoist/code_listener.hpp"
#include "profiling/vtune/itt_api.hpp"

namespace hoist::profiling {

class MethodTables {
 public:
  /// The piece, not a call that was inlined into it.
  static constexpr std::uint32_t kItself = InlinedCode::kNone;

  /// A stretch without a gap in which code of an inlined call is, and of what that called.
  struct Region {
    std::uint32_t call = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t parent = kItself;  ///< the region around it: a smaller number
    unsigned id = 0;                 ///< the reader's
  };

  void clear();
  void read(const LoadedCode& code, std::size_t number);
  std::span<Region> regions() { return regions_; }
  const InlinedCode& call(std::uint32_t number) const { return inlined_[number]; }

  /// Appends the lines from `begin` to `end` in the source of `call`, as ends of entries from
  /// `begin` on: where it calls what was inlined into it, the line of that call. The file of the
  /// first.
  std::string_view put_lines(std::uint32_t call, std::uint64_t begin, std::uint64_t end,
                             std::vector<itt::LineNumber>& out) const;

 private:
  /// Code of one call alone.
  struct Segment {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t call = 0;
  };
  void make_regions();
  /// The call in `call` that `inner` is in; `call` itself if it is not in one.
  std::uint32_t step_towards(std::uint32_t call, std::uint32_t inner) const;

  std::vector<CodeLine> lines_;
  std::vector<InlinedCode> inlined_;
  std::vector<Segment> segments_;  // by address
  std::vector<Region> regions_;
};

}  // namespace hoist::profiling
