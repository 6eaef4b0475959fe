/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * hoist.h: settings, errors, limits, linker, WASI, typed calls. */
#include "support.h"

static wasm_trap_t* add(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  results->data[0] = i32(args->data[0].of.i32 + args->data[1].of.i32 + *(int32_t*)env);
  return NULL;
}
static int finalized = 0;
static void finalize(void* env) {
  (void)env;
  ++finalized;
}

static void check_errors(wasm_store_t* store) {
  hoist_error_t* error = NULL;
  const char* bad = "(module\n  (func (result i32) (i32.const)))";
  CHECK(hoist_module_from_text(store, bad, strlen(bad), &error) == NULL);
  CHECK(hoist_error_kind(error) == HOIST_ERROR_MALFORMED && hoist_error_line(error) == 2);
  CHECK(hoist_error_column(error) > 0 && strlen(hoist_error_message(error)) > 0);
  hoist_error_delete(error);
  bad = "(module (func (result i32)))";
  CHECK(hoist_module_from_text(store, bad, strlen(bad), &error) == NULL);
  CHECK(hoist_error_kind(error) == HOIST_ERROR_INVALID);
  hoist_error_delete(error);
  CHECK(hoist_module_from_file(store, "/no such file", &error) == NULL);
  CHECK(hoist_error_kind(error) == HOIST_ERROR_IO);
  hoist_error_delete(error);
  wasm_config_t* config = wasm_config_new();
  hoist_config_set_opt_level(config, 9);
  CHECK(hoist_engine_new(config, &error) == NULL);
  CHECK(hoist_error_kind(error) == HOIST_ERROR_BAD_ARGUMENT);
  hoist_error_delete(error);
}

static void check_typed(const wasm_func_t* func) {
  hoist_error_t* error = NULL;
  CHECK(hoist_typed_func_new(func, "ii:f", &error) == NULL && error != NULL);
  hoist_error_delete(error);
  hoist_typed_func_t* typed = hoist_typed_func_new(func, "iIfF:F", &error);
  CHECK(typed != NULL && error == NULL);
  hoist_raw_t values[4];
  values[0].i32 = -1;
  values[1].i64 = (int64_t)1 << 40;
  values[2].f32 = 0.5f;
  values[3].f64 = 0.25;
  CHECK(hoist_typed_func_call(typed, values) == NULL);
  CHECK(values[0].f64 == -1.0 + 1099511627776.0 + 0.75);
  hoist_typed_func_delete(typed);
}

static void check_vectors(void) {
  wasm_config_t* config = wasm_config_new();
  hoist_config_set_canonical_nans(config, true);
  hoist_config_set_deterministic_relaxed_simd(config, true);
  wasm_engine_t* engine = wasm_engine_new_with_config(config);
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module =
      compile(store,
              "(module (global (export \"g\") (mut v128) (v128.const i32x4 1 2 3 4))"
              " (func (export \"add\") (param v128 i32) (result v128)"
              "  (i32x4.add (local.get 0) (i32x4.splat (local.get 1)))))");
  wasm_instance_t* instance = instantiate(store, module, 0, NULL);
  wasm_extern_t* global = hoist_instance_export(instance, "g");
  wasm_extern_t* add = hoist_instance_export(instance, "add");
  hoist_typed_func_t* typed = hoist_typed_func_new(wasm_extern_as_func(add), "vi:v", NULL);
  hoist_raw_t values[2];
  CHECK(typed != NULL && hoist_global_get_v128(wasm_extern_as_global(global), values[0].v128));
  CHECK(values[0].v128[4] == 2);
  values[1].i32 = 10;
  CHECK(hoist_typed_func_call(typed, values) == NULL);
  CHECK(values[0].v128[0] == 11 && values[0].v128[12] == 14);
  CHECK(hoist_global_set_v128(wasm_extern_as_global(global), values[0].v128));
  CHECK(hoist_global_get_v128(wasm_extern_as_global(global), values[1].v128));
  CHECK(values[1].v128[8] == 13);
  hoist_typed_func_delete(typed);
  wasm_extern_delete(add);
  wasm_extern_delete(global);
  wasm_instance_delete(instance);
  wasm_module_delete(module);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
}

