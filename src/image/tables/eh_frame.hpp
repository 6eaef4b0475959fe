// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// `.eh_frame` and `.eh_frame_hdr` for x86-64: how to find the caller's frame from any instruction
/// of compiled code, for debuggers, profilers and the system's unwinder. Source: Linux Standard
/// Base 5.0, "Exception Frames"; System V ABI for AMD64, 3.7.
///
/// One CIE, one FDE per function, in the order of the text. While they are collected, the field for
/// the function's address holds its text offset; `place` makes it relative to itself, as the
/// section needs it once its distance from the text is fixed.

#include <cstdint>
#include <span>
#include <vector>

#include "image/tables/function_tables.hpp"

namespace hoist::image {

/// DWARF's numbers of registers.
inline constexpr std::uint8_t kDwarfRbp = 6;
inline constexpr std::uint8_t kDwarfRsp = 7;
/// Of a general register by its number in instructions.
constexpr std::uint8_t dwarf_gpr(unsigned number) {
  constexpr std::uint8_t kNumbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
  return number < 8 ? kNumbers[number] : static_cast<std::uint8_t>(number);
}
constexpr std::uint8_t dwarf_xmm(unsigned number) {
  return static_cast<std::uint8_t>(17 + number);
}

class EhFrameWriter {
 public:
  /// In the order of the text. At entry the CFA is rsp + 8.
  void add(std::uint32_t text_offset, std::uint32_t code_size, std::span<const UnwindOp> ops);
  /// What was collected, with the terminator; empty if nothing was. Not placed.
  std::vector<std::uint8_t> finish();

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Makes the addresses of a section of EhFrameWriter relative, for a section that lies `distance`
/// bytes behind the first byte of the text. False: malformed, or out of the range of 32 bits.
bool place_eh_frame(std::span<std::uint8_t> section, std::int64_t distance);

/// The binary search table for a placed section that lies `frame_distance` bytes behind the first
/// byte of the header. Empty if the section is malformed.
std::vector<std::uint8_t> make_eh_frame_hdr(std::span<const std::uint8_t> placed,
                                            std::int64_t frame_distance);

}  // namespace hoist::image
