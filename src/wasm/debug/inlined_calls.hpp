// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The calls that the compiler of a module inlined (DW_TAG_inlined_subroutine of .debug_info;
/// DWARF versions 2 to 5): which functions the source has at an instruction, and where each was
/// called.
///
/// Untrusted: memory is linear in the sections (kMostNameBytes of names at most), time nearly so,
/// and the first mistake ends the reading: units that came before count, `problem` says what was
/// wrong.
///
/// Source: DWARF 5, section 3.3.8.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wasm/debug/line_table.hpp"

namespace hoist::wasm {

class InlinedCalls {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  struct Call {
    std::string_view function;  ///< mangled, where the compiler says how; "?" if it does not say
    SourceLine from;            ///< where the call is
    std::uint32_t parent;       ///< the inlined call that it is in: a smaller number, or kNone
  };

  InlinedCalls() = default;
  /// Empty if the module has no such information. The module need not outlive it.
  static InlinedCalls read(const Module& module);

  bool empty() const { return spans_.empty(); }
  std::size_t size() const { return calls_.size(); }
  /// The innermost call whose code the instruction at a byte offset in the module is, or kNone.
  std::uint32_t find(std::uint64_t module_offset) const;
  Call operator[](std::uint32_t number) const;
  /// What was wrong with the module's DWARF; empty if nothing was.
  const std::string& problem() const { return problem_; }

 private:
  friend class InlinedCallReader;
  struct Stored {
    std::uint32_t name = 0;  ///< number in names_
    std::uint32_t file = 0;  ///< number in files_
    std::uint32_t line = 0;
    std::uint32_t parent = kNone;
  };
  /// From `address` on, up to the next one's.
  struct Span {
    std::uint32_t address = 0;  ///< in the code section's content
    std::uint32_t call = kNone;
  };
  std::vector<Stored> calls_;
  std::vector<Span> spans_;
  std::vector<std::string> names_;
  std::vector<std::string> files_;
  std::uint64_t code_begin_ = 0;
  std::string problem_;
};

/// A function that the source has at an instruction.
struct SourceFrame {
  std::string_view function;  ///< of an inlined call; empty: the function of the module itself
  SourceLine at;
};

/// Of a hostile module's calls within calls, more are left out.
inline constexpr unsigned kMostInlinedFrames = 100;

/// Calls visit(SourceFrame) for each function that the source has at a byte offset in the module,
/// innermost first. The last is the function of the module itself.
template <typename Visit>
void for_each_source_frame(const LineTable& lines, const InlinedCalls& calls,
                           std::uint64_t module_offset, Visit&& visit) {
  SourceLine at = lines.find(module_offset);
  std::uint32_t call = calls.find(module_offset);
  for (unsigned n = 0; call != InlinedCalls::kNone && n < kMostInlinedFrames; ++n) {
    const InlinedCalls::Call inlined = calls[call];
    visit(SourceFrame{inlined.function, at});
    at = inlined.from;
    call = inlined.parent;
  }
  visit(SourceFrame{{}, at});
}

}  // namespace hoist::wasm
