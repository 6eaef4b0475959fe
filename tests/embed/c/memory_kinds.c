/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * hoist.h: memories and tables that wasm.h has no room for, shared memories, threads of programs.
 */
#include "support.h"

static void check_types(wasm_store_t* store) {
  const hoist_memory_type_t wide = {1, (uint64_t)1 << 33, true, false, 16};
  wasm_memorytype_t* type = hoist_memorytype_new(&wide);
  wasm_memorytype_t* copy = wasm_memorytype_copy(type);
  hoist_memory_type_t seen;
  hoist_memorytype_get(copy, &seen);
  CHECK(seen.minimum == 1 && seen.maximum == wide.maximum && seen.is_64 && !seen.shared);
  CHECK(wasm_memorytype_limits(copy)->max == wasm_limits_max_default - 1);
  wasm_memory_t* memory = wasm_memory_new(store, copy);
  CHECK(memory != NULL && hoist_memory_pages(memory) == 1 && hoist_memory_grow(memory, 2));
  CHECK(hoist_memory_pages(memory) == 3 && wasm_memory_data_size(memory) == 0x30000);
  CHECK(!hoist_memory_grow(memory, (uint64_t)1 << 40) && hoist_memory_shared(memory) == NULL);
  wasm_memory_delete(memory);
  wasm_memorytype_delete(copy);
  wasm_memorytype_delete(type);

  const hoist_memory_type_t bytes = {3, UINT64_MAX, false, false, 0};
  type = hoist_memorytype_new(&bytes);
  memory = wasm_memory_new(store, type);
  CHECK(memory != NULL && wasm_memory_data_size(memory) == 3 && wasm_memory_grow(memory, 2));
  CHECK(wasm_memory_data_size(memory) == 5);
  wasm_memory_delete(memory);
  wasm_memorytype_delete(type);
  const hoist_memory_type_t odd = {3, UINT64_MAX, false, false, 17};
  CHECK(hoist_memorytype_new(&odd) == NULL && hoist_memorytype_new(NULL) == NULL);
  hoist_memorytype_get(NULL, &seen);
  hoist_memorytype_get(NULL, NULL);

  const hoist_table_type_t table_type = {2, 5, true};
  wasm_tabletype_t* tabletype = hoist_tabletype_new(wasm_valtype_new(WASM_FUNCREF), &table_type);
  hoist_table_type_t seen_table;
  hoist_tabletype_get(tabletype, &seen_table);
  CHECK(seen_table.minimum == 2 && seen_table.maximum == 5 && seen_table.is_64);
  wasm_table_t* table = wasm_table_new(store, tabletype, NULL);
  CHECK(hoist_table_size(table) == 2 && hoist_table_grow(table, 3, NULL));
  CHECK(!hoist_table_grow(table, (uint64_t)1 << 32, NULL) && hoist_table_size(table) == 5);
  CHECK(hoist_table_get(table, (uint64_t)1 << 32) == NULL);
  CHECK(!hoist_table_set(table, (uint64_t)1 << 32, NULL) && hoist_table_set(table, 4, NULL));
  wasm_table_delete(table);
  wasm_tabletype_delete(tabletype);
  CHECK(hoist_tabletype_new(wasm_valtype_new(WASM_I32), &table_type) == NULL);
  CHECK(hoist_tabletype_new(NULL, NULL) == NULL && hoist_table_size(NULL) == 0);
}