static void check_limits(void) {
  wasm_config_t* config = wasm_config_new();
  hoist_config_set_fuel(config, true);
  hoist_config_set_epoch(config, true);
  wasm_engine_t* engine = wasm_engine_new_with_config(config);
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(store, "(module (func (export \"spin\") (loop (br 0))))");
  wasm_instance_t* instance = instantiate(store, module, 0, NULL);
  wasm_extern_t* spin = hoist_instance_export(instance, "spin");
  const wasm_func_t* func = wasm_extern_as_func(spin);
  uint64_t fuel = 0;
  CHECK(hoist_store_set_fuel(store, 10000) && hoist_store_get_fuel(store, &fuel) && fuel == 10000);
  CHECK(traps(func, 0, NULL, 0, "all fuel consumed"));
  CHECK(hoist_store_set_fuel(store, (uint64_t)1 << 60) && hoist_store_set_epoch_deadline(store, 1));
  hoist_engine_increment_epoch(engine);
  CHECK(traps(func, 0, NULL, 0, "interrupted"));
  CHECK(hoist_store_set_epoch_deadline(store, 1000));
  hoist_interrupt_t* interrupt = hoist_interrupt_new(store);
  hoist_interrupt(interrupt);
  CHECK(traps(func, 0, NULL, 0, "interrupted"));
  wasm_extern_delete(spin);
  wasm_instance_delete(instance);
  wasm_module_delete(module);
  wasm_store_delete(store);
  hoist_interrupt(interrupt);
  hoist_interrupt_delete(interrupt);
  wasm_engine_delete(engine);
}

/* Code that is loaded and not yet gone. */
static int pieces;

static void count_code(void* context, const hoist_code_t* code, bool loaded) {
  CHECK(code->name[0] != 0 && code->module[0] != 0 && code->address != NULL && code->load_id != 0);
  *(int*)context += loaded ? 1 : -1;
}

static void check_profiler(void) {
  hoist_error_t* error = NULL;
  hoist_profiler_t* profiler = hoist_profiler_start(0, true, &error);
  CHECK(profiler != NULL && error == NULL);
  CHECK(hoist_profiler_start(0, true, &error) == NULL && error != NULL);
  hoist_error_delete(error);
  CHECK(hoist_profiler_samples(profiler) == 0);
  CHECK(!hoist_profiler_write(profiler, "profile.pdf", &error));
  CHECK(hoist_error_kind(error) == HOIST_ERROR_BAD_ARGUMENT);
  hoist_error_delete(error);
  hoist_profiler_delete(profiler);
}

