// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A text buffer with typed appends: what prints IR, machine code and dumps. Cheap to include,
/// never allocates per item beyond the buffer's growth.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace hoist::base {

class Printer {
 public:
  Printer& operator<<(std::string_view text) {
    text_.append(text);
    return *this;
  }
  Printer& operator<<(const char* text) { return *this << std::string_view(text); }
  Printer& operator<<(char c) {
    text_.push_back(c);
    return *this;
  }
  Printer& operator<<(bool) = delete;
  template <std::integral T>
  Printer& operator<<(T value) {
    if constexpr (std::is_signed_v<T>) {
      return decimal_signed(value);
    } else {
      return decimal(value);
    }
  }
  /// An entity prints as its prefix and index, "none" where it is none.
  template <typename E>
    requires requires(E e) {
      { E::kPrefix } -> std::convertible_to<const char*>;
      e.index();
    }
  Printer& operator<<(E entity) {
    if (entity.is_none()) return *this << "none";
    return *this << E::kPrefix << entity.index();
  }
  /// Lower-case hexadecimal with "0x", padded with zeros to `digits`.
  Printer& hex(std::uint64_t value, unsigned digits = 1);
  Printer& decimal(std::uint64_t value);
  Printer& decimal_signed(std::int64_t value);
  Printer& spaces(std::size_t count) {
    text_.append(count, ' ');
    return *this;
  }

  std::size_t size() const { return text_.size(); }
  std::string_view view() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace hoist::base
