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

static constexpr std::string_view kNames[] = {
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) \
  {#id, sizeof(#id) - 1},
#include "asm/x64/insts.def"
};

namespace {

constexpr auto kNone = static_cast<std::uint16_t>(kNoOp);

// By hand: a compiler evaluates these some ten thousand times, and std::string_view's slowly.
constexpr bool ends_with(std::string_view text, std::string_view end) {
  if (text.size() < end.size()) return false;
  const char* c = text.data() + text.size();
  for (std::size_t i = end.size(); i != 0; --i) {
    if (*--c != end[i - 1]) return false;
  }
  return true;
}
/// Is it `stem` and `end` behind each other?
constexpr bool is_joined(std::string_view text, std::string_view stem, std::string_view end) {
  return text.size() == stem.size() + end.size() && ends_with(text, end) &&
         ends_with(text.substr(0, stem.size()), stem);
}

constexpr std::uint16_t find_near(std::size_t at, std::string_view stem, std::string_view end) {
  // Forms of one instruction stand together.
  const std::size_t first = at < 6 ? 0 : at - 6;
  for (std::size_t i = first; i < at + 6 && i < kOpCount; ++i) {
    if (is_joined(kNames[i], stem, end)) return static_cast<std::uint16_t>(i);
  }
  return kNone;
}

constexpr bool reads_at_most(const OpInfo& op, unsigned bits) {
  for (const OperandInfo& o : op.operands()) {
    if (o.place == Place::Mem) return o.bits <= bits && o.role != Role::Address;
  }
  return false;
}

constexpr bool last_register_is_read_only(const OpInfo& op) {
  bool read_only = false;
  for (const OperandInfo& o : op.operands()) {
    if (o.place < Place::Mem && o.place != Place::XIs4) read_only = o.role == Role::Read;
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
    if (!ends_with(name, pair.registers)) continue;
    // Of three registers the last one: ShlxRMR has the middle one in memory.
    if (ends_with(name, "RRR") && pair.registers.size() < 3) continue;
    const std::uint16_t found =
        find_near(at, name.substr(0, name.size() - pair.registers.size()), pair.memory);
    if (found != kNone) return found;
  }
  return kNone;
}

constexpr FormPair kSourcePairs[] = {{"RRRR", "RRMR"}, {"RRRI", "RRMI"}, {"XXRI", "XXMI"},
                                     {"RRR", "RRM"},   {"RRI", "RMI"},   {"XRI", "XMI"},
                                     {"RR", "RM"},     {"RR", "MR"},     {"XR", "XM"},
                                     {"XX", "XM"},     {"R", "M"}};
constexpr FormPair kFirstPairs[] = {{"RR", "MR"}, {"RI", "MI"}};

constexpr std::uint16_t source_form(std::size_t at) {
  return last_register_is_read_only(kOpInfos[at]) ? other_form(at, kSourcePairs) : kNone;
}

constexpr std::uint16_t first_form(std::size_t at) {
  const OpInfo& op = kOpInfos[at];
  const bool reads_first = op.operand_count != 0 && op.operand[0].role == Role::Read;
  return reads_first ? other_form(at, kFirstPairs) : kNone;
}

constexpr bool has_general(const OpInfo& op) {
  for (const OperandInfo& o : op.operands()) {
    if (o.place < Place::XReg) return true;
  }
  return false;
}

constexpr unsigned kShapeWithoutRegs = kShapeMem | kShapeImm;

/// Its mnemonic has a "v" in front; the memory operand, if any, is on the same side.
constexpr std::uint16_t vex_form(std::size_t at) {
  const OpInfo& op = kOpInfos[at];
  const std::string_view mnemonic = op.mnemonic;
  if (op.operand_count == 0 || mnemonic.starts_with("v")) return kNone;
  for (std::size_t i = at + 1; i < at + 8 && i < kOpCount; ++i) {
    const OpInfo& vex = kOpInfos[i];
    const std::string_view name = vex.mnemonic;
    if (!is_joined(name, "v", mnemonic)) continue;
    if ((vex.shape & kShapeWithoutRegs) != (op.shape & kShapeWithoutRegs)) continue;
    if (has_general(vex) != has_general(op)) continue;
    const Place to = op.operand[0].place;
    if (vex.operand[0].place == to || (to == Place::Xrm && vex.operand[0].place == Place::XVReg)) {
      return static_cast<std::uint16_t>(i);
    }
  }
  return kNone;
}

struct OtherForms {
  std::uint16_t source;     ///< reads up to 8 bytes
  std::uint16_t source_16;  ///< reads up to 16 bytes
  std::uint16_t first;
  std::uint16_t vex;
};

constexpr OtherForms find_forms(std::size_t at) {
  const auto if_at_most = [](std::uint16_t form, unsigned bits) {
    return form != kNone && reads_at_most(kOpInfos[form], bits) ? form : kNone;
  };
  const std::uint16_t source = source_form(at);
  return {if_at_most(source, 64), if_at_most(source, 128), if_at_most(first_form(at), 64),
          vex_form(at)};
}

// One constant per row, as above.
enum class RowNumber : std::uint16_t {};
template <RowNumber kRow>
constexpr OtherForms kFormsOf = find_forms(static_cast<std::size_t>(kRow));

constexpr OtherForms kOtherForms[kOpCount] = {
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) \
  kFormsOf<RowNumber{static_cast<std::uint16_t>(Op::id)}>,
#include "asm/x64/insts.def"
};

const OtherForms& forms_of(Op op) {
  return kOtherForms[static_cast<std::uint16_t>(op)];
}

}  // namespace

Op with_memory_source(Op op) {
  return static_cast<Op>(forms_of(op).source);
}
Op with_memory_source_16(Op op) {
  return static_cast<Op>(forms_of(op).source_16);
}
Op with_memory_first(Op op) {
  return static_cast<Op>(forms_of(op).first);
}
Op with_vex(Op op) {
  return static_cast<Op>(forms_of(op).vex);
}

std::string_view op_name(Op op) {
  return kNames[static_cast<std::uint16_t>(op)];
}

}  // namespace hoist::masm::x64
