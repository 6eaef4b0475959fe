/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Globals of guest and host: reading, writing, identity. */
#include "support.h"

static bool global_is(const wasm_global_t* global, double expected) {
  wasm_val_t value;
  wasm_global_get(global, &value);
  if (value.kind == WASM_F32) return (double)value.of.f32 == expected;
  return value.kind == WASM_I64 && (double)value.of.i64 == expected;
}
static bool get_is(const wasm_func_t* func, double expected) {
  wasm_val_t value;
  CHECK(call(func, 0, NULL, 1, &value) == NULL);
  if (value.kind == WASM_F32) return (double)value.of.f32 == expected;
  return value.kind == WASM_I64 && (double)value.of.i64 == expected;
}
static void set(const wasm_func_t* func, wasm_val_t value) {
  CHECK(call(func, 1, &value, 0, NULL) == NULL);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module =
      compile(store,
              "(module"
              "  (global $c (import \"\" \"const f32\") f32)"
              "  (global $v (import \"\" \"var i64\") (mut i64))"
              "  (global $ec (export \"const\") f32 (f32.const 5))"
              "  (global $ev (export \"var\") (mut i64) (i64.const 8))"
              "  (export \"again\" (global $v))"
              "  (func (export \"get c\") (result f32) (global.get $c))"
              "  (func (export \"get v\") (result i64) (global.get $v))"
              "  (func (export \"get ev\") (result i64) (global.get $ev))"
              "  (func (export \"set v\") (param i64) (global.set $v (local.get 0)))"
              "  (func (export \"set ev\") (param i64) (global.set $ev (local.get 0))))");
  wasm_globaltype_t* const_type = wasm_globaltype_new(wasm_valtype_new_f32(), WASM_CONST);
  wasm_globaltype_t* var_type = wasm_globaltype_new(wasm_valtype_new_i64(), WASM_VAR);
  wasm_val_t one = WASM_F32_VAL(1);
  wasm_val_t two = WASM_I64_VAL(2);
  wasm_global_t* const_global = wasm_global_new(store, const_type, &one);
  wasm_global_t* var_global = wasm_global_new(store, var_type, &two);
  CHECK(wasm_global_new(store, const_type, &two) == NULL);
  wasm_globaltype_delete(const_type);
  wasm_globaltype_delete(var_type);

  wasm_extern_t* imports[2];
  imports[0] = wasm_global_as_extern(const_global);
  imports[1] = wasm_global_as_extern(var_global);
  wasm_instance_t* instance = instantiate(store, module, 2, imports);
  wasm_module_delete(module);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  wasm_instance_delete(instance);
  CHECK(exports.size == 8);
  wasm_global_t* export_const = wasm_extern_as_global(exports.data[0]);
  wasm_global_t* export_var = wasm_extern_as_global(exports.data[1]);
  const wasm_func_t* get_c = wasm_extern_as_func(exports.data[3]);
  const wasm_func_t* get_v = wasm_extern_as_func(exports.data[4]);
  const wasm_func_t* get_ev = wasm_extern_as_func(exports.data[5]);
  const wasm_func_t* set_v = wasm_extern_as_func(exports.data[6]);
  const wasm_func_t* set_ev = wasm_extern_as_func(exports.data[7]);

  /* The import that comes out again is the same thing. */
  CHECK(wasm_global_same(wasm_extern_as_global(exports.data[2]), var_global));
  CHECK(!wasm_global_same(export_var, var_global));
  wasm_global_t* copy = wasm_global_copy(var_global);
  CHECK(wasm_global_same(copy, var_global));
  wasm_global_delete(copy);

  CHECK(global_is(const_global, 1) && global_is(var_global, 2) && global_is(export_const, 5) &&
        global_is(export_var, 8));
  CHECK(get_is(get_c, 1) && get_is(get_v, 2) && get_is(get_ev, 8));

  wasm_val_t v37 = WASM_I64_VAL(37);
  wasm_val_t v38 = WASM_I64_VAL(38);
  wasm_global_set(var_global, &v37);
  wasm_global_set(export_var, &v38);
  CHECK(get_is(get_v, 37) && get_is(get_ev, 38));
  wasm_val_t v77 = WASM_I64_VAL(77);
  wasm_val_t v78 = WASM_I64_VAL(78);
  set(set_v, v77);
  set(set_ev, v78);
  CHECK(global_is(var_global, 77) && global_is(export_var, 78));
  /* Immutable, and of another type: nothing happens. */
  wasm_val_t f9 = WASM_F32_VAL(9);
  wasm_global_set(const_global, &f9);
  wasm_global_set(var_global, &f9);
  CHECK(global_is(const_global, 1) && global_is(var_global, 77));

  wasm_global_delete(const_global);
  wasm_global_delete(var_global);
  wasm_extern_vec_delete(&exports);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
