/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A memory: reading, writing, growing, from both sides. */
#include "support.h"

static bool loads(const wasm_func_t* func, int32_t at, int32_t expected) {
  wasm_val_t arg = i32(at);
  return returns(func, 1, &arg, expected);
}
static bool load_fails(const wasm_func_t* func, int32_t at) {
  wasm_val_t arg = i32(at);
  return traps(func, 1, &arg, 1, "out of bounds memory access");
}
static bool stores(const wasm_func_t* func, int32_t at, int32_t value) {
  wasm_val_t args[2];
  args[0] = i32(at);
  args[1] = i32(value);
  wasm_trap_t* trap = call(func, 2, args, 0, NULL);
  wasm_trap_delete(trap);
  return trap == NULL;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module =
      compile(store,
              "(module (memory (export \"memory\") 2 3)"
              "  (func (export \"size\") (result i32) (memory.size))"
              "  (func (export \"load\") (param i32) (result i32) (i32.load8_s (local.get 0)))"
              "  (func (export \"store\") (param i32 i32)"
              "    (i32.store8 (local.get 0) (local.get 1)))"
              "  (data (i32.const 0x1000) \"\\01\\02\\03\\04\"))");
  wasm_instance_t* instance = instantiate(store, module, 0, NULL);
  wasm_module_delete(module);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  wasm_memory_t* memory = wasm_extern_as_memory(exports.data[0]);
  const wasm_func_t* size = wasm_extern_as_func(exports.data[1]);
  const wasm_func_t* load = wasm_extern_as_func(exports.data[2]);
  const wasm_func_t* store_it = wasm_extern_as_func(exports.data[3]);

  wasm_memory_t* copy = wasm_memory_copy(memory);
  CHECK(wasm_memory_same(memory, copy));
  wasm_memory_delete(copy);

  CHECK(wasm_memory_size(memory) == 2 && wasm_memory_data_size(memory) == 0x20000);
  CHECK(wasm_memory_data(memory)[0] == 0 && wasm_memory_data(memory)[0x1003] == 4);
  CHECK(returns(size, 0, NULL, 2) && loads(load, 0x1000, 1) && loads(load, 0x1003, 4));
  CHECK(loads(load, 0x1ffff, 0) && load_fails(load, 0x20000));

  wasm_memory_data(memory)[0x1003] = 5;
  CHECK(stores(store_it, 0x1002, 6) && !stores(store_it, 0x20000, 0));
  CHECK(wasm_memory_data(memory)[0x1002] == 6 && loads(load, 0x1003, 5));

  CHECK(wasm_memory_grow(memory, 1) && wasm_memory_size(memory) == 3);
  CHECK(wasm_memory_data_size(memory) == 0x30000);
  CHECK(loads(load, 0x20000, 0) && stores(store_it, 0x20000, 0) && load_fails(load, 0x30000));
  CHECK(!wasm_memory_grow(memory, 1) && wasm_memory_grow(memory, 0));

  char bytes[4] = {9, 8, 7, 6};
  CHECK(hoist_memory_write(memory, 0x2fffc, bytes, 4));
  CHECK(!hoist_memory_write(memory, 0x2fffd, bytes, 4));
  CHECK(!hoist_memory_read(memory, UINT64_MAX, bytes, 4));
  CHECK(hoist_memory_read(memory, 0x2fffe, bytes, 2) && bytes[0] == 7);

  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);
  wasm_limits_t limits = {5, 5};
  wasm_memorytype_t* type = wasm_memorytype_new(&limits);
  wasm_memory_t* alone = wasm_memory_new(store, type);
  CHECK(wasm_memory_size(alone) == 5);
  CHECK(!wasm_memory_grow(alone, 1) && wasm_memory_grow(alone, 0));
  wasm_memorytype_delete(type);
  wasm_memory_delete(alone);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
