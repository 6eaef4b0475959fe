// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For tests: modules from hexadecimal text.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/leb128.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist::wasm::test {

using Bytes = std::vector<std::uint8_t>;

/// "01 60 00" to bytes; spaces are ignored, a quoted part stands for its characters.
inline Bytes hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  Bytes out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
    } else if (text[i] == '\'') {
      for (++i; text[i] != '\''; ++i) out.push_back(static_cast<std::uint8_t>(text[i]));
      ++i;
    } else {
      out.push_back(static_cast<std::uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
      i += 2;
    }
  }
  return out;
}

inline void append(Bytes& out, const Bytes& more) {
  out.insert(out.end(), more.begin(), more.end());
}

inline Bytes section(std::uint8_t id, const Bytes& content) {
  Bytes out{id};
  base::write_uleb(out, content.size());
  append(out, content);
  return out;
}
inline Bytes section(std::uint8_t id, std::string_view content) {
  return section(id, hex(content));
}

inline Bytes module(std::initializer_list<Bytes> sections) {
  Bytes out = hex("00 'asm' 01 00 00 00");
  for (const Bytes& part : sections) append(out, part);
  return out;
}

/// Code section of bodies, each with its locals in front.
inline Bytes code(std::initializer_list<std::string_view> bodies) {
  Bytes content;
  base::write_uleb(content, bodies.size());
  for (const std::string_view text : bodies) {
    const Bytes body = hex(text);
    base::write_uleb(content, body.size());
    append(content, body);
  }
  return section(10, content);
}

/// One function, exported as "f", with a memory, a table and what the names say:
/// type 0 is the function's, 1 is [] -> [], 2 [i32] -> [i32], 3 [i32 i32] -> [i32 i64];
/// function 1 is imported as type 2 in index 0; globals: 0 mutable i32, 1 immutable i64.
inline Bytes function(std::string_view type, std::string_view body) {
  Bytes types = hex("04");
  append(types, hex(type));
  append(types, hex("60 00 00  60 01 7f 01 7f  60 02 7f 7f 02 7f 7e"));
  return module({section(1, types), section(2, "01 01 'm' 01 'g' 00 02"), section(3, "01 00"),
                 section(4, "01 70 00 04"), section(5, "01 00 01"),
                 section(6, "02 7f 01 41 00 0b 7e 00 42 01 0b"), section(7, "01 01 'f' 00 01"),
                 section(12, "01"), code({body}), section(11, "01 01 02 aa bb")});
}

/// "ok", or "kind @offset: message".
inline std::string outcome(const Error& error) {
  const char* kind = "other";
  if (error.kind() == ErrorKind::Malformed) kind = "malformed";
  if (error.kind() == ErrorKind::Invalid) kind = "invalid";
  if (error.kind() == ErrorKind::Unsupported) kind = "unsupported";
  if (error.kind() == ErrorKind::Limit) kind = "limit";
  return std::string(kind) + " @" + std::to_string(error.offset()) + ": " + error.message();
}

inline std::string check(const Bytes& bytes, unsigned threads = 1, Features features = {}) {
  const Result<Module> decoded = decode(ModuleBytes::borrow(bytes), features);
  if (!decoded) return outcome(decoded.error());
  const Result<void> valid = validate_all(*decoded, threads);
  return valid ? "ok" : outcome(valid.error());
}

/// The same without the offset and what follows the first ", in function".
inline std::string verdict(const Bytes& bytes, Features features = {}) {
  std::string text = check(bytes, 1, features);
  const std::size_t at = text.find(" @");
  if (at != std::string::npos) text.erase(at, text.find(':') - at);
  const std::size_t tail = text.find(", in function");
  if (tail != std::string::npos) text.erase(tail);
  return text;
}

}  // namespace hoist::wasm::test
