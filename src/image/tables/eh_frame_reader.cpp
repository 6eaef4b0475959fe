// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image/tables/eh_frame_reader.hpp"

#include <algorithm>
#include <iterator>

#include "base/bits.hpp"
#include "image/tables/eh_frame.hpp"

namespace hoist::image {

namespace {

constexpr std::size_t kPointer = 4;   // to the CIE
constexpr std::size_t kAddress = 8;   // of the function, relative to the field
constexpr std::size_t kProgram = 17;  // after address, size and an empty augmentation
constexpr std::size_t kMaxStates = 8;

/// The whole record at `at`, with its length field; empty if it is not within the section.
std::span<const std::uint8_t> record_at(std::span<const std::uint8_t> section, std::size_t at) {
  if (section.size() - at < 8) return {};
  const std::uint64_t length = base::load_le<std::uint32_t>(&section[at]);
  if (length < 4 || length > section.size() - at - 4) return {};
  return section.subspan(at, static_cast<std::size_t>(length) + 4);
}

/// A number of a call frame program; stays within it.
std::uint64_t read_uleb(std::span<const std::uint8_t> bytes, std::size_t& at) {
  std::uint64_t out = 0;
  for (unsigned shift = 0; at < bytes.size(); shift += 7) {
    const std::uint8_t byte = bytes[at++];
    if (shift < 64) out |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) break;
  }
  return out;
}

std::uint32_t read_fixed(std::span<const std::uint8_t> bytes, std::size_t& at, std::size_t width) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < width && at < bytes.size(); ++i)
    out |= std::uint32_t{bytes[at++]} << (8 * i);
  return out;
}

}  // namespace

std::span<const std::uint8_t> FrameRecord::program() const {
  return bytes.size() < kProgram ? std::span<const std::uint8_t>() : bytes.subspan(kProgram);
}

FrameReader::FrameReader(std::span<const std::uint8_t> section) : section_(section) {
  cie_ = section.empty() ? section : record_at(section, 0);
  at_ = cie_.size();
}

FrameRecord FrameReader::next() {
  if (cie_.empty() || at_ >= section_.size()) return {};
  const std::span<const std::uint8_t> bytes = record_at(section_, at_);
  if (bytes.size() < kProgram) return {};
  at_ += bytes.size();
  return {cie_, bytes};
}

bool append_single_eh_frame(std::vector<std::uint8_t>& out, const FrameRecord& record,
                            std::int64_t distance) {
  const std::size_t cie = record.cie.size();
  const std::size_t frame = cie + record.bytes.size() + 4;  // with the terminator
  const auto section = static_cast<std::int64_t>(frame);
  if (record.bytes.size() < kProgram || distance < 0 || distance > INT32_MAX - section - 8) {
    return false;
  }
  const std::size_t begin = out.size();
  out.insert(out.end(), record.cie.begin(), record.cie.end());
  out.insert(out.end(), record.bytes.begin(), record.bytes.end());
  out.resize(begin + frame + kSingleEhFrameHdr);  // zeros
  std::uint8_t* fde = &out[begin + cie];
  base::store_le(fde + kPointer, static_cast<std::uint32_t>(cie + kPointer));
  base::store_le(fde + kAddress,
                 static_cast<std::int32_t>(-distance - static_cast<std::int64_t>(cie + kAddress)));
  // The header: version, encodings, the way to the frames, no entries.
  std::uint8_t* header = &out[begin + frame];
  constexpr std::uint8_t kHead[] = {1, 0x1b, 0x03, 0x3b};
  std::copy(std::begin(kHead), std::end(kHead), header);
  base::store_le(header + 4, static_cast<std::int32_t>(-section - 4));
  return true;
}

CfaRule cfa_at(const FrameRecord& record, std::uint32_t offset) {
  const std::span<const std::uint8_t> program = record.program();
  CfaRule rule{kDwarfRsp, 8};
  CfaRule saved[kMaxStates];
  std::size_t states = 0;
  std::uint64_t at = 0;  // code
  // Call frame instructions of DWARF 4, section 6.4.2, those that the writer uses.
  for (std::size_t i = 0; i < program.size();) {
    const std::uint8_t op = program[i++];
    switch (op >> 6) {
      case 1: at += op & 0x3fU; break;       // advance_loc
      case 2: read_uleb(program, i); break;  // offset
      case 3: break;                         // restore
      default:
        switch (op) {
          case 0x02: at += read_fixed(program, i, 1); break;
          case 0x03: at += read_fixed(program, i, 2); break;
          case 0x04: at += read_fixed(program, i, 4); break;
          case 0x0a:
            if (states < kMaxStates) saved[states++] = rule;
            break;
          case 0x0b:
            if (states != 0) rule = saved[--states];
            break;
          case 0x0c:
            rule.reg = static_cast<std::uint8_t>(read_uleb(program, i));
            rule.offset = read_uleb(program, i);
            break;
          case 0x0d: rule.reg = static_cast<std::uint8_t>(read_uleb(program, i)); break;
          case 0x0e: rule.offset = read_uleb(program, i); break;
          default: break;  // no-operation
        }
    }
    if (at > offset) break;  // what follows the advance holds from there on
  }
  return rule;
}

}  // namespace hoist::image
