/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Tags and exceptions: seen by the host, thrown by it, passed through it. */
#include "support.h"

static wasm_func_t* inner = NULL; /* what the host function calls */
static wasm_tag_t* tag = NULL;

static wasm_trap_t* pass(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  const wasm_val_vec_t none = WASM_EMPTY_VEC;
  wasm_val_vec_t no_results = WASM_EMPTY_VEC;
  (void)args;
  (void)results;
  ++*(int*)env;
  return wasm_func_call(inner, &none, &no_results);
}
static wasm_trap_t* throw_new(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  wasm_val_t value = i32(args->data[0].of.i32 + 1);
  const wasm_val_vec_t payload = {1, &value};
  (void)env;
  (void)results;
  return hoist_exception_new(tag, &payload);
}

static wasm_trap_t* run(const wasm_extern_t* func, int32_t* result) {
  const wasm_val_vec_t none = WASM_EMPTY_VEC;
  wasm_val_t value = i32(-1);
  wasm_val_vec_t results = {1, &value};
  wasm_trap_t* trap = wasm_func_call(wasm_extern_as_func_const(func), &none, &results);
  *result = value.of.i32;
  return trap;
}

static wasm_func_t* host_func(wasm_store_t* store, wasm_functype_t* type,
                              wasm_func_callback_with_env_t callback, void* env) {
  wasm_func_t* made = wasm_func_new_with_env(store, type, callback, env, NULL);
  wasm_functype_delete(type);
  return made;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_tagtype_t* type = wasm_tagtype_new(wasm_functype_new_1_0(wasm_valtype_new_i32()));
  tag = wasm_tag_new(store, type);
  wasm_tagtype_delete(type);
  CHECK(tag != NULL);
  CHECK(wasm_extern_kind(wasm_tag_as_extern(tag)) == WASM_EXTERN_TAG);
  type = wasm_tag_type(tag);
  CHECK(wasm_functype_params(wasm_tagtype_functype(type))->size == 1);
  wasm_tagtype_delete(type);

  int passed = 0;
  wasm_func_t* pass_func = host_func(store, wasm_functype_new_0_0(), pass, &passed);
  wasm_func_t* throw_func =
      host_func(store, wasm_functype_new_1_0(wasm_valtype_new_i32()), throw_new, NULL);
  wasm_module_t* module = compile(
      store,
      "(module (import \"h\" \"tag\" (tag $t (param i32))) (import \"h\" \"pass\" (func $pass))"
      " (import \"h\" \"throw\" (func $throw (param i32)))"
      " (export \"tag\" (tag $t)) (func (export \"inner\") (throw $t (i32.const 5)))"
      " (func (export \"caught\") (result i32) (block $h (result i32)"
      "   (try_table (catch $t $h) (call $pass)) (unreachable)))"
      " (func (export \"uncaught\") (result i32) (call $pass) (i32.const 0))"
      " (func (export \"new\") (result i32) (block $h (result i32)"
      "   (try_table (catch $t $h) (call $throw (i32.const 8))) (unreachable)))"
      " (func (export \"trap\") (result i32) (unreachable)))");
  wasm_extern_t* imports[] = {wasm_tag_as_extern(tag), wasm_func_as_extern(pass_func),
                              wasm_func_as_extern(throw_func)};
  wasm_instance_t* instance = instantiate(store, module, 3, imports);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  CHECK(wasm_tag_same(wasm_extern_as_tag(exports.data[0]), tag));
  inner = wasm_extern_as_func(exports.data[1]);

  int32_t result = 0;
  CHECK(run(exports.data[2], &result) == NULL && result == 5);
  CHECK(run(exports.data[4], &result) == NULL && result == 9);
  wasm_trap_t* trap = run(exports.data[3], &result);
  CHECK(trap != NULL && passed == 2);
  CHECK(hoist_trap_error_kind(trap) == HOIST_ERROR_EXCEPTION);
  wasm_tag_t* thrown = hoist_exception_tag(trap);
  CHECK(wasm_tag_same(thrown, tag));
  wasm_tag_delete(thrown);
  wasm_val_vec_t payload;
  hoist_exception_payload(trap, &payload);
  CHECK(payload.size == 1 && payload.data[0].of.i32 == 5);
  wasm_val_vec_delete(&payload);
  wasm_frame_vec_t frames;
  wasm_trap_trace(trap, &frames);
  CHECK(frames.size == 2);
  wasm_frame_vec_delete(&frames);
  wasm_trap_delete(trap);

  trap = run(exports.data[5], &result);
  CHECK(trap != NULL && hoist_exception_tag(trap) == NULL);
  hoist_exception_payload(trap, &payload);
  CHECK(payload.size == 0);
  wasm_val_vec_delete(&payload);
  wasm_trap_delete(trap);

  /* Misuse. */
  const wasm_val_vec_t none = WASM_EMPTY_VEC;
  CHECK(hoist_exception_new(tag, &none) == NULL);
  CHECK(hoist_exception_new(NULL, &none) == NULL);
  CHECK(hoist_exception_tag(NULL) == NULL);
  CHECK(wasm_tag_new(NULL, NULL) == NULL);

  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);
  wasm_module_delete(module);
  wasm_func_delete(pass_func);
  wasm_func_delete(throw_func);
  wasm_tag_delete(tag);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
