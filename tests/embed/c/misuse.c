/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * What no program should do, and what it gets: null, false, an empty vector, or a trap that says
 * so. */
#include "support.h"

static const char kModule[] =
    "(module (import \"\" \"f\" (func $f (param i32) (result i32)))"
    "  (func (export \"run\") (param i32) (result i32) (call $f (local.get 0)))"
    "  (memory (export \"memory\") 1) (table (export \"table\") 1 funcref)"
    "  (global (export \"global\") (mut i64) (i64.const 0))"
    "  (table (export \"externs\") 1 externref)"
    "  (func (export \"take\") (param externref)))";

static wasm_store_t* doomed = NULL;
static int finalized = 0;
static void finalize(void* env) {
  (void)env;
  ++finalized;
}

static wasm_trap_t* host(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)env;
  const int32_t what = args->data[0].of.i32;
  if (what == 1) {
    wasm_val_t wrong = WASM_F32_VAL(1);
    results->data[0] = wrong;
  } else if (what == 2) {
    wasm_store_delete(doomed);
  } else if (what == 3) {
    results->data[0].kind = 77;
  }
  return NULL;
}

static wasm_instance_t* make(wasm_store_t* store, wasm_func_t** func) {
  wasm_functype_t* type = wasm_functype_new_1_1(wasm_valtype_new_i32(), wasm_valtype_new_i32());
  *func = wasm_func_new_with_env(store, type, host, NULL, finalize);
  wasm_functype_delete(type);
  wasm_module_t* module = compile(store, kModule);
  wasm_extern_t* imports[1];
  imports[0] = wasm_func_as_extern(*func);
  wasm_instance_t* instance = instantiate(store, module, 1, imports);
  wasm_module_delete(module);
  return instance;
}

