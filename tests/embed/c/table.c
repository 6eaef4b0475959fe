/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A table of functions: reading, writing, growing, calling through it. */
#include "support.h"

static wasm_trap_t* negate(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  results->data[0] = i32(-args->data[0].of.i32);
  return NULL;
}

static bool is_set(const wasm_table_t* table, wasm_table_size_t index) {
  wasm_ref_t* ref = wasm_table_get(table, index);
  const bool found = ref != NULL;
  wasm_ref_delete(ref);
  return found;
}
static bool gives(const wasm_func_t* func, int32_t arg, int32_t index, int32_t expected) {
  wasm_val_t args[2];
  args[0] = i32(arg);
  args[1] = i32(index);
  return returns(func, 2, args, expected);
}
static bool fails(const wasm_func_t* func, int32_t index, const char* message) {
  wasm_val_t args[2];
  args[0] = i32(0);
  args[1] = i32(index);
  return traps(func, 2, args, 1, message);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module =
      compile(store,
              "(module (table (export \"table\") 2 10 funcref)"
              "  (func (export \"call_indirect\") (param i32 i32) (result i32)"
              "    (call_indirect (param i32) (result i32) (local.get 0) (local.get 1)))"
              "  (func $f (export \"f\") (param i32) (result i32) (local.get 0))"
              "  (func (export \"g\") (param i32) (result i32) (i32.const 666))"
              "  (elem (i32.const 1) $f))");
  wasm_instance_t* instance = instantiate(store, module, 0, NULL);
  wasm_module_delete(module);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  wasm_table_t* table = wasm_extern_as_table(exports.data[0]);
  const wasm_func_t* call_it = wasm_extern_as_func(exports.data[1]);
  wasm_func_t* f = wasm_extern_as_func(exports.data[2]);
  wasm_func_t* g = wasm_extern_as_func(exports.data[3]);
  wasm_functype_t* type = wasm_functype_new_1_1(wasm_valtype_new_i32(), wasm_valtype_new_i32());
  wasm_func_t* h = wasm_func_new(store, type, negate);
  wasm_functype_delete(type);

  CHECK(wasm_table_size(table) == 2);
  CHECK(!is_set(table, 0) && is_set(table, 1));
  CHECK(fails(call_it, 0, "uninitialized element") && gives(call_it, 7, 1, 7));
  CHECK(fails(call_it, 2, "undefined element"));
  wasm_ref_t* at1 = wasm_table_get(table, 1);
  CHECK(wasm_ref_same(at1, wasm_func_as_ref(f)));
  CHECK(wasm_ref_as_func(at1) == f);
  wasm_ref_delete(at1);

  CHECK(wasm_table_set(table, 0, wasm_func_as_ref(g)));
  CHECK(wasm_table_set(table, 1, NULL));
  CHECK(!wasm_table_set(table, 2, wasm_func_as_ref(f)));
  CHECK(is_set(table, 0) && !is_set(table, 1) && !is_set(table, 2));
  CHECK(gives(call_it, 7, 0, 666) && fails(call_it, 1, "uninitialized element"));

  CHECK(wasm_table_grow(table, 3, NULL) && wasm_table_size(table) == 5);
  CHECK(wasm_table_set(table, 2, wasm_func_as_ref(f)));
  CHECK(wasm_table_set(table, 3, wasm_func_as_ref(h)));
  CHECK(!wasm_table_set(table, 5, NULL));
  CHECK(is_set(table, 3) && !is_set(table, 4));
  CHECK(gives(call_it, 5, 2, 5) && gives(call_it, 6, 3, -6));
  CHECK(fails(call_it, 4, "uninitialized element") && fails(call_it, 5, "undefined element"));
  wasm_ref_t* at3 = wasm_table_get(table, 3);
  CHECK(wasm_ref_same(at3, wasm_func_as_ref(h)));
  wasm_ref_delete(at3);

  CHECK(wasm_table_grow(table, 2, wasm_func_as_ref(f)) && wasm_table_size(table) == 7);
  CHECK(is_set(table, 5) && is_set(table, 6));
  CHECK(!wasm_table_grow(table, 5, NULL));
  CHECK(wasm_table_grow(table, 3, NULL) && wasm_table_grow(table, 0, NULL));
  wasm_tabletype_t* now = wasm_table_type(table);
  CHECK(wasm_tabletype_limits(now)->min == 10 && wasm_tabletype_limits(now)->max == 10);
  wasm_tabletype_delete(now);

  wasm_func_delete(h);
  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);

  wasm_limits_t limits = {5, 5};
  wasm_tabletype_t* table_type = wasm_tabletype_new(wasm_valtype_new_funcref(), &limits);
  wasm_table_t* alone = wasm_table_new(store, table_type, NULL);
  CHECK(wasm_table_size(alone) == 5);
  CHECK(!wasm_table_grow(alone, 1, NULL) && wasm_table_grow(alone, 0, NULL));
  wasm_tabletype_delete(table_type);
  wasm_table_delete(alone);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
