/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A guest, from bytes, that calls the host. */
#include "support.h"

static int calls = 0;

static wasm_trap_t* hello(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  CHECK(args->size == 0 && results->size == 0);
  ++calls;
  return NULL;
}

/* (module (import "" "hello" (func)) (func (export "run") call 0)) */
static const char kBytes[] =
    "\0asm\1\0\0\0"
    "\1\4\1\x60\0\0"
    "\2\x0a\1\0\5hello\0\0"
    "\3\2\1\0"
    "\7\7\1\3run\0\1"
    "\x0a\6\1\4\0\x10\0\x0b";

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  CHECK(engine != NULL && store != NULL);

  wasm_byte_vec_t binary;
  wasm_byte_vec_new(&binary, sizeof kBytes - 1, kBytes);
  CHECK(wasm_module_validate(store, &binary));
  wasm_module_t* module = wasm_module_new(store, &binary);
  CHECK(module != NULL);
  binary.data[0] = 'x';
  CHECK(!wasm_module_validate(store, &binary));
  CHECK(wasm_module_new(store, &binary) == NULL);
  wasm_byte_vec_delete(&binary);

  wasm_functype_t* type = wasm_functype_new_0_0();
  wasm_func_t* func = wasm_func_new(store, type, hello);
  wasm_functype_delete(type);

  wasm_extern_t* externs[1];
  externs[0] = wasm_func_as_extern(func);
  wasm_extern_vec_t imports = WASM_ARRAY_VEC(externs);
  wasm_instance_t* instance = wasm_instance_new(store, module, &imports, NULL);
  CHECK(instance != NULL);
  wasm_func_delete(func);

  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  CHECK(exports.size == 1);
  const wasm_func_t* run = wasm_extern_as_func(exports.data[0]);
  CHECK(run != NULL);
  wasm_module_delete(module);
  wasm_instance_delete(instance);

  wasm_val_vec_t none = WASM_EMPTY_VEC;
  CHECK(wasm_func_call(run, &none, &none) == NULL);
  CHECK(wasm_func_call(run, NULL, NULL) == NULL);
  CHECK(calls == 2);
  wasm_extern_vec_delete(&exports);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
