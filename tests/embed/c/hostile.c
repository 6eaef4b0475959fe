/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * More of what no program should do: null pointers and absurd numbers for hoist.h, vectors that
 * lie, things of another engine, callbacks that delete what they run in. */
#include "support.h"

static const char kModule[] =
    "(module (import \"\" \"f\" (func $f (result i32)))"
    "  (memory (export \"memory\") 1 10) (table (export \"table\") 1 20 funcref)"
    "  (func (export \"run\") (result i32) (call $f))"
    "  (func (export \"grow\") (result i32) (memory.grow (i32.const 1)))"
    "  (func (export \"spin\") (loop (br 0))))";

static wasm_store_t* doomed = NULL;
static int finalized = 0;
static void finalize(void* env) {
  (void)env;
  ++finalized;
}

static wasm_trap_t* kept_trap = NULL;
static wasm_trap_t* give_trap(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)env, (void)args, (void)results;
  return wasm_trap_copy(kept_trap);
}
static wasm_trap_t* never(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)env, (void)args, (void)results;
  fputs("called\n", stderr);
  exit(1);
}

static int grown = 0;
static bool on_growth(void* context, const hoist_growth_t* growth) {
  CHECK(growth->desired >= growth->current && growth->what <= HOIST_GROWTH_TABLE);
  ++grown;
  if (doomed != NULL) wasm_store_delete(doomed);
  doomed = NULL;
  return growth->allowed && *(bool*)context;
}
static uint64_t refill(void* context, wasm_store_t* store) {
  uint64_t fuel = 1;
  CHECK(hoist_store_get_fuel(store, &fuel) && hoist_store_get_data(store) == context);
  return ++*(int*)context < 3 ? 1000 : 0;
}
static uint64_t extend(void* context, wasm_store_t* store) {
  if (++*(int*)context < 3) return 1;
  wasm_store_delete(store);
  return 0;
}

static bool fails(bool done, hoist_error_t* error, hoist_error_kind_t kind) {
  const bool as_told = !done && error != NULL && hoist_error_kind(error) == kind &&
                       strlen(hoist_error_message(error)) > 0;
  if (!as_told) fprintf(stderr, "the error says: %s\n", hoist_error_message(error));
  hoist_error_delete(error);
  return as_told;
}