static void check_nulls(wasm_store_t* store) {
  wasm_byte_vec_t bytes;
  wasm_extern_vec_t externs;
  wasm_importtype_vec_t imports;
  wasm_frame_vec_t frames;
  wasm_val_t val = i32(1);
  wasm_trap_t* trap = NULL;
  CHECK(wasm_engine_new_with_config(NULL) == NULL && wasm_store_new(NULL) == NULL);
  CHECK(wasm_module_new(NULL, NULL) == NULL && wasm_module_new(store, NULL) == NULL);
  CHECK(!wasm_module_validate(store, NULL) && wasm_module_deserialize(store, NULL) == NULL);
  wasm_module_serialize(NULL, &bytes);
  CHECK(bytes.size == 0 && bytes.data == NULL);
  wasm_module_imports(NULL, &imports);
  CHECK(imports.size == 0);
  CHECK(wasm_module_share(NULL) == NULL && wasm_module_obtain(store, NULL) == NULL);
  CHECK(wasm_instance_new(NULL, NULL, NULL, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);
  wasm_instance_exports(NULL, &externs);
  CHECK(externs.size == 0);
  CHECK(wasm_func_new(store, NULL, NULL) == NULL && wasm_func_type(NULL) == NULL);
  trap = wasm_func_call(NULL, NULL, NULL);
  CHECK(trap != NULL);
  wasm_trap_trace(trap, &frames);
  CHECK(frames.size == 0 && wasm_trap_origin(trap) == NULL);
  wasm_trap_delete(trap);
  CHECK(wasm_global_new(store, NULL, &val) == NULL && wasm_table_new(store, NULL, NULL) == NULL);
  CHECK(wasm_memory_new(store, NULL) == NULL && wasm_memory_data(NULL) == NULL);
  wasm_global_get(NULL, &val);
  CHECK(wasm_table_get(NULL, 0) == NULL && !wasm_table_set(NULL, 0, NULL));
  CHECK(!wasm_table_grow(NULL, 1, NULL) && !wasm_memory_grow(NULL, 1));
  CHECK(wasm_ref_copy(NULL) == NULL && wasm_ref_get_host_info(NULL) == NULL);
  CHECK(wasm_func_as_ref(NULL) == NULL && wasm_ref_as_func(NULL) == NULL);
  CHECK(wasm_extern_type(NULL) == NULL && wasm_extern_as_func(NULL) == NULL);
  CHECK(wasm_valtype_new(5) == NULL && wasm_valtype_copy(NULL) == NULL);
  CHECK(wasm_functype_new(NULL, NULL) == NULL && wasm_functype_params(NULL) == NULL);
  CHECK(wasm_globaltype_new(NULL, WASM_VAR) == NULL);
  CHECK(wasm_globaltype_new(wasm_valtype_new_i32(), 9) == NULL);
  wasm_limits_t limits = {1, 2};
  CHECK(wasm_tabletype_new(wasm_valtype_new_i32(), &limits) == NULL);
  CHECK(wasm_tabletype_new(wasm_valtype_new_funcref(), NULL) == NULL);
  CHECK(wasm_memorytype_new(NULL) == NULL && wasm_importtype_new(NULL, NULL, NULL) == NULL);
  CHECK(wasm_trap_new(NULL, NULL) == NULL && wasm_foreign_new(NULL) == NULL);
  wasm_valtype_vec_t holes;
  wasm_valtype_vec_t none = WASM_EMPTY_VEC;
  wasm_valtype_vec_new_uninitialized(&holes, 2);
  CHECK(wasm_functype_new(&holes, &none) == NULL);
  wasm_byte_vec_new_uninitialized(&bytes, SIZE_MAX);
  CHECK(bytes.size == 0 && bytes.data == NULL);
  wasm_val_vec_t huge;
  wasm_val_vec_new_uninitialized(&huge, SIZE_MAX / 2);
  CHECK(huge.size == 0 && huge.data == NULL);
  limits.min = 3;
  wasm_memorytype_t* reversed = wasm_memorytype_new(&limits);
  CHECK(wasm_memory_new(store, reversed) == NULL);
  wasm_memorytype_delete(reversed);

  wasm_ref_delete(NULL);
  wasm_func_delete(NULL);
  wasm_extern_vec_delete(NULL);
  wasm_val_delete(NULL);
  wasm_engine_delete(NULL);
  wasm_store_delete(NULL);
  wasm_config_delete(NULL);
  wasm_frame_delete(NULL);
  wasm_externtype_delete(NULL);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_store_t* other = wasm_store_new(engine);
  check_nulls(store);
  wasm_func_t* func;
  wasm_func_t* other_func;
  wasm_instance_t* instance = make(store, &func);
  wasm_instance_t* other_instance = make(other, &other_func);
  wasm_extern_vec_t exports;
  wasm_extern_vec_t other_exports;
  wasm_instance_exports(instance, &exports);
  wasm_instance_exports(other_instance, &other_exports);
  const wasm_func_t* run = wasm_extern_as_func(exports.data[0]);
  wasm_memory_t* memory = wasm_extern_as_memory(exports.data[1]);
  wasm_table_t* table = wasm_extern_as_table(exports.data[2]);
  wasm_global_t* global = wasm_extern_as_global(exports.data[3]);
  wasm_table_t* externs = wasm_extern_as_table(exports.data[4]);
  const wasm_func_t* take = wasm_extern_as_func(exports.data[5]);

  /* Wrong numbers and kinds of values. */
  wasm_val_t args[2];
  args[0] = i32(0);
  args[1] = i32(0);
  CHECK(returns(run, 1, args, 0));
  CHECK(traps(run, 0, NULL, 1, "'run' takes 1 arguments, but 0 were given"));
  CHECK(traps(run, 2, args, 1, "'run' takes 1 arguments, but 2 were given"));
  CHECK(traps(run, 1, NULL, 1, "'run' takes 1 arguments"));
  CHECK(traps(run, 1, args, 0, "'run' has 1 results, but room for 0 was given"));
  args[0].kind = WASM_I64;
  CHECK(traps(run, 1, args, 1, "argument 0 is i64, but must be i32"));
  args[0].kind = 99;
  CHECK(traps(run, 1, args, 1, "argument 0 is unknown kind 99, but must be i32"));
  args[0] = i32(1);
  CHECK(traps(run, 1, args, 1, "result of a host function 0 is f32, but must be i32"));
  args[0] = i32(3);
  CHECK(traps(run, 1, args, 1, "result of a host function 0 is unknown kind 77"));

  /* Things of another store. */
  wasm_ref_t* foreign = wasm_foreign_as_ref(wasm_foreign_new(other));
  wasm_val_t ref_arg = WASM_REF_VAL(foreign);
  CHECK(traps(take, 1, &ref_arg, 0, "argument 0 is a reference of another store"));
  CHECK(!wasm_table_set(table, 0, wasm_func_as_ref(other_func)));
  CHECK(!wasm_table_set(table, 0, foreign) && !wasm_table_set(externs, 0, foreign));
  CHECK(!wasm_table_grow(externs, 1, foreign) && wasm_table_size(externs) == 1);
  /* Not a function. */
  CHECK(!wasm_table_set(table, 0, wasm_memory_as_ref(memory)));
  CHECK(wasm_table_set(externs, 0, wasm_memory_as_ref(memory)));
  wasm_module_t* module = compile(store, kModule);
  wasm_trap_t* trap = NULL;
  wasm_extern_t* imports[1];
  imports[0] = wasm_func_as_extern(other_func);
  wasm_extern_vec_t import_vec = WASM_ARRAY_VEC(imports);
  CHECK(wasm_instance_new(store, module, &import_vec, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);
  imports[0] = wasm_memory_as_extern(memory);
  CHECK(wasm_instance_new(store, module, &import_vec, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);
  imports[0] = NULL;
  CHECK(wasm_instance_new(store, module, &import_vec, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);

  /* A store that a host function deletes ends when the call has returned. */
  doomed = other;
  args[0] = i32(2);
  CHECK(finalized == 0);
  CHECK(returns(wasm_extern_as_func(other_exports.data[0]), 1, args, 0));
  CHECK(finalized == 1);
  CHECK(traps(wasm_extern_as_func(other_exports.data[0]), 1, args, 1,
              "the function's store is gone"));

  /* Things of a store that is gone. */
  wasm_store_delete(store);
  CHECK(finalized == 2);
  CHECK(traps(run, 1, args, 1, "the function's store is gone"));
  CHECK(wasm_memory_data(memory) == NULL && wasm_memory_size(memory) == 0);
  CHECK(!wasm_memory_grow(memory, 1) && wasm_memory_type(memory) == NULL);
  CHECK(wasm_table_get(table, 0) == NULL && !wasm_table_set(table, 0, NULL));
  CHECK(wasm_table_size(table) == 0 && !wasm_table_grow(table, 1, NULL));
  wasm_val_t value;
  wasm_global_get(global, &value);
  wasm_global_set(global, &value);
  CHECK(wasm_global_type(global) == NULL);
  wasm_extern_vec_t none;
  wasm_instance_exports(instance, &none);
  CHECK(none.size == 0);
  wasm_functype_t* type = wasm_func_type(run);
  CHECK(type != NULL);
  wasm_functype_delete(type);
  wasm_importtype_vec_t types;
  wasm_module_imports(module, &types);
  CHECK(types.size == 1);
  wasm_importtype_vec_delete(&types);

  wasm_ref_delete(foreign);
  wasm_module_delete(module);
  wasm_func_delete(func);
  wasm_func_delete(other_func);
  wasm_instance_delete(instance);
  wasm_instance_delete(other_instance);
  wasm_extern_vec_delete(&exports);
  wasm_extern_vec_delete(&other_exports);
  wasm_engine_delete(engine);
  return 0;
}
