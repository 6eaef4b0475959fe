// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emission of float pseudo instructions: against C++ on the values that matter.
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "isa/x64/emit_test_support.hpp"

namespace hoist::isa::x64 {
namespace {

template <typename F>
std::vector<F> special_floats() {
  using L = std::numeric_limits<F>;
  std::vector<F> out = {F(0),     F(0.5),   F(1),          F(1.5),         F(123456.75),
                        L::max(), L::min(), L::infinity(), L::denorm_min()};
  for (const int power : {31, 32, 63, 64}) {
    const F edge = std::ldexp(F(1), power);
    out.insert(out.end(), {std::nextafter(edge, F(0)), edge, std::nextafter(edge, L::infinity()),
                           edge - 1, edge + 1});
    out.insert(out.end(), {F(edge - F(0.5)), F(edge + F(0.5))});
  }
  const std::size_t positive = out.size();
  for (std::size_t i = 0; i < positive; ++i) out.push_back(-out[i]);
  out.push_back(L::quiet_NaN());
  out.push_back(-L::quiet_NaN());
  return out;
}

/// The specification's truncation: the value, or the trap.
template <typename I, typename F>
std::optional<TrapCode> reference_trunc(F x, I& value) {
  if (std::isnan(x)) return TrapCode::BadConversion;
  const F t = std::trunc(x);
  const F limit = std::ldexp(F(1), static_cast<int>(sizeof(I) * 8 - (std::is_signed_v<I> ? 1 : 0)));
  const F lowest = std::is_signed_v<I> ? -limit : F(0);
  if (t < lowest || t >= limit) return TrapCode::IntegerOverflow;
  value = static_cast<I>(t);
  return std::nullopt;
}

template <typename I, typename F>
void check_trunc(Pseudo trapping, Pseudo saturating) {
  for (const bool saturate : {false, true}) {
    Builder b;
    const Pseudo kind = saturate ? saturating : trapping;
    MachInst* inst = nullptr;
    if (std::is_signed_v<I>) {
      inst = &b.add(kind, sizeof(I), {def(rax), use(xmm0)});
    } else if (sizeof(I) == 4) {
      inst = &b.add(kind, sizeof(I), {def(rax), def(rcx), use(xmm0)});
    } else {
      inst = &b.add(kind, sizeof(I), {def(rax), def(rcx), def(xmm2), use(xmm0)});
    }
    inst->cc = sizeof(F);
    b.ret();
    Runnable code(b.emit());
    for (const F x : special_floats<F>()) {
      I want = 0;
      std::optional<TrapCode> want_trap = reference_trunc<I, F>(x, want);
      if (saturate && want_trap) {
        want = std::isnan(x) ? I(0)
               : x < 0       ? std::numeric_limits<I>::min()
                             : std::numeric_limits<I>::max();
        want_trap = std::nullopt;
      }
      std::uint64_t value = 0;
      EXPECT_EQ(code.call(value, x), want_trap) << x;
      if (want_trap) continue;
      // The whole register: 32-bit results are zero-extended.
      EXPECT_EQ(value, static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<I>>(want))) << x;
    }
  }
}

TEST(Emit, FloatToInteger) {
  check_trunc<std::int32_t, float>(Pseudo::TruncS, Pseudo::TruncSatS);
  check_trunc<std::int32_t, double>(Pseudo::TruncS, Pseudo::TruncSatS);
  check_trunc<std::int64_t, float>(Pseudo::TruncS, Pseudo::TruncSatS);
  check_trunc<std::int64_t, double>(Pseudo::TruncS, Pseudo::TruncSatS);
  check_trunc<std::uint32_t, float>(Pseudo::TruncU32, Pseudo::TruncSatU32);
  check_trunc<std::uint32_t, double>(Pseudo::TruncU32, Pseudo::TruncSatU32);
  check_trunc<std::uint64_t, float>(Pseudo::TruncU64, Pseudo::TruncSatU64);
  check_trunc<std::uint64_t, double>(Pseudo::TruncU64, Pseudo::TruncSatU64);
}

template <typename F>
void check_from_integer() {
  constexpr std::uint64_t kValues[] = {0,
                                       1,
                                       0x7fff'ffff,
                                       0x8000'0000,
                                       0xffff'ffff,
                                       0x20'0000'0000'0001,
                                       0x7fff'ffff'ffff'ffff,
                                       0x8000'0000'0000'0000,
                                       0x8000'0000'0000'0401,
                                       0x8000'0080'0000'0001,
                                       0xffff'ffff'ffff'fbff,
                                       0xffff'ffff'ffff'ffff};
  Builder u;
  u.add(Pseudo::U64ToFloat, 8, {def(xmm0), def(rcx), use(rdi)}).cc = sizeof(F);
  u.ret();
  Runnable from_u64(u.emit());
  for (const unsigned width : {4u, 8u}) {
    Builder s;
    s.add(Pseudo::IntToFloat, width, {def(xmm0), use(rdi)}).cc = sizeof(F);
    s.ret();
    Runnable from_int(s.emit());
    for (const std::uint64_t x : kValues) {
      F value = 0;
      from_u64.call(value, x);
      EXPECT_EQ(value, static_cast<F>(x)) << x;
      from_int.call(value, x);
      EXPECT_EQ(value, width == 4 ? static_cast<F>(static_cast<std::int32_t>(x))
                                  : static_cast<F>(static_cast<std::int64_t>(x)));
    }
  }
}

TEST(Emit, IntegerToFloat) {
  check_from_integer<float>();
  check_from_integer<double>();
}

template <typename F, typename Bits>
void check_minmax() {
  for (const bool is_max : {false, true}) {
    Builder b;
    b.add(Pseudo::FMinMax, sizeof(F), {def(xmm0), use(xmm0), use(xmm1)}).cc = is_max;
    b.ret();
    Runnable code(b.emit());
    for (const F x : special_floats<F>()) {
      for (const F y : special_floats<F>()) {
        F value = 0;
        code.call(value, x, y);
        if (std::isnan(x) || std::isnan(y)) {
          EXPECT_TRUE(std::isnan(value));
          continue;
        }
        F want = is_max ? std::max(x, y) : std::min(x, y);
        if (x == 0 && y == 0) {
          const bool negative =
              is_max ? std::signbit(x) && std::signbit(y) : std::signbit(x) || std::signbit(y);
          want = negative ? -F(0) : F(0);
        }
        EXPECT_EQ(std::bit_cast<Bits>(value), std::bit_cast<Bits>(want)) << x << ' ' << y;
      }
    }
  }
}

TEST(Emit, FloatMinimumAndMaximum) {
  check_minmax<float, std::uint32_t>();
  check_minmax<double, std::uint64_t>();
}

TEST(Emit, FloatSelect) {
  Builder b;
  b.add(Op::TestRR, 8, {use(rdi), use(rdi)});
  b.add(Pseudo::FSelect, 8, {def(xmm0), use(xmm0), use(xmm1)}).cc =
      static_cast<std::uint8_t>(Cc::Ne);
  b.ret();
  Runnable code(b.emit());
  double value = 0;
  code.call(value, 1.5, 2.5, std::uint64_t{0});
  EXPECT_EQ(value, 1.5);
  code.call(value, 1.5, 2.5, std::uint64_t{1});
  EXPECT_EQ(value, 2.5);
}
}  // namespace
}  // namespace hoist::isa::x64
