// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See exception_table.hpp.
#include "image/tables/exception_table.hpp"

namespace hoist::image {

namespace {
constexpr std::uint32_t kCatchesAll = 0x8000'0000;  // the text is below 2 GiB
}

std::optional<ExceptionTable> ExceptionTable::open(std::span<const std::uint8_t> bytes) {
  ExceptionTable out;
  std::uint32_t counts[2];
  constexpr std::uint8_t kLengths[] = {0, 0, 0, 1, 1, 1};
  if (!open_columns(bytes, counts, kLengths, out.columns_)) return std::nullopt;
  return out;
}

std::optional<ExceptionTable::Site> ExceptionTable::find(std::uint32_t return_offset) const {
  const std::uint32_t at = columns_[0].find(return_offset);
  if (at == kAbsent) return std::nullopt;
  return site(at);
}

HandlerEntry ExceptionTable::handler(std::uint32_t index) const {
  const std::uint32_t landing = columns_[5][index];
  return {(landing & kCatchesAll) != 0, columns_[3][index], columns_[4][index],
          landing & ~kCatchesAll};
}

void ExceptionTableWriter::add(std::uint32_t text_offset, const FunctionTables& tables) {
  const auto base = static_cast<std::uint32_t>(tags_.size());
  for (const CallSite& site : tables.call_sites) {
    returns_.push_back(text_offset + site.return_offset);
    frames_.push_back(site.frame_bytes);
    ends_.push_back(base + site.handler_end);
  }
  for (const HandlerEntry& handler : tables.handlers) {
    tags_.push_back(handler.tag);
    contexts_.push_back(handler.context);
    landings_.push_back((text_offset + handler.landing) | (handler.catches_all ? kCatchesAll : 0));
  }
}

std::vector<std::uint8_t> ExceptionTableWriter::finish() const {
  std::vector<std::uint8_t> out;
  if (returns_.empty()) return out;
  write_columns(
      out, {static_cast<std::uint32_t>(returns_.size()), static_cast<std::uint32_t>(tags_.size())},
      {&returns_, &frames_, &ends_, &tags_, &contexts_, &landings_});
  return out;
}

}  // namespace hoist::image