int main(void) {
  check_vectors();
  check_limits();
  check_profiler();
  CHECK(strlen(hoist_version()) >= 5);
  wasm_config_t* config = wasm_config_new();
  hoist_config_set_opt_level(config, 1);
  hoist_config_set_threads(config, 1);
  hoist_config_set_guest_stack_bytes(config, 1 << 18);
  hoist_config_set_host_reserve_bytes(config, 1 << 16);
  hoist_config_set_perf_map(config, false);
  hoist_config_set_profiler(config, HOIST_PROFILER_NONE);
  hoist_config_set_demangle(config, false);
  hoist_config_set_code_callback(config, count_code, &pieces);
  wasm_engine_t* engine = wasm_engine_new_with_config(config);
  CHECK(engine != NULL);
  hoist_store_limits_t limits = hoist_store_limits_default();
  limits.memory_bytes = 2 * 65536;
  wasm_store_t* store = hoist_store_new(engine, &limits);
  int data = 0;
  hoist_store_set_data(store, &data);
  CHECK(hoist_store_get_data(store) == &data);
  check_errors(store);

  hoist_error_t* error = NULL;
  hoist_linker_t* linker = hoist_linker_new(engine);
  wasm_functype_t* type =
      wasm_functype_new_2_1(wasm_valtype_new_i32(), wasm_valtype_new_i32(), wasm_valtype_new_i32());
  int32_t bonus = 100;
  CHECK(hoist_linker_define_func(linker, "env", "add", type, add, &bonus, finalize, &error));
  CHECK(!hoist_linker_define_func(linker, "env", "add", type, add, &bonus, finalize, &error));
  CHECK(finalized == 1 && hoist_error_kind(error) == HOIST_ERROR_BAD_ARGUMENT);
  hoist_error_delete(error);
  wasm_functype_delete(type);
  hoist_wasi_config_t* wasi = hoist_wasi_config_new();
  hoist_wasi_config_add_arg(wasi, "program");
  hoist_wasi_config_add_env(wasi, "NAME", "value");
  CHECK(hoist_linker_define_wasi(linker, wasi, &error));

  wasm_module_t* module = compile(
      store,
      "(module (import \"env\" \"add\" (func $add (param i32 i32) (result i32)))"
      "  (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))"
      "  (memory (export \"memory\") 1)"
      "  (func (export \"run\") (result i32) (call $add (i32.const 1) (i32.const 2)))"
      "  (func (export \"exit\") (call $exit (i32.const 3)))"
      "  (func (export \"sum\") (param i32 i64 f32 f64) (result f64)"
      "    (f64.add (f64.add (f64.convert_i32_s (local.get 0)) (f64.convert_i64_s (local.get 1)))"
      "             (f64.add (f64.promote_f32 (local.get 2)) (local.get 3)))))");
  wasm_trap_t* trap = NULL;
  wasm_instance_t* instance = hoist_linker_instantiate(linker, store, module, &trap);
  CHECK(instance != NULL && trap == NULL);
  CHECK(hoist_instance_export(instance, "nothing") == NULL);
  wasm_extern_t* run = hoist_instance_export(instance, "run");
  CHECK(returns(wasm_extern_as_func(run), 0, NULL, 103));
  wasm_extern_t* leave = hoist_instance_export(instance, "exit");
  trap = call(wasm_extern_as_func(leave), 0, NULL, 0, NULL);
  int32_t status = 0;
  CHECK(trap != NULL && hoist_trap_exit_status(trap, &status) && status == 3);
  wasm_trap_delete(trap);
  wasm_extern_t* sum = hoist_instance_export(instance, "sum");
  check_typed(wasm_extern_as_func(sum));
  wasm_extern_t* memory = hoist_instance_export(instance, "memory");
  CHECK(wasm_memory_grow(wasm_extern_as_memory(memory), 1));
  CHECK(!wasm_memory_grow(wasm_extern_as_memory(memory), 1));

  /* Another module that imports from this instance. */
  CHECK(hoist_linker_define_instance(linker, "first", instance, &error));
  wasm_module_t* second = compile(store,
                                  "(module (import \"first\" \"run\" (func $run (result i32)))"
                                  "  (import \"own\" \"memory\" (memory 1))"
                                  "  (func (export \"twice\") (result i32)"
                                  "    (i32.add (call $run) (call $run))))");
  CHECK(hoist_linker_instantiate(linker, store, second, &trap) == NULL && trap != NULL);
  CHECK(hoist_trap_error_kind(trap) == HOIST_ERROR_LINK);
  wasm_trap_delete(trap);
  CHECK(hoist_linker_define(linker, "own", "memory", memory, &error));
  wasm_instance_t* next = hoist_linker_instantiate(linker, store, second, NULL);
  CHECK(next != NULL);
  wasm_extern_t* twice = hoist_instance_export(next, "twice");
  CHECK(returns(wasm_extern_as_func(twice), 0, NULL, 206));

  wasm_extern_delete(run);
  wasm_extern_delete(leave);
  wasm_extern_delete(sum);
  wasm_extern_delete(memory);
  wasm_extern_delete(twice);
  wasm_instance_delete(instance);
  wasm_instance_delete(next);
  wasm_module_delete(module);
  wasm_module_delete(second);
  hoist_linker_delete(linker);
  wasm_store_delete(store);
  CHECK(finalized == 2);
  wasm_engine_delete(engine);
  CHECK(pieces == 0);
  return 0;
}
