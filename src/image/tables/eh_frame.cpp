// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See eh_frame.hpp. The readers walk by the records' lengths and check each before they use it.
#include "image/tables/eh_frame.hpp"

#include "base/bits.hpp"
#include "base/leb128.hpp"

namespace hoist::image {

namespace {

// Call frame instructions of DWARF 4, section 6.4.2.
constexpr std::uint8_t kNop = 0x00;
constexpr std::uint8_t kAdvanceLoc1 = 0x02;
constexpr std::uint8_t kAdvanceLoc2 = 0x03;
constexpr std::uint8_t kAdvanceLoc4 = 0x04;
constexpr std::uint8_t kRememberState = 0x0a;
constexpr std::uint8_t kRestoreState = 0x0b;
constexpr std::uint8_t kDefCfa = 0x0c;
constexpr std::uint8_t kDefCfaRegister = 0x0d;
constexpr std::uint8_t kDefCfaOffset = 0x0e;
constexpr std::uint8_t kAdvanceLoc = 0x40;
constexpr std::uint8_t kOffset = 0x80;
constexpr std::uint8_t kRestore = 0xc0;

// Pointer encodings.
constexpr std::uint8_t kPeUdata4 = 0x03;
constexpr std::uint8_t kPePcRelSdata4 = 0x1b;
constexpr std::uint8_t kPeDataRelSdata4 = 0x3b;

constexpr std::uint32_t kDataAlign = 8;

/// Where the parts of an FDE of the writer are.
constexpr std::size_t kFdePointer = 4;
constexpr std::size_t kFdeAddress = 8;
constexpr std::size_t kFdeProgram = 17;

void put32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  const std::size_t at = out.size();
  out.resize(at + 4);
  base::store_le(&out[at], value);
}

/// Fills with no-operations up to a multiple of 4 and sets the length field at `start`.
void end_record(std::vector<std::uint8_t>& out, std::size_t start) {
  while ((out.size() - start) % 4 != 0) out.push_back(kNop);
  base::store_le(&out[start], static_cast<std::uint32_t>(out.size() - start - 4));
}

void put_cie(std::vector<std::uint8_t>& out) {
  const std::size_t start = out.size();
  put32(out, 0);
  put32(out, 0);
  const std::uint8_t body[] = {1,
                               'z',
                               'R',
                               0,
                               1,     // code alignment
                               0x78,  // data alignment: -8
                               16,    // the return address' column
                               1,     // augmentation data
                               kPePcRelSdata4,
                               kDefCfa,
                               kDwarfRsp,
                               8,
                               kOffset | 16,
                               1};
  out.insert(out.end(), std::begin(body), std::end(body));
  end_record(out, start);
}

void put_advance(std::vector<std::uint8_t>& out, std::uint32_t delta) {
  if (delta == 0) return;
  if (delta < 64) {
    out.push_back(static_cast<std::uint8_t>(kAdvanceLoc | delta));
  } else if (delta < 0x100) {
    out.push_back(kAdvanceLoc1);
    out.push_back(static_cast<std::uint8_t>(delta));
  } else if (delta < 0x1'0000) {
    out.push_back(kAdvanceLoc2);
    out.push_back(static_cast<std::uint8_t>(delta));
    out.push_back(static_cast<std::uint8_t>(delta >> 8));
  } else {
    out.push_back(kAdvanceLoc4);
    put32(out, delta);
  }
}

void put_op(std::vector<std::uint8_t>& out, const UnwindOp& op) {
  switch (op.kind) {
    case UnwindOp::Kind::DefCfa:
      out.push_back(kDefCfa);
      base::write_uleb(out, op.reg);
      base::write_uleb(out, op.value);
      return;
    case UnwindOp::Kind::DefCfaOffset:
      out.push_back(kDefCfaOffset);
      base::write_uleb(out, op.value);
      return;
    case UnwindOp::Kind::DefCfaRegister:
      out.push_back(kDefCfaRegister);
      base::write_uleb(out, op.reg);
      return;
    case UnwindOp::Kind::Saved:
      out.push_back(static_cast<std::uint8_t>(kOffset | op.reg));
      base::write_uleb(out, op.value / kDataAlign);
      return;
    case UnwindOp::Kind::Restore:
      out.push_back(static_cast<std::uint8_t>(kRestore | op.reg));
      return;
    case UnwindOp::Kind::RememberState: out.push_back(kRememberState); return;
    case UnwindOp::Kind::RestoreState: out.push_back(kRestoreState); return;
  }
}

/// Calls visit(start, size) for each FDE, size with its length field. False: malformed.
template <typename Visit>
bool for_each_fde(std::span<const std::uint8_t> section, Visit&& visit) {
  std::size_t at = 0;
  while (at + 4 <= section.size()) {
    const std::uint64_t length = base::load_le<std::uint32_t>(&section[at]);
    if (length == 0) return at + 4 == section.size();
    if (length > section.size() - at - 4 || length % 4 != 0 || length < 4) return false;
    const bool is_cie = base::load_le<std::uint32_t>(&section[at + kFdePointer]) == 0;
    if (!is_cie) {
      if (length + 4 < kFdeProgram || !visit(at, static_cast<std::size_t>(length) + 4))
        return false;
    }
    at += static_cast<std::size_t>(length) + 4;
  }
  return section.empty();
}

}  // namespace

