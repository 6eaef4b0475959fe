// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Templates of the reader, for its two .cpp files.

#include "ir/text/reader_impl.hpp"

namespace hoist::ir::text_detail {

template <typename E>
Result<E> Reader::entity(std::uint32_t limit) {
  const std::optional<std::uint32_t> number = entity_number(peek(), E::kPrefix);
  if (!number) return expected(std::string(E::kPrefix) + "N");
  if (*number >= limit) {
    return error_at(peek(), "numbers of " + std::string(E::kPrefix) + "N are below " +
                                std::to_string(limit) + ", found " + std::to_string(*number));
  }
  lexer_.advance();
  return E(*number);
}

template <typename E, typename Table, typename T>
Result<void> Reader::declare(E e, Table& table, std::vector<bool>& declared, const T& placeholder,
                             const Token& token) {
  while (!table.contains(e)) table.push(placeholder);
  if (declared.size() < table.size()) declared.resize(table.size());
  if (declared[e.index()]) return error_at(token, "duplicate entity " + std::string(token.text));
  declared[e.index()] = true;
  return {};
}

}  // namespace hoist::ir::text_detail
