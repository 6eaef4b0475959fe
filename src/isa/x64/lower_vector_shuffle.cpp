// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Shuffles by constant numbers (below 32: the verifier sees to it): one instruction where there is
/// one, else pshufb.
#include <algorithm>
#include <array>

#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

using codegen::RegClass;

namespace {

using Mask = std::array<std::uint8_t, 16>;

/// Numbers of units of `bytes`, or none where the mask moves smaller ones.
template <unsigned kBytes>
std::optional<std::array<std::uint8_t, 16 / kBytes>> in_units(const Mask& mask) {
  std::array<std::uint8_t, 16 / kBytes> out{};
  for (unsigned i = 0; i < 16; i += kBytes) {
    if (mask[i] % kBytes != 0) return std::nullopt;
    for (unsigned j = 1; j < kBytes; ++j) {
      if (mask[i + j] != mask[i] + j) return std::nullopt;
    }
    out[i / kBytes] = static_cast<std::uint8_t>(mask[i] / kBytes);
  }
  return out;
}

/// The interleaving of units of `bytes` from two operands, from unit `start` of each.
bool is_unpack(const Mask& mask, unsigned bytes, bool high, unsigned first, unsigned second) {
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned unit = i / bytes;
    const unsigned from =
        (unit % 2 == 0 ? first : second) + (high ? 8u : 0u) + unit / 2 * bytes + i % bytes;
    if (mask[i] != from) return false;
  }
  return true;
}

bool is_consecutive(const Mask& mask, unsigned from) {
  for (unsigned i = 0; i < 16; ++i) {
    if (mask[i] != (from + i) % 32) return false;
  }
  return true;
}

constexpr Op kUnpacks[2][4] = {
    {Op::PunpcklbwRR, Op::PunpcklwdRR, Op::PunpckldqRR, Op::PunpcklqdqRR},
    {Op::PunpckhbwRR, Op::PunpckhwdRR, Op::PunpckhdqRR, Op::PunpckhqdqRR}};

unsigned immediate_of(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return (a & 3u) | (b & 3u) << 2 | (c & 3u) << 4 | (d & 3u) << 6;
}

}  // namespace

/// Shuffles of 16-bit units and larger ones that are one instruction.
bool Lowering::shuffle_words(const std::uint8_t* bytes, VReg d, VReg x, VReg y) {
  Mask mask;
  std::copy_n(bytes, 16, mask.begin());
  if (const auto u = in_units<4>(mask)) {
    const auto& n = *u;
    const bool all_x = std::all_of(n.begin(), n.end(), [](unsigned lane) { return lane < 4; });
    const unsigned imm = immediate_of(n[0], n[1], n[2], n[3]);
    if (all_x) {
      v1(Op::PshufdRRI, d, x, imm);
      return true;
    }
    const auto half = [&](unsigned at, bool of_y) {
      return (n[at] >= 4) == of_y && (n[at + 1] >= 4) == of_y;
    };
    if (half(0, false) && half(2, true)) {
      vvi(Op::ShufpsRRI, d, x, y, imm);
      return true;
    }
    if (half(0, true) && half(2, false)) {
      vvi(Op::ShufpsRRI, d, y, x, imm);
      return true;
    }
  }
  const auto words = in_units<2>(mask);
  if (!words) return false;
  const auto& w = *words;
  bool in_place = true;
  bool low_only = true;
  bool high_only = true;
  unsigned from_y = 0;
  for (unsigned i = 0; i < 8; ++i) {
    in_place = in_place && w[i] % 8 == i;
    if (w[i] >= 8) from_y |= 1u << i;
    low_only = low_only && (i < 4 ? w[i] < 4 : w[i] == i);
    high_only = high_only && (i < 4 ? w[i] == i : w[i] >= 4 && w[i] < 8);
  }
  if (in_place) {
    vvi(Op::PblendwRRI, d, x, y, from_y);
    return true;
  }
  if (low_only) {
    v1(Op::PshuflwRRI, d, x, immediate_of(w[0], w[1], w[2], w[3]));
    return true;
  }
  if (high_only) {
    v1(Op::PshufhwRRI, d, x, immediate_of(w[4], w[5], w[6], w[7]));
    return true;
  }
  return false;
}

