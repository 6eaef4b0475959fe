// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the readers of a module's DWARF share: its sections, a cursor over them, and the names of
/// the format (versions 2 to 5, both widths of offsets).
///
/// Sections are untrusted: nothing outside of them is read, and a cursor that has failed stays at
/// the end.
///
/// Source: DWARF 5, sections 7.4 and 7.5; "DWARF for WebAssembly" (custom sections; addresses count
/// from the start of the code section's content).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bits.hpp"

namespace hoist::wasm {
class Module;
}

namespace hoist::wasm::dwarf {

using Bytes = std::span<const std::uint8_t>;

// DWARF 5, section 7.5.6. The GNU forms stand in debug information that is split or shared.
enum Form : std::uint16_t {
  kFormAddr = 0x01,
  kFormBlock2 = 0x03,
  kFormBlock4 = 0x04,
  kFormData2 = 0x05,
  kFormData4 = 0x06,
  kFormData8 = 0x07,
  kFormString = 0x08,
  kFormBlock = 0x09,
  kFormBlock1 = 0x0a,
  kFormData1 = 0x0b,
  kFormFlag = 0x0c,
  kFormSdata = 0x0d,
  kFormStrp = 0x0e,
  kFormUdata = 0x0f,
  kFormRefAddr = 0x10,
  kFormRef1 = 0x11,
  kFormRef2 = 0x12,
  kFormRef4 = 0x13,
  kFormRef8 = 0x14,
  kFormRefUdata = 0x15,
  kFormIndirect = 0x16,
  kFormSecOffset = 0x17,
  kFormExprloc = 0x18,
  kFormFlagPresent = 0x19,
  kFormStrx = 0x1a,
  kFormAddrx = 0x1b,
  kFormRefSup4 = 0x1c,
  kFormStrpSup = 0x1d,
  kFormData16 = 0x1e,
  kFormLineStrp = 0x1f,
  kFormRefSig8 = 0x20,
  kFormImplicitConst = 0x21,
  kFormLoclistx = 0x22,
  kFormRnglistx = 0x23,
  kFormRefSup8 = 0x24,
  kFormStrx1 = 0x25,
  kFormStrx2 = 0x26,
  kFormStrx3 = 0x27,
  kFormStrx4 = 0x28,
  kFormAddrx1 = 0x29,
  kFormAddrx2 = 0x2a,
  kFormAddrx3 = 0x2b,
  kFormAddrx4 = 0x2c,
};

/// Of a path or a name; the rest is not shown.
inline constexpr std::size_t kMaxText = 4096;

class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(Bytes bytes, std::uint64_t at = 0) : bytes_(bytes) { skip(at); }
  bool ok() const { return ok_; }
  std::size_t left() const { return bytes_.size() - at_; }
  std::size_t at() const { return at_; }
  template <typename T>
  T fixed() {
    if (left() < sizeof(T)) return fail<T>();
    const T value = base::load_le<T>(&bytes_[at_]);
    at_ += sizeof(T);
    return value;
  }
  std::uint8_t u8() { return fixed<std::uint8_t>(); }
  std::uint32_t u24() {
    const std::uint32_t low = fixed<std::uint16_t>();
    return low | std::uint32_t{u8()} << 16;
  }
  /// An offset into a section.
  std::uint64_t offset(bool wide) { return wide ? fixed<std::uint64_t>() : fixed<std::uint32_t>(); }
  std::uint64_t address(unsigned bytes) {
    return bytes == 8 ? fixed<std::uint64_t>() : fixed<std::uint32_t>();
  }
  std::uint64_t uleb() {
    std::uint64_t out = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (!ok_ || shift >= 64) return fail<std::uint64_t>();
      out |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return out;
    }
  }
  std::int64_t sleb() {
    std::uint64_t out = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (!ok_ || shift >= 64) return fail<std::int64_t>();
      out |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) out |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(out);
    }
  }
  std::string_view string() {
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto end = std::find(begin, bytes_.end(), std::uint8_t{0});
    if (end == bytes_.end()) return fail<std::string_view>();
    const std::string_view out(reinterpret_cast<const char*>(bytes_.data()) + at_,
                               static_cast<std::size_t>(end - begin));
    at_ += out.size() + 1;
    return out;
  }
  void skip(std::uint64_t count) {
    if (count > left()) {
      fail<int>();
    } else {
      at_ += static_cast<std::size_t>(count);
    }
  }
  Bytes take(std::uint64_t count) {
    const std::size_t from = at_;
    skip(count);
    return ok_ ? bytes_.subspan(from, static_cast<std::size_t>(count)) : Bytes();
  }

 private:
  template <typename T>
  T fail() {
    ok_ = false;
    at_ = bytes_.size();
    return T{};
  }
  Bytes bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// The sections of a module; those that it has not are empty.
struct Sections {
  explicit Sections(const Module& module);
  Bytes line, line_str, str, info, abbrev, ranges, rnglists, addr, str_offsets;
};

/// The text at an offset of a section of strings, cut at kMaxText. False: there is none.
bool string_at(Bytes section, std::uint64_t at, std::string_view& out);

/// The length of a unit, and with it the width of its offsets.
struct UnitLength {
  std::uint64_t bytes = 0;
  bool wide = false;
};
UnitLength unit_length(Cursor& in);

}  // namespace hoist::wasm::dwarf
