// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vectors of wasm.h. Their memory comes from calloc; running out of it gives an empty vector,
// since sizes may come from a guest.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "hoist.h"
#include "wasm.h"

namespace {

template <typename Vec>
void make_uninitialized(Vec* out, std::size_t size) {
  if (out == nullptr) return;
  *out = {0, nullptr};
  // Sanitizers end the process about what malloc would refuse.
  constexpr std::size_t kMost = PTRDIFF_MAX / sizeof(*out->data);
  if (size == 0 || size > kMost) return;
  void* data = std::calloc(size, sizeof(*out->data));
  if (data == nullptr) return;
  out->size = size;
  out->data = static_cast<decltype(out->data)>(data);
}

template <typename Vec, typename Element>
void make(Vec* out, std::size_t size, const Element* elements) {
  make_uninitialized(out, elements == nullptr ? 0 : size);
  if (out == nullptr || out->size == 0) return;
  std::memcpy(static_cast<void*>(out->data), elements, size * sizeof(Element));
}

template <typename Vec>
std::size_t size_of(const Vec* vec) {
  return vec == nullptr || vec->data == nullptr ? 0 : vec->size;
}

/// The vector's memory; its elements are gone already.
template <typename Vec>
void release(Vec& vec) {
  std::free(vec.data);
  vec = {0, nullptr};
}

}  // namespace

extern "C" {

#define HOIST_C_COMMON_VEC(name)                                                    \
  void wasm_##name##_vec_new_empty(wasm_##name##_vec_t* out) {                      \
    make_uninitialized(out, 0);                                                     \
  }                                                                                 \
  void wasm_##name##_vec_new_uninitialized(wasm_##name##_vec_t* out, size_t size) { \
    make_uninitialized(out, size);                                                  \
  }

#define HOIST_C_POINTER_VEC(name)                                                          \
  HOIST_C_COMMON_VEC(name)                                                                 \
  void wasm_##name##_vec_new(wasm_##name##_vec_t* out, size_t size,                        \
                             wasm_##name##_t* const elements[]) {                          \
    make(out, size, elements);                                                             \
  }                                                                                        \
  void wasm_##name##_vec_copy(wasm_##name##_vec_t* out, const wasm_##name##_vec_t* from) { \
    make_uninitialized(out, size_of(from));                                                \
    for (std::size_t i = 0; out != nullptr && i < out->size; ++i) {                        \
      out->data[i] = wasm_##name##_copy(from->data[i]);                                    \
    }                                                                                      \
  }                                                                                        \
  void wasm_##name##_vec_delete(wasm_##name##_vec_t* vec) {                                \
    if (vec == nullptr || vec->data == nullptr) return;                                    \
    for (std::size_t i = 0; i < vec->size; ++i) wasm_##name##_delete(vec->data[i]);        \
    release(*vec);                                                                         \
  }
#include "api/c/tables.def"

HOIST_C_COMMON_VEC(byte)
void wasm_byte_vec_new(wasm_byte_vec_t* out, size_t size, const wasm_byte_t elements[]) {
  make(out, size, elements);
}
void wasm_byte_vec_copy(wasm_byte_vec_t* out, const wasm_byte_vec_t* from) {
  make(out, from == nullptr ? 0 : from->size, from == nullptr ? nullptr : from->data);
}
void wasm_byte_vec_delete(wasm_byte_vec_t* vec) {
  if (vec != nullptr) release(*vec);
}

HOIST_C_COMMON_VEC(val)
void wasm_val_vec_new(wasm_val_vec_t* out, size_t size, const wasm_val_t elements[]) {
  make(out, size, elements);
}
void wasm_val_vec_copy(wasm_val_vec_t* out, const wasm_val_vec_t* from) {
  make_uninitialized(out, size_of(from));
  for (std::size_t i = 0; out != nullptr && i < out->size; ++i) {
    wasm_val_copy(&out->data[i], &from->data[i]);
  }
}
void wasm_val_vec_delete(wasm_val_vec_t* vec) {
  if (vec == nullptr || vec->data == nullptr) return;
  for (std::size_t i = 0; i < vec->size; ++i) wasm_val_delete(&vec->data[i]);
  release(*vec);
}

}  // extern "C"
