// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Registers, condition codes, CPU features and memory operands of x86-64, with their names.

#include <cstdint>
#include <string_view>

#include "asm/buffer/code_buffer.hpp"
#include "base/check.hpp"

namespace hoist::masm::x64 {

/// General registers by hardware number.
enum class Gpr : std::uint8_t {
  Rax,
  Rcx,
  Rdx,
  Rbx,
  Rsp,
  Rbp,
  Rsi,
  Rdi,
  R8,
  R9,
  R10,
  R11,
  R12,
  R13,
  R14,
  R15  // clang-format off
};  // clang-format on

/// Vector registers by hardware number.
enum class Xmm : std::uint8_t {
  Xmm0,
  Xmm1,
  Xmm2,
  Xmm3,
  Xmm4,
  Xmm5,
  Xmm6,
  Xmm7,  // clang-format off
  Xmm8, Xmm9, Xmm10, Xmm11, Xmm12, Xmm13, Xmm14, Xmm15  // clang-format on
};

/// The hardware number of a register of either class; the instruction says which class is meant.
struct Reg {
  constexpr Reg(Gpr reg) : number(static_cast<std::uint8_t>(reg)) {}  // NOLINT: implicit by design
  constexpr Reg(Xmm reg) : number(static_cast<std::uint8_t>(reg)) {}  // NOLINT: implicit by design
  constexpr explicit Reg(unsigned hardware_number)
      : number(static_cast<std::uint8_t>(hardware_number)) {}
  friend constexpr bool operator==(Reg, Reg) = default;
  std::uint8_t number;
};

/// Condition codes; the value is the low nibble of the opcode. A code and its inverse differ in
/// bit 0.
enum class Cc : std::uint8_t {
  O,
  No,
  B,
  Ae,
  E,
  Ne,
  Be,
  A,
  S,
  Ns,
  P,
  Np,
  L,
  Ge,
  Le,
  G  // clang-format off
};  // clang-format on

constexpr Cc invert(Cc cc) {
  return static_cast<Cc>(static_cast<std::uint8_t>(cc) ^ 1);
}
/// The condition that holds for `cmp b, a` where `cc` holds for `cmp a, b`.
Cc swap_operands(Cc cc);
std::string_view cc_name(Cc cc);

/// What a row of the instruction table needs beyond x86-64 itself. The bit of a feature in a set is
/// 1 << its value.
enum class Feature : std::uint8_t {
  Base,  ///< x86-64 with SSE2
  Sse3,
  Ssse3,
  Sse41,
  Sse42,
  Popcnt,
  Lzcnt,
  Bmi1,
  Bmi2,
  Avx,
  Avx2,
  Fma,
  F16c,
  Cmpxchg16b,
  Avx512f,
  Avx512vl,  ///< every row with an EVEX prefix needs it besides its own feature
  Avx512dq,
  Avx512bw,
  Avx512cd,
  Avx512vbmi,
  Avx512bitalg,
  Avx512vpopcntdq
};
inline constexpr unsigned kFeatureCount = static_cast<unsigned>(Feature::Avx512vpopcntdq) + 1;
/// As the platform's list has it: "sse4.1", "avx2".
std::string_view feature_name(Feature feature);
using FeatureSet = std::uint32_t;
constexpr FeatureSet feature_bit(Feature f) {
  return FeatureSet{1} << static_cast<unsigned>(f);
}

/// `width_bytes` is 1, 2, 4 or 8.
std::string_view gpr_name(Reg reg, unsigned width_bytes);
std::string_view xmm_name(Reg reg);

/// A memory operand: [base + index << scale + disp], or a rip-relative place.
struct Mem {
  static constexpr std::uint8_t kNoReg = 0xff;
  enum class Kind : std::uint8_t {
    Address,   ///< registers and a displacement
    Label,     ///< rip-relative: label `target` + disp
    Constant,  ///< rip-relative: constant-pool entry `target` + disp
    Symbol     ///< rip-relative through a relocation: symbol `target` + disp
  };

  static constexpr Mem at(Gpr base, std::int32_t disp = 0) {
    return {disp, 0, static_cast<std::uint8_t>(base), kNoReg, 0, Kind::Address};
  }
  /// `scale` is the base-2 logarithm, 0..3; `index` is not rsp.
  static constexpr Mem at(Gpr base, Gpr index, unsigned scale, std::int32_t disp = 0) {
    return {disp,
            0,
            static_cast<std::uint8_t>(base),
            static_cast<std::uint8_t>(index),
            static_cast<std::uint8_t>(scale),
            Kind::Address};
  }
  static constexpr Mem index_only(Gpr index, unsigned scale, std::int32_t disp = 0) {
    return {
        disp,         0, kNoReg, static_cast<std::uint8_t>(index), static_cast<std::uint8_t>(scale),
        Kind::Address};
  }
  /// Sign-extended 32-bit address.
  static constexpr Mem absolute(std::int32_t address) {
    return {address, 0, kNoReg, kNoReg, 0, Kind::Address};
  }
  static constexpr Mem label(Label target, std::int32_t disp = 0) {
    return {disp, target.index(), kNoReg, kNoReg, 0, Kind::Label};
  }
  static constexpr Mem constant(Constant target, std::int32_t disp = 0) {
    return {disp, target.index(), kNoReg, kNoReg, 0, Kind::Constant};
  }
  static constexpr Mem symbol(Symbol target, std::int32_t addend = 0) {
    return {addend, target.index(), kNoReg, kNoReg, 0, Kind::Symbol};
  }

  std::int32_t disp = 0;
  std::uint32_t target = 0;
  std::uint8_t base = kNoReg;
  std::uint8_t index = kNoReg;
  std::uint8_t scale = 0;
  Kind kind = Kind::Address;
};

}  // namespace hoist::masm::x64
