/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * How long foreign objects live that guests hold. */
#include "support.h"

static wasm_store_t* store;
static int finalized = 0;
static void finalize(void* info) {
  CHECK(info == &finalized);
  ++finalized;
}
static wasm_ref_t* make(void) {
  wasm_foreign_t* object = wasm_foreign_new(store);
  wasm_foreign_set_host_info_with_finalizer(object, &finalized, finalize);
  return wasm_foreign_as_ref(object);
}

static wasm_trap_t* collect(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)args;
  (void)results;
  hoist_store_collect(store);
  return NULL;
}
static wasm_trap_t* new_object(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)args;
  results->data[0].kind = WASM_EXTERNREF;
  results->data[0].of.ref = make();
  return NULL;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  hoist_store_limits_t limits = hoist_store_limits_default();
  limits.references = 5000;
  store = hoist_store_new(engine, &limits);
  wasm_module_t* module = compile(
      store,
      "(module (import \"\" \"gc\" (func $gc)) (import \"\" \"new\" (func $new (result externref)))"
      "  (global $g (mut externref) (ref.null extern))"
      "  (func (export \"keep\") (param externref) (global.set $g (local.get 0)))"
      "  (func (export \"same\") (param externref) (result externref) (call $gc) (local.get 0))"
      "  (func (export \"both\") (result externref) (local externref)"
      "    (local.set 0 (call $new)) (drop (call $new)) (call $gc) (local.get 0)))");
  wasm_functype_t* type = wasm_functype_new_0_0();
  wasm_func_t* gc = wasm_func_new(store, type, collect);
  wasm_functype_delete(type);
  type = wasm_functype_new_0_1(wasm_valtype_new_externref());
  wasm_func_t* maker = wasm_func_new(store, type, new_object);
  wasm_functype_delete(type);
  wasm_extern_t* imports[2] = {wasm_func_as_extern(gc), wasm_func_as_extern(maker)};
  wasm_instance_t* instance = instantiate(store, module, 2, imports);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  const wasm_func_t* keep = wasm_extern_as_func(exports.data[0]);
  const wasm_func_t* same = wasm_extern_as_func(exports.data[1]);
  const wasm_func_t* both = wasm_extern_as_func(exports.data[2]);

  /* The guest's global keeps one that the host has let go; passed on and back it is the same. */
  wasm_val_t arg = WASM_REF_VAL(make());
  CHECK(call(keep, 1, &arg, 0, NULL) == NULL);
  wasm_val_t copy;
  wasm_val_copy(&copy, &arg);
  wasm_val_delete(&arg);
  for (int i = 0; i < 10000; ++i) {
    wasm_val_t result;
    CHECK(call(same, 1, &copy, 1, &result) == NULL);
    CHECK(wasm_ref_same(result.of.ref, copy.of.ref));
    wasm_val_delete(&result);
  }
  CHECK(hoist_store_references(store) == 1 && finalized == 0);
  wasm_val_delete(&copy);
  hoist_store_collect(store);
  CHECK(finalized == 0);
  wasm_val_t null = WASM_REF_VAL(NULL);
  CHECK(call(keep, 1, &null, 0, NULL) == NULL);
  hoist_store_collect(store);
  CHECK(finalized == 1 && hoist_store_references(store) == 0);

  /* What a guest makes and loses goes while it runs; what it returns is the host's. */
  wasm_val_t kept;
  CHECK(call(both, 0, NULL, 1, &kept) == NULL);
  CHECK(finalized == 2);
  hoist_store_collect(store);
  CHECK(finalized == 2);
  wasm_val_delete(&kept);
  CHECK(finalized == 3);

  /* By itself, long before the limit. */
  for (int i = 0; i < 20000; ++i) {
    wasm_val_t object = WASM_REF_VAL(make());
    wasm_val_t result;
    CHECK(call(same, 1, &object, 1, &result) == NULL);
    wasm_val_delete(&result);
    wasm_val_delete(&object);
  }
  CHECK(finalized > 15000);

  /* The rest ends with the store. */
  arg.of.ref = make();
  CHECK(call(keep, 1, &arg, 0, NULL) == NULL);
  wasm_val_delete(&arg);
  wasm_func_delete(gc);
  wasm_func_delete(maker);
  wasm_instance_delete(instance);
  wasm_extern_vec_delete(&exports);
  wasm_module_delete(module);
  wasm_store_delete(store);
  CHECK(finalized == 20004);
  wasm_engine_delete(engine);
  return 0;
}
