// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of vector instructions for `bench/run simd`. Each exported function fills its data, does
// its work n times and returns a number that depends on all of it.
#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(#name)))

enum { kBytes = 65536, kFloats = 4096, kWords = 8192 };
static uint8_t bytes[kBytes] __attribute__((aligned(16)));
static uint8_t out[2 * kBytes] __attribute__((aligned(16)));
static float xs[kFloats], ys[kFloats];
static int16_t ws[kWords], zs[kWords];

static void fill(void) {
  uint32_t state = 1;
  for (int i = 0; i < kBytes; i++) {
    state = state * 1664525 + 1013904223;
    bytes[i] = (uint8_t)(state >> 24 | 1);
  }
  for (int i = 0; i < kFloats; i++) xs[i] = (float)i * 0.25f, ys[i] = 1.0f / (float)(i + 1);
  for (int i = 0; i < kWords; i++) ws[i] = (int16_t)(i * 7), zs[i] = (int16_t)(i * 3 - 999);
}

static float sum_f32(v128_t v) {
  return wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 1) +
         wasm_f32x4_extract_lane(v, 2) + wasm_f32x4_extract_lane(v, 3);
}
static int sum_i32(v128_t v) {
  return wasm_i32x4_extract_lane(v, 0) + wasm_i32x4_extract_lane(v, 1) +
         wasm_i32x4_extract_lane(v, 2) + wasm_i32x4_extract_lane(v, 3);
}

EXPORT(dot_f32) int dot_f32(int n) {
  fill();
  float total = 0;
  for (int k = 0; k < n; k++) {
    v128_t a = wasm_f32x4_const_splat(0), b = a;
    for (int i = 0; i < kFloats; i += 8) {
      a = wasm_f32x4_add(a, wasm_f32x4_mul(wasm_v128_load(xs + i), wasm_v128_load(ys + i)));
      b = wasm_f32x4_add(b, wasm_f32x4_mul(wasm_v128_load(xs + i + 4), wasm_v128_load(ys + i + 4)));
    }
    total += sum_f32(wasm_f32x4_add(a, b));
    xs[k & 1023] += 1;
  }
  return (int)total;
}

EXPORT(dot_i16) int dot_i16(int n) {
  fill();
  int total = 0;
  for (int k = 0; k < n; k++) {
    v128_t a = wasm_i32x4_const_splat(0);
    for (int i = 0; i < kWords; i += 8) {
      a = wasm_i32x4_add(a, wasm_i32x4_dot_i16x8(wasm_v128_load(ws + i), wasm_v128_load(zs + i)));
    }
    total ^= sum_i32(a);
    ws[k & 1023]++;
  }
  return total;
}

EXPORT(memchr) int find_zero(int n) {
  fill();
  int total = 0;
  for (int k = 0; k < n; k++) {
    const int at = 60000 + (k & 1023);
    bytes[at] = 0;
    for (int i = 0;; i += 16) {
      v128_t match = wasm_i8x16_eq(wasm_v128_load(bytes + i), wasm_i8x16_const_splat(0));
      if (!wasm_v128_any_true(match)) continue;
      total += i + __builtin_ctz(wasm_i8x16_bitmask(match));
      break;
    }
    bytes[at] = 1;
  }
  return total;
}

EXPORT(base64) int base64(int n) {
  fill();
  int total = 0;
  for (int k = 0; k < n; k++) {
    for (int i = 0, o = 0; i + 16 <= 48000; i += 12, o += 16) {
      v128_t in = wasm_v128_load(bytes + i);
      in = wasm_i8x16_shuffle(in, in, 1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
      // Six bits each: two of every four are in the upper half of their 16-bit lanes.
      v128_t a = wasm_v128_and(in, wasm_i32x4_const_splat(0x0fc0fc00));
      v128_t b = wasm_v128_and(in, wasm_i32x4_const_splat(0x003f03f0));
      const v128_t low = wasm_i32x4_const_splat(0xffff);
      v128_t even = wasm_v128_or(wasm_u16x8_shr(wasm_v128_and(a, low), 10),
                                 wasm_v128_andnot(wasm_u16x8_shr(a, 6), low));
      v128_t odd = wasm_v128_or(wasm_i16x8_shl(wasm_v128_and(b, low), 4),
                                wasm_v128_andnot(wasm_i16x8_shl(b, 8), low));
      v128_t index = wasm_v128_or(even, odd);
      v128_t range = wasm_u8x16_sub_sat(index, wasm_i8x16_const_splat(51));
      v128_t upper = wasm_i8x16_lt(index, wasm_i8x16_const_splat(26));
      range = wasm_v128_or(range, wasm_v128_and(upper, wasm_i8x16_const_splat(13)));
      const v128_t offsets =
          wasm_i8x16_const(71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 65, 0, 0);
      wasm_v128_store(out + o, wasm_i8x16_add(wasm_i8x16_swizzle(offsets, range), index));
    }
    total += out[k & 1023];
    bytes[k & 1023]++;
  }
  return total;
}

EXPORT(mandelbrot) int mandelbrot(int n) {
  int total = 0;
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < 256; x += 4) {
      v128_t column = wasm_f32x4_add(wasm_f32x4_splat((float)x), wasm_f32x4_const(0, 1, 2, 3));
      v128_t cr = wasm_f32x4_sub(wasm_f32x4_mul(column, wasm_f32x4_const_splat(3.0f / 256)),
                                 wasm_f32x4_const_splat(2));
      v128_t ci = wasm_f32x4_splat((float)(y & 255) * (2.0f / 256) - 1);
      v128_t zr = wasm_f32x4_const_splat(0), zi = zr, count = zr;
      for (int i = 0; i < 100; i++) {
        v128_t r2 = wasm_f32x4_mul(zr, zr), i2 = wasm_f32x4_mul(zi, zi);
        v128_t inside = wasm_f32x4_lt(wasm_f32x4_add(r2, i2), wasm_f32x4_const_splat(4));
        if (!wasm_v128_any_true(inside)) break;
        count = wasm_i32x4_sub(count, inside);
        zi = wasm_f32x4_add(wasm_f32x4_mul(wasm_f32x4_add(zr, zr), zi), ci);
        zr = wasm_f32x4_add(wasm_f32x4_sub(r2, i2), cr);
      }
      total += sum_i32(count);
    }
  }
  return total;
}

