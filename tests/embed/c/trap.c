/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Traps of the guest and of the host, with their frames. */
#include "support.h"

static void free_info(void* info) {
  ++*(int*)info;
}
static int infos_freed = 0;

static wasm_trap_t* fail(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  wasm_message_t message;
  (void)args;
  (void)results;
  wasm_name_new_from_string_nt(&message, "callback abort");
  wasm_trap_t* trap = wasm_trap_new((wasm_store_t*)env, &message);
  wasm_name_delete(&message);
  wasm_trap_set_host_info_with_finalizer(trap, &infos_freed, free_info);
  return trap;
}

static void check_frame(const wasm_frame_t* frame, wasm_instance_t* instance, uint32_t func) {
  CHECK(wasm_frame_instance(frame) == instance);
  CHECK(wasm_frame_func_index(frame) == func);
  CHECK(wasm_frame_func_offset(frame) > 0 && wasm_frame_func_offset(frame) < 100);
  CHECK(wasm_frame_module_offset(frame) > wasm_frame_func_offset(frame));
}

/* The frame's instance is told if there is no doubt: also one whose start function traps counts. */
static void check_instances(wasm_store_t* store) {
  wasm_module_t* module = compile(store,
                                  "(module (import \"\" \"on\" (global $on i32))"
                                  "  (func $start (if (global.get $on) (then (unreachable))))"
                                  "  (func (export \"f\") (unreachable)) (start $start))");
  wasm_globaltype_t* type = wasm_globaltype_new(wasm_valtype_new_i32(), WASM_CONST);
  wasm_val_t value = i32(0);
  wasm_global_t* off = wasm_global_new(store, type, &value);
  value = i32(1);
  wasm_global_t* on = wasm_global_new(store, type, &value);
  wasm_globaltype_delete(type);
  wasm_extern_t* imports[1];
  wasm_extern_vec_t import_vec = WASM_ARRAY_VEC(imports);
  imports[0] = wasm_global_as_extern(off);
  wasm_instance_t* instance = instantiate(store, module, 1, imports);
  wasm_extern_t* func = hoist_instance_export(instance, "f");
  for (int i = 0; i < 2; ++i) {
    wasm_trap_t* trap = call(wasm_extern_as_func(func), 0, NULL, 0, NULL);
    wasm_frame_t* origin = wasm_trap_origin(trap);
    CHECK(wasm_frame_instance(origin) == (i == 0 ? instance : NULL));
    wasm_frame_delete(origin);
    wasm_trap_delete(trap);
    if (i == 1) break;
    imports[0] = wasm_global_as_extern(on);
    CHECK(wasm_instance_new(store, module, &import_vec, &trap) == NULL && trap != NULL);
    origin = wasm_trap_origin(trap);
    CHECK(origin != NULL && wasm_frame_instance(origin) == NULL);
    wasm_frame_delete(origin);
    wasm_trap_delete(trap);
  }
  wasm_extern_delete(func);
  wasm_instance_delete(instance);
  wasm_global_delete(off);
  wasm_global_delete(on);
  wasm_module_delete(module);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(store,
                                  "(module $m (import \"\" \"fail\" (func $fail (result i32)))"
                                  "  (func (export \"callback\") (result i32) (call $fail))"
                                  "  (func $un (result i32) (unreachable) (i32.const 1))"
                                  "  (func (export \"unreachable\") (result i32) (call $un)))");
  wasm_functype_t* type = wasm_functype_new_0_1(wasm_valtype_new_i32());
  wasm_func_t* fail_func = wasm_func_new_with_env(store, type, fail, store, NULL);
  wasm_functype_delete(type);
  wasm_extern_t* imports[1];
  imports[0] = wasm_func_as_extern(fail_func);
  wasm_instance_t* instance = instantiate(store, module, 1, imports);
  wasm_func_delete(fail_func);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  wasm_module_delete(module);

  for (size_t i = 0; i < 2; ++i) {
    wasm_val_t result = i32(7);
    wasm_trap_t* trap = call(wasm_extern_as_func(exports.data[i]), 0, NULL, 1, &result);
    CHECK(trap != NULL);
    CHECK(result.of.i32 == 7);
    wasm_message_t message;
    wasm_trap_message(trap, &message);
    CHECK(strcmp(message.data, i == 0 ? "callback abort" : "unreachable") == 0);
    CHECK(message.size == strlen(message.data) + 1);
    wasm_name_delete(&message);
    CHECK(wasm_trap_get_host_info(trap) == (i == 0 ? &infos_freed : NULL));
    CHECK(hoist_trap_error_kind(trap) == (i == 0 ? HOIST_ERROR_HOST : HOIST_ERROR_TRAP));
    CHECK((hoist_trap_code(trap) != 0) == (i == 1));

    wasm_frame_t* origin = wasm_trap_origin(trap);
    CHECK(origin != NULL);
    check_frame(origin, instance, i == 0 ? 1 : 2);
    CHECK(strcmp(hoist_frame_function_name(origin), i == 0 ? "callback" : "un") == 0);
    CHECK(strcmp(hoist_frame_module_name(origin), "m") == 0);
    /* Without DWARF there are no lines. */
    CHECK(strcmp(hoist_frame_source_file(origin), "") == 0);
    CHECK(hoist_frame_source_line(origin) == 0);
    CHECK(!hoist_frame_is_inlined(origin));
    wasm_frame_vec_t trace;
    wasm_trap_trace(trap, &trace);
    CHECK(trace.size == i + 1);
    for (size_t j = 0; j < trace.size; ++j) {
      check_frame(trace.data[j], instance, (uint32_t)(i == 0 ? 1 : 2 + j));
    }
    wasm_frame_vec_t copies;
    wasm_frame_vec_copy(&copies, &trace);
    wasm_frame_vec_delete(&trace);
    check_frame(copies.data[0], instance, i == 0 ? 1 : 2);
    wasm_frame_vec_delete(&copies);
    wasm_frame_delete(origin);

    wasm_trap_t* copy = wasm_trap_copy(trap);
    CHECK(wasm_trap_same(copy, trap));
    CHECK(wasm_ref_as_trap(wasm_trap_as_ref(copy)) == copy);
    CHECK(wasm_ref_as_func(wasm_trap_as_ref(copy)) == NULL);
    wasm_trap_delete(copy);
    CHECK(infos_freed == (i == 0 ? 0 : 1));
    wasm_trap_delete(trap);
    CHECK(infos_freed == 1);
  }
  wasm_instance_delete(instance);
  wasm_extern_vec_delete(&exports);
  check_instances(store);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
