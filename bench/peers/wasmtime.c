// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What bench_calls and bench_instantiation measure, of Wasmtime through its C API, as lines
/// "name value": wasmtime calls FILE | wasmtime MODULE [demand|pooled] [LIVE]. FILE and MODULE are
/// WebAssembly in text or binary form. Linked with the library of the Python package, which has no
/// header: what is used of it is declared here. The C API has no call that is typed in the sense of
/// C++ templates; the "unchecked" one, which takes raw values, is the nearest and is called
/// "typed".

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wasm.h"

typedef struct wasmtime_error wasmtime_error_t;
typedef struct wasmtime_store wasmtime_store_t;
typedef struct wasmtime_context wasmtime_context_t;
typedef struct wasmtime_module wasmtime_module_t;
typedef struct wasmtime_linker wasmtime_linker_t;
typedef struct wasmtime_caller wasmtime_caller_t;
typedef struct wasmtime_pool wasmtime_pool_t;
typedef struct {
  uint64_t store_id;
  void* inner;
} wasmtime_func_t;
typedef struct {
  uint64_t store_id;
  size_t inner;
} wasmtime_instance_t;
typedef struct {
  uint8_t kind;
  union {
    wasmtime_func_t func;
    uint64_t room[6];
  } of;
} wasmtime_extern_t;
typedef struct {
  uint8_t kind;
  union {
    int32_t i32;
    uint64_t room[3];
  } of;
} wasmtime_val_t;
typedef union {
  int32_t i32;
  uint64_t bits[2];
} wasmtime_val_raw_t;
typedef wasm_trap_t* (*unchecked_callback)(void*, wasmtime_caller_t*, wasmtime_val_raw_t*, size_t);
typedef wasm_trap_t* (*checked_callback)(void*, wasmtime_caller_t*, const wasmtime_val_t*, size_t,
                                         wasmtime_val_t*, size_t);

wasmtime_error_t* wasmtime_wat2wasm(const char*, size_t, wasm_byte_vec_t*);
wasmtime_error_t* wasmtime_module_new(wasm_engine_t*, const uint8_t*, size_t, wasmtime_module_t**);
wasmtime_store_t* wasmtime_store_new(wasm_engine_t*, void*, void (*)(void*));
wasmtime_context_t* wasmtime_store_context(wasmtime_store_t*);
void wasmtime_store_delete(wasmtime_store_t*);
wasmtime_linker_t* wasmtime_linker_new(wasm_engine_t*);
wasmtime_error_t* wasmtime_linker_define_func(wasmtime_linker_t*, const char*, size_t, const char*,
                                              size_t, const wasm_functype_t*, checked_callback,
                                              void*, void (*)(void*));
wasmtime_error_t* wasmtime_linker_define_func_unchecked(wasmtime_linker_t*, const char*, size_t,
                                                        const char*, size_t, const wasm_functype_t*,
                                                        unchecked_callback, void*, void (*)(void*));
wasmtime_error_t* wasmtime_linker_define_unknown_imports_as_traps(wasmtime_linker_t*,
                                                                  wasmtime_module_t*);
wasmtime_error_t* wasmtime_linker_instantiate(const wasmtime_linker_t*, wasmtime_context_t*,
                                              const wasmtime_module_t*, wasmtime_instance_t*,
                                              wasm_trap_t**);
bool wasmtime_instance_export_get(wasmtime_context_t*, const wasmtime_instance_t*, const char*,
                                  size_t, wasmtime_extern_t*);
wasmtime_error_t* wasmtime_func_call(wasmtime_context_t*, const wasmtime_func_t*,
                                     const wasmtime_val_t*, size_t, wasmtime_val_t*, size_t,
                                     wasm_trap_t**);
wasmtime_error_t* wasmtime_func_call_unchecked(wasmtime_context_t*, const wasmtime_func_t*,
                                               wasmtime_val_raw_t*, size_t, wasm_trap_t**);
