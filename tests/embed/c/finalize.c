/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Many instances with host info, ended with their store. */
#include "support.h"

enum { kCount = 10000 };
static int live = 0;

static void finalize(void* info) {
  (void)info;
  --live;
}

static void run_in(wasm_store_t* store) {
  static int info;
  wasm_module_t* module =
      compile(store, "(module (func (export \"f\")) (func (export \"g\")) (func (export \"h\")))");
  for (int i = 0; i < kCount; ++i) {
    wasm_instance_t* instance = instantiate(store, module, 0, NULL);
    wasm_instance_set_host_info_with_finalizer(instance, &info, finalize);
    CHECK(wasm_instance_get_host_info(instance) == &info);
    wasm_instance_delete(instance);
    ++live;
  }
  wasm_module_delete(module);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store1 = wasm_store_new(engine);
  run_in(store1);
  wasm_store_t* store2 = wasm_store_new(engine);
  run_in(store2);
  CHECK(live <= 2 * kCount);
  wasm_store_delete(store2);
  CHECK(live <= kCount);
  run_in(store1);
  wasm_store_delete(store1);
  CHECK(live == 0);
  wasm_engine_delete(engine);
  return 0;
}
