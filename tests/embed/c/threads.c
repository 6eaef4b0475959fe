/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * One module, shared with threads that have a store each. */
#include <pthread.h>

#include "support.h"

enum { kThreads = 10, kRepetitions = 3 };

static wasm_trap_t* callback(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)results;
  CHECK(args->data[0].kind == WASM_I32);
  *(int32_t*)env += args->data[0].of.i32;
  return NULL;
}

typedef struct {
  wasm_engine_t* engine;
  wasm_shared_module_t* module;
  int32_t id;
  int32_t sum;
} thread_args;

static void* run(void* opaque) {
  thread_args* args = (thread_args*)opaque;
  wasm_store_t* store = wasm_store_new(args->engine);
  wasm_module_t* module = wasm_module_obtain(store, args->module);
  CHECK(module != NULL);
  for (int i = 0; i < kRepetitions; ++i) {
    wasm_functype_t* func_type = wasm_functype_new_1_0(wasm_valtype_new_i32());
    wasm_func_t* func = wasm_func_new_with_env(store, func_type, callback, &args->sum, NULL);
    wasm_functype_delete(func_type);
    wasm_val_t id = i32(args->id);
    wasm_globaltype_t* global_type = wasm_globaltype_new(wasm_valtype_new_i32(), WASM_CONST);
    wasm_global_t* global = wasm_global_new(store, global_type, &id);
    wasm_globaltype_delete(global_type);
    wasm_extern_t* imports[2];
    imports[0] = wasm_func_as_extern(func);
    imports[1] = wasm_global_as_extern(global);
    wasm_instance_t* instance = instantiate(store, module, 2, imports);
    wasm_func_delete(func);
    wasm_global_delete(global);
    wasm_extern_vec_t exports;
    wasm_instance_exports(instance, &exports);
    wasm_instance_delete(instance);
    CHECK(wasm_func_call(wasm_extern_as_func(exports.data[0]), NULL, NULL) == NULL);
    wasm_extern_vec_delete(&exports);
  }
  wasm_module_delete(module);
  wasm_store_delete(store);
  return NULL;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(store,
                                  "(module (func $message (import \"\" \"hello\") (param i32))"
                                  "  (global $id (import \"\" \"id\") i32)"
                                  "  (func (export \"run\") (call $message (global.get $id))))");
  wasm_shared_module_t* shared = wasm_module_share(module);
  wasm_module_delete(module);
  wasm_store_delete(store);

  static thread_args args[kThreads];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    args[i].engine = engine;
    args[i].module = shared;
    args[i].id = i + 1;
    CHECK(pthread_create(&threads[i], NULL, run, &args[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(args[i].sum == kRepetitions * (i + 1));
  }
  /* Of another engine: no. */
  wasm_engine_t* other = wasm_engine_new();
  wasm_store_t* other_store = wasm_store_new(other);
  CHECK(wasm_module_obtain(other_store, shared) == NULL);
  wasm_store_delete(other_store);
  wasm_engine_delete(other);
  wasm_shared_module_delete(shared);
  wasm_engine_delete(engine);
  return 0;
}
