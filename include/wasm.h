/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of WebAssembly engines, as Hoist provides it: the names and signatures of the common
 * interface "wasm-c-api", so that a program written for it compiles and links unchanged. What is
 * Hoist's own is in hoist.h. docs/c-api.md says what each group of functions does at the borders.
 *
 * Ownership. `own` marks what is passed on: an `own` parameter belongs to the callee from then on, an
 * `own` result to the caller, and an `own` pointer called `out` is filled with something that belongs
 * to the caller. Own things are released with the matching wasm_..._delete. A vector owns its
 * elements. Deleting a reference only gives up the reference; what it names lives as long as the
 * store needs it.
 *
 * Misuse. A null pointer where something is needed, a thing of another store, a value of another
 * type, an index out of range, a thing whose store is gone: the answer is null, false, zero, an empty
 * vector, a trap that says what is wrong, or nothing happens. Never undefined behaviour. What C cannot
 * protect: using what was deleted, and a store from two threads at once.
 */
#ifndef WASM_H
#define WASM_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef WASM_API_EXTERN
#if defined(__GNUC__)
#define WASM_API_EXTERN __attribute__((visibility("default")))
#else
#define WASM_API_EXTERN
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define own

typedef char byte_t;
typedef float float32_t;
typedef double float64_t;

/* ---- Macros that declare families of functions. -------------------------------------------- */

/* A thing that is only ever handled by pointer. */
#define WASM_DECLARE_OWN(name)            \
  typedef struct wasm_##name##_t wasm_##name##_t; \
  WASM_API_EXTERN void wasm_##name##_delete(own wasm_##name##_t*);

/* A vector of things, or of pointers to them (ptr_or_none is * then). Elements of a vector that was
 * made uninitialized are null pointers or zeros. If there is no memory, the vector is empty. */
#define WASM_DECLARE_VEC(name, ptr_or_none)                                          \
  typedef struct wasm_##name##_vec_t {                                               \
    size_t size;                                                                     \
    wasm_##name##_t ptr_or_none* data;                                               \
  } wasm_##name##_vec_t;                                                             \
  WASM_API_EXTERN void wasm_##name##_vec_new_empty(own wasm_##name##_vec_t* out);    \
  WASM_API_EXTERN void wasm_##name##_vec_new_uninitialized(                          \
      own wasm_##name##_vec_t* out, size_t size);                                    \
  WASM_API_EXTERN void wasm_##name##_vec_new(own wasm_##name##_vec_t* out, size_t size, \
                                             own wasm_##name##_t ptr_or_none const elements[]); \
  WASM_API_EXTERN void wasm_##name##_vec_copy(own wasm_##name##_vec_t* out,          \
                                              const wasm_##name##_vec_t* from);      \
  WASM_API_EXTERN void wasm_##name##_vec_delete(own wasm_##name##_vec_t*);

/* A type: a plain value that can be copied. */
#define WASM_DECLARE_TYPE(name) \
  WASM_DECLARE_OWN(name)        \
  WASM_DECLARE_VEC(name, *)     \
  WASM_API_EXTERN own wasm_##name##_t* wasm_##name##_copy(const wasm_##name##_t*);

/* A reference to something: copies name the same thing, `same` tells. The host may attach one
 * pointer to the thing; the finalizer is called once with it, at the end of the thing: for modules,
 * traps and foreign objects that no guest has seen when the last reference is deleted, for everything
 * else when the store is deleted. */
#define WASM_DECLARE_REF_BASE(name)                                                              \
  WASM_DECLARE_OWN(name)                                                                         \
  WASM_API_EXTERN own wasm_##name##_t* wasm_##name##_copy(const wasm_##name##_t*);               \
  WASM_API_EXTERN bool wasm_##name##_same(const wasm_##name##_t*, const wasm_##name##_t*);       \
  WASM_API_EXTERN void* wasm_##name##_get_host_info(const wasm_##name##_t*);                     \
  WASM_API_EXTERN void wasm_##name##_set_host_info(wasm_##name##_t*, void*);                     \
  WASM_API_EXTERN void wasm_##name##_set_host_info_with_finalizer(wasm_##name##_t*, void*,       \
                                                                  void (*finalizer)(void*));

/* To something more general and back, which is null for another kind. They name the same object and
 * pass on whatever ownership there was. */