void EhFrameWriter::add(std::uint32_t text_offset, std::uint32_t code_size,
                        std::span<const UnwindOp> ops) {
  if (bytes_.empty()) put_cie(bytes_);
  const std::size_t start = bytes_.size();
  put32(bytes_, 0);
  put32(bytes_, static_cast<std::uint32_t>(start + kFdePointer));  // back to the CIE
  put32(bytes_, text_offset);
  put32(bytes_, code_size);
  bytes_.push_back(0);  // no augmentation data
  std::uint32_t at = 0;
  for (const UnwindOp& op : ops) {
    put_advance(bytes_, op.offset - at);
    at = op.offset;
    put_op(bytes_, op);
  }
  end_record(bytes_, start);
}

std::vector<std::uint8_t> EhFrameWriter::finish() {
  if (!bytes_.empty()) put32(bytes_, 0);
  std::vector<std::uint8_t> out = std::move(bytes_);
  bytes_.clear();
  return out;
}

bool place_eh_frame(std::span<std::uint8_t> section, std::int64_t distance) {
  return for_each_fde(section, [&](std::size_t start, std::size_t) {
    std::uint8_t* field = &section[start + kFdeAddress];
    const std::int64_t value = std::int64_t{base::load_le<std::uint32_t>(field)} - distance -
                               static_cast<std::int64_t>(start + kFdeAddress);
    if (!base::fits_i32(value)) return false;
    base::store_le(field, static_cast<std::int32_t>(value));
    return true;
  });
}

std::vector<std::uint8_t> make_eh_frame_hdr(std::span<const std::uint8_t> placed,
                                            std::int64_t frame_distance) {
  std::vector<std::uint8_t> out = {1, kPePcRelSdata4, kPeUdata4, kPeDataRelSdata4};
  put32(out, static_cast<std::uint32_t>(frame_distance - 4));
  put32(out, 0);
  std::uint32_t count = 0;
  const bool good = for_each_fde(placed, [&](std::size_t start, std::size_t) {
    const std::int64_t frame = frame_distance + static_cast<std::int64_t>(start);
    const std::int64_t function = frame + static_cast<std::int64_t>(kFdeAddress) +
                                  base::load_le<std::int32_t>(&placed[start + kFdeAddress]);
    if (!base::fits_i32(frame) || !base::fits_i32(function)) return false;
    put32(out, static_cast<std::uint32_t>(function));
    put32(out, static_cast<std::uint32_t>(frame));
    ++count;
    return true;
  });
  if (!good || !base::fits_i32(frame_distance - 4)) return {};
  base::store_le(&out[8], count);
  return out;
}

}  // namespace hoist::image
