/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Instantiation that ends with a trap, and imports that do not fit. */
#include "support.h"

static void check_failure(wasm_store_t* store, const char* text, const char* expected,
                          size_t frames) {
  wasm_module_t* module = compile(store, text);
  wasm_trap_t* trap = NULL;
  wasm_message_t message;
  wasm_frame_vec_t trace;
  CHECK(wasm_instance_new(store, module, NULL, &trap) == NULL);
  CHECK(trap != NULL);
  wasm_trap_message(trap, &message);
  if (strncmp(message.data, expected, strlen(expected)) != 0) {
    fprintf(stderr, "%s\n", message.data);
    exit(1);
  }
  wasm_name_delete(&message);
  wasm_trap_trace(trap, &trace);
  CHECK(trace.size == frames);
  /* Nobody was given the instance, but it is there. */
  if (frames != 0) CHECK(wasm_frame_instance(trace.data[0]) != NULL);
  wasm_frame_vec_delete(&trace);
  wasm_trap_delete(trap);
  CHECK(wasm_instance_new(store, module, NULL, NULL) == NULL);
  wasm_module_delete(module);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  check_failure(store, "(module (func $start (unreachable)) (start $start))", "unreachable", 1);
  check_failure(store, "(module (memory 1) (data (i32.const 65536) \"x\"))",
                "out of bounds memory access", 0);
  check_failure(store, "(module (import \"a\" \"b\" (func)))", "the module has 1 imports", 0);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
