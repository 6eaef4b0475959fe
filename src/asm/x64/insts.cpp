// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "asm/x64/insts.hpp"

#include "asm/x64/row_parser_inl.hpp"

namespace hoist::masm::x64 {

void bad_row() {
  HOIST_UNREACHABLE("rows of insts.def are read at compile time");
}

#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) \
  static constexpr OpInfo kInfo##id =                                                    \
      parse_info(mnemonic, operands, widths, Feature::feature, read, written);
#include "asm/x64/insts.def"

constexpr OpInfo kOpInfos[kOpCount] = {
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) kInfo##id,
#include "asm/x64/insts.def"
};

static constexpr const char* kNames[] = {
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) #id,
#include "asm/x64/insts.def"
};

namespace {

constexpr std::uint16_t find_near(std::size_t at, std::string_view stem, std::string_view end) {
  // Forms of one instruction stand together.
  const std::size_t first = at < 6 ? 0 : at - 6;
  for (std::size_t i = first; i < at + 6 && i < kOpCount; ++i) {
    const std::string_view name = kNames[i];
    if (name.size() == stem.size() + end.size() && name.starts_with(stem) && name.ends_with(end)) {
      return static_cast<std::uint16_t>(i);
    }
  }
  return static_cast<std::uint16_t>(kNoOp);
}

constexpr bool reads_at_most_8_bytes(const OpInfo& op) {
  for (const OperandInfo& o : op.operands()) {
    if (o.place == Place::Mem) return o.bits <= 64 && o.role != Role::Address;
  }
  return false;
}

constexpr bool last_register_is_read_only(const OpInfo& op) {
  bool read_only = false;
  for (const OperandInfo& o : op.operands()) {
    if (o.place <= Place::Xrm) read_only = o.role == Role::Read;
  }
  return read_only;
}

struct FormPair {
  std::string_view registers;
  std::string_view memory;
};

/// The other form of row `at` by the first pair of name endings that fits.
constexpr std::uint16_t other_form(std::size_t at, std::span<const FormPair> pairs) {
  const std::string_view name = kNames[at];
  for (const FormPair& pair : pairs) {
    if (!name.ends_with(pair.registers)) continue;
    // Of three registers the last one: ShlxRMR has the middle one in memory.
    if (name.ends_with("RRR") && pair.registers != "RRR") continue;
    const std::uint16_t found =
        find_near(at, name.substr(0, name.size() - pair.registers.size()), pair.memory);
    if (found != static_cast<std::uint16_t>(kNoOp)) {
      return reads_at_most_8_bytes(kOpInfos[found]) ? found : static_cast<std::uint16_t>(kNoOp);
    }
  }
  return static_cast<std::uint16_t>(kNoOp);
}

struct MemoryForms {
  std::uint16_t source[kOpCount];
  std::uint16_t first[kOpCount];
};

constexpr MemoryForms make_memory_forms() {
  constexpr FormPair kSource[] = {{"RRR", "RRM"}, {"RRI", "RMI"}, {"RR", "RM"}, {"RR", "MR"},
                                  {"XR", "XM"},   {"XX", "XM"},   {"R", "M"}};
  constexpr FormPair kFirst[] = {{"RR", "MR"}, {"RI", "MI"}};
  MemoryForms out{};
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& op = kOpInfos[i];
    const bool reads_first = op.operand_count != 0 && op.operand[0].role == Role::Read;
    out.source[i] =
        last_register_is_read_only(op) ? other_form(i, kSource) : static_cast<std::uint16_t>(kNoOp);
    out.first[i] = reads_first ? other_form(i, kFirst) : static_cast<std::uint16_t>(kNoOp);
  }
  return out;
}

constexpr MemoryForms kMemoryForms = make_memory_forms();

}  // namespace

Op with_memory_source(Op op) {
  return static_cast<Op>(kMemoryForms.source[static_cast<std::uint16_t>(op)]);
}
Op with_memory_first(Op op) {
  return static_cast<Op>(kMemoryForms.first[static_cast<std::uint16_t>(op)]);
}

std::string_view op_name(Op op) {
  return kNames[static_cast<std::uint16_t>(op)];
}

}  // namespace hoist::masm::x64