wasmtime_pool_t* wasmtime_pooling_allocation_config_new(void);
void wasmtime_pooling_allocation_config_total_core_instances_set(wasmtime_pool_t*, uint32_t);
void wasmtime_pooling_allocation_config_total_memories_set(wasmtime_pool_t*, uint32_t);
void wasmtime_pooling_allocation_config_total_tables_set(wasmtime_pool_t*, uint32_t);
void wasmtime_pooling_allocation_config_max_memory_size_set(wasmtime_pool_t*, size_t);
void wasmtime_pooling_allocation_config_max_core_instance_size_set(wasmtime_pool_t*, size_t);
void wasmtime_pooling_allocation_strategy_set(wasm_config_t*, wasmtime_pool_t*);

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}
static double median(double* samples, size_t count) {
  qsort(samples, count, sizeof *samples, by_value);
  return samples[count / 2];
}
static void must(const void* error, const char* what) {
  if (error == NULL) return;
  fprintf(stderr, "wasmtime: %s failed\n", what);
  exit(1);
}
static long resident_bytes(void) {
  long total = 0;
  long resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (file != NULL) fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

static wasm_trap_t* add_unchecked(void* env, wasmtime_caller_t* caller, wasmtime_val_raw_t* values,
                                  size_t count) {
  (void)env, (void)caller, (void)count;
  values[0].i32 += 1;
  return NULL;
}
static wasm_trap_t* add_checked(void* env, wasmtime_caller_t* caller, const wasmtime_val_t* args,
                                size_t num_args, wasmtime_val_t* results, size_t num_results) {
  (void)env, (void)caller, (void)num_args, (void)num_results;
  results[0].kind = 0;
  results[0].of.i32 = args[0].of.i32 + 1;
  return NULL;
}

static wasmtime_module_t* load(wasm_engine_t* engine, const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) must(path, path);
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  char* text = malloc(size);
  if (text == NULL || fread(text, 1, size, file) != size) must(path, "reading");
  fclose(file);
  wasm_byte_vec_t bytes = {size, text};
  if (size < 4 || memcmp(text, "\0asm", 4) != 0)
    must(wasmtime_wat2wasm(text, size, &bytes), "wat2wasm");
  wasmtime_module_t* module = NULL;
  must(wasmtime_module_new(engine, (const uint8_t*)bytes.data, bytes.size, &module), "compilation");
  return module;
}

static wasmtime_linker_t* make_linker(wasm_engine_t* engine, wasmtime_module_t* module) {
  wasmtime_linker_t* linker = wasmtime_linker_new(engine);
  const wasm_functype_t* type =
      wasm_functype_new_1_1(wasm_valtype_new_i32(), wasm_valtype_new_i32());
  must(wasmtime_linker_define_func_unchecked(linker, "env", 3, "typed", 5, type, add_unchecked,
                                             NULL, NULL),
       "define");
  must(wasmtime_linker_define_func_unchecked(linker, "env", 3, "host", 4, type, add_unchecked, NULL,
                                             NULL),
       "define");
  must(wasmtime_linker_define_func(linker, "env", 3, "untyped", 7, type, add_checked, NULL, NULL),
       "define");
  must(wasmtime_linker_define_unknown_imports_as_traps(linker, module), "define");
  return linker;
}

static wasmtime_func_t find(wasmtime_context_t* context, wasmtime_instance_t* instance,
                            const char* name) {
  wasmtime_extern_t item;
  if (!wasmtime_instance_export_get(context, instance, name, strlen(name), &item)) must(name, name);
  return item.of.func;
}

enum { kBatches = 21, kCalls = 200000 };

static void time_calls(const char* name, wasmtime_context_t* context, wasmtime_func_t func,
                       bool checked) {
  double samples[kBatches];
  wasm_trap_t* trap = NULL;
  for (int i = 0; i < kBatches; ++i) {
    const double start = seconds();
    for (int k = 0; k < kCalls; ++k) {
      if (checked) {
        const wasmtime_val_t arg = {0, {.i32 = k}};
        wasmtime_val_t result;
        must(wasmtime_func_call(context, &func, &arg, 1, &result, 1, &trap), "a call");
      } else {
        wasmtime_val_raw_t value = {.i32 = k};
        must(wasmtime_func_call_unchecked(context, &func, &value, 1, &trap), "a call");
      }
    }
    samples[i] = (seconds() - start) / kCalls;
  }
  printf("%s %.2f\n", name, median(samples, kBatches) * 1e9);
}

static double time_loop(wasmtime_context_t* context, wasmtime_func_t loop, int which) {
  double samples[kBatches];
  wasm_trap_t* trap = NULL;
  for (int i = 0; i < kBatches; ++i) {
    wasmtime_val_raw_t values[2] = {{.i32 = which}, {.i32 = kCalls}};
    const double start = seconds();
    must(wasmtime_func_call_unchecked(context, &loop, values, 2, &trap), "the loop");
    samples[i] = (seconds() - start) / kCalls;
  }
  return median(samples, kBatches) * 1e9;
}

