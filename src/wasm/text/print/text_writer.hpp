// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Text of the module printer on its way out: pieces of bounded size, indentation, tokens.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"

namespace hoist::wasm {

class TextWriter {
 public:
  TextWriter(base::FunctionRef<void(std::string_view)> write, std::uint64_t max_bytes)
      : write_(write), left_(max_bytes) {}

  TextWriter& operator<<(std::string_view text) {
    if (!muted_) append(text);
    return *this;
  }
  TextWriter& operator<<(char c) { return *this << std::string_view(&c, 1); }
  void decimal(std::uint64_t value);
  void decimal_signed(std::int64_t value);
  /// "0x" and at least `digits` digits.
  void hex(std::uint64_t value, unsigned digits);
  /// A number that reads back to the same bits: shortest decimal, inf, nan, nan:0x….
  void f32(std::uint32_t bits);
  void f64(std::uint64_t bits);
  /// Bytes in quotes. As text: UTF-8 stays readable but for what a terminal would act on; else all
  /// but ASCII is escaped.
  void string(std::string_view bytes, bool as_text);
  /// `$name`, in quotes where its characters need them. `name` is UTF-8 and not empty.
  void identifier(std::string_view name);

  /// What `line` writes: a line break and the indentation, or a space; nothing once, then spaces.
  enum class Lines : std::uint8_t { Breaks, Spaces, SpacesBetween };
  void line();
  /// How many line breaks were written.
  std::uint64_t breaks() const { return breaks_; }
  void indent() { ++depth_; }
  void outdent() { --depth_; }
  std::uint32_t depth() const { return depth_; }
  void set_depth(std::uint32_t depth) { depth_ = depth; }
  void set_lines(Lines lines) { lines_ = lines; }

  /// Nothing is written while muted. Returns the old state.
  bool mute(bool on) {
    const bool before = muted_;
    muted_ = on;
    return before;
  }
  /// More than the limit was written; the rest is lost.
  bool full() const { return full_; }
  void flush();

 private:
  void append(std::string_view text);
  template <typename Float, typename Bits>
  void floating(Bits bits, unsigned mantissa_bits);

  base::FunctionRef<void(std::string_view)> write_;
  std::string buffer_;
  std::uint64_t left_;
  std::uint32_t depth_ = 0;
  std::uint64_t breaks_ = 0;
  Lines lines_ = Lines::Breaks;
  bool muted_ = false;
  bool full_ = false;
};

}  // namespace hoist::wasm
