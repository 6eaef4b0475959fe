// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every row of insts.def, at every width, with registers, addresses and immediates from the corners
// of the encoding: disassembled by Capstone, the result must have the same mnemonic and operands.
// And against bytes from an independent assembler (testdata/vectors.txt), which shows that the
// forms are the shortest ones.
#include "asm/x64/encoder.hpp"

#include <capstone/capstone.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "asm/x64/test_operands.hpp"
#include "base/text/printer.hpp"

namespace hoist::masm::x64 {
namespace {

constexpr unsigned kGprs[] = {0, 1, 4, 5, 6, 7, 8, 12, 13, 15};
constexpr unsigned kXmms[] = {0, 3, 4, 7, 8, 15};
constexpr std::int64_t kImms[] = {0,   1,   2,    -1,    127,   -128,       128,
                                  255, 200, -129, 32767, 65535, 0x12345678, INT32_MIN};

std::vector<Mem> all_mems() {
  std::vector<Mem> out;
  constexpr Gpr kBases[] = {Gpr::Rax, Gpr::Rsp, Gpr::Rbp, Gpr::Rdi, Gpr::R8, Gpr::R12, Gpr::R13};
  constexpr Gpr kIndexes[] = {Gpr::Rax, Gpr::Rbp, Gpr::R12, Gpr::R13};
  constexpr std::int32_t kDisps[] = {0, 1, 127, -128, 128, -129, 0x12345678, INT32_MIN};
  for (const Gpr base : kBases) {
    for (const std::int32_t disp : kDisps) out.push_back(Mem::at(base, disp));
    for (const Gpr index : kIndexes) {
      for (const std::int32_t disp : {0, -8, 1000}) {
        out.push_back(
            Mem::at(base, index, static_cast<unsigned>(disp & 3) ^ (base == Gpr::Rax), disp));
      }
    }
  }
  for (const Gpr index : kIndexes) {
    for (unsigned scale = 0; scale < 4; ++scale) {
      out.push_back(Mem::index_only(index, scale, 16));
      out.push_back(Mem::at(Gpr::Rbx, index, scale, 0));
    }
  }
  out.push_back(Mem::absolute(0x1000));
  return out;
}

/// Row, width and operands of one case.
struct Case {
  Op op;
  unsigned width;
  TestOperands operands;
};

bool is_branch(Op op) {
  return has_place(info(op), Place::Rel);
}

unsigned pick_reg(const OpInfo& row, unsigned number, std::size_t choice) {
  unsigned seen = 0;
  for (const OperandInfo& o : row.operands()) {
    if (!is_register(o.place)) continue;
    if (seen++ != number) continue;
    return is_vector(o.place) ? kXmms[choice % std::size(kXmms)] : kGprs[choice % std::size(kGprs)];
  }
  return 0;
}

bool has_imm16(const OpInfo& row) {
  return std::ranges::any_of(
      row.operands(), [](const OperandInfo& o) { return o.place == Place::Imm && o.bits == 16; });
}

/// An immediate as the form can hold it.
bool imm_fits(const OpInfo& row, unsigned width, std::int64_t imm) {
  if (has_place(row, Place::Imm8)) return imm >= 0 && imm <= 255;
  if (has_imm16(row)) return imm >= 0 && imm <= 0xffff;
  if (has_place(row, Place::Imm64) || width == 8) return true;
  const std::int64_t half = std::int64_t{1} << (width * 8 - 1);
  return imm >= -half && imm < half * 2;
}

template <typename F>
void for_each_immediate(Case c, F&& visit) {
  const OpInfo& row = info(c.op);
  if (!has_imm(row)) {
    visit(c);
    return;
  }
  for (const std::int64_t imm : kImms) {
    if (!imm_fits(row, c.width, imm)) continue;
    c.operands.imm = imm;
    visit(c);
  }
  if (c.op == Op::MovRI64 || (c.op == Op::MovRI && c.width == 8)) {
    for (const std::int64_t imm : {INT64_MIN, INT64_MAX, std::int64_t{0xffff'ffff}}) {
      c.operands.imm = imm;
      visit(c);
    }
  }
}

template <typename F>
void for_each_case_of(Op op, unsigned width, const std::vector<Mem>& mems, F&& visit) {
  const OpInfo& row = info(op);
  Case c{op, width, {}};
  const unsigned regs = explicit_regs(row);
  for (std::size_t i = 0; i < (regs > 0 ? std::size(kGprs) : 1); ++i) {
    for (std::size_t j = 0; j < (regs > 1 ? std::size(kGprs) : 1); ++j) {
      c.operands.regs[0] = pick_reg(row, 0, i);
      c.operands.regs[1] = pick_reg(row, 1, j);
      c.operands.regs[2] = pick_reg(row, 2, i + j);
      c.operands.regs[3] = pick_reg(row, 3, i * 2 + j);
      c.operands.cc = static_cast<Cc>((i + j) % 16);
      if (has_mem(row)) {
        // All addresses with one register, all registers with a few addresses.
        const std::size_t stride = i == 0 && j == 0 ? 1 : 17;
        for (std::size_t k = (i + j) % stride; k < mems.size(); k += stride) {
          c.operands.mem = mems[k];
          for_each_immediate(c, visit);
        }
      } else {
        for_each_immediate(c, visit);
      }
    }
  }
}

template <typename F>
void for_each_width(Op op, F&& visit) {
  const OpInfo& row = info(op);
  if (row.widths == 0) return visit(4u);
  for (unsigned width = 1; width <= 8; width *= 2) {
    if (row.allows_width(width)) visit(width);
  }
}

class Disassembler {
 public:
  Disassembler() {
    EXPECT_EQ(cs_open(CS_ARCH_X86, CS_MODE_64, &handle_), CS_ERR_OK);
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    inst_ = cs_malloc(handle_);
  }
  ~Disassembler() {
    cs_free(inst_, 1);
    cs_close(&handle_);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  /// nullptr unless `bytes` is exactly one instruction.
  const cs_insn* one(std::span<const std::uint8_t> bytes) {
    const std::uint8_t* code = bytes.data();
    std::size_t size = bytes.size();
    std::uint64_t address = 0;
    if (!cs_disasm_iter(handle_, &code, &size, &address, inst_) || size != 0) return nullptr;
    return inst_;
  }
  std::string reg_name(unsigned reg) const {
    const char* name = cs_reg_name(handle_, reg);
    return name == nullptr ? "" : name;
  }

 private:
  csh handle_ = 0;
  cs_insn* inst_ = nullptr;
};

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string out;
  for (const std::uint8_t b : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}

bool is_float_compare(Op op) {
  const std::string_view name = info(op).mnemonic;
  return name == "cmpss" || name == "cmpsd" || name == "cmpps" || name == "cmppd" ||
         name == "vcmpss" || name == "vcmpsd" || name == "vcmpps" || name == "vcmppd";
}

/// Has the comparison's immediate a name of its own?
bool is_named_predicate(const Case& c) {
  const bool vex = info(c.op).mnemonic[0] == 'v';
  return is_float_compare(c.op) && c.operands.imm < (vex ? 32 : 8);
}

/// What the disassembler calls the instruction.
std::string expected_mnemonic(const Case& c) {
  std::string text = mnemonic_for_test(info(c.op), c.operands);
  if (c.op == Op::Vcvttpd2dqRM || c.op == Op::Vcvtpd2psRM) text += 'x';
  if (is_named_predicate(c)) {
    static constexpr const char* kPredicates[] = {
        "eq",    "lt",     "le",     "unord",    "neq",    "nlt",    "nle",    "ord",
        "eq_uq", "nge",    "ngt",    "false",    "neq_oq", "ge",     "gt",     "true",
        "eq_os", "lt_oq",  "le_oq",  "unord_s",  "neq_us", "nlt_uq", "nle_uq", "ord_s",
        "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq",  "gt_oq",  "true_us"};
    text.insert(text[0] == 'v' ? 4 : 3, kPredicates[c.operands.imm]);
  }
  return text;
}

/// Empty, or what is different.
std::string compare_operands(const Disassembler& dis, const Case& c, const cs_x86& got) {
  const OpInfo& row = info(c.op);
  unsigned reg = 0;
  unsigned at = 0;
  for (const OperandInfo& o : row.operands()) {
    if (is_implicit(o.place)) continue;
    if (o.place == Place::Imm8 && is_named_predicate(c)) continue;
    if (at == got.op_count) {
      if (o.place == Place::Xmm0) continue;
      return "too few operands";
    }
    const cs_x86_op& g = got.operands[at++];
    const unsigned bits = o.bits != 0 ? o.bits : c.width * 8;
    switch (o.place) {
      case Place::Reg:
      case Place::Rm:
      case Place::OpReg:
      case Place::VReg: {
        std::string want(gpr_name(Reg(c.operands.regs[reg++]), bits / 8));
        // MovRI of 64 bits is a 32-bit move where that zero-extends to the value.
        if (c.op == Op::MovRI && c.width == 8 && g.size == 4 && c.operands.imm >= 0) {
          want = gpr_name(Reg(c.operands.regs[0]), 4);
        }
        if (g.type != X86_OP_REG || dis.reg_name(g.reg) != want) return "register " + want;
        break;
      }
      case Place::XReg:
      case Place::Xrm:
      case Place::XVReg:
      case Place::XIs4: {
        const std::string want(xmm_name(Reg(c.operands.regs[reg++])));
        if (g.type != X86_OP_REG || dis.reg_name(g.reg) != want) return "register " + want;
        break;
      }
      case Place::Mem: {
        const Mem& m = c.operands.mem;
        const std::string base = m.base == Mem::kNoReg ? "" : std::string(gpr_name(Reg(m.base), 8));
        const std::string index =
            m.index == Mem::kNoReg ? "" : std::string(gpr_name(Reg(m.index), 8));
        if (g.type != X86_OP_MEM || dis.reg_name(g.mem.base) != base) return "base " + base;
        if (dis.reg_name(g.mem.index) != index) return "index " + index;
        if (m.index != Mem::kNoReg && g.mem.scale != 1 << m.scale) return "scale";
        if (g.mem.disp != m.disp) return "displacement";
        // Capstone 4 reports 16 bytes for these.
        const bool unknown_size = c.op == Op::ComissRM || c.op == Op::ComisdRM ||
                                  c.op == Op::VcomissRM || c.op == Op::VcomisdRM;
        if (o.role != Role::Address && !unknown_size && g.size != bits / 8) return "memory size";
        break;
      }
      case Place::Imm:
      case Place::Imm8:
      case Place::Imm64: {
        // The disassembler extends as it likes: what counts is the value at the operation's width.
        const unsigned width = o.place == Place::Imm8 ? 1 : c.width;
        const unsigned unused = 64 - width * 8;
        const auto want = static_cast<std::uint64_t>(c.operands.imm) << unused;
        if (g.type != X86_OP_IMM || static_cast<std::uint64_t>(g.imm) << unused != want) {
          return "immediate";
        }
        break;
      }
      case Place::Cl:
        if (g.type != X86_OP_REG || dis.reg_name(g.reg) != "cl") return "cl";
        break;
      case Place::Xmm0:
        if (g.type != X86_OP_REG || dis.reg_name(g.reg) != "xmm0") return "xmm0";
        break;
      case Place::Rel:
      case Place::Rax:
      case Place::Rbx:
      case Place::Rcx:
      case Place::Rdx: break;
    }
  }
  return at == got.op_count ? "" : "too many operands";
}

/// The rest is seen by the vectors' disassembler.
bool capstone_knows(Op op) {
  return info(op).feature < Feature::Avx512f;
}

TEST(Encoder, EveryRowDisassembles) {
  Disassembler dis;
  CodeBuffer buffer;
  Encoder enc(buffer);
  const std::vector<Mem> mems = all_mems();
  std::size_t cases = 0;
  std::size_t failures = 0;
  for (std::uint16_t n = 0; n < kOpCount; ++n) {
    const auto op = static_cast<Op>(n);
    if (is_branch(op) || !capstone_knows(op)) continue;
    std::size_t shown = 0;
    for_each_width(op, [&](unsigned width) {
      for_each_case_of(op, width, mems, [&](const Case& c) {
        buffer.clear();
        encode_for_test(enc, op, width, c.operands);
        ++cases;
        const cs_insn* got = dis.one(buffer.bytes());
        const std::string text = text_for_test(op, width, c.operands);
        const std::string want = expected_mnemonic(c);
        std::string problem;
        if (got == nullptr) {
          problem = "not one instruction";
        } else if (want != got->mnemonic &&
                   !(c.op == Op::MovRI && std::string_view(got->mnemonic) == "movabs")) {
          problem = "mnemonic";
        } else {
          problem = compare_operands(dis, c, got->detail->x86);
        }
        if (problem.empty()) return;
        ++failures;
        if (++shown <= 3) {
          ADD_FAILURE() << op_name(op) << ": " << text << " gave " << hex(buffer.bytes()) << ", "
                        << (got == nullptr ? "" : got->mnemonic) << ' '
                        << (got == nullptr ? "" : got->op_str) << ": " << problem;
        }
      });
    });
  }
  EXPECT_EQ(failures, 0u);
  EXPECT_GT(cases, 100'000u);
}

// ---- vectors from another assembler

/// A few cases per row: what the vector file holds.
std::vector<Case> vector_cases() {
  std::vector<Case> out;
  const Mem mems[] = {Mem::at(Gpr::Rbp, 0),           Mem::at(Gpr::R12, Gpr::R13, 3, -8),
                      Mem::at(Gpr::Rsp, 1000),        Mem::at(Gpr::R13, 0),
                      Mem::at(Gpr::Rax, Gpr::Rcx, 0), Mem::index_only(Gpr::Rdx, 2, 64)};
  for (std::uint16_t n = 0; n < kOpCount; ++n) {
    const auto op = static_cast<Op>(n);
    // An exchange of registers may be written either way.
    if (is_branch(op) || op == Op::XchgRR) continue;
    const OpInfo& row = info(op);
    for_each_width(op, [&](unsigned width) {
      const std::size_t count =
          explicit_regs(row) + (has_imm(row) ? 1 : 0) + (has_mem(row) ? 1 : 0);
      const std::size_t shapes = count == 0 ? 1 : std::min<std::size_t>(count, 3);
      for (std::size_t i = 0; i < shapes; ++i) {
        Case c{op, width, {}};
        const std::size_t mix = n + i * 3 + width;
        c.operands.regs[0] = i == 0 && has_imm(row) ? 0 : pick_reg(row, 0, mix);
        c.operands.regs[1] = pick_reg(row, 1, mix * 7 + 2);
        c.operands.regs[2] = pick_reg(row, 2, mix * 5 + 1);
        c.operands.regs[3] = pick_reg(row, 3, mix * 3 + 2);
        // The assembler exchanges operands where that makes a shorter prefix.
        if (explicit_regs(row) > 1 && is_vector(row.operand[0].place)) {
          const unsigned last = explicit_regs(row) - 1;
          for (unsigned r = 0; r < last && c.operands.regs[last] >= 8; ++r) c.operands.regs[r] |= 8;
        }
        c.operands.cc = static_cast<Cc>(mix % 16);
        c.operands.mem = mems[mix % std::size(mems)];
        // At the first, one that fits in no byte.
        if (has_imm(row))
          c.operands.imm = has_place(row, Place::Imm8) ? 3 + std::int64_t(i)
                           : has_imm16(row)            ? 0x1234
                           : i != 0 || width == 1      ? -7
                           : width == 2                ? 0x1234
                                                       : 0x12345678;
        // The assembler takes the text at its word: a 64-bit move that zero-extends is a 32-bit
        // one.
        if (op == Op::MovRI && width == 8 && c.operands.imm > 0) c.width = 4;
        out.push_back(c);
      }
    });
  }
  return out;
}

/// One spelling of what the assembler and the disassembler write differently: 1* before an index,
/// negative numbers of any width, the mnemonic's variants.
std::string same_spelling(std::string_view text) {
  std::string out(text);
  if (out.starts_with("lea ")) {
    if (const std::size_t at = out.find("ptr "); at != std::string::npos) {
      out.replace(out.find(", ") + 2, at + 4 - out.find(", ") - 2, "");
    }
  }
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"1*", ""},
                                 {"movabs", "mov"},
                                 {", 65529", ", -7"},
                                 {", 4294967289", ", -7"}}) {
    for (std::size_t at; (at = out.find(from)) != std::string::npos;) {
      out.replace(at, from.size(), to);
    }
  }
  return out;
}

/// testdata/vectors.txt: "bytes | text | the bytes' disassembly" per line, made by make_vectors.sh
/// from the list that this test writes when HOIST_VECTOR_LIST names a file. The text that was
/// assembled must have these bytes, and these bytes must be disassembled to that text.
TEST(Encoder, AgreesWithAnotherAssembler) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  const std::vector<Case> cases = vector_cases();
  if (const char* path = std::getenv("HOIST_VECTOR_LIST"); path != nullptr) {
    std::ofstream list(path);
    for (const Case& c : cases) list << text_for_test(c.op, c.width, c.operands) << '\n';
    return;
  }
  std::ifstream file(HOIST_TESTDATA "/vectors.txt");
  ASSERT_TRUE(file.is_open());
  std::string line;
  std::size_t at = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    ASSERT_LT(at, cases.size()) << "vectors.txt has more lines than there are cases: remake it";
    const Case& c = cases[at++];
    const std::size_t first = line.find(" | ");
    const std::size_t second = line.find(" | ", first + 1);
    ASSERT_NE(second, std::string::npos);
    const std::string want = line.substr(0, first);
    const std::string text = text_for_test(c.op, c.width, c.operands);
    ASSERT_EQ(line.substr(first + 3, second - first - 3), text)
        << "vectors.txt is out of date: remake it";
    // A predicate is part of the disassembler's mnemonic.
    std::string back = text;
    if (is_named_predicate(c)) {
      back = expected_mnemonic(c) + text.substr(text.find(' '), text.rfind(',') - text.find(' '));
    }
    EXPECT_EQ(same_spelling(line.substr(second + 3)), same_spelling(back)) << op_name(c.op);
    buffer.clear();
    encode_for_test(enc, c.op, c.width, c.operands);
    EXPECT_EQ(hex(buffer.bytes()), want) << op_name(c.op) << ": " << text;
  }
  EXPECT_EQ(at, cases.size()) << "vectors.txt has too few lines: remake it";
}

// ---- what the table does not cover

bool has_vector(const OpInfo& op) {
  for (const OperandInfo& o : op.operands()) {
    if (is_vector(o.place)) return true;
  }
  return false;
}

std::string disassemble_all(const CodeBuffer& buffer) {
  csh handle = 0;
  EXPECT_EQ(cs_open(CS_ARCH_X86, CS_MODE_64, &handle), CS_ERR_OK);
  cs_insn* insts = nullptr;
  const std::span<const std::uint8_t> bytes = buffer.bytes();
  const std::size_t count = cs_disasm(handle, bytes.data(), buffer.code_size(), 0, 0, &insts);
  base::Printer out;
  for (std::size_t i = 0; i < count; ++i) {
    out << insts[i].mnemonic << (*insts[i].op_str != 0 ? " " : "") << insts[i].op_str << '\n';
  }
  if (count != 0) cs_free(insts, count);
  cs_close(&handle);
  return out.take();
}

TEST(Encoder, RipRelativePlacesCountTheImmediate) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  const Label here = buffer.new_label();
  const Constant one = buffer.add_constant64(1);
  enc.mi(Op::CmpMI, 4, Mem::label(here, 4), 1000);
  buffer.bind(here);
  enc.rm(Op::MovsdRM, 0, Xmm::Xmm1, Mem::constant(one));
  enc.rm(Op::LeaRM, 8, Gpr::Rax, Mem::symbol(Symbol(7u), 12));
  enc.mi(Op::MovMI, 1, Mem::symbol(Symbol(8u)), 5);
  ASSERT_TRUE(buffer.finish());
  EXPECT_EQ(disassemble_all(buffer),
            "cmp dword ptr [rip + 4], 0x3e8\n"
            "movsd xmm1, qword ptr [rip + 0xe]\n"
            "lea rax, [rip]\n"
            "mov byte ptr [rip], 5\n");
  ASSERT_EQ(buffer.relocs().size(), 2u);
  EXPECT_EQ(buffer.relocs()[0].addend, 12 - 4);
  EXPECT_EQ(buffer.relocs()[0].offset, 10u + 8 + 3);
  EXPECT_EQ(buffer.relocs()[1].addend, -5);
}

