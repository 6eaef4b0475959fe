// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The uncommon paths of the reader: long LEB128 integers, names, error texts.
#include "wasm/decode/byte_reader.hpp"

#include "base/check.hpp"

namespace hoist::wasm {

template <unsigned kBits, bool kSigned>
bool ByteReader::fail_cut(const std::uint8_t* start) {
  if (end_ != module_end_) {
    ByteReader whole = *this;
    whole.pos_ = start;
    whole.end_ = module_end_;
    std::uint64_t ignored = 0;
    if (!whole.leb<kBits, kSigned>(ignored) && whole.fault_ != Fault::UnexpectedEnd) {
      return fail_at(whole.fault_, start);
    }
  }
  return fail(Fault::UnexpectedEnd);
}

template <unsigned kBits, bool kSigned>
bool ByteReader::leb(std::uint64_t& out) {
  constexpr unsigned kMaxBytes = (kBits + 6) / 7;
  constexpr unsigned kLastBits = kBits - 7 * (kMaxBytes - 1);  // payload bits of the last byte
  const std::uint8_t* const start = pos_;
  std::uint64_t value = 0;
  for (unsigned i = 0; i < kMaxBytes; ++i) {
    if (pos_ == end_) return fail_cut<kBits, kSigned>(start);
    const std::uint8_t byte = *pos_++;
    value |= std::uint64_t{byte & 0x7fu} << (7 * i);
    if (i + 1 == kMaxBytes) {
      if ((byte & 0x80) != 0) return fail_at(Fault::IntegerTooLong, start);
      // The bits above the integer repeat its sign bit, or are zero.
      const unsigned unused = kSigned ? (byte & 0x7fu) >> (kLastBits - 1) : byte >> kLastBits;
      const unsigned all = kSigned ? 0x7fu >> (kLastBits - 1) : 0;
      if (unused != 0 && unused != all) return fail_at(Fault::IntegerTooLarge, start);
    }
    if ((byte & 0x80) == 0) {
      const unsigned bits = 7 * (i + 1);
      out =
          kSigned && bits < 64 ? static_cast<std::uint64_t>(base::sign_extend(value, bits)) : value;
      return true;
    }
  }
  HOIST_UNREACHABLE("the last byte ends the loop");
}

bool ByteReader::u32_slow(std::uint32_t& out) {
  std::uint64_t value = 0;
  if (!leb<32, false>(value)) return false;
  out = static_cast<std::uint32_t>(value);
  return true;
}

bool ByteReader::u64_slow(std::uint64_t& out) {
  return leb<64, false>(out);
}

bool ByteReader::s32_slow(std::int32_t& out) {
  std::uint64_t value = 0;
  if (!leb<32, true>(value)) return false;
  out = static_cast<std::int32_t>(value);
  return true;
}

bool ByteReader::s33(std::int64_t& out) {
  std::uint64_t value = 0;
  if (!leb<33, true>(value)) return false;
  out = static_cast<std::int64_t>(value);
  return true;
}

bool ByteReader::s64_slow(std::int64_t& out) {
  std::uint64_t value = 0;
  if (!leb<64, true>(value)) return false;
  out = static_cast<std::int64_t>(value);
  return true;
}

bool ByteReader::bytes(std::span<const std::uint8_t>& out) {
  const std::uint8_t* const start = pos_;
  if (at_end()) return fail(Fault::LengthMissing);
  std::uint32_t length = 0;
  if (!u32(length)) return false;
  if (length > remaining()) return fail_at(Fault::LengthOutOfBounds, start);
  out = {pos_, length};
  pos_ += length;
  return true;
}

bool ByteReader::name(std::string_view& out) {
  std::span<const std::uint8_t> text;
  if (!bytes(text)) return false;
  if (!is_utf8(text)) return fail_at(Fault::BadUtf8, text.data());
  out = {reinterpret_cast<const char*>(text.data()), text.size()};
  return true;
}

Error ByteReader::error() const {
  const char* message = "";
  switch (fault_) {
    case Fault::None: HOIST_UNREACHABLE("error() follows a failed read");
    case Fault::UnexpectedEnd:
      message = whole_module_ ? "unexpected end" : "unexpected end of section or function";
      break;
    case Fault::IntegerTooLong: message = "integer representation too long"; break;
    case Fault::IntegerTooLarge: message = "integer too large"; break;
    case Fault::LengthMissing:
      message = "unexpected end of section or function, length out of bounds";
      break;
    case Fault::LengthOutOfBounds: message = "length out of bounds"; break;
    case Fault::BadUtf8: message = "malformed UTF-8 encoding"; break;
  }
  return Error(ErrorKind::Malformed, message, fault_offset_);
}

bool is_utf8(std::span<const std::uint8_t> bytes) {
  std::size_t i = 0;
  const auto continues = [&](std::size_t at, std::uint8_t low, std::uint8_t high) {
    return at < bytes.size() && bytes[at] >= low && bytes[at] <= high;
  };
  while (i < bytes.size()) {
    const std::uint8_t b = bytes[i];
    if (b < 0x80) {
      ++i;
    } else if (b >= 0xc2 && b <= 0xdf) {
      if (!continues(i + 1, 0x80, 0xbf)) return false;
      i += 2;
    } else if (b >= 0xe0 && b <= 0xef) {
      // 0xe0 would be a long form below 0xa0, 0xed a surrogate from 0xa0 on.
      const std::uint8_t low = b == 0xe0 ? 0xa0 : 0x80;
      const std::uint8_t high = b == 0xed ? 0x9f : 0xbf;
      if (!continues(i + 1, low, high) || !continues(i + 2, 0x80, 0xbf)) return false;
      i += 3;
    } else if (b >= 0xf0 && b <= 0xf4) {
      const std::uint8_t low = b == 0xf0 ? 0x90 : 0x80;
      const std::uint8_t high = b == 0xf4 ? 0x8f : 0xbf;
      if (!continues(i + 1, low, high) || !continues(i + 2, 0x80, 0xbf) ||
          !continues(i + 3, 0x80, 0xbf)) {
        return false;
      }
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace hoist::wasm
