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

static constexpr OpInfo kInfos[] = {
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) kInfo##id,
#include "asm/x64/insts.def"
};

static constexpr const char* kNames[] = {
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) #id,
#include "asm/x64/insts.def"
};

const OpInfo& info(Op op) {
  return kInfos[static_cast<std::uint16_t>(op)];
}
std::string_view op_name(Op op) {
  return kNames[static_cast<std::uint16_t>(op)];
}

}  // namespace hoist::masm::x64