TEST(Encoder, BranchesAndCalls) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  const Label top = buffer.new_label();
  const Label end = buffer.new_label();
  buffer.bind(top);
  enc.jcc(Cc::L, end);
  enc.call(Symbol(3u));
  enc.jmp(Symbol(4u));
  enc.jcc(Cc::A, Symbol(5u));
  enc.call(end);
  enc.jmp(top);
  buffer.bind(end);
  enc.none(Op::Ret);
  ASSERT_TRUE(buffer.finish());
  EXPECT_EQ(disassemble_all(buffer),
            "jl 0x19\n"
            "call 7\n"
            "jmp 0xc\n"
            "ja 0x12\n"
            "call 0x19\n"
            "jmp 0\n"
            "ret\n");
  ASSERT_EQ(buffer.relocs().size(), 3u);
  EXPECT_EQ(buffer.relocs()[0].offset, 3u);
  EXPECT_EQ(buffer.relocs()[1].offset, 8u);
  EXPECT_EQ(buffer.relocs()[2].offset, 14u);
}

TEST(Encoder, NopsFillAnyLength) {
  for (std::uint32_t length = 0; length < 30; ++length) {
    CodeBuffer buffer;
    Encoder enc(buffer);
    enc.nop(length);
    ASSERT_TRUE(buffer.finish());
    EXPECT_EQ(buffer.code_size(), length);
    std::stringstream lines(disassemble_all(buffer));
    std::string line;
    std::uint32_t count = 0;
    while (std::getline(lines, line)) {
      EXPECT_EQ(line.substr(0, 3), "nop");
      ++count;
    }
    EXPECT_EQ(count, (length + 8) / 9);
  }
}

