/* A host in C: a guest's function called through wasm.h and hoist.h. */
#include <hoist.h>
#include <stdio.h>

int main(void) {
  const char* text = "(module (func (export \"add\") (param i32 i32) (result i32)"
                     "  (i32.add (local.get 0) (local.get 1))))";
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  hoist_error_t* error = NULL;
  wasm_module_t* module = hoist_module_from_text(store, text, strlen(text), &error);
  if (module == NULL) {
    fprintf(stderr, "%s\n", hoist_error_message(error));
    return 1;
  }
  wasm_instance_t* instance = wasm_instance_new(store, module, NULL, NULL);
  wasm_extern_t* add = hoist_instance_export(instance, "add");
  wasm_val_t args[2] = {WASM_I32_VAL(2), WASM_I32_VAL(3)};
  wasm_val_t result[1] = {WASM_INIT_VAL};
  wasm_val_vec_t arg_vec = WASM_ARRAY_VEC(args);
  wasm_val_vec_t result_vec = WASM_ARRAY_VEC(result);
  wasm_trap_t* trap = wasm_func_call(wasm_extern_as_func(add), &arg_vec, &result_vec);
  if (trap == NULL) printf("2 + 3 = %d\n", result[0].of.i32);
  wasm_trap_delete(trap);
  wasm_extern_delete(add);
  wasm_instance_delete(instance);
  wasm_module_delete(module);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