void Lowering::lower_shuffle(ir::Inst inst) {
  Mask mask = func().shuffle_mask(inst);
  ir::Value first = resolve(func().arg_a(inst));
  ir::Value second = resolve(func().arg_b(inst));
  const auto from = [&](unsigned low) {
    return std::any_of(mask.begin(), mask.end(),
                       [&](unsigned n) { return n >= low && n < low + 16; });
  };
  // One operand only: the first.
  if (first == second || !from(0)) {
    if (first != second) first = second;
    for (std::uint8_t& n : mask) n &= 15;
  }
  const bool one = !from(16);
  if (one) second = first;
  const VReg d = result(inst);
  const VReg x = reg(first);
  const VReg y = one ? x : reg(second);
  if (is_consecutive(mask, 0)) return move(d, x, RegClass::Float);
  if (has(Feature::Avx2) &&
      std::all_of(mask.begin(), mask.end(), [](unsigned n) { return n == 0; })) {
    return v1(Op::VpbroadcastbRR, d, x);
  }
  for (unsigned size = 0; size < 4; ++size) {
    for (const bool high : {false, true}) {
      const Op form = kUnpacks[high][size];
      if (one && is_unpack(mask, 1u << size, high, 0, 0)) return vv(form, d, x, x);
      if (is_unpack(mask, 1u << size, high, 0, 16)) return vv(form, d, x, y);
      if (is_unpack(mask, 1u << size, high, 16, 0)) return vv(form, d, y, x);
    }
  }
  if (shuffle_words(mask.data(), d, x, y)) return;
  for (unsigned n = 1; n < 16; ++n) {
    if (is_consecutive(mask, n)) return vvi(Op::PalignrRRI, d, y, x, n);
    if (is_consecutive(mask, n + 16)) return vvi(Op::PalignrRRI, d, x, y, n);
    if (one) {
      Mask rotated;
      for (unsigned i = 0; i < 16; ++i) rotated[i] = static_cast<std::uint8_t>((i + n) & 15);
      if (mask == rotated) return vvi(Op::PalignrRRI, d, x, x, n);
    }
  }
  const auto numbers_of = [&](unsigned low) {
    Mask numbers;
    for (unsigned i = 0; i < 16; ++i) {
      const bool here = mask[i] >= low && mask[i] < low + 16;
      numbers[i] = static_cast<std::uint8_t>(here ? mask[i] - low : 0x80);
    }
    return pack(numbers);
  };
  if (one) return vm(Op::PshufbRM, d, x, vector_address(numbers_of(0)));
  if (has_avx512(Feature::Avx512vbmi)) {
    const VReg index = make_vector(pack(mask));
    emit(mi(Op::Vpermi2bRRR, 16),
         {codegen::def_same(d, 1), codegen::use(index), codegen::use(x), codegen::use(y)});
    return;
  }
  const VReg from_x = vm(Op::PshufbRM, x, numbers_of(0));
  const VReg from_y = vm(Op::PshufbRM, y, numbers_of(16));
  vv(Op::PorRR, d, from_x, from_y);
}

/// Numbers above 15 get their highest bit by a saturating sum; a constant has it already.
void Lowering::lower_swizzle(ir::Inst inst) {
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  if (const auto numbers = vector_constant(func().arg_b(inst))) {
    const auto fixed = [](std::uint64_t bytes) {
      for (unsigned i = 0; i < 64; i += 8) {
        if (((bytes >> i) & 0xff) > 15) bytes |= std::uint64_t{0x80} << i;
      }
      return bytes;
    };
    return vm(Op::PshufbRM, d, x,
              vector_address(Bits128{fixed(numbers->low), fixed(numbers->high)}));
  }
  const VReg y = reg(func().arg_b(inst));
  const VReg numbers = vm(Op::PaddusbRM, y, repeat(8, 0x70));
  vv(Op::PshufbRR, d, x, numbers);
}

}  // namespace hoist::isa::x64
