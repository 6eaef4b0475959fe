/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Finalizers run exactly once: of host info, of environments, of foreign objects that a guest has
 * seen or not; whatever is deleted first, and whatever the finalizers do themselves. */
#include "support.h"

enum { kCounts = 24 };
static int counts[kCounts];
static void count(void* info) {
  ++*(int*)info;
}

static const char kModule[] =
    "(module (import \"\" \"f\" (func $f (param externref) (result externref)))"
    "  (global $kept (mut externref) (ref.null extern))"
    "  (func (export \"keep\") (param externref) (global.set $kept (local.get 0)))"
    "  (func (export \"kept\") (result externref) (call $f (global.get $kept)))"
    "  (memory (export \"memory\") 1) (table (export \"table\") 2 externref)"
    "  (global (export \"global\") (mut i32) (i32.const 0)))";

static wasm_trap_t* same(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  ++*((int*)env + 1);
  wasm_val_copy(&results->data[0], &args->data[0]);
  return NULL;
}

/* A finalizer that deletes what it was given: another reference, its own object's last one. */
static wasm_ref_t* own_reference = NULL;
static void delete_own(void* info) {
  count(info);
  wasm_ref_t* ref = own_reference;
  own_reference = NULL;
  wasm_ref_delete(ref);
}

/* A finalizer that tries to use the store that ends. */
static wasm_store_t* ending = NULL;
static void use_store(void* info) {
  count(info);
  CHECK(wasm_foreign_new(NULL) == NULL);
  wasm_limits_t limits = {1, 2};
  wasm_memorytype_t* type = wasm_memorytype_new(&limits);
  CHECK(wasm_memory_new(ending, type) == NULL);
  wasm_memorytype_delete(type);
  wasm_trap_t* trap = NULL;
  hoist_error_t* error = NULL;
  CHECK(hoist_module_from_text(ending, "(module)", 8, &error) == NULL);
  hoist_error_delete(error);
  CHECK(wasm_instance_new(ending, NULL, NULL, &trap) == NULL);
  wasm_trap_delete(trap);
}

/* An argument that is passed on as the guest gives it back. */
static void pass(const wasm_func_t* keep, const wasm_func_t* kept, wasm_ref_t* ref) {
  wasm_val_t arg;
  wasm_val_t result;
  arg.kind = WASM_EXTERNREF;
  arg.of.ref = ref;
  CHECK(call(keep, 1, &arg, 0, NULL) == NULL);
  CHECK(call(kept, 0, NULL, 1, &result) == NULL);
  CHECK(result.kind == WASM_EXTERNREF && wasm_ref_same(result.of.ref, ref));
  wasm_val_delete(&result);
}

static wasm_ref_t* foreign(wasm_store_t* store, int* info) {
  wasm_foreign_t* made = wasm_foreign_new(store);
  wasm_foreign_set_host_info_with_finalizer(made, info, count);
  return wasm_foreign_as_ref(made);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_functype_t* type =
      wasm_functype_new_1_1(wasm_valtype_new_externref(), wasm_valtype_new_externref());
  wasm_func_t* func = wasm_func_new_with_env(store, type, same, &counts[0], count);
  wasm_functype_delete(type);
  wasm_module_t* module = compile(store, kModule);
  wasm_extern_t* imports[1];
  imports[0] = wasm_func_as_extern(func);
  wasm_instance_t* instance = instantiate(store, module, 1, imports);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  const wasm_func_t* keep = wasm_extern_as_func(exports.data[0]);
  const wasm_func_t* kept = wasm_extern_as_func(exports.data[1]);
  wasm_table_t* table = wasm_extern_as_table(exports.data[3]);

  /* No guest has seen it: with its last reference. */
  wasm_ref_t* unseen = foreign(store, &counts[2]);
  wasm_ref_t* copy = wasm_ref_copy(unseen);
  wasm_ref_delete(unseen);
  CHECK(counts[2] == 0);
  wasm_ref_delete(copy);
  CHECK(counts[2] == 1);
  /* A guest has seen it: with the store at the latest, when nobody has looked for it before. */
  wasm_ref_t* seen = foreign(store, &counts[3]);
  pass(keep, kept, seen);
  wasm_ref_delete(seen);
  pass(keep, kept, NULL);
  CHECK(counts[3] == 0);
  wasm_ref_t* in_table = foreign(store, &counts[4]);
  CHECK(wasm_table_set(table, 0, in_table) && wasm_table_grow(table, 3, in_table));
  wasm_ref_delete(in_table);
  CHECK(wasm_table_set(table, 0, NULL));
  wasm_ref_t* out = wasm_table_get(table, 4);
  CHECK(out != NULL && wasm_ref_get_host_info(out) == &counts[4]);
  wasm_ref_delete(out);
  /* One that outlives the store: finalized with the store, deleted later. */
  wasm_ref_t* outlives = foreign(store, &counts[5]);
  pass(keep, kept, outlives);
  /* All kinds can be passed as an externref. */
  for (size_t i = 0; i < exports.size; ++i) {
    wasm_extern_set_host_info_with_finalizer(exports.data[i], &counts[6 + i], count);
    pass(keep, kept, wasm_extern_as_ref(exports.data[i]));
  }
  wasm_instance_set_host_info_with_finalizer(instance, &counts[11], count);
  pass(keep, kept, wasm_instance_as_ref(instance));
  wasm_module_set_host_info_with_finalizer(module, &counts[12], count);
  pass(keep, kept, wasm_module_as_ref(module));
  wasm_trap_t* trap = wasm_trap_new(store, NULL);
  wasm_trap_set_host_info_with_finalizer(trap, &counts[13], count);
  pass(keep, kept, wasm_trap_as_ref(trap));
  wasm_trap_delete(trap);
  CHECK(counts[13] == 0);
  /* Other host info ends what was there. */
  wasm_ref_t* replaced = foreign(store, &counts[14]);
  wasm_ref_set_host_info_with_finalizer(replaced, &counts[15], count);
  CHECK(counts[14] == 1 && counts[15] == 0);
  wasm_ref_set_host_info(replaced, NULL);
  CHECK(counts[15] == 1);
  wasm_ref_delete(replaced);
  CHECK(counts[14] == 1 && counts[15] == 1);
  /* What finalizers do. */
  own_reference = foreign(store, &counts[16]);
  wasm_ref_set_host_info_with_finalizer(own_reference, &counts[17], delete_own);
  pass(keep, kept, own_reference);
  wasm_ref_t* user = wasm_foreign_as_ref(wasm_foreign_new(store));
  wasm_ref_set_host_info_with_finalizer(user, &counts[18], use_store);
  pass(keep, kept, user);
  wasm_ref_delete(user);
  ending = store;

  wasm_module_delete(module);
  wasm_func_delete(func);
  CHECK(counts[0] == 0);
  wasm_store_delete(store);
  /* The environment, then all that the store kept. */
  CHECK(counts[0] == 1 && counts[1] > 0);
  for (int i = 2; i <= 18; ++i) CHECK(counts[i] == 1);
  wasm_ref_delete(outlives);
  wasm_instance_delete(instance);
  wasm_extern_vec_delete(&exports);
  wasm_engine_delete(engine);
  for (int i = 2; i <= 18; ++i) CHECK(counts[i] == 1);
  return 0;
}
