/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Types of imports, exports and what they are at run time. */
#include "support.h"

static bool name_is(const wasm_name_t* name, const char* text) {
  if (name->size != strlen(text)) return false;
  return name->size == 0 || memcmp(name->data, text, name->size) == 0;
}

static void check_func(const wasm_externtype_t* type) {
  const wasm_functype_t* func = wasm_externtype_as_functype_const(type);
  CHECK(func != NULL && wasm_externtype_as_memorytype_const(type) == NULL);
  CHECK(wasm_functype_as_externtype_const(func) == type);
  const wasm_valtype_vec_t* params = wasm_functype_params(func);
  CHECK(params->size == 2);
  CHECK(wasm_valtype_kind(params->data[0]) == WASM_I32);
  CHECK(wasm_valtype_kind(params->data[1]) == WASM_EXTERNREF);
  CHECK(wasm_valtype_is_ref(params->data[1]) && wasm_valtype_is_num(params->data[0]));
  CHECK(wasm_functype_results(func)->size == 1);
  CHECK(wasm_valtype_kind(wasm_functype_results(func)->data[0]) == WASM_F64);
}
static void check_global(const wasm_externtype_t* type) {
  const wasm_globaltype_t* global = wasm_externtype_as_globaltype_const(type);
  CHECK(global != NULL && wasm_globaltype_mutability(global) == WASM_CONST);
  CHECK(wasm_valtype_kind(wasm_globaltype_content(global)) == WASM_F64);
}
static void check_table(const wasm_externtype_t* type) {
  const wasm_tabletype_t* table = wasm_externtype_as_tabletype_const(type);
  CHECK(table != NULL && wasm_valtype_kind(wasm_tabletype_element(table)) == WASM_FUNCREF);
  CHECK(wasm_tabletype_limits(table)->min == 10);
  CHECK(wasm_tabletype_limits(table)->max == wasm_limits_max_default);
}
static void check_memory(const wasm_externtype_t* type) {
  const wasm_memorytype_t* memory = wasm_externtype_as_memorytype_const(type);
  CHECK(memory != NULL && wasm_memorytype_limits(memory)->min == 1);
  CHECK(wasm_memorytype_limits(memory)->max == 5);
}
static void (*const checks[])(const wasm_externtype_t*) = {check_func, check_global, check_table,
                                                           check_memory};
static const char* const names[] = {"func", "global", "table", "memory"};
static const wasm_externkind_t kinds[] = {WASM_EXTERN_FUNC, WASM_EXTERN_GLOBAL, WASM_EXTERN_TABLE,
                                          WASM_EXTERN_MEMORY};

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module =
      compile(store,
              "(module (func (export \"func\") (param i32 externref) (result f64) (unreachable))"
              "  (global (export \"global\") f64 (f64.const 0))"
              "  (table (export \"table\") 10 funcref)"
              "  (memory (export \"memory\") 1 5))");
  wasm_instance_t* instance = instantiate(store, module, 0, NULL);
  wasm_exporttype_vec_t types;
  wasm_exporttype_vec_t types_copy;
  wasm_extern_vec_t exports;
  wasm_module_exports(module, &types);
  wasm_instance_exports(instance, &exports);
  wasm_exporttype_vec_copy(&types_copy, &types);
  wasm_exporttype_vec_delete(&types);
  CHECK(types_copy.size == 4 && exports.size == 4);
  for (size_t i = 0; i < 4; ++i) {
    const wasm_externtype_t* type = wasm_exporttype_type(types_copy.data[i]);
    wasm_externtype_t* now = wasm_extern_type(exports.data[i]);
    CHECK(name_is(wasm_exporttype_name(types_copy.data[i]), names[i]));
    CHECK(wasm_extern_kind(exports.data[i]) == kinds[i]);
    CHECK(wasm_externtype_kind(type) == kinds[i]);
    checks[i](type);
    checks[i](now);
    wasm_externtype_delete(now);
  }
  wasm_exporttype_vec_delete(&types_copy);
  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);
  wasm_module_delete(module);

  module = compile(store,
                   "(module (import \"m\" \"f\" (func (param i32 externref) (result f64)))"
                   "  (import \"m\" \"\" (memory 1 5)))");
  wasm_importtype_vec_t imports;
  wasm_module_imports(module, &imports);
  CHECK(imports.size == 2);
  CHECK(name_is(wasm_importtype_module(imports.data[0]), "m"));
  CHECK(name_is(wasm_importtype_name(imports.data[0]), "f"));
  CHECK(name_is(wasm_importtype_name(imports.data[1]), ""));
  wasm_importtype_t* copy = wasm_importtype_copy(imports.data[0]);
  wasm_importtype_vec_delete(&imports);
  check_func(wasm_importtype_type(copy));
  wasm_importtype_delete(copy);
  wasm_module_delete(module);

  /* Types that the host makes. */
  wasm_tagtype_t* tag = wasm_tagtype_new(
      wasm_functype_new_3_2(wasm_valtype_new_i32(), wasm_valtype_new_i64(), wasm_valtype_new_f32(),
                            wasm_valtype_new_f64(), wasm_valtype_new_funcref()));
  wasm_externtype_t* as_extern = wasm_externtype_copy(wasm_tagtype_as_externtype(tag));
  wasm_tagtype_delete(tag);
  CHECK(wasm_externtype_kind(as_extern) == WASM_EXTERN_TAG);
  const wasm_functype_t* inner = wasm_tagtype_functype(wasm_externtype_as_tagtype_const(as_extern));
  CHECK(wasm_functype_params(inner)->size == 3 && wasm_functype_results(inner)->size == 2);
  wasm_externtype_delete(as_extern);

  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
