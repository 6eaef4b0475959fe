/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * The functions that wasm.h declares for each kind of type, vector and reference, for all kinds alike: what the
 * other programs do not use in passing. used.py sees to it that none is left out. */
#include "support.h"

static int finalized;
static void count(void* info) {
  finalized += *(int*)info;
}

/* Copies, and all five functions of vectors, of something that is owned. Consumes `one`. */
#define CHECK_TYPE(name, one)                                                       \
  do {                                                                              \
    wasm_##name##_t* made = (one);                                                  \
    CHECK(made != NULL);                                                            \
    wasm_##name##_vec_t empty, blank, full, copy;                                   \
    wasm_##name##_vec_new_empty(&empty);                                            \
    CHECK(empty.size == 0);                                                         \
    wasm_##name##_vec_new_uninitialized(&blank, 2);                                 \
    CHECK(blank.size == 2 && blank.data != NULL);                                   \
    blank.data[0] = wasm_##name##_copy(made);                                       \
    blank.data[1] = wasm_##name##_copy(blank.data[0]);                              \
    wasm_##name##_t* list[2] = {made, wasm_##name##_copy(made)};                    \
    CHECK(list[1] != NULL);                                                         \
    wasm_##name##_vec_new(&full, 2, list);                                          \
    CHECK(full.size == 2 && full.data[0] == list[0] && full.data[1] == list[1]);    \
    wasm_##name##_vec_copy(&copy, &full);                                           \
    CHECK(copy.size == 2 && copy.data != full.data && copy.data[0] != NULL);        \
    wasm_##name##_vec_delete(&empty);                                               \
    wasm_##name##_vec_delete(&blank);                                               \
    wasm_##name##_vec_delete(&full);                                                \
    CHECK(wasm_##name##_vec_is_usable(&copy));                                      \
    wasm_##name##_vec_delete(&copy);                                                \
    wasm_##name##_t* single = wasm_##name##_copy(NULL);                             \
    CHECK(single == NULL);                                                          \
    wasm_##name##_delete(single);                                                   \
  } while (0)

/* What a copied vector holds is its own: it can be read when the rest is deleted. */
static bool wasm_valtype_vec_is_usable(const wasm_valtype_vec_t* vec) {
  return wasm_valtype_kind(vec->data[1]) == WASM_F64;
}
static bool wasm_functype_vec_is_usable(const wasm_functype_vec_t* vec) {
  return wasm_functype_params(vec->data[1])->size == 1;
}
static bool wasm_globaltype_vec_is_usable(const wasm_globaltype_vec_t* vec) {
  return wasm_globaltype_mutability(vec->data[1]) == WASM_VAR;
}
static bool wasm_tabletype_vec_is_usable(const wasm_tabletype_vec_t* vec) {
  return wasm_tabletype_limits(vec->data[1])->min == 3;
}
static bool wasm_memorytype_vec_is_usable(const wasm_memorytype_vec_t* vec) {
  return wasm_memorytype_limits(vec->data[1])->max == 4;
}
static bool wasm_tagtype_vec_is_usable(const wasm_tagtype_vec_t* vec) {
  return wasm_functype_params(wasm_tagtype_functype(vec->data[1]))->size == 1;
}
static bool wasm_externtype_vec_is_usable(const wasm_externtype_vec_t* vec) {
  return wasm_externtype_kind(vec->data[1]) == WASM_EXTERN_MEMORY;
}
static bool wasm_importtype_vec_is_usable(const wasm_importtype_vec_t* vec) {
  return wasm_importtype_name(vec->data[1])->data[0] == 'n';
}
static bool wasm_exporttype_vec_is_usable(const wasm_exporttype_vec_t* vec) {
  return wasm_exporttype_name(vec->data[1])->data[0] == 'e';
}

static wasm_name_t name_of(const char* text) {
  wasm_name_t name;
  wasm_name_new_from_string(&name, text);
  return name;
}
static wasm_functype_t* functype(void) {
  return wasm_functype_new_1_0(wasm_valtype_new_i32());
}
static wasm_globaltype_t* globaltype(void) {
  return wasm_globaltype_new(wasm_valtype_new(WASM_I32), WASM_VAR);
}
static const wasm_limits_t limits = {3, 4};
static wasm_tabletype_t* tabletype(void) {
  return wasm_tabletype_new(wasm_valtype_new(WASM_FUNCREF), &limits);
}
static wasm_memorytype_t* memorytype(void) {
  return wasm_memorytype_new(&limits);
}
static wasm_externtype_t* externtype(void) {
  return wasm_memorytype_as_externtype(memorytype());
}

/* A type as an extern type and back, changeable and not; as another kind it is null. */
#define CHECK_CASTS(name, other, made_by)                                                  \
  do {                                                                                     \
    wasm_##name##_t* type = made_by;                                                       \
    wasm_externtype_t* as = wasm_##name##_as_externtype(type);                             \
    const wasm_externtype_t* fixed = wasm_##name##_as_externtype_const(type);              \
    CHECK(as != NULL && as == fixed);                                                      \
    CHECK(wasm_externtype_as_##name(as) == type);                                          \
    CHECK(wasm_externtype_as_##name##_const(fixed) == type);                               \
    CHECK(wasm_externtype_as_##other(as) == NULL);                                         \
    CHECK(wasm_externtype_as_##other##_const(fixed) == NULL);                              \
    wasm_##name##_delete(type);                                                            \
  } while (0)

static void check_types(void) {
  CHECK_TYPE(valtype, wasm_valtype_new(WASM_F64));
  CHECK_TYPE(functype, functype());
  CHECK_TYPE(globaltype, globaltype());
  CHECK_TYPE(tabletype, tabletype());
  CHECK_TYPE(memorytype, memorytype());
  CHECK_TYPE(tagtype, wasm_tagtype_new(functype()));
  CHECK_TYPE(externtype, externtype());
  wasm_name_t module = name_of("m"), name = name_of("n");
  CHECK_TYPE(importtype, wasm_importtype_new(&module, &name, externtype()));
  name = name_of("e");
  CHECK_TYPE(exporttype, wasm_exporttype_new(&name, externtype()));
  CHECK_CASTS(functype, globaltype, functype());
  CHECK_CASTS(globaltype, tabletype, globaltype());
  CHECK_CASTS(tabletype, memorytype, tabletype());
  CHECK_CASTS(memorytype, tagtype, memorytype());
  CHECK_CASTS(tagtype, functype, wasm_tagtype_new(functype()));

  wasm_byte_vec_t bytes;
  wasm_byte_vec_new_empty(&bytes);
  CHECK(bytes.size == 0);
  wasm_val_vec_t values;
  wasm_val_vec_new_empty(&values);
  CHECK(values.size == 0);
}

/* What every reference has. `thing` keeps its reference. */
#define CHECK_REF(name, thing, other)                                            \
  do {                                                                           \
    wasm_##name##_t* ref = (thing);                                              \
    CHECK(ref != NULL);                                                          \
    wasm_##name##_t* copy = wasm_##name##_copy(ref);                             \
    CHECK(copy != NULL && wasm_##name##_same(copy, ref));                        \
    CHECK(!wasm_##name##_same(copy, NULL));                                      \
    CHECK(wasm_##name##_get_host_info(ref) == NULL);                             \
    int one = 1, two = 2;                                                        \
    wasm_##name##_set_host_info(ref, &one);                                      \
    CHECK(wasm_##name##_get_host_info(copy) == &one);                            \
    finalized = 0;                                                               \
    wasm_##name##_set_host_info_with_finalizer(ref, &two, count);                \
    CHECK(finalized == 0 && wasm_##name##_get_host_info(ref) == &two);           \
    wasm_##name##_set_host_info(copy, NULL);                                     \
    CHECK(finalized == 2 && wasm_##name##_get_host_info(ref) == NULL);           \
    wasm_ref_t* as = wasm_##name##_as_ref(ref);                                  \
    const wasm_ref_t* fixed = wasm_##name##_as_ref_const(ref);                   \
    CHECK(as != NULL && as == fixed);                                            \
    CHECK(wasm_ref_as_##name(as) == ref && wasm_ref_as_##name##_const(fixed) == ref); \
    CHECK(wasm_ref_as_##other(as) == NULL);                                      \
    CHECK(wasm_ref_as_##other##_const(fixed) == NULL);                           \
    wasm_##name##_delete(copy);                                                  \
  } while (0)

/* A reference as an extern and back. */
#define CHECK_EXTERN(name, thing, other)                                         \
  do {                                                                           \
    wasm_extern_t* as = wasm_##name##_as_extern(thing);                          \
    const wasm_extern_t* fixed = wasm_##name##_as_extern_const(thing);           \
    CHECK(as != NULL && as == fixed);                                            \
    CHECK(wasm_extern_as_##name(as) == thing);                                   \
    CHECK(wasm_extern_as_##name##_const(fixed) == thing);                        \
    CHECK(wasm_extern_as_##other(as) == NULL);                                   \
    CHECK(wasm_extern_as_##other##_const(fixed) == NULL);                        \
  } while (0)

static wasm_trap_t* nothing(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)args;
  (void)results;
  return NULL;
}

static void check_refs(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_functype_t* func_type = functype();
  wasm_func_t* func = wasm_func_new(store, func_type, nothing);
  wasm_globaltype_t* global_type = globaltype();
  wasm_val_t value = i32(5);
  wasm_global_t* global = wasm_global_new(store, global_type, &value);
  wasm_tabletype_t* table_type = tabletype();
  wasm_table_t* table = wasm_table_new(store, table_type, NULL);
  wasm_memorytype_t* memory_type = memorytype();
  wasm_memory_t* memory = wasm_memory_new(store, memory_type);
  wasm_tagtype_t* tag_type = wasm_tagtype_new(func_type);
  wasm_tag_t* tag = wasm_tag_new(store, tag_type);
  wasm_foreign_t* foreign = wasm_foreign_new(store);
  wasm_module_t* module = compile(store, "(module)");
  wasm_instance_t* instance = instantiate(store, module, 0, NULL);
  wasm_message_t message = name_of("a message");
  wasm_trap_t* trap = wasm_trap_new(store, &message);
  wasm_name_delete(&message);

  CHECK_REF(func, func, global);
  CHECK_REF(global, global, table);
  CHECK_REF(table, table, memory);
  CHECK_REF(memory, memory, tag);
  CHECK_REF(tag, tag, foreign);
  CHECK_REF(foreign, foreign, module);
  CHECK_REF(module, module, instance);
  CHECK_REF(instance, instance, trap);
  CHECK_REF(trap, trap, func);
  CHECK_REF(extern, wasm_func_as_extern(func), module);
  CHECK_EXTERN(func, func, global);
  CHECK_EXTERN(global, global, table);
  CHECK_EXTERN(table, table, memory);
  CHECK_EXTERN(memory, memory, tag);
  CHECK_EXTERN(tag, tag, func);

  wasm_extern_vec_t empty, blank, full, copy;
  wasm_extern_vec_new_empty(&empty);
  wasm_extern_vec_new_uninitialized(&blank, 1);
  CHECK(empty.size == 0 && blank.size == 1);
  blank.data[0] = wasm_extern_copy(wasm_func_as_extern(func));
  wasm_extern_t* list[1] = {wasm_extern_copy(wasm_table_as_extern(table))};
  wasm_extern_vec_new(&full, 1, list);
  wasm_extern_vec_copy(&copy, &full);
  CHECK(wasm_extern_same(copy.data[0], full.data[0]));
  CHECK(!wasm_extern_same(copy.data[0], blank.data[0]));
  wasm_extern_vec_delete(&empty);
  wasm_extern_vec_delete(&blank);
  wasm_extern_vec_delete(&full);
  wasm_extern_vec_delete(&copy);

  wasm_frame_vec_t frames;
  wasm_frame_vec_new_empty(&frames);
  CHECK(frames.size == 0);
  wasm_frame_vec_new(&frames, 0, NULL);
  CHECK(frames.size == 0);
  wasm_frame_vec_new_uninitialized(&frames, 1);
  CHECK(frames.size == 1);
  frames.data[0] = NULL;
  wasm_frame_vec_delete(&frames);

  wasm_tagtype_delete(tag_type); /* has taken the function type */
  wasm_globaltype_delete(global_type);
  wasm_tabletype_delete(table_type);
  wasm_memorytype_delete(memory_type);
  wasm_func_delete(func);
  wasm_global_delete(global);
  wasm_table_delete(table);
  wasm_memory_delete(memory);
  wasm_tag_delete(tag);
  wasm_foreign_delete(foreign);
  wasm_module_delete(module);
  wasm_instance_delete(instance);
  wasm_trap_delete(trap);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
}

static void count_start(void* context, hoist_wasi_thread_t* thread) {
  ++*(int*)context;
  CHECK(!hoist_wasi_thread_set_fuel(thread, 1));            /* the engine counts none */
  CHECK(!hoist_wasi_thread_set_epoch_deadline(thread, 1));  /* nor has epochs */
}
static void count_failure(void* context, int32_t thread, const hoist_error_t* error) {
  CHECK(thread > 0 && hoist_error_kind(error) == HOIST_ERROR_TRAP);
  ++*(int*)context;
}

/* A program whose thread traps, while the main thread waits for it. */
static void check_threads(void) {
  wasm_config_t* config = wasm_config_new();
  hoist_config_set_interruptible(config, true);
  wasm_engine_t* engine = wasm_engine_new_with_config(config);
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(
      store,
      "(module (import \"wasi\" \"thread-spawn\" (func $spawn (param i32) (result i32)))"
      "  (import \"env\" \"memory\" (memory 1 1 shared))"
      "  (func (export \"wasi_thread_start\") (param i32 i32) (unreachable))"
      "  (func (export \"run\") (drop (call $spawn (i32.const 0)))"
      "    (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))))");
  hoist_linker_t* linker = hoist_linker_new(engine);
  hoist_error_t* error = NULL;
  hoist_wasi_threads_t* threads = hoist_linker_define_wasi_threads(linker, module, NULL, 4, &error);
  CHECK(threads != NULL && error == NULL);
  int started = 0, failed = 0;
  hoist_wasi_threads_on_start(threads, count_start, &started);
  hoist_wasi_threads_on_failure(threads, count_failure, &failed);
  wasm_instance_t* instance = hoist_linker_instantiate(linker, store, module, NULL);
  CHECK(instance != NULL);
  wasm_extern_t* run = hoist_instance_export(instance, "run");
  wasm_trap_t* trap = call(wasm_extern_as_func(run), 0, NULL, 0, NULL);
  CHECK(trap != NULL);
  wasm_trap_delete(trap);
  wasm_extern_delete(run);
  wasm_instance_delete(instance);
  wasm_module_delete(module);
  hoist_wasi_threads_delete(threads);
  CHECK(started == 1 && failed == 1);
  hoist_linker_delete(linker);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
}

int main(void) {
  check_types();
  check_refs();
  check_threads();
  return 0;
}