#define WASM_DECLARE_CASTS(name, base)                                                           \
  WASM_API_EXTERN wasm_##base##_t* wasm_##name##_as_##base(wasm_##name##_t*);                    \
  WASM_API_EXTERN wasm_##name##_t* wasm_##base##_as_##name(wasm_##base##_t*);                    \
  WASM_API_EXTERN const wasm_##base##_t* wasm_##name##_as_##base##_const(const wasm_##name##_t*); \
  WASM_API_EXTERN const wasm_##name##_t* wasm_##base##_as_##name##_const(const wasm_##base##_t*);

/* A reference of a certain kind. */
#define WASM_DECLARE_REF(name) \
  WASM_DECLARE_REF_BASE(name)  \
  WASM_DECLARE_CASTS(name, ref)

/* A reference that can be taken to another thread, and to a store of the same engine there. */
#define WASM_DECLARE_SHARABLE_REF(name)                                                        \
  WASM_DECLARE_REF(name)                                                                       \
  WASM_DECLARE_OWN(shared_##name)                                                              \
  WASM_API_EXTERN own wasm_shared_##name##_t* wasm_##name##_share(const wasm_##name##_t*);     \
  WASM_API_EXTERN own wasm_##name##_t* wasm_##name##_obtain(wasm_store_t*,                     \
                                                            const wasm_shared_##name##_t*);

/* ---- Bytes and names. ---------------------------------------------------------------------- */

typedef byte_t wasm_byte_t;
WASM_DECLARE_VEC(byte, )

typedef wasm_byte_vec_t wasm_name_t;
#define wasm_name wasm_byte_vec
#define wasm_name_new wasm_byte_vec_new
#define wasm_name_new_empty wasm_byte_vec_new_empty
#define wasm_name_new_uninitialized wasm_byte_vec_new_uninitialized
#define wasm_name_copy wasm_byte_vec_copy
#define wasm_name_delete wasm_byte_vec_delete

/* Without the zero byte at the end, and with it. */
static inline void wasm_name_new_from_string(own wasm_name_t* out, const char* s) {
  wasm_name_new(out, strlen(s), s);
}
static inline void wasm_name_new_from_string_nt(own wasm_name_t* out, const char* s) {
  wasm_name_new(out, strlen(s) + 1, s);
}

/* ---- Configuration, engine, store. --------------------------------------------------------- */

/* Settings: hoist.h. */
WASM_DECLARE_OWN(config)
WASM_API_EXTERN own wasm_config_t* wasm_config_new(void);

/* Null: a setting out of range or a CPU that Hoist makes no code for; hoist_engine_new says which. */
WASM_DECLARE_OWN(engine)
WASM_API_EXTERN own wasm_engine_t* wasm_engine_new(void);
WASM_API_EXTERN own wasm_engine_t* wasm_engine_new_with_config(own wasm_config_t*);

/* Everything made in a store ends with it; what still refers to it answers as misuse then. Deleted
 * by a host function that was called from it, a store ends when that call has returned. */
WASM_DECLARE_OWN(store)
WASM_API_EXTERN own wasm_store_t* wasm_store_new(wasm_engine_t*);

/* ---- Types. -------------------------------------------------------------------------------- */

typedef uint8_t wasm_mutability_t;
enum wasm_mutability_enum { WASM_CONST, WASM_VAR };

/* Pages of a memory or elements of a table. */
typedef struct wasm_limits_t {
  uint32_t min;
  uint32_t max;
} wasm_limits_t;
/* No maximum. */
static const uint32_t wasm_limits_max_default = 0xffffffff;

WASM_DECLARE_TYPE(valtype)
typedef uint8_t wasm_valkind_t;
enum wasm_valkind_enum {
  WASM_I32,
  WASM_I64,
  WASM_F32,
  WASM_F64,
  WASM_EXTERNREF = 128,
  WASM_FUNCREF
};

/* Null for a number that is no kind. */
WASM_API_EXTERN own wasm_valtype_t* wasm_valtype_new(wasm_valkind_t);
WASM_API_EXTERN wasm_valkind_t wasm_valtype_kind(const wasm_valtype_t*);

static inline bool wasm_valkind_is_num(wasm_valkind_t k) { return k < WASM_EXTERNREF; }
static inline bool wasm_valkind_is_ref(wasm_valkind_t k) { return k >= WASM_EXTERNREF; }
static inline bool wasm_valtype_is_num(const wasm_valtype_t* t) {
  return wasm_valkind_is_num(wasm_valtype_kind(t));
}
static inline bool wasm_valtype_is_ref(const wasm_valtype_t* t) {
  return wasm_valkind_is_ref(wasm_valtype_kind(t));
}

/* Each constructor takes over its parts, also when it answers null because one is missing; vectors
 * that were passed are left empty. */
WASM_DECLARE_TYPE(functype)
WASM_API_EXTERN own wasm_functype_t* wasm_functype_new(own wasm_valtype_vec_t* params,
                                                       own wasm_valtype_vec_t* results);
WASM_API_EXTERN const wasm_valtype_vec_t* wasm_functype_params(const wasm_functype_t*);
WASM_API_EXTERN const wasm_valtype_vec_t* wasm_functype_results(const wasm_functype_t*);

WASM_DECLARE_TYPE(globaltype)
WASM_API_EXTERN own wasm_globaltype_t* wasm_globaltype_new(own wasm_valtype_t*, wasm_mutability_t);
WASM_API_EXTERN const wasm_valtype_t* wasm_globaltype_content(const wasm_globaltype_t*);
WASM_API_EXTERN wasm_mutability_t wasm_globaltype_mutability(const wasm_globaltype_t*);

WASM_DECLARE_TYPE(tabletype)
WASM_API_EXTERN own wasm_tabletype_t* wasm_tabletype_new(own wasm_valtype_t*, const wasm_limits_t*);
WASM_API_EXTERN const wasm_valtype_t* wasm_tabletype_element(const wasm_tabletype_t*);
WASM_API_EXTERN const wasm_limits_t* wasm_tabletype_limits(const wasm_tabletype_t*);

WASM_DECLARE_TYPE(memorytype)
WASM_API_EXTERN own wasm_memorytype_t* wasm_memorytype_new(const wasm_limits_t*);
WASM_API_EXTERN const wasm_limits_t* wasm_memorytype_limits(const wasm_memorytype_t*);

WASM_DECLARE_TYPE(tagtype)
WASM_API_EXTERN own wasm_tagtype_t* wasm_tagtype_new(own wasm_functype_t*);
WASM_API_EXTERN const wasm_functype_t* wasm_tagtype_functype(const wasm_tagtype_t*);

/* The type of anything that is imported or exported. */
WASM_DECLARE_TYPE(externtype)
typedef uint8_t wasm_externkind_t;
enum wasm_externkind_enum {
  WASM_EXTERN_FUNC,
  WASM_EXTERN_GLOBAL,
  WASM_EXTERN_TABLE,
  WASM_EXTERN_MEMORY,
  WASM_EXTERN_TAG
};
WASM_API_EXTERN wasm_externkind_t wasm_externtype_kind(const wasm_externtype_t*);

WASM_DECLARE_CASTS(functype, externtype)
WASM_DECLARE_CASTS(globaltype, externtype)
WASM_DECLARE_CASTS(tabletype, externtype)
WASM_DECLARE_CASTS(memorytype, externtype)
WASM_DECLARE_CASTS(tagtype, externtype)

WASM_DECLARE_TYPE(importtype)
WASM_API_EXTERN own wasm_importtype_t* wasm_importtype_new(own wasm_name_t* module,
                                                           own wasm_name_t* name,
                                                           own wasm_externtype_t*);
WASM_API_EXTERN const wasm_name_t* wasm_importtype_module(const wasm_importtype_t*);
WASM_API_EXTERN const wasm_name_t* wasm_importtype_name(const wasm_importtype_t*);
WASM_API_EXTERN const wasm_externtype_t* wasm_importtype_type(const wasm_importtype_t*);

WASM_DECLARE_TYPE(exporttype)
WASM_API_EXTERN own wasm_exporttype_t* wasm_exporttype_new(own wasm_name_t*,
                                                           own wasm_externtype_t*);
WASM_API_EXTERN const wasm_name_t* wasm_exporttype_name(const wasm_exporttype_t*);
WASM_API_EXTERN const wasm_externtype_t* wasm_exporttype_type(const wasm_exporttype_t*);

/* ---- Values and references. ---------------------------------------------------------------- */

struct wasm_ref_t;

/* A null reference is a null pointer. */
typedef struct wasm_val_t {
  wasm_valkind_t kind;
  union {
    int32_t i32;
    int64_t i64;
    float32_t f32;
    float64_t f64;
    struct wasm_ref_t* ref;
  } of;
} wasm_val_t;

WASM_API_EXTERN void wasm_val_delete(own wasm_val_t* v);
WASM_API_EXTERN void wasm_val_copy(own wasm_val_t* out, const wasm_val_t*);
WASM_DECLARE_VEC(val, )

WASM_DECLARE_REF_BASE(ref)

/* One function on the guest's stack when it trapped. The instance is not owned by the caller; it is
 * null if the store has several instances of the function's module, or none any more. Offsets are
 * bytes from the start of the module and of the function's body; SIZE_MAX where unknown. */
WASM_DECLARE_OWN(frame)
WASM_DECLARE_VEC(frame, *)
WASM_API_EXTERN own wasm_frame_t* wasm_frame_copy(const wasm_frame_t*);
WASM_API_EXTERN struct wasm_instance_t* wasm_frame_instance(const wasm_frame_t*);
WASM_API_EXTERN uint32_t wasm_frame_func_index(const wasm_frame_t*);
WASM_API_EXTERN size_t wasm_frame_func_offset(const wasm_frame_t*);
WASM_API_EXTERN size_t wasm_frame_module_offset(const wasm_frame_t*);

/* Messages end with a zero byte, which their size counts. */
typedef wasm_name_t wasm_message_t;

/* Why a call ended early: a trap of the guest, or what a host function answered. The origin is the
 * innermost frame, null if there is none. */
WASM_DECLARE_REF(trap)
WASM_API_EXTERN own wasm_trap_t* wasm_trap_new(wasm_store_t* store, const wasm_message_t*);
WASM_API_EXTERN void wasm_trap_message(const wasm_trap_t*, own wasm_message_t* out);
WASM_API_EXTERN own wasm_frame_t* wasm_trap_origin(const wasm_trap_t*);
WASM_API_EXTERN void wasm_trap_trace(const wasm_trap_t*, own wasm_frame_vec_t* out);

/* Something of the host that guests can hold as an externref. Once a guest has seen it, it lives
 * until the store ends. */
WASM_DECLARE_REF(foreign)
WASM_API_EXTERN own wasm_foreign_t* wasm_foreign_new(wasm_store_t*);

/* ---- Modules. ------------------------------------------------------------------------------ */

/* Null: not a valid module, or it needs what this build lacks; hoist_module_new says what. */
WASM_DECLARE_SHARABLE_REF(module)
WASM_API_EXTERN own wasm_module_t* wasm_module_new(wasm_store_t*, const wasm_byte_vec_t* binary);
WASM_API_EXTERN bool wasm_module_validate(wasm_store_t*, const wasm_byte_vec_t* binary);
WASM_API_EXTERN void wasm_module_imports(const wasm_module_t*, own wasm_importtype_vec_t* out);
WASM_API_EXTERN void wasm_module_exports(const wasm_module_t*, own wasm_exporttype_vec_t* out);
/* The compiled module. It is trusted as a shared library is: read back only what comes from a place
 * that you would load code from. Damaged, truncated, or made by another version or for another CPU:
 * null. */
WASM_API_EXTERN void wasm_module_serialize(const wasm_module_t*, own wasm_byte_vec_t* out);
WASM_API_EXTERN own wasm_module_t* wasm_module_deserialize(wasm_store_t*, const wasm_byte_vec_t*);

/* ---- Functions. ---------------------------------------------------------------------------- */

WASM_DECLARE_REF(func)

/* A function of the host. Arguments are the caller's. Results come as zeros and nulls of the right
 * kinds; what is put there is passed on. A trap that is returned ends the guest's call; results are
 * not looked at then. */
typedef own wasm_trap_t* (*wasm_func_callback_t)(const wasm_val_vec_t* args,
                                                 own wasm_val_vec_t* results);
typedef own wasm_trap_t* (*wasm_func_callback_with_env_t)(void* env, const wasm_val_vec_t* args,
                                                          wasm_val_vec_t* results);
WASM_API_EXTERN own wasm_func_t* wasm_func_new(wasm_store_t*, const wasm_functype_t*,
                                               wasm_func_callback_t);
/* The finalizer may be null; it is called with `env` when the store ends, or at once if the answer is
 * null. */
WASM_API_EXTERN own wasm_func_t* wasm_func_new_with_env(wasm_store_t*, const wasm_functype_t* type,
                                                        wasm_func_callback_with_env_t, void* env,
                                                        void (*finalizer)(void*));
WASM_API_EXTERN own wasm_functype_t* wasm_func_type(const wasm_func_t*);
WASM_API_EXTERN size_t wasm_func_param_arity(const wasm_func_t*);
WASM_API_EXTERN size_t wasm_func_result_arity(const wasm_func_t*);
/* Null: it returned, and `results` (at least as long as the results) has what it returned. A trap:
 * it did not, and `results` is as it was. A null vector stands for an empty one. */
WASM_API_EXTERN own wasm_trap_t* wasm_func_call(const wasm_func_t*, const wasm_val_vec_t* args,
                                                wasm_val_vec_t* results);

/* ---- Globals, tables, memories. ------------------------------------------------------------ */

WASM_DECLARE_REF(global)
/* Null: the value is of another type or store. */
WASM_API_EXTERN own wasm_global_t* wasm_global_new(wasm_store_t*, const wasm_globaltype_t*,
                                                   const wasm_val_t*);
WASM_API_EXTERN own wasm_globaltype_t* wasm_global_type(const wasm_global_t*);
WASM_API_EXTERN void wasm_global_get(const wasm_global_t*, own wasm_val_t* out);
/* Nothing happens if it cannot be changed or the value is of another type or store. */
WASM_API_EXTERN void wasm_global_set(wasm_global_t*, const wasm_val_t*);

WASM_DECLARE_REF(table)
typedef uint32_t wasm_table_size_t;
/* `init` stays the caller's; null is the null reference. Null: not an element of that type. */
WASM_API_EXTERN own wasm_table_t* wasm_table_new(wasm_store_t*, const wasm_tabletype_t*,
                                                 wasm_ref_t* init);
WASM_API_EXTERN own wasm_tabletype_t* wasm_table_type(const wasm_table_t*);
/* Null for the null reference and for an index out of bounds. */
WASM_API_EXTERN own wasm_ref_t* wasm_table_get(const wasm_table_t*, wasm_table_size_t index);
WASM_API_EXTERN bool wasm_table_set(wasm_table_t*, wasm_table_size_t index, wasm_ref_t*);
WASM_API_EXTERN wasm_table_size_t wasm_table_size(const wasm_table_t*);
WASM_API_EXTERN bool wasm_table_grow(wasm_table_t*, wasm_table_size_t delta, wasm_ref_t* init);

WASM_DECLARE_REF(memory)
typedef uint32_t wasm_memory_pages_t;
static const size_t MEMORY_PAGE_SIZE = 0x10000;
WASM_API_EXTERN own wasm_memory_t* wasm_memory_new(wasm_store_t*, const wasm_memorytype_t*);
WASM_API_EXTERN own wasm_memorytype_t* wasm_memory_type(const wasm_memory_t*);
/* Ask again after anything that may have grown the memory. */
WASM_API_EXTERN byte_t* wasm_memory_data(wasm_memory_t*);
WASM_API_EXTERN size_t wasm_memory_data_size(const wasm_memory_t*);
WASM_API_EXTERN wasm_memory_pages_t wasm_memory_size(const wasm_memory_t*);
WASM_API_EXTERN bool wasm_memory_grow(wasm_memory_t*, wasm_memory_pages_t delta);

/* ---- Tags. What carries them: see exceptions in hoist.h. ------------------------------------- */

WASM_DECLARE_REF(tag)
WASM_API_EXTERN own wasm_tag_t* wasm_tag_new(wasm_store_t*, const wasm_tagtype_t*);
WASM_API_EXTERN own wasm_tagtype_t* wasm_tag_type(const wasm_tag_t*);

/* ---- Externals and instances. -------------------------------------------------------------- */

WASM_DECLARE_REF(extern)
WASM_DECLARE_VEC(extern, *)
WASM_API_EXTERN wasm_externkind_t wasm_extern_kind(const wasm_extern_t*);
WASM_API_EXTERN own wasm_externtype_t* wasm_extern_type(const wasm_extern_t*);

WASM_DECLARE_CASTS(func, extern)
WASM_DECLARE_CASTS(global, extern)
WASM_DECLARE_CASTS(table, extern)
WASM_DECLARE_CASTS(memory, extern)
WASM_DECLARE_CASTS(tag, extern)

WASM_DECLARE_REF(instance)
/* Null: `*trap` (if `trap` is not null) says why, whether a segment or the start function trapped or
 * the imports do not fit. Else `*trap` is null. */
WASM_API_EXTERN own wasm_instance_t* wasm_instance_new(wasm_store_t*, const wasm_module_t*,
                                                       const wasm_extern_vec_t* imports,
                                                       own wasm_trap_t** trap);
/* In the order of wasm_module_exports. */
WASM_API_EXTERN void wasm_instance_exports(const wasm_instance_t*, own wasm_extern_vec_t* out);

/* ---- Short forms. -------------------------------------------------------------------------- */

#define WASM_EMPTY_VEC {0, NULL}
#define WASM_ARRAY_VEC(array) {sizeof(array) / sizeof(*(array)), array}

static inline own wasm_valtype_t* wasm_valtype_new_i32(void) { return wasm_valtype_new(WASM_I32); }
static inline own wasm_valtype_t* wasm_valtype_new_i64(void) { return wasm_valtype_new(WASM_I64); }
static inline own wasm_valtype_t* wasm_valtype_new_f32(void) { return wasm_valtype_new(WASM_F32); }
static inline own wasm_valtype_t* wasm_valtype_new_f64(void) { return wasm_valtype_new(WASM_F64); }
static inline own wasm_valtype_t* wasm_valtype_new_externref(void) {
  return wasm_valtype_new(WASM_EXTERNREF);
}
static inline own wasm_valtype_t* wasm_valtype_new_funcref(void) {
  return wasm_valtype_new(WASM_FUNCREF);
}

/* wasm_functype_new_P_R: P parameters, then R results. */
#define WASM_FUNCTYPE_BODY(num_params, params_in, num_results, results_in)  \
  wasm_valtype_vec_t params, results;                                       \
  wasm_valtype_vec_new(&params, num_params, params_in);                     \
  wasm_valtype_vec_new(&results, num_results, results_in);                  \
  return wasm_functype_new(&params, &results);

static inline own wasm_functype_t* wasm_functype_new_0_0(void) {
  WASM_FUNCTYPE_BODY(0, NULL, 0, NULL)
}
static inline own wasm_functype_t* wasm_functype_new_1_0(own wasm_valtype_t* p) {
  wasm_valtype_t* ps[1];
  ps[0] = p;
  WASM_FUNCTYPE_BODY(1, ps, 0, NULL)
}
static inline own wasm_functype_t* wasm_functype_new_2_0(own wasm_valtype_t* p1,
                                                         own wasm_valtype_t* p2) {
  wasm_valtype_t* ps[2];
  ps[0] = p1;
  ps[1] = p2;
  WASM_FUNCTYPE_BODY(2, ps, 0, NULL)
}
static inline own wasm_functype_t* wasm_functype_new_3_0(own wasm_valtype_t* p1,
                                                         own wasm_valtype_t* p2,
                                                         own wasm_valtype_t* p3) {
  wasm_valtype_t* ps[3];
  ps[0] = p1;
  ps[1] = p2;
  ps[2] = p3;
  WASM_FUNCTYPE_BODY(3, ps, 0, NULL)
}
static inline own wasm_functype_t* wasm_functype_new_0_1(own wasm_valtype_t* r) {
  wasm_valtype_t* rs[1];
  rs[0] = r;
  WASM_FUNCTYPE_BODY(0, NULL, 1, rs)
}
static inline own wasm_functype_t* wasm_functype_new_1_1(own wasm_valtype_t* p,
                                                         own wasm_valtype_t* r) {
  wasm_valtype_t *ps[1], *rs[1];
  ps[0] = p;
  rs[0] = r;
  WASM_FUNCTYPE_BODY(1, ps, 1, rs)
}
static inline own wasm_functype_t* wasm_functype_new_2_1(own wasm_valtype_t* p1,
                                                         own wasm_valtype_t* p2,
                                                         own wasm_valtype_t* r) {
  wasm_valtype_t *ps[2], *rs[1];
  ps[0] = p1;
  ps[1] = p2;
  rs[0] = r;
  WASM_FUNCTYPE_BODY(2, ps, 1, rs)
}
static inline own wasm_functype_t* wasm_functype_new_3_1(own wasm_valtype_t* p1,
                                                         own wasm_valtype_t* p2,
                                                         own wasm_valtype_t* p3,
                                                         own wasm_valtype_t* r) {
  wasm_valtype_t *ps[3], *rs[1];
  ps[0] = p1;
  ps[1] = p2;
  ps[2] = p3;
  rs[0] = r;
  WASM_FUNCTYPE_BODY(3, ps, 1, rs)
}
static inline own wasm_functype_t* wasm_functype_new_0_2(own wasm_valtype_t* r1,
                                                         own wasm_valtype_t* r2) {
  wasm_valtype_t* rs[2];
  rs[0] = r1;
  rs[1] = r2;
  WASM_FUNCTYPE_BODY(0, NULL, 2, rs)
}
static inline own wasm_functype_t* wasm_functype_new_1_2(own wasm_valtype_t* p,
                                                         own wasm_valtype_t* r1,
                                                         own wasm_valtype_t* r2) {
  wasm_valtype_t *ps[1], *rs[2];
  ps[0] = p;
  rs[0] = r1;
  rs[1] = r2;
  WASM_FUNCTYPE_BODY(1, ps, 2, rs)
}
static inline own wasm_functype_t* wasm_functype_new_2_2(own wasm_valtype_t* p1,
                                                         own wasm_valtype_t* p2,
                                                         own wasm_valtype_t* r1,
                                                         own wasm_valtype_t* r2) {
  wasm_valtype_t *ps[2], *rs[2];
  ps[0] = p1;
  ps[1] = p2;
  rs[0] = r1;
  rs[1] = r2;
  WASM_FUNCTYPE_BODY(2, ps, 2, rs)
}
static inline own wasm_functype_t* wasm_functype_new_3_2(own wasm_valtype_t* p1,
                                                         own wasm_valtype_t* p2,
                                                         own wasm_valtype_t* p3,
                                                         own wasm_valtype_t* r1,
                                                         own wasm_valtype_t* r2) {
  wasm_valtype_t *ps[3], *rs[2];
  ps[0] = p1;
  ps[1] = p2;
  ps[2] = p3;
  rs[0] = r1;
  rs[1] = r2;
  WASM_FUNCTYPE_BODY(3, ps, 2, rs)
}
#undef WASM_FUNCTYPE_BODY

/* A pointer of the host as an integer value: i64, or i32 where pointers are that small. */
#ifdef __cplusplus
#define WASM_PTR_TO_INT(p) reinterpret_cast<intptr_t>(p)
#define WASM_INT_TO_PTR(i) reinterpret_cast<void*>(static_cast<intptr_t>(i))
#else
#define WASM_PTR_TO_INT(p) ((intptr_t)(p))
#define WASM_INT_TO_PTR(i) ((void*)(intptr_t)(i))
#endif
static inline void wasm_val_init_ptr(own wasm_val_t* out, void* p) {
#if UINTPTR_MAX == UINT32_MAX
  out->kind = WASM_I32;
  out->of.i32 = WASM_PTR_TO_INT(p);
#else
  out->kind = WASM_I64;
  out->of.i64 = WASM_PTR_TO_INT(p);
#endif
}
static inline void* wasm_val_ptr(const wasm_val_t* val) {
#if UINTPTR_MAX == UINT32_MAX
  return WASM_INT_TO_PTR(val->of.i32);
#else
  return WASM_INT_TO_PTR(val->of.i64);
#endif
}
#undef WASM_PTR_TO_INT
#undef WASM_INT_TO_PTR

#define WASM_I32_VAL(i) {.kind = WASM_I32, .of = {.i32 = i}}
#define WASM_I64_VAL(i) {.kind = WASM_I64, .of = {.i64 = i}}
#define WASM_F32_VAL(z) {.kind = WASM_F32, .of = {.f32 = z}}
#define WASM_F64_VAL(z) {.kind = WASM_F64, .of = {.f64 = z}}
#define WASM_REF_VAL(r) {.kind = WASM_EXTERNREF, .of = {.ref = r}}
#define WASM_INIT_VAL {.kind = WASM_EXTERNREF, .of = {.ref = NULL}}

#undef own

#ifdef __cplusplus
}  /* extern "C" */
#endif

#endif  /* WASM_H */