static void check_shared(wasm_engine_t* engine, wasm_store_t* store) {
  hoist_error_t* error = NULL;
  const hoist_memory_type_t endless = {1, UINT64_MAX, false, true, 16};
  CHECK(hoist_shared_memory_new(engine, &endless, &error) == NULL && error != NULL);
  hoist_error_delete(error);
  const hoist_memory_type_t wanted = {1, 2, false, true, 16};
  hoist_shared_memory_t* memory = hoist_shared_memory_new(engine, &wanted, &error);
  CHECK(memory != NULL && error == NULL && hoist_shared_memory_size(memory) == 0x10000);
  hoist_linker_t* linker = hoist_linker_new(engine);
  CHECK(hoist_linker_define_shared_memory(linker, "env", "memory", memory, &error));
  wasm_module_t* module =
      compile(store,
              "(module (memory (export \"memory\") (import \"env\" \"memory\") 1 2 shared)"
              "  (func (export \"add\") (param i32) (result i32)"
              "    (i32.atomic.rmw.add (i32.const 8) (local.get 0))))");
  wasm_instance_t* one = hoist_linker_instantiate(linker, store, module, NULL);
  wasm_store_t* other = wasm_store_new(engine);
  wasm_instance_t* two = hoist_linker_instantiate(linker, other, module, NULL);
  CHECK(one != NULL && two != NULL);
  wasm_extern_t* add_one = hoist_instance_export(one, "add");
  wasm_extern_t* add_two = hoist_instance_export(two, "add");
  wasm_val_t arg = i32(5);
  CHECK(returns(wasm_extern_as_func(add_one), 1, &arg, 0));
  CHECK(returns(wasm_extern_as_func(add_two), 1, &arg, 5));
  CHECK(hoist_shared_memory_data(memory)[8] == 10);
  CHECK(hoist_shared_memory_notify(memory, 8, 1) == 0);
  CHECK(hoist_shared_memory_notify(memory, 9, 1) == UINT32_MAX);
  CHECK(hoist_shared_memory_wait32(memory, 8, 9, -1) == 1);
  CHECK(hoist_shared_memory_wait64(memory, 8, 10, 1000) == 2);
  CHECK(hoist_shared_memory_wait32(memory, 0x10000, 0, 0) == -1);
  CHECK(hoist_shared_memory_grow(memory, 1) && !hoist_shared_memory_grow(memory, 1));
  wasm_extern_t* exported = hoist_instance_export(one, "memory");
  hoist_shared_memory_t* again = hoist_memory_shared(wasm_extern_as_memory(exported));
  CHECK(hoist_shared_memory_data(again) == hoist_shared_memory_data(memory));
  wasm_memory_t* inside = hoist_shared_memory_in(again, other, &error);
  CHECK(inside != NULL && wasm_memory_size(inside) == 2);
  wasm_memory_delete(inside);
  hoist_shared_memory_delete(again);
  wasm_extern_delete(exported);
  wasm_extern_delete(add_one);
  wasm_extern_delete(add_two);
  wasm_instance_delete(one);
  wasm_instance_delete(two);
  wasm_module_delete(module);
  wasm_store_delete(other);
  hoist_linker_delete(linker);
  hoist_shared_memory_t* copy = hoist_shared_memory_copy(memory);
  hoist_shared_memory_delete(memory);
  CHECK(hoist_shared_memory_data(copy)[8] == 10);
  hoist_shared_memory_delete(copy);
}

static void check_threads(wasm_engine_t* engine, wasm_store_t* store) {
  hoist_error_t* error = NULL;
  wasm_module_t* module =
      compile(store,
              "(module (memory (import \"env\" \"memory\") 1 1 shared)"
              "  (func $spawn (import \"wasi\" \"thread-spawn\") (param i32) (result i32))"
              "  (func (export \"wasi_thread_start\") (param i32 i32)"
              "    (if (i32.eqz (local.get 1)) (then unreachable))"
              "    (i32.atomic.store (i32.const 0) (local.get 1))"
              "    (drop (memory.atomic.notify (i32.const 0) (i32.const 1))))"
              "  (func (export \"run\") (param i32) (result i32)"
              "    (drop (call $spawn (local.get 0)))"
              "    (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))"
              "    (i32.atomic.load (i32.const 0))))");
  CHECK(hoist_module_wants_wasi_threads(module));
  for (int32_t argument = 0; argument < 2; ++argument) {
    hoist_linker_t* linker = hoist_linker_new(engine);
    hoist_wasi_threads_t* threads =
        hoist_linker_define_wasi_threads(linker, module, NULL, 4, &error);
    CHECK(threads != NULL);
    wasm_store_t* main_store = wasm_store_new(engine);
    wasm_instance_t* instance = hoist_linker_instantiate(linker, main_store, module, NULL);
    wasm_extern_t* run = hoist_instance_export(instance, "run");
    wasm_val_t arg = i32(argument);
    CHECK(returns(wasm_extern_as_func(run), 1, &arg, 1) == (argument == 1));
    int32_t number = 0;
    hoist_error_t* failure = hoist_wasi_threads_failure(threads, &number);
    CHECK((failure == NULL) == (argument == 1) && number == (argument == 1 ? 0 : 1));
    hoist_error_delete(failure);
    hoist_wasi_threads_delete(threads);
    wasm_extern_delete(run);
    wasm_instance_delete(instance);
    wasm_store_delete(main_store);
    hoist_linker_delete(linker);
  }
  wasm_module_delete(module);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  check_types(store);
  check_shared(engine, store);
  check_threads(engine, store);
  CHECK(!hoist_module_wants_wasi_threads(NULL) && hoist_shared_memory_size(NULL) == 0);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
