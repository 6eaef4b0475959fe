// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A checked cursor over a piece of a module. A failed read returns false and leaves what went
/// wrong in `fault`; nothing allocates before `error()`. Offsets count from the start of the
/// module.
///
/// Source: WebAssembly core specification, section 5.2 (LEB128: at most ceil(N/7) bytes, unused
/// bits are the sign).

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bits.hpp"
#include "base/result.hpp"

namespace hoist::wasm {

class ByteReader {
 public:
  enum class Fault : std::uint8_t {
    None,
    UnexpectedEnd,
    LengthMissing,
    IntegerTooLong,
    IntegerTooLarge,
    LengthOutOfBounds,
    BadUtf8
  };

  /// Reads all of `module`.
  explicit ByteReader(std::span<const std::uint8_t> module)
      : module_(module.data()),
        pos_(module.data()),
        end_(module.data() + module.size()),
        module_end_(end_),
        whole_module_(true) {}
  /// Reads [begin, end) of `module`; both are offsets within it.
  ByteReader(std::span<const std::uint8_t> module, std::size_t begin, std::size_t end)
      : module_(module.data()),
        pos_(module.data() + begin),
        end_(module.data() + end),
        module_end_(module.data() + module.size()),
        whole_module_(false) {}

  std::uint32_t offset() const { return static_cast<std::uint32_t>(pos_ - module_); }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - pos_); }
  bool at_end() const { return pos_ == end_; }

  [[nodiscard]] bool u8(std::uint8_t& out) {
    if (pos_ == end_) [[unlikely]]
      return fail(Fault::UnexpectedEnd);
    out = *pos_++;
    return true;
  }
  /// The next byte, or 0 at the end.
  std::uint8_t peek() const { return pos_ == end_ ? std::uint8_t{0} : *pos_; }
  [[nodiscard]] bool u32(std::uint32_t& out) {
    if (pos_ != end_ && *pos_ < 0x80) [[likely]] {
      out = *pos_++;
      return true;
    }
    return u32_slow(out);
  }
  [[nodiscard]] bool u64(std::uint64_t& out) {
    if (pos_ != end_ && *pos_ < 0x80) [[likely]] {
      out = *pos_++;
      return true;
    }
    return u64_slow(out);
  }
  [[nodiscard]] bool s32(std::int32_t& out) {
    if (pos_ != end_ && *pos_ < 0x80) [[likely]] {
      out = static_cast<std::int32_t>(base::sign_extend(*pos_++, 7));
      return true;
    }
    return s32_slow(out);
  }
  [[nodiscard]] bool s33(std::int64_t& out);
  [[nodiscard]] bool s64(std::int64_t& out) {
    if (pos_ != end_ && *pos_ < 0x80) [[likely]] {
      out = base::sign_extend(*pos_++, 7);
      return true;
    }
    return s64_slow(out);
  }
  [[nodiscard]] bool f32_bits(std::uint32_t& out) { return fixed(out); }
  [[nodiscard]] bool f64_bits(std::uint64_t& out) { return fixed(out); }
  [[nodiscard]] bool skip(std::size_t bytes) {
    if (bytes > remaining()) return fail(Fault::UnexpectedEnd);
    pos_ += bytes;
    return true;
  }
  /// A length and that many bytes.
  [[nodiscard]] bool bytes(std::span<const std::uint8_t>& out);
  /// The same, as UTF-8.
  [[nodiscard]] bool name(std::string_view& out);

  /// What the last failed read met, and where.
  Fault fault() const { return fault_; }
  bool failed() const { return fault_ != Fault::None; }
  std::uint32_t fault_offset() const { return fault_offset_; }
  Error error() const;

 private:
  bool fail(Fault fault) { return fail_at(fault, pos_); }
  bool fail_at(Fault fault, const std::uint8_t* at) {
    fault_ = fault;
    fault_offset_ = static_cast<std::uint32_t>(at - module_);
    return false;
  }
  template <typename T>
  bool fixed(T& out) {
    if (remaining() < sizeof(T)) [[unlikely]]
      return fail_at(Fault::UnexpectedEnd, end_);
    out = base::load_le<T>(pos_);
    pos_ += sizeof(T);
    return true;
  }
  template <unsigned kBits, bool kSigned>
  bool leb(std::uint64_t& out);
  /// The integer at `start` goes on behind the end: that is the fault, if it is not wrong in
  /// itself.
  template <unsigned kBits, bool kSigned>
  bool fail_cut(const std::uint8_t* start);
  bool u32_slow(std::uint32_t& out);
  bool u64_slow(std::uint64_t& out);
  bool s32_slow(std::int32_t& out);
  bool s64_slow(std::int64_t& out);

  const std::uint8_t* module_;
  const std::uint8_t* pos_;
  const std::uint8_t* end_;
  const std::uint8_t* module_end_;
  std::uint32_t fault_offset_ = 0;
  Fault fault_ = Fault::None;
  bool whole_module_;
};

/// Whether `bytes` is UTF-8: shortest forms, no surrogates, at most U+10FFFF.
bool is_utf8(std::span<const std::uint8_t> bytes);

}  // namespace hoist::wasm
