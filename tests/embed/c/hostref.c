/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Foreign objects and functions as references that guests hold. */
#include "support.h"

static wasm_trap_t* identity(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  wasm_val_copy(&results->data[0], &args->data[0]);
  return NULL;
}

static wasm_ref_t* call_v_r(const wasm_func_t* func) {
  wasm_val_t result;
  CHECK(call(func, 0, NULL, 1, &result) == NULL);
  return result.of.ref;
}
static void call_r_v(const wasm_func_t* func, wasm_ref_t* ref) {
  wasm_val_t arg = WASM_REF_VAL(ref);
  CHECK(call(func, 1, &arg, 0, NULL) == NULL);
}
static wasm_ref_t* call_r_r(const wasm_func_t* func, wasm_ref_t* ref) {
  wasm_val_t arg = WASM_REF_VAL(ref);
  wasm_val_t result;
  CHECK(call(func, 1, &arg, 1, &result) == NULL);
  return result.of.ref;
}
static void call_ir_v(const wasm_func_t* func, int32_t i, wasm_ref_t* ref) {
  wasm_val_t args[2] = {WASM_I32_VAL(i), WASM_REF_VAL(ref)};
  CHECK(call(func, 2, args, 0, NULL) == NULL);
}
static wasm_ref_t* call_i_r(const wasm_func_t* func, int32_t i) {
  wasm_val_t arg = i32(i);
  wasm_val_t result;
  CHECK(call(func, 1, &arg, 1, &result) == NULL);
  return result.of.ref;
}

/* Gives `actual` up. */
static bool is(wasm_ref_t* actual, const wasm_ref_t* expected) {
  const bool same = wasm_ref_same(actual, expected) &&
                    wasm_ref_get_host_info(actual) == wasm_ref_get_host_info(expected);
  wasm_ref_delete(actual);
  return same;
}

static int finalized = 0;
static void finalize(void* info) {
  CHECK(info != NULL);
  ++finalized;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(
      store,
      "(module (import \"\" \"f\" (func $fun (param externref) (result externref)))"
      "  (global $g (export \"global\") (mut externref) (ref.null extern))"
      "  (table $t (export \"table\") 10 externref)"
      "  (func (export \"global.set\") (param externref) (global.set $g (local.get 0)))"
      "  (func (export \"global.get\") (result externref) (global.get $g))"
      "  (func (export \"table.set\") (param i32 externref)"
      "    (table.set $t (local.get 0) (local.get 1)))"
      "  (func (export \"table.get\") (param i32) (result externref) (table.get $t (local.get 0)))"
      "  (func (export \"func.call\") (param externref) (result externref)"
      "    (call $fun (local.get 0)))"
      "  (elem declare func $fun)"
      "  (func (export \"func.self\") (result funcref) (ref.func $fun)))");
  wasm_functype_t* type =
      wasm_functype_new_1_1(wasm_valtype_new_externref(), wasm_valtype_new_externref());
  wasm_func_t* callback = wasm_func_new(store, type, identity);
  wasm_functype_delete(type);
  wasm_extern_t* imports[1];
  imports[0] = wasm_func_as_extern(callback);
  wasm_instance_t* instance = instantiate(store, module, 1, imports);
  wasm_module_delete(module);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  wasm_global_t* global = wasm_extern_as_global(exports.data[0]);
  wasm_table_t* table = wasm_extern_as_table(exports.data[1]);
  const wasm_func_t* global_set = wasm_extern_as_func(exports.data[2]);
  const wasm_func_t* global_get = wasm_extern_as_func(exports.data[3]);
  const wasm_func_t* table_set = wasm_extern_as_func(exports.data[4]);
  const wasm_func_t* table_get = wasm_extern_as_func(exports.data[5]);
  const wasm_func_t* func_call = wasm_extern_as_func(exports.data[6]);
  const wasm_func_t* func_self = wasm_extern_as_func(exports.data[7]);

  int one = 1;
  int two = 2;
  int three = 3;
  wasm_ref_t* host1 = wasm_foreign_as_ref(wasm_foreign_new(store));
  wasm_ref_t* host2 = wasm_foreign_as_ref(wasm_foreign_new(store));
  wasm_ref_set_host_info(host1, &one);
  wasm_ref_set_host_info_with_finalizer(host2, &two, finalize);
  CHECK(is(NULL, NULL) && is(wasm_ref_copy(host1), host1) && !is(wasm_ref_copy(host1), host2));
  CHECK(wasm_ref_as_foreign(host1) != NULL && wasm_ref_as_instance(host1) == NULL);

  /* No guest sees this one: it ends at once. */
  wasm_foreign_t* unseen = wasm_foreign_new(store);
  wasm_foreign_set_host_info_with_finalizer(unseen, &three, finalize);
  wasm_foreign_delete(unseen);
  CHECK(finalized == 1);

  wasm_val_t val = WASM_REF_VAL(wasm_ref_copy(host1));
  wasm_val_t val_copy;
  wasm_val_copy(&val_copy, &val);
  CHECK(wasm_ref_same(val_copy.of.ref, host1));
  wasm_val_delete(&val);
  wasm_val_delete(&val_copy);

  CHECK(is(call_v_r(global_get), NULL));
  call_r_v(global_set, host1);
  CHECK(is(call_v_r(global_get), host1));
  call_r_v(global_set, host2);
  CHECK(is(call_v_r(global_get), host2));
  call_r_v(global_set, NULL);
  CHECK(is(call_v_r(global_get), NULL));
  wasm_global_get(global, &val);
  CHECK(val.kind == WASM_EXTERNREF && is(val.of.ref, NULL));
  val.of.ref = host2;
  wasm_global_set(global, &val);
  CHECK(is(call_v_r(global_get), host2));
  wasm_global_get(global, &val);
  CHECK(val.kind == WASM_EXTERNREF && is(val.of.ref, host2));

  CHECK(is(call_i_r(table_get, 0), NULL) && is(call_i_r(table_get, 1), NULL));
  call_ir_v(table_set, 0, host1);
  call_ir_v(table_set, 1, host2);
  CHECK(is(call_i_r(table_get, 0), host1) && is(call_i_r(table_get, 1), host2));
  call_ir_v(table_set, 0, NULL);
  CHECK(is(call_i_r(table_get, 0), NULL));
  CHECK(is(wasm_table_get(table, 2), NULL));
  CHECK(wasm_table_set(table, 2, host1));
  CHECK(is(call_i_r(table_get, 2), host1) && is(wasm_table_get(table, 2), host1));

  CHECK(is(call_r_r(func_call, NULL), NULL) && is(call_r_r(func_call, host1), host1) &&
        is(call_r_r(func_call, host2), host2));
  /* Anything of the store can be an externref. */
  CHECK(is(call_r_r(func_call, wasm_instance_as_ref(instance)), wasm_instance_as_ref(instance)));
  CHECK(is(call_r_r(func_call, wasm_func_as_ref(callback)), wasm_func_as_ref(callback)));
  /* The imported function as a reference is the function that was given. */
  CHECK(is(call_v_r(func_self), wasm_func_as_ref(callback)));

  wasm_ref_delete(host1);
  wasm_ref_delete(host2);
  CHECK(finalized == 1);
  wasm_func_delete(callback);
  wasm_instance_delete(instance);
  wasm_extern_vec_delete(&exports);
  wasm_store_delete(store);
  CHECK(finalized == 2);
  wasm_engine_delete(engine);
  return 0;
}
