/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Several values, to the host and back. */
#include "support.h"

static wasm_trap_t* turn(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  wasm_val_copy(&results->data[0], &args->data[3]);
  wasm_val_copy(&results->data[1], &args->data[1]);
  wasm_val_copy(&results->data[2], &args->data[2]);
  wasm_val_copy(&results->data[3], &args->data[0]);
  return NULL;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(
      store,
      "(module (func $f (import \"\" \"f\") (param i32 i64 i64 i32) (result i32 i64 i64 i32))"
      "  (func (export \"g\") (param i32 i64 i64 i32) (result i32 i64 i64 i32)"
      "    (call $f (local.get 0) (local.get 2) (local.get 1) (local.get 3))))");
  wasm_valtype_t* types[4];
  types[0] = wasm_valtype_new_i32();
  types[1] = wasm_valtype_new_i64();
  types[2] = wasm_valtype_new_i64();
  types[3] = wasm_valtype_new_i32();
  wasm_valtype_vec_t params, results;
  wasm_valtype_vec_new(&params, 4, types);
  wasm_valtype_vec_copy(&results, &params);
  wasm_functype_t* type = wasm_functype_new(&params, &results);
  CHECK(params.size == 0 && results.data == NULL);
  wasm_func_t* func = wasm_func_new(store, type, turn);
  wasm_functype_delete(type);
  wasm_extern_t* imports[1];
  imports[0] = wasm_func_as_extern(func);
  wasm_instance_t* instance = instantiate(store, module, 1, imports);
  wasm_func_delete(func);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  wasm_module_delete(module);
  wasm_instance_delete(instance);

  wasm_val_t args[4] = {WASM_I32_VAL(1), WASM_I64_VAL(2), WASM_I64_VAL(3), WASM_I32_VAL(4)};
  wasm_val_t out[4] = {WASM_INIT_VAL, WASM_INIT_VAL, WASM_INIT_VAL, WASM_INIT_VAL};
  CHECK(call(wasm_extern_as_func(exports.data[0]), 4, args, 4, out) == NULL);
  CHECK(out[0].of.i32 == 4 && out[1].of.i64 == 3 && out[2].of.i64 == 2 && out[3].of.i32 == 1);
  wasm_extern_vec_delete(&exports);

  wasm_val_t pointer;
  wasm_val_init_ptr(&pointer, &pointer);
  CHECK(wasm_val_ptr(&pointer) == &pointer);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