static v128_t rotate(v128_t x, uint32_t by) {
  return wasm_v128_or(wasm_i32x4_shl(x, by), wasm_u32x4_shr(x, 32 - by));
}
static void quarter_round(v128_t v[4]) {
  v[0] = wasm_i32x4_add(v[0], v[1]), v[3] = rotate(wasm_v128_xor(v[3], v[0]), 16);
  v[2] = wasm_i32x4_add(v[2], v[3]), v[1] = rotate(wasm_v128_xor(v[1], v[2]), 12);
  v[0] = wasm_i32x4_add(v[0], v[1]), v[3] = rotate(wasm_v128_xor(v[3], v[0]), 8);
  v[2] = wasm_i32x4_add(v[2], v[3]), v[1] = rotate(wasm_v128_xor(v[1], v[2]), 7);
}

EXPORT(chacha20) int chacha20(int n) {
  fill();
  int total = 0;
  for (int k = 0; k < n; k++) {
    v128_t v[4] = {wasm_i32x4_const_splat(0x61707865), wasm_v128_load(bytes),
                   wasm_v128_load(bytes + 16), wasm_i32x4_make(k, 0, 0, 0)};
    for (int i = 0; i < 10; i++) {
      quarter_round(v);
      v[1] = wasm_i32x4_shuffle(v[1], v[1], 1, 2, 3, 0);
      v[2] = wasm_i32x4_shuffle(v[2], v[2], 2, 3, 0, 1);
      v[3] = wasm_i32x4_shuffle(v[3], v[3], 3, 0, 1, 2);
      quarter_round(v);
      v[1] = wasm_i32x4_shuffle(v[1], v[1], 3, 0, 1, 2);
      v[2] = wasm_i32x4_shuffle(v[2], v[2], 2, 3, 0, 1);
      v[3] = wasm_i32x4_shuffle(v[3], v[3], 1, 2, 3, 0);
    }
    total += sum_i32(wasm_v128_xor(wasm_v128_xor(v[0], v[1]), wasm_v128_xor(v[2], v[3])));
  }
  return total;
}

EXPORT(blend) int blend(int n) {
  fill();
  const v128_t alpha = wasm_i16x8_const_splat(77), beta = wasm_i16x8_const_splat(179);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < kBytes / 2; i += 16) {
      v128_t s = wasm_v128_load(bytes + i), d = wasm_v128_load(bytes + kBytes / 2 + i);
      v128_t low = wasm_i16x8_add(wasm_i16x8_mul(wasm_u16x8_extend_low_u8x16(s), alpha),
                                  wasm_i16x8_mul(wasm_u16x8_extend_low_u8x16(d), beta));
      v128_t high = wasm_i16x8_add(wasm_i16x8_mul(wasm_u16x8_extend_high_u8x16(s), alpha),
                                   wasm_i16x8_mul(wasm_u16x8_extend_high_u8x16(d), beta));
      wasm_v128_store(out + i,
                      wasm_u8x16_narrow_i16x8(wasm_u16x8_shr(low, 8), wasm_u16x8_shr(high, 8)));
    }
    bytes[k & 1023]++;
  }
  return out[5];
}

EXPORT(minmax) int minmax(int n) {
  fill();
  v128_t least = wasm_f32x4_const_splat(1e9f), most = wasm_f32x4_const_splat(-1e9f);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < kFloats; i += 4) {
      v128_t v = wasm_v128_load(xs + i);
      least = wasm_f32x4_min(least, v);
      most = wasm_f32x4_max(most, v);
    }
    xs[k & 1023] += 1;
  }
  return (int)(sum_f32(least) + sum_f32(most));
}
