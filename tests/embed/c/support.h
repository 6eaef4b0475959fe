/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For the test programs of the C API, which are compiled as C and as C++. Each follows the flow of
 * the example of that name that came with the interface. They say nothing and end with 0 if all is
 * well.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdio.h>
#include <stdlib.h>

#include "hoist.h"
#include "wasm.h"

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

static inline wasm_val_t i32(int32_t value) {
  wasm_val_t out = WASM_I32_VAL(value);
  return out;
}

/* Ends the program if the text is no good module. */
static inline wasm_module_t* compile(wasm_store_t* store, const char* text) {
  hoist_error_t* error = NULL;
  wasm_module_t* module = hoist_module_from_text(store, text, strlen(text), &error);
  if (module == NULL) {
    fprintf(stderr, "%s\n", hoist_error_message(error));
    exit(1);
  }
  return module;
}

static inline wasm_instance_t* instantiate(wasm_store_t* store, const wasm_module_t* module,
                                           size_t count, wasm_extern_t** imports) {
  wasm_extern_vec_t vec;
  wasm_trap_t* trap = NULL;
  vec.size = count;
  vec.data = imports;
  wasm_instance_t* instance = wasm_instance_new(store, module, &vec, &trap);
  if (instance == NULL) {
    wasm_message_t message;
    wasm_trap_message(trap, &message);
    fprintf(stderr, "%s\n", message.data);
    exit(1);
  }
  CHECK(trap == NULL);
  return instance;
}

/* Null if it returned. */
static inline wasm_trap_t* call(const wasm_func_t* func, size_t num_args, wasm_val_t* args,
                                size_t num_results, wasm_val_t* results) {
  wasm_val_vec_t arg_vec;
  wasm_val_vec_t result_vec;
  arg_vec.size = num_args;
  arg_vec.data = args;
  result_vec.size = num_results;
  result_vec.data = results;
  return wasm_func_call(func, &arg_vec, &result_vec);
}

/* Whether the call returned `expected`. */
static inline bool returns(const wasm_func_t* func, size_t num_args, wasm_val_t* args,
                           int32_t expected) {
  wasm_val_t result = i32(0);
  wasm_trap_t* trap = call(func, num_args, args, 1, &result);
  if (trap != NULL) {
    wasm_trap_delete(trap);
    return false;
  }
  return result.kind == WASM_I32 && result.of.i32 == expected;
}

/* Whether the call trapped with a message that begins so. */
static inline bool traps(const wasm_func_t* func, size_t num_args, wasm_val_t* args,
                         size_t num_results, const char* begin) {
  wasm_val_t results[4];
  wasm_message_t message;
  wasm_trap_t* trap = call(func, num_args, args, num_results, results);
  if (trap == NULL) return false;
  wasm_trap_message(trap, &message);
  const bool same = strncmp(message.data, begin, strlen(begin)) == 0;
  if (!same) fprintf(stderr, "the trap says: %s\n", message.data);
  wasm_name_delete(&message);
  wasm_trap_delete(trap);
  return same;
}

#endif
