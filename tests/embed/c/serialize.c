/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A compiled module written and read back; damage is noticed. */
#include "support.h"

static int calls = 0;
static wasm_trap_t* hello(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)args;
  (void)results;
  ++calls;
  return NULL;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(
      store, "(module (import \"\" \"hello\" (func $h)) (func (export \"run\") (call $h)))");
  wasm_byte_vec_t bytes;
  hoist_error_t* error = NULL;
  if (!hoist_module_serialize(module, &bytes, &error)) {
    fprintf(stderr, "%s\n", hoist_error_message(error));
    return 1;
  }
  wasm_module_delete(module);
  CHECK(bytes.size > 0);

  /* Damaged or cut off: an error, here and in the plain form. */
  bytes.data[bytes.size / 2] ^= 1;
  CHECK(hoist_module_deserialize(store, &bytes, &error) == NULL);
  CHECK(strlen(hoist_error_message(error)) > 0);
  hoist_error_delete(error);
  bytes.data[bytes.size / 2] ^= 1;
  wasm_byte_vec_t cut = bytes;
  cut.size /= 2;
  CHECK(wasm_module_deserialize(store, &cut) == NULL);
  cut.size = 0;
  CHECK(wasm_module_deserialize(store, &cut) == NULL);

  wasm_module_t* again = wasm_module_deserialize(store, &bytes);
  CHECK(again != NULL);
  wasm_byte_vec_delete(&bytes);
  wasm_functype_t* type = wasm_functype_new_0_0();
  wasm_func_t* func = wasm_func_new(store, type, hello);
  wasm_functype_delete(type);
  wasm_extern_t* imports[1];
  imports[0] = wasm_func_as_extern(func);
  wasm_instance_t* instance = instantiate(store, again, 1, imports);
  wasm_func_delete(func);
  wasm_module_delete(again);
  wasm_extern_t* run = hoist_instance_export(instance, "run");
  wasm_instance_delete(instance);
  CHECK(wasm_func_call(wasm_extern_as_func(run), NULL, NULL) == NULL);
  CHECK(calls == 1);
  wasm_extern_delete(run);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
