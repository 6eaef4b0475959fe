// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native/libcalls.hpp"

#include "native/throw.hpp"
#include "platform/thread_locals.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace hoist::native {

namespace {

float ceil_f32(float x) {
  return std::ceil(x);
}
double ceil_f64(double x) {
  return std::ceil(x);
}
float floor_f32(float x) {
  return std::floor(x);
}
double floor_f64(double x) {
  return std::floor(x);
}
float trunc_f32(float x) {
  return std::trunc(x);
}
double trunc_f64(double x) {
  return std::trunc(x);
}
// The rounding mode is to nearest even wherever compiled code runs.
float nearest_f32(float x) {
  return std::nearbyint(x);
}
double nearest_f64(double x) {
  return std::nearbyint(x);
}
float fma_f32(float x, float y, float z) {
  return std::fma(x, y, z);
}
double fma_f64(double x, double y, double z) {
  return std::fma(x, y, z);
}
void* copy(void* to, const void* from, std::size_t size) {
  return std::memcpy(to, from, size);
}
void* move(void* to, const void* from, std::size_t size) {
  return std::memmove(to, from, size);
}
void* set(void* to, int byte, std::size_t size) {
  return std::memset(to, byte, size);
}
int compare(const void* a, const void* b, std::size_t size) {
  return std::memcmp(a, b, size);
}

// i128: what x86-64 has no instruction for. None of these traps; the divisor is not 0.
__extension__ using U128 = unsigned __int128;
__extension__ using S128 = __int128;

U128 udiv_i128(U128 x, U128 y) {
  return x / y;
}
U128 urem_i128(U128 x, U128 y) {
  return x % y;
}
U128 negated(U128 x, bool negate) {
  return negate ? U128{0} - x : x;
}
bool is_negative(U128 x) {
  return (x >> 127) != 0;
}
U128 sdiv_i128(U128 x, U128 y) {
  const U128 quotient = negated(x, is_negative(x)) / negated(y, is_negative(y));
  return negated(quotient, is_negative(x) != is_negative(y));
}
U128 srem_i128(U128 x, U128 y) {
  return negated(negated(x, is_negative(x)) % negated(y, is_negative(y)), is_negative(x));
}
template <typename Float, typename Integer>
Float to_float(Integer x) {
  return static_cast<Float>(x);
}
/// Truncates; 0 for NaN. Above the signed maximum that is the result, also of the unsigned
/// conversion, as ir/interp/floats.cpp says; below the range the nearest value.
template <typename Float>
U128 to_s128(Float x) {
  constexpr U128 kMinimum = U128{1} << 127;
  if (x != x) return 0;
  if (static_cast<double>(x) >= 0x1p127) return kMinimum - 1;
  if (static_cast<double>(x) <= -0x1p127) return kMinimum;
  return static_cast<U128>(static_cast<S128>(x));
}
template <typename Float>
U128 to_u128(Float x) {
  return x > 0 ? to_s128(x) : 0;
}

struct Libcall {
  std::string_view name;
  const void* address;
};

template <typename F>
const void* address_of(F* function) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(function));
}

}  // namespace

const void* find_libcall(std::string_view name) {
  const Libcall libcalls[] = {
      {"CeilF32", address_of(ceil_f32)},
      {"CeilF64", address_of(ceil_f64)},
      {"FloorF32", address_of(floor_f32)},
      {"FloorF64", address_of(floor_f64)},
      {"TruncF32", address_of(trunc_f32)},
      {"TruncF64", address_of(trunc_f64)},
      {"NearestF32", address_of(nearest_f32)},
      {"NearestF64", address_of(nearest_f64)},
      {"FmaF32", address_of(fma_f32)},
      {"FmaF64", address_of(fma_f64)},
      {"Memcpy", address_of(copy)},
      {"Memmove", address_of(move)},
      {"Memset", address_of(set)},
      {"Memcmp", address_of(compare)},
      {"UdivI128", address_of(udiv_i128)},
      {"SdivI128", address_of(sdiv_i128)},
      {"UremI128", address_of(urem_i128)},
      {"SremI128", address_of(srem_i128)},
      {"U128ToF32", address_of(to_float<float, U128>)},
      {"U128ToF64", address_of(to_float<double, U128>)},
      {"S128ToF32", address_of(to_float<float, S128>)},
      {"S128ToF64", address_of(to_float<double, S128>)},
      {"F32ToU128", address_of(to_u128<float>)},
      {"F64ToU128", address_of(to_u128<double>)},
      {"F32ToS128", address_of(to_s128<float>)},
      {"F64ToS128", address_of(to_s128<double>)},
      {"ElfTlsGetAddr", platform::thread_local_lookup()},
      {"__cranelift_throw", throw_function()},
  };
  for (const Libcall& libcall : libcalls) {
    if (libcall.name == name) return libcall.address;
  }
  return nullptr;
}

}  // namespace hoist::native