static void check_nulls(wasm_engine_t* engine, wasm_store_t* store) {
  hoist_error_t* error = NULL;
  wasm_trap_t* trap = NULL;
  uint64_t number = 0;
  int32_t status = 0;
  hoist_config_set_opt_level(NULL, 1);
  hoist_config_set_threads(NULL, 1);
  hoist_config_set_guest_stack_bytes(NULL, 1);
  hoist_config_set_host_reserve_bytes(NULL, 1);
  hoist_config_set_perf_map(NULL, true);
  hoist_config_set_profiler(NULL, 1);
  hoist_config_set_demangle(NULL, true);
  hoist_config_set_code_callback(NULL, NULL, NULL);
  hoist_profiler_delete(NULL);
  CHECK(hoist_profiler_samples(NULL) == 0);
  CHECK(!hoist_profiler_write(NULL, NULL, NULL));
  hoist_config_set_fuel(NULL, true);
  hoist_config_set_epoch(NULL, true);
  hoist_config_set_signals(NULL, true);
  hoist_config_set_explicit_bounds_checks(NULL, true);
  hoist_config_set_canonical_nans(NULL, true);
  hoist_config_set_deterministic_relaxed_simd(NULL, true);
  hoist_global_get_v128(NULL, NULL);
  hoist_global_set_v128(NULL, NULL);
  hoist_config_set_cache_directory(NULL, NULL);
  hoist_config_set_cache_bytes(NULL, 1);
  hoist_config_set_cpu(NULL, NULL);
  hoist_config_set_pooling(NULL, NULL);
  CHECK(hoist_store_new(NULL, NULL) == NULL && hoist_store_get_data(NULL) == NULL);
  hoist_store_set_data(NULL, NULL);
  CHECK(!hoist_store_set_fuel(NULL, 1) && !hoist_store_add_fuel(NULL, 1));
  CHECK(!hoist_store_get_fuel(NULL, &number) && !hoist_store_get_fuel(store, NULL));
  CHECK(!hoist_store_set_epoch_deadline(NULL, 1) && hoist_engine_epoch(NULL) == 0);
  hoist_engine_increment_epoch(NULL);
  hoist_store_on_out_of_fuel(NULL, refill, NULL);
  hoist_store_on_epoch_deadline(NULL, NULL, NULL);
  CHECK(hoist_interrupt_new(NULL) == NULL);
  hoist_interrupt(NULL);
  hoist_interrupt_delete(NULL);
  /* The engine has neither. */
  CHECK(!hoist_store_set_fuel(store, 1) && !hoist_store_set_epoch_deadline(store, 1));

  CHECK(fails(hoist_module_new(store, NULL, &error) != NULL, error, HOIST_ERROR_BAD_ARGUMENT));
  CHECK(fails(hoist_module_from_text(store, NULL, 5, &error) != NULL, error,
              HOIST_ERROR_BAD_ARGUMENT));
  CHECK(fails(hoist_module_from_file(NULL, NULL, &error) != NULL, error, HOIST_ERROR_BAD_ARGUMENT));
  CHECK(fails(hoist_module_validate(NULL, &error), error, HOIST_ERROR_BAD_ARGUMENT));
  CHECK(fails(hoist_module_serialize(NULL, NULL, &error), error, HOIST_ERROR_BAD_ARGUMENT));
  CHECK(fails(hoist_module_deserialize(store, NULL, &error) != NULL, error,
              HOIST_ERROR_BAD_ARGUMENT));
  CHECK(!hoist_module_serialize(NULL, NULL, NULL));
  /* Vectors that say more than they have. */
  wasm_byte_vec_t bytes = {100, NULL};
  wasm_byte_vec_t byte_copy;
  wasm_valtype_vec_t types = {100, NULL};
  wasm_valtype_vec_t types_copy;
  wasm_val_vec_t values = {100, NULL};
  wasm_val_vec_t values_copy;
  wasm_extern_vec_t externs = {100, NULL};
  CHECK(fails(hoist_module_new(store, &bytes, &error) != NULL, error, HOIST_ERROR_MALFORMED));
  CHECK(
      fails(hoist_module_deserialize(store, &bytes, &error) != NULL, error, HOIST_ERROR_MALFORMED));
  wasm_byte_vec_copy(&byte_copy, &bytes);
  wasm_valtype_vec_copy(&types_copy, &types);
  wasm_val_vec_copy(&values_copy, &values);
  CHECK(byte_copy.size == 0 && types_copy.size == 0 && values_copy.size == 0);
  wasm_byte_vec_copy(NULL, &bytes);
  wasm_valtype_vec_copy(NULL, NULL);
  wasm_val_vec_new(NULL, 3, NULL);
  wasm_valtype_vec_delete(&types);
  wasm_val_vec_delete(&values);
  wasm_extern_vec_delete(&externs);
  wasm_extern_vec_delete(&externs);
  wasm_valtype_vec_t more = {SIZE_MAX, NULL};
  CHECK(wasm_functype_new(&more, &types_copy) == NULL);

  CHECK(hoist_trap_code(NULL) == 0 && !hoist_trap_exit_status(NULL, &status));
  CHECK(hoist_trap_error_kind(NULL) == HOIST_ERROR_BAD_ARGUMENT);
  CHECK(strlen(hoist_frame_function_name(NULL)) == 0 && strlen(hoist_frame_module_name(NULL)) == 0);
  CHECK(strlen(hoist_frame_source_file(NULL)) == 0 && hoist_frame_source_line(NULL) == 0);
  CHECK(!hoist_frame_is_inlined(NULL));
  CHECK(wasm_frame_instance(NULL) == NULL && wasm_frame_copy(NULL) == NULL);
  CHECK(hoist_error_offset(NULL) == UINT64_MAX && hoist_error_line(NULL) == 0);
  CHECK(strlen(hoist_error_message(NULL)) == 0 && hoist_error_column(NULL) == 0);
  CHECK(hoist_instance_export(NULL, "x") == NULL);
  CHECK(hoist_linker_new(NULL) == NULL);
  hoist_linker_delete(NULL);
  hoist_linker_allow_shadowing(NULL, true);
  hoist_linker_t* linker = hoist_linker_new(engine);
  CHECK(
      fails(hoist_linker_define(linker, NULL, "x", NULL, &error), error, HOIST_ERROR_BAD_ARGUMENT));
  CHECK(fails(hoist_linker_define_func(linker, "a", "b", NULL, NULL, NULL, finalize, &error), error,
              HOIST_ERROR_BAD_ARGUMENT));
  CHECK(finalized == 1);
  CHECK(fails(hoist_linker_define_instance(linker, "a", NULL, &error), error,
              HOIST_ERROR_BAD_ARGUMENT));
  CHECK(hoist_linker_instantiate(linker, NULL, NULL, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);
  CHECK(hoist_linker_instantiate(NULL, store, NULL, NULL) == NULL);
  CHECK(fails(hoist_linker_define_wasi(linker, NULL, &error), error, HOIST_ERROR_BAD_ARGUMENT));
  CHECK(fails(hoist_linker_define_wasi(NULL, hoist_wasi_config_new(), &error), error,
              HOIST_ERROR_BAD_ARGUMENT));

  hoist_wasi_config_add_arg(NULL, NULL);
  hoist_wasi_config_add_env(NULL, NULL, NULL);
  hoist_wasi_config_add_directory(NULL, NULL, NULL, true);
  hoist_wasi_config_inherit_stdio(NULL);
  hoist_wasi_config_set_stream(NULL, 0, 0);
  hoist_wasi_config_add_listener(NULL, NULL);
  hoist_wasi_config_add_descriptor(NULL, 3);
  hoist_wasi_config_set_max_descriptors(NULL, 3);
  hoist_wasi_config_set_exit_on_broken_pipe(NULL, true);
  hoist_wasi_config_delete(NULL);
  hoist_wasi_config_t* wasi = hoist_wasi_config_new();
  hoist_wasi_config_add_arg(wasi, NULL);
  hoist_wasi_config_set_stream(wasi, 3, 0);
  hoist_wasi_config_add_listener(wasi, "nowhere");
  CHECK(fails(hoist_linker_define_wasi(linker, wasi, &error), error, HOIST_ERROR_BAD_ARGUMENT));
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_add_descriptor(wasi, -1);
  CHECK(fails(hoist_linker_define_wasi(linker, wasi, &error), error, HOIST_ERROR_BAD_ARGUMENT));
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_add_env(wasi, "A=B", "");
  CHECK(fails(hoist_linker_define_wasi(linker, wasi, &error), error, HOIST_ERROR_BAD_ARGUMENT));
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_add_directory(wasi, "/no such directory", "/", false);
  CHECK(fails(hoist_linker_define_wasi(linker, wasi, &error), error, HOIST_ERROR_IO));
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_add_listener(wasi, "127.0.0.1:0");
  hoist_wasi_config_add_descriptor(wasi, 0);
  hoist_wasi_config_set_max_descriptors(wasi, 16);
  hoist_wasi_config_set_exit_on_broken_pipe(wasi, true);
  CHECK(hoist_linker_define_wasi(linker, wasi, &error) && error == NULL);
  hoist_linker_delete(linker);

  CHECK(hoist_typed_func_new(NULL, "i:i", &error) == NULL && error != NULL);
  hoist_error_delete(error);
  hoist_typed_func_delete(NULL);
  trap = hoist_typed_func_call(NULL, NULL);
  CHECK(trap != NULL);
  wasm_trap_delete(trap);
  CHECK(!hoist_memory_read(NULL, 0, &number, 1) && !hoist_memory_write(NULL, 0, &number, 1));
}

static bool engine_fails(wasm_config_t* config, hoist_error_kind_t kind) {
  hoist_error_t* error = NULL;
  return fails(hoist_engine_new(config, &error) != NULL, error, kind);
}

static void check_settings(void) {
  wasm_config_t* config = wasm_config_new();
  hoist_config_set_guest_stack_bytes(config, UINT64_MAX);
  hoist_config_set_host_reserve_bytes(config, UINT64_MAX);
  wasm_engine_t* greedy = wasm_engine_new_with_config(config);
  CHECK(greedy != NULL);
  wasm_engine_delete(greedy);
  config = wasm_config_new();
  hoist_config_set_guest_stack_bytes(config, 0);
  CHECK(engine_fails(config, HOIST_ERROR_BAD_ARGUMENT));
  config = wasm_config_new();
  hoist_config_set_opt_level(config, 255);
  CHECK(engine_fails(config, HOIST_ERROR_BAD_ARGUMENT));
  config = wasm_config_new();
  hoist_config_set_cpu(config, "steam engine");
  CHECK(engine_fails(config, HOIST_ERROR_BAD_ARGUMENT));
  config = wasm_config_new();
  hoist_pooling_options_t pool = hoist_pooling_options_default();
  pool.instances = pool.memories = pool.tables = UINT32_MAX;
  pool.memory_bytes = pool.table_elements = pool.instance_bytes = UINT64_MAX;
  hoist_config_set_pooling(config, &pool);
  hoist_error_t* error = NULL;
  CHECK(hoist_engine_new(config, &error) == NULL && error != NULL);
  hoist_error_delete(error);
}

static void check_sizes(wasm_store_t* store) {
  wasm_limits_t limits = {UINT32_MAX - 1, wasm_limits_max_default};
  wasm_memorytype_t* memory_type = wasm_memorytype_new(&limits);
  CHECK(wasm_memory_new(store, memory_type) == NULL);
  wasm_memorytype_delete(memory_type);
  wasm_tabletype_t* table_type = wasm_tabletype_new(wasm_valtype_new_externref(), &limits);
  CHECK(wasm_table_new(store, table_type, NULL) == NULL);
  wasm_tabletype_delete(table_type);
  limits.min = 1;
  memory_type = wasm_memorytype_new(&limits);
  wasm_memory_t* memory = wasm_memory_new(store, memory_type);
  wasm_memorytype_delete(memory_type);
  CHECK(memory != NULL && !wasm_memory_grow(memory, UINT32_MAX) && wasm_memory_size(memory) == 1);
  uint64_t number = 0;
  CHECK(hoist_memory_write(memory, 65528, &number, 8) && hoist_memory_read(memory, 65536, NULL, 0));
  CHECK(!hoist_memory_write(memory, 65529, &number, 8) &&
        !hoist_memory_read(memory, 65537, NULL, 0));
  CHECK(!hoist_memory_read(memory, UINT64_MAX, &number, 8));
  CHECK(!hoist_memory_read(memory, UINT64_MAX - 7, &number, 8));
  CHECK(!hoist_memory_read(memory, 8, &number, SIZE_MAX) && !hoist_memory_read(memory, 0, NULL, 8));
  wasm_memory_delete(memory);
  table_type = wasm_tabletype_new(wasm_valtype_new_funcref(), &limits);
  wasm_table_t* table = wasm_table_new(store, table_type, NULL);
  wasm_tabletype_delete(table_type);
  CHECK(table != NULL && !wasm_table_grow(table, UINT32_MAX, NULL) && wasm_table_size(table) == 1);
  CHECK(wasm_table_get(table, UINT32_MAX) == NULL && !wasm_table_set(table, 1, NULL));
  wasm_table_delete(table);
}

/* A store with a growth callback, and its engine with fuel and epoch. */
static void check_callbacks(void) {
  wasm_config_t* config = wasm_config_new();
  hoist_config_set_fuel(config, true);
  hoist_config_set_epoch(config, true);
  wasm_engine_t* engine = wasm_engine_new_with_config(config);
  hoist_store_limits_t limits = hoist_store_limits_default();
  bool allow = true;
  limits.on_growth = on_growth;
  limits.context = &allow;
  wasm_store_t* store = hoist_store_new(engine, &limits);
  int calls = 0;
  hoist_store_set_data(store, &calls);
  CHECK(hoist_store_set_fuel(store, 100000));
  kept_trap = wasm_trap_new(store, NULL);
  wasm_functype_t* type = wasm_functype_new_0_1(wasm_valtype_new_i32());
  wasm_func_t* func = wasm_func_new_with_env(store, type, give_trap, NULL, NULL);
  wasm_module_t* module = compile(store, kModule);
  wasm_extern_t* imports[3];
  imports[0] = imports[1] = imports[2] = wasm_func_as_extern(func);
  wasm_extern_vec_t import_vec = WASM_ARRAY_VEC(imports);
  wasm_trap_t* trap = NULL;
  CHECK(wasm_instance_new(store, module, &import_vec, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);
  grown = 0;
  wasm_instance_t* instance = instantiate(store, module, 1, imports);
  CHECK(grown == 2);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  const wasm_func_t* run = wasm_extern_as_func(exports.data[2]);
  const wasm_func_t* grow = wasm_extern_as_func(exports.data[3]);
  const wasm_func_t* spin = wasm_extern_as_func(exports.data[4]);
  CHECK(returns(grow, 0, NULL, 1));
  allow = false;
  CHECK(returns(grow, 0, NULL, -1));
  allow = true;
  /* One trap, given again and again. */
  for (int i = 0; i < 3; ++i) {
    CHECK(traps(run, 0, NULL, 1, ""));
  }
  wasm_trap_delete(kept_trap);
  kept_trap = NULL;

  hoist_store_on_out_of_fuel(store, refill, &calls);
  CHECK(hoist_store_add_fuel(store, 10));
  CHECK(traps(spin, 0, NULL, 0, "all fuel consumed"));
  CHECK(calls == 3);
  hoist_store_on_out_of_fuel(store, NULL, NULL);
  CHECK(hoist_store_set_fuel(store, (uint64_t)1 << 50));
  /* A callback that deletes the store: the call ends, then the store. */
  calls = 2;
  hoist_store_on_epoch_deadline(store, extend, &calls);
  CHECK(hoist_store_set_epoch_deadline(store, 1));
  hoist_engine_increment_epoch(engine);
  CHECK(hoist_engine_epoch(engine) == 1);
  CHECK(traps(spin, 0, NULL, 0, "interrupted"));
  CHECK(traps(spin, 0, NULL, 0, "the function's store is gone"));
  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);
  wasm_func_delete(func);

  /* The same for a callback about growth that the host asked for. */
  store = hoist_store_new(engine, &limits);
  wasm_limits_t size = {1, 5};
  wasm_memorytype_t* memory_type = wasm_memorytype_new(&size);
  wasm_memory_t* memory = wasm_memory_new(store, memory_type);
  doomed = store;
  wasm_memory_t* second = wasm_memory_new(store, memory_type);
  CHECK(second != NULL && wasm_memory_data(second) == NULL && wasm_memory_size(memory) == 0);
  CHECK(!wasm_memory_grow(memory, 1));
  wasm_memorytype_delete(memory_type);
  wasm_memory_delete(memory);
  wasm_memory_delete(second);
  wasm_module_delete(module);
  wasm_functype_delete(type);
  wasm_engine_delete(engine);
}

static void check_other_engine(wasm_engine_t* engine, wasm_store_t* store) {
  wasm_engine_t* other_engine = wasm_engine_new();
  wasm_store_t* other = wasm_store_new(other_engine);
  wasm_module_t* module = compile(other, "(module (func (export \"f\")))");
  wasm_trap_t* trap = NULL;
  CHECK(wasm_instance_new(store, module, NULL, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);
  wasm_shared_module_t* shared = wasm_module_share(module);
  CHECK(wasm_module_obtain(store, shared) == NULL);
  wasm_shared_module_delete(shared);
  hoist_linker_t* linker = hoist_linker_new(engine);
  CHECK(hoist_linker_instantiate(linker, other, module, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);
  CHECK(hoist_linker_instantiate(linker, store, module, &trap) == NULL && trap != NULL);
  wasm_trap_delete(trap);
  hoist_linker_delete(linker);
  wasm_module_delete(module);
  wasm_store_delete(other);
  wasm_engine_delete(other_engine);
}

/* Types that C has no values for. */
/* A number above the kinds that there are is no reference, whatever wasm_valkind_is_ref says. */
static wasm_val_t of_no_kind(void) {
  wasm_val_t value = WASM_INIT_VAL;
  value.kind = 200;
  value.of.i64 = 1;
  return value;
}
static wasm_trap_t* give_no_kind(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)env, (void)args;
  results->data[0] = of_no_kind();
  return NULL;
}
static void check_kinds(wasm_store_t* store) {
  wasm_val_t value = of_no_kind();
  wasm_val_t copy = WASM_INIT_VAL;
  wasm_val_copy(&copy, &value);
  CHECK(copy.kind == 200 && copy.of.i64 == 1);
  wasm_val_delete(&copy);
  wasm_functype_t* type = wasm_functype_new_0_1(wasm_valtype_new_externref());
  wasm_func_t* func = wasm_func_new_with_env(store, type, give_no_kind, NULL, NULL);
  wasm_functype_delete(type);
  wasm_val_vec_t results = {1, &copy};
  wasm_trap_t* trap = wasm_func_call(func, NULL, &results);
  CHECK(trap != NULL);
  wasm_trap_delete(trap);
  wasm_func_delete(func);
}

static void check_vectors(wasm_engine_t* engine, wasm_store_t* store) {
  wasm_functype_t* type = wasm_functype_new_1_0(wasm_valtype_new(HOIST_V128));
  finalized = 0;
  CHECK(wasm_func_new_with_env(store, type, never, NULL, finalize) == NULL && finalized == 1);
  hoist_linker_t* linker = hoist_linker_new(engine);
  hoist_error_t* error = NULL;
  CHECK(fails(hoist_linker_define_func(linker, "a", "b", type, never, NULL, finalize, &error),
              error, HOIST_ERROR_UNSUPPORTED));
  CHECK(finalized == 2);
  hoist_linker_delete(linker);
  wasm_functype_delete(type);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  check_nulls(engine, store);
  check_settings();
  check_sizes(store);
  check_callbacks();
  check_other_engine(engine, store);
  check_vectors(engine, store);
  check_kinds(store);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
