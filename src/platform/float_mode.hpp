// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The floating-point control register of the running thread. Compiled code needs the default mode:
/// rounding to nearest, no flushing of subnormal numbers, exceptions masked. Nothing that Hoist
/// compiles uses the x87 unit, so its control word does not matter.

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace hoist::platform {

#if defined(__x86_64__)

inline constexpr std::uint32_t kDefaultFloatMode = 0x1f80;
inline constexpr std::uint32_t kFloatModeBits = 0xffc0;  ///< the others are sticky exception flags

inline std::uint32_t float_mode() {
  return _mm_getcsr();
}
inline void set_float_mode(std::uint32_t mode) {
  _mm_setcsr(mode);
}

#else

inline constexpr std::uint32_t kDefaultFloatMode = 0;
inline constexpr std::uint32_t kFloatModeBits = 0x07ff'9f00;

inline std::uint32_t float_mode() {
  std::uint64_t mode = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return static_cast<std::uint32_t>(mode);
}
inline void set_float_mode(std::uint32_t mode) {
  const std::uint64_t wide = mode;
  __asm__ volatile("msr fpcr, %0" : : "r"(wide));
}

#endif

inline bool is_default_float_mode(std::uint32_t mode) {
  return (mode & kFloatModeBits) == kDefaultFloatMode;
}
/// Makes sure of the default mode; writes the register only if it must.
inline void set_default_float_mode() {
  if (!is_default_float_mode(float_mode())) [[unlikely]]
    set_float_mode(kDefaultFloatMode);
}

}  // namespace hoist::platform
