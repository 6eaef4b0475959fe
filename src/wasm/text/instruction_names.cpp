// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/instruction_names.hpp"

#include <array>
#include <cstdint>

namespace hoist::wasm {

namespace {

constexpr std::size_t kSlots = 2048;  // over three times the rows
constexpr std::uint16_t kEmpty = 0xffff;

constexpr std::uint32_t hash_name(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619u;
  return hash ^ (hash >> 15);
}

constexpr Op kRows[] = {
#define HOIST_WASM_OP(group, name, prefix, code, text, imm, sig, feature) Op::name,
#include "wasm/format/opcodes.def"
};

/// Open addressing; of rows with one name only the first is entered.
std::array<std::uint16_t, kSlots> build_table() {
  std::array<std::uint16_t, kSlots> slots;
  slots.fill(kEmpty);
  for (const Op op : kRows) {
    const std::string_view name = text(op);
    std::size_t at = hash_name(name) % kSlots;
    while (slots[at] != kEmpty && text(static_cast<Op>(slots[at])) != name) at = (at + 1) % kSlots;
    if (slots[at] == kEmpty) slots[at] = static_cast<std::uint16_t>(op);
  }
  return slots;
}

}  // namespace

const OpInfo* find_instruction(std::string_view name) {
  static const std::array<std::uint16_t, kSlots> slots = build_table();
  for (std::size_t at = hash_name(name) % kSlots; slots[at] != kEmpty; at = (at + 1) % kSlots) {
    const OpInfo& info = op_info(static_cast<Op>(slots[at]));
    if (info.text == name) return &info;
  }
  return nullptr;
}

}  // namespace hoist::wasm