static int calls(const char* path) {
  wasm_engine_t* engine = wasm_engine_new();
  wasmtime_module_t* module = load(engine, path);
  wasmtime_linker_t* linker = make_linker(engine, module);
  wasmtime_context_t* context = wasmtime_store_context(wasmtime_store_new(engine, NULL, NULL));
  wasmtime_instance_t instance;
  wasm_trap_t* trap = NULL;
  must(wasmtime_linker_instantiate(linker, context, module, &instance, &trap), "instantiation");
  time_calls("host_to_guest_typed_ns", context, find(context, &instance, "add"), false);
  time_calls("host_to_guest_untyped_ns", context, find(context, &instance, "add"), true);
  const wasmtime_func_t loop = find(context, &instance, "loop");
  const double own = time_loop(context, loop, 0);
  printf("guest_to_guest_indirect_ns %.2f\n", own);
  printf("guest_to_host_typed_ns %.2f\n", time_loop(context, loop, 1) - own);
  printf("guest_to_host_untyped_ns %.2f\n", time_loop(context, loop, 2) - own);
  return 0;
}

static wasmtime_store_t* start(wasm_engine_t* engine, wasmtime_linker_t* linker,
                               wasmtime_module_t* module) {
  wasmtime_store_t* store = wasmtime_store_new(engine, NULL, NULL);
  wasmtime_instance_t instance;
  wasm_trap_t* trap = NULL;
  must(wasmtime_linker_instantiate(linker, wasmtime_store_context(store), module, &instance, &trap),
       "instantiation");
  return store;
}

static int instantiation(const char* path, bool pooled, int live) {
  wasm_config_t* config = wasm_config_new();
  if (pooled) {
    wasmtime_pool_t* pool = wasmtime_pooling_allocation_config_new();
    const uint32_t slots = live > 100 ? (uint32_t)live : 100;
    wasmtime_pooling_allocation_config_total_core_instances_set(pool, slots);
    wasmtime_pooling_allocation_config_total_memories_set(pool, slots);
    wasmtime_pooling_allocation_config_total_tables_set(pool, slots);
    wasmtime_pooling_allocation_config_max_memory_size_set(pool, (size_t)1 << 32);
    wasmtime_pooling_allocation_config_max_core_instance_size_set(pool, (size_t)1 << 20);
    wasmtime_pooling_allocation_strategy_set(config, pool);
  }
  wasm_engine_t* engine = wasm_engine_new_with_config(config);
  wasmtime_module_t* module = load(engine, path);
  wasmtime_linker_t* linker = make_linker(engine, module);
  const size_t length = strlen(path);
  const int count = length > 9 && strcmp(path + length - 9, "small.wat") == 0 ? 1000 : 20;
  double samples[31];
  double begin = seconds();
  wasmtime_store_delete(start(engine, linker, module));
  printf("first_us %.2f\n", (seconds() - begin) * 1e6);
  for (int i = 0; i < 31; ++i) {
    begin = seconds();
    for (int k = 0; k < count; ++k) wasmtime_store_delete(start(engine, linker, module));
    samples[i] = (seconds() - begin) / count;
  }
  printf("cycle_us %.3f\n", median(samples, 31) * 1e6);
  if (live == 0) return 0;
  wasmtime_store_t** stores = malloc((size_t)live * sizeof *stores);
  if (stores == NULL) return 1;
  const long before = resident_bytes();
  begin = seconds();
  for (int i = 0; i < live; ++i) stores[i] = start(engine, linker, module);
  const double made = seconds();
  const long after = resident_bytes();
  for (int i = 0; i < live; ++i) wasmtime_store_delete(stores[i]);
  printf("live_make_us_each %.3f\nlive_end_us_each %.3f\nlive_bytes_each %ld\n",
         (made - begin) / live * 1e6, (seconds() - made) / live * 1e6, (after - before) / live);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3 && (argc < 2 || strcmp(argv[1], "calls") == 0)) return 2;
  if (strcmp(argv[1], "calls") == 0) return calls(argv[2]);
  return instantiation(argv[1], argc > 2 && strcmp(argv[2], "pooled") == 0,
                       argc > 3 ? atoi(argv[3]) : 0);
}