TEST(Encoder, ConditionsInvertAndSwap) {
  EXPECT_EQ(invert(Cc::Le), Cc::G);
  EXPECT_EQ(invert(Cc::Np), Cc::P);
  EXPECT_EQ(swap_operands(Cc::Le), Cc::Ge);
  EXPECT_EQ(swap_operands(Cc::B), Cc::A);
  EXPECT_EQ(swap_operands(Cc::E), Cc::E);
}

TEST(Encoder, MemoryForms) {
  EXPECT_EQ(with_memory_source(Op::AddRR), Op::AddRM);
  EXPECT_EQ(with_memory_source(Op::TestRR), Op::TestMR);
  EXPECT_EQ(with_memory_source(Op::ImulRRI), Op::ImulRMI);
  EXPECT_EQ(with_memory_source(Op::MulR), Op::MulM);
  EXPECT_EQ(with_memory_source(Op::CmovccRR), Op::CmovccRM);
  EXPECT_EQ(with_memory_source(Op::Movzx8RR), Op::Movzx8RM);
  EXPECT_EQ(with_memory_source(Op::AddsdRR), Op::AddsdRM);
  EXPECT_EQ(with_memory_source(Op::MovqXR), Op::MovqXM);
  EXPECT_EQ(with_memory_source(Op::CallR), Op::CallM);
  EXPECT_EQ(with_memory_source(Op::RoundsdRRI), Op::RoundsdRMI);
  EXPECT_EQ(with_memory_source(Op::AndnRRR), Op::AndnRRM);
  // 16 bytes, a written operand, the wrong operand.
  EXPECT_EQ(with_memory_source(Op::XorpsRR), kNoOp);
  EXPECT_EQ(with_memory_source(Op::NegR), kNoOp);
  EXPECT_EQ(with_memory_source(Op::ShlxRRR), kNoOp);
  EXPECT_EQ(with_memory_source_16(Op::VpadddRRR), Op::VpadddRRM);
  EXPECT_EQ(with_memory_source_16(Op::VshufpsRRRI), Op::VshufpsRRMI);
  EXPECT_EQ(with_memory_source_16(Op::VpblendvbRRRR), Op::VpblendvbRRMR);
  EXPECT_EQ(with_memory_source_16(Op::VpshufdRRI), Op::VpshufdRMI);
  EXPECT_EQ(with_memory_source_16(Op::VpslldRRI), kNoOp);
  EXPECT_EQ(with_memory_source(Op::VpadddRRR), kNoOp);
  EXPECT_EQ(with_memory_source(Op::VaddsdRRR), Op::VaddsdRRM);
  EXPECT_EQ(with_memory_first(Op::CmpRR), Op::CmpMR);
  EXPECT_EQ(with_memory_first(Op::CmpRI), Op::CmpMI);
  EXPECT_EQ(with_memory_first(Op::TestRI), Op::TestMI);
  EXPECT_EQ(with_memory_first(Op::AddRR), kNoOp);
  EXPECT_EQ(with_memory_first(Op::UcomisdRR), kNoOp);
  EXPECT_EQ(with_memory_first(Op::MovRR), kNoOp);
}

