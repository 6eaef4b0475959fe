// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Reads what EhFrameWriter has written (one CIE, then FDEs in the order of the text): for files
/// that hold one function's unwind information, and for the caller of a frame in its prologue or
/// epilogue. Whatever the bytes are, nothing outside of them is read.

#include <cstdint>
#include <span>
#include <vector>

namespace hoist::image {

/// One function's records; views of the section.
struct FrameRecord {
  std::span<const std::uint8_t> cie;
  std::span<const std::uint8_t> bytes;  ///< the FDE; empty: there is none
  std::span<const std::uint8_t> program() const;
};

class FrameReader {
 public:
  explicit FrameReader(std::span<const std::uint8_t> section);
  /// The next function's; empty behind the last.
  FrameRecord next();

 private:
  std::span<const std::uint8_t> section_;
  std::span<const std::uint8_t> cie_;
  std::size_t at_ = 0;
};

/// Bytes of what append_single_eh_frame makes as `.eh_frame_hdr`.
inline constexpr std::size_t kSingleEhFrameHdr = 12;
/// Appends an `.eh_frame` section with the one function's records, for a place `distance` bytes
/// behind the first byte of its code, and behind it its `.eh_frame_hdr`, whose search table is
/// empty. False, and nothing is appended, if they are malformed.
bool append_single_eh_frame(std::vector<std::uint8_t>& out, const FrameRecord& record,
                            std::int64_t distance);

/// Where the caller's frame begins, seen from an instruction: its register and the distance from
/// there. The return address lies 8 bytes below.
struct CfaRule {
  std::uint8_t reg = 0;  ///< DWARF number
  std::uint64_t offset = 0;
};
/// The rule at `offset` in the function's code.
CfaRule cfa_at(const FrameRecord& record, std::uint32_t offset);

}  // namespace hoist::image
