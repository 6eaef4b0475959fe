/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Values to and from host functions, with and without an environment. */
#include "support.h"

static int32_t printed = 0;

static wasm_trap_t* print(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  CHECK(args->size == 1 && args->data[0].kind == WASM_I32);
  printed = args->data[0].of.i32;
  wasm_val_copy(&results->data[0], &args->data[0]);
  return NULL;
}

static wasm_trap_t* closure(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  CHECK(args->size == 0);
  results->data[0].kind = WASM_I32;
  results->data[0].of.i32 = *(int*)env;
  return NULL;
}

static int finalized = 0;
static void finalize(void* env) {
  CHECK(*(int*)env == 42);
  ++finalized;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module =
      compile(store,
              "(module (import \"\" \"print\" (func $p (param i32) (result i32)))"
              "  (import \"\" \"closure\" (func $c (result i32)))"
              "  (func (export \"run\") (param i32 i32) (result i32)"
              "    (call $p (i32.add (local.get 0) (local.get 1)))"
              "    (call $c) i32.add))");
  wasm_functype_t* print_type =
      wasm_functype_new_1_1(wasm_valtype_new_i32(), wasm_valtype_new_i32());
  wasm_func_t* print_func = wasm_func_new(store, print_type, print);
  int i = 42;
  wasm_functype_t* closure_type = wasm_functype_new_0_1(wasm_valtype_new_i32());
  wasm_func_t* closure_func = wasm_func_new_with_env(store, closure_type, closure, &i, finalize);
  wasm_functype_delete(print_type);
  wasm_functype_delete(closure_type);
  CHECK(wasm_func_param_arity(print_func) == 1 && wasm_func_result_arity(closure_func) == 1);

  wasm_extern_t* imports[2];
  imports[0] = wasm_func_as_extern(print_func);
  imports[1] = wasm_func_as_extern(closure_func);
  wasm_instance_t* instance = instantiate(store, module, 2, imports);
  wasm_func_delete(print_func);
  wasm_func_delete(closure_func);

  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  wasm_module_delete(module);
  wasm_instance_delete(instance);
  wasm_val_t args[2];
  args[0] = i32(3);
  args[1] = i32(4);
  CHECK(returns(wasm_extern_as_func(exports.data[0]), 2, args, 49));
  CHECK(printed == 7);
  wasm_extern_vec_delete(&exports);

  CHECK(finalized == 0);
  wasm_store_delete(store);
  CHECK(finalized == 1);
  wasm_engine_delete(engine);
  return 0;
}