TEST(Encoder, VexForms) {
  EXPECT_EQ(with_vex(Op::PadddRR), Op::VpadddRRR);
  EXPECT_EQ(with_vex(Op::PadddRM), Op::VpadddRRM);
  EXPECT_EQ(with_vex(Op::PslldRI), Op::VpslldRRI);
  EXPECT_EQ(with_vex(Op::PslldRR), Op::VpslldRRR);
  EXPECT_EQ(with_vex(Op::PabsbRR), Op::VpabsbRR);
  EXPECT_EQ(with_vex(Op::PshufdRMI), Op::VpshufdRMI);
  EXPECT_EQ(with_vex(Op::PinsrbXMI), Op::VpinsrbXXMI);
  EXPECT_EQ(with_vex(Op::PextrdMXI), Op::VpextrdMXI);
  EXPECT_EQ(with_vex(Op::PextrdRXI), Op::VpextrdRXI);
  EXPECT_EQ(with_vex(Op::MovupsMR), Op::VmovupsMR);
  EXPECT_EQ(with_vex(Op::MovupsRM), Op::VmovupsRM);
  EXPECT_EQ(with_vex(Op::Cvtsi2sdRR), Op::Vcvtsi2sdRRR);
  EXPECT_EQ(with_vex(Op::MovqXX), Op::VmovqXX);
  EXPECT_EQ(with_vex(Op::MovqXR), Op::VmovqXR);
  EXPECT_EQ(with_vex(Op::MovqRX), Op::VmovqRX);
  EXPECT_EQ(with_vex(Op::AddRR), kNoOp);
  EXPECT_EQ(with_vex(Op::VpadddRRR), kNoOp);
  // Every SSE form has one.
  for (std::uint16_t n = 0; n < kOpCount; ++n) {
    const OpInfo& op = info(static_cast<Op>(n));
    const bool sse = has_vector(op) && op.mnemonic[0] != 'v';
    if (sse) {
      EXPECT_NE(with_vex(static_cast<Op>(n)), kNoOp) << op_name(static_cast<Op>(n));
    }
  }
}

