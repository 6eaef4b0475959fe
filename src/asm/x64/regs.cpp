// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "asm/x64/regs.hpp"

#include <bit>

namespace hoist::masm::x64 {

Cc swap_operands(Cc cc) {
  switch (cc) {
    case Cc::B: return Cc::A;
    case Cc::A: return Cc::B;
    case Cc::Ae: return Cc::Be;
    case Cc::Be: return Cc::Ae;
    case Cc::L: return Cc::G;
    case Cc::G: return Cc::L;
    case Cc::Ge: return Cc::Le;
    case Cc::Le: return Cc::Ge;
    case Cc::E:
    case Cc::Ne:
    case Cc::P:
    case Cc::Np: return cc;
    case Cc::O:
    case Cc::No:
    case Cc::S:
    case Cc::Ns: break;
  }
  HOIST_UNREACHABLE("the condition has a counterpart with swapped operands");
}

std::string_view feature_name(Feature feature) {
  static constexpr std::string_view kNames[kFeatureCount] = {"base",         "sse3",
                                                             "ssse3",        "sse4.1",
                                                             "sse4.2",       "popcnt",
                                                             "lzcnt",        "bmi1",
                                                             "bmi2",         "avx",
                                                             "avx2",         "fma",
                                                             "f16c",         "cx16",
                                                             "avx512f",      "avx512vl",
                                                             "avx512dq",     "avx512bw",
                                                             "avx512cd",     "avx512vbmi",
                                                             "avx512bitalg", "avx512vpopcntdq"};
  return kNames[static_cast<std::uint8_t>(feature)];
}

std::string_view cc_name(Cc cc) {
  static constexpr std::string_view kNames[] = {"o", "no", "b", "ae", "e", "ne", "be", "a",
                                                "s", "ns", "p", "np", "l", "ge", "le", "g"};
  return kNames[static_cast<std::uint8_t>(cc)];
}

std::string_view gpr_name(Reg reg, unsigned width_bytes) {
  static constexpr std::string_view kNames[4][16] = {
      {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil",  //
       "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"},
      {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",  //
       "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"},
      {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi",  //
       "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"},
      {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",  //
       "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}};
  return kNames[std::countr_zero(width_bytes) & 3][reg.number & 15];
}

std::string_view xmm_name(Reg reg) {
  static constexpr std::string_view kNames[16] = {
      "xmm0", "xmm1", "xmm2",  "xmm3",  "xmm4",  "xmm5",  "xmm6",  "xmm7",
      "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"};
  return kNames[reg.number & 15];
}

}  // namespace hoist::masm::x64
