// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native/libcalls.hpp"

#include "native/throw.hpp"

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
      {"__cranelift_throw", throw_function()},
  };
  for (const Libcall& libcall : libcalls) {
    if (libcall.name == name) return libcall.address;
  }
  return nullptr;
}

}  // namespace hoist::native