TEST(Encoder, PlacesInMachineIr) {
  // AddRR: Def, Use, Use. ShldRRC: Def, Use, Use, Use rcx. MulR: Def rax, Def rdx, Use rax, Use.
  EXPECT_EQ(info(Op::AddRR).mach_operand[0], 0);
  EXPECT_EQ(info(Op::AddRR).mach_operand[1], -1);
  EXPECT_EQ(info(Op::ShldRRC).mach_operand[1], -2);
  EXPECT_EQ(info(Op::MulR).mach_operand[0], -1);
  EXPECT_EQ(info(Op::CmpRR).mach_operand[0], -2);
  EXPECT_EQ(info(Op::CmpRR).mach_operand[1], -1);
  EXPECT_EQ(info(Op::XchgMR).mach_operand[0], 0);
  EXPECT_EQ(info(Op::LockCmpxchgMR).mach_operand[0], -1);
  EXPECT_EQ(info(Op::BlendvpsRR).mach_operand[1], -2);
  EXPECT_EQ(info(Op::BlsrRR).mach_operand[1], -1);
  EXPECT_EQ(info(Op::SetccM).shape, kShapeMem | kShapeCc);
  EXPECT_EQ(info(Op::ShlxRMR).shape, 2 | kShapeMem);
  EXPECT_EQ(info(Op::Jcc).shape, kShapeRel | kShapeCc);
}

TEST(Encoder, InfoFollowsTheTable) {
  const OpInfo& mul = info(Op::MulR);
  ASSERT_EQ(mul.operand_count, 3);
  EXPECT_EQ(mul.operand[0].place, Place::Rax);
  EXPECT_EQ(mul.operand[1].role, Role::Write);
  EXPECT_EQ(info(Op::AdcRR).flags_read, kFlagC);
  EXPECT_EQ(info(Op::IncR).flags_written & kFlagC, 0);
  EXPECT_EQ(info(Op::LeaRM).operand[1].role, Role::Address);
  EXPECT_EQ(info(Op::RoundsdRRI).feature, Feature::Sse41);
  EXPECT_FALSE(info(Op::MovsxdRR).allows_width(4));
}

}  // namespace
}  // namespace hoist::masm::x64
