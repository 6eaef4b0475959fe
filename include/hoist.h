/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Hoist's additions to the C API of wasm.h: settings, errors with messages, WebAssembly text and
 * files, limits, WASI, linking by name, and calls without boxing. The same rules hold as in wasm.h:
 * ownership as marked, and misuse has an answer (an error, null or false) and no undefined behaviour.
 *
 * Functions with a last parameter `hoist_error_t** error` answer null or false when they fail; an
 * error that the caller owns is then in `*error`, if `error` is not null. `*error` is set to null
 * otherwise.
 */
#ifndef HOIST_H
#define HOIST_H

#include "wasm.h"

#ifdef __cplusplus
extern "C" {
#endif

#define own

/* "0.1.0" */
WASM_API_EXTERN const char* hoist_version(void);

/* ---- Errors. ------------------------------------------------------------------------------- */

typedef struct hoist_error_t hoist_error_t;

/* In the order of hoist::ErrorKind. */
typedef uint8_t hoist_error_kind_t;
enum hoist_error_kind_enum {
  HOIST_ERROR_MALFORMED,
  HOIST_ERROR_INVALID,
  HOIST_ERROR_UNSUPPORTED,
  HOIST_ERROR_LINK,
  HOIST_ERROR_LIMIT,
  HOIST_ERROR_OUT_OF_MEMORY,
  HOIST_ERROR_IO,
  HOIST_ERROR_BAD_ARGUMENT,
  HOIST_ERROR_TRAP,
  HOIST_ERROR_EXIT,
  HOIST_ERROR_HOST,
  HOIST_ERROR_INTERNAL
};

WASM_API_EXTERN void hoist_error_delete(own hoist_error_t*);
WASM_API_EXTERN hoist_error_kind_t hoist_error_kind(const hoist_error_t*);
/* Ends with a zero byte; valid as long as the error. */
WASM_API_EXTERN const char* hoist_error_message(const hoist_error_t*);
/* Byte offset in a binary module, or UINT64_MAX. */
WASM_API_EXTERN uint64_t hoist_error_offset(const hoist_error_t*);
/* Place in a text, from 1; 0 if there is none. */
WASM_API_EXTERN uint32_t hoist_error_line(const hoist_error_t*);
WASM_API_EXTERN uint32_t hoist_error_column(const hoist_error_t*);

/* ---- Settings of an engine (see hoist::Config) and of a store. ------------------------------ */

/* Kinds that wasm.h does not have. */
enum hoist_valkind_enum { HOIST_V128 = 4 };

/* 0, 1 or 2. */
WASM_API_EXTERN void hoist_config_set_opt_level(wasm_config_t*, uint8_t level);
/* Threads that compile one module; 0 is one per core. */
WASM_API_EXTERN void hoist_config_set_threads(wasm_config_t*, unsigned threads);
WASM_API_EXTERN void hoist_config_set_guest_stack_bytes(wasm_config_t*, uint64_t bytes);
WASM_API_EXTERN void hoist_config_set_host_reserve_bytes(wasm_config_t*, uint64_t bytes);
/* Writes /tmp/perf-PID.map for `perf report`. */
WASM_API_EXTERN void hoist_config_set_perf_map(wasm_config_t*, bool on);

/* `config` may be null: all defaults. */
WASM_API_EXTERN own wasm_engine_t* hoist_engine_new(own wasm_config_t* config,
                                                    own hoist_error_t** error);

/* Bounds on what guests may make; UINT64_MAX is none. */
typedef struct hoist_store_limits_t {
  uint64_t memory_bytes;   /* of each memory */
  uint64_t table_elements; /* of each table */
  uint64_t instances;
} hoist_store_limits_t;
/* What a store has that was made without limits. */
WASM_API_EXTERN hoist_store_limits_t hoist_store_limits_default(void);
/* `limits` may be null. */
WASM_API_EXTERN own wasm_store_t* hoist_store_new(wasm_engine_t*, const hoist_store_limits_t* limits);
/* A pointer of the embedder. */
WASM_API_EXTERN void hoist_store_set_data(wasm_store_t*, void* data);
WASM_API_EXTERN void* hoist_store_get_data(const wasm_store_t*);

/* ---- Modules with reasons. ------------------------------------------------------------------ */

WASM_API_EXTERN own wasm_module_t* hoist_module_new(wasm_store_t*, const wasm_byte_vec_t* binary,
                                                    own hoist_error_t** error);
/* Text format; `size` bytes, no zero byte needed. */
WASM_API_EXTERN own wasm_module_t* hoist_module_from_text(wasm_store_t*, const char* text,
                                                          size_t size, own hoist_error_t** error);
/* A file, binary or text. */
WASM_API_EXTERN own wasm_module_t* hoist_module_from_file(wasm_store_t*, const char* path,
                                                          own hoist_error_t** error);
WASM_API_EXTERN bool hoist_module_validate(const wasm_byte_vec_t* binary,
                                           own hoist_error_t** error);
WASM_API_EXTERN bool hoist_module_serialize(const wasm_module_t*, own wasm_byte_vec_t* out,
                                            own hoist_error_t** error);
WASM_API_EXTERN own wasm_module_t* hoist_module_deserialize(wasm_store_t*, const wasm_byte_vec_t*,
                                                            own hoist_error_t** error);

/* ---- Traps. --------------------------------------------------------------------------------- */

/* Codes of WebAssembly's own traps, as hoist::TrapCode; 0 for what a host function returned. */
WASM_API_EXTERN uint8_t hoist_trap_code(const wasm_trap_t*);
/* True if the guest asked to exit (WASI's proc_exit); the status is in `*status`. */
WASM_API_EXTERN bool hoist_trap_exit_status(const wasm_trap_t*, int32_t* status);
/* HOIST_ERROR_TRAP, _EXIT, _HOST, _LIMIT, ... */
WASM_API_EXTERN hoist_error_kind_t hoist_trap_error_kind(const wasm_trap_t*);
/* Name of a frame's function from the module's name section or exports; may be empty. Not owned. */
WASM_API_EXTERN const char* hoist_frame_function_name(const wasm_frame_t*);
WASM_API_EXTERN const char* hoist_frame_module_name(const wasm_frame_t*);

/* ---- Instances by name. --------------------------------------------------------------------- */

/* Null if there is no such export. */
WASM_API_EXTERN own wasm_extern_t* hoist_instance_export(const wasm_instance_t*, const char* name);

/* Finds the imports of modules by name; see hoist::Linker. One thread at a time. */
typedef struct hoist_linker_t hoist_linker_t;
WASM_API_EXTERN own hoist_linker_t* hoist_linker_new(wasm_engine_t*);
WASM_API_EXTERN void hoist_linker_delete(own hoist_linker_t*);
WASM_API_EXTERN void hoist_linker_allow_shadowing(hoist_linker_t*, bool allow);
WASM_API_EXTERN bool hoist_linker_define(hoist_linker_t*, const char* module, const char* name,
                                         const wasm_extern_t*, own hoist_error_t** error);
/* A host function that belongs to no store. It may be called in any store that the linker
 * instantiates into; the finalizer is called when the linker and all of these are gone. */
WASM_API_EXTERN bool hoist_linker_define_func(hoist_linker_t*, const char* module, const char* name,
                                              const wasm_functype_t*, wasm_func_callback_with_env_t,
                                              void* env, void (*finalizer)(void*),
                                              own hoist_error_t** error);
WASM_API_EXTERN bool hoist_linker_define_instance(hoist_linker_t*, const char* module,
                                                  const wasm_instance_t*,
                                                  own hoist_error_t** error);
/* Null: `*trap` says why, if `trap` is not null. */
WASM_API_EXTERN own wasm_instance_t* hoist_linker_instantiate(hoist_linker_t*, wasm_store_t*,
                                                              const wasm_module_t*,
                                                              own wasm_trap_t** trap);

/* ---- WASI. ---------------------------------------------------------------------------------- */

/* What a guest sees of the host: nothing but what is put here. Standard streams read nothing and
 * drop what is written until they are set. */
typedef struct hoist_wasi_config_t hoist_wasi_config_t;
WASM_API_EXTERN own hoist_wasi_config_t* hoist_wasi_config_new(void);
WASM_API_EXTERN void hoist_wasi_config_delete(own hoist_wasi_config_t*);
WASM_API_EXTERN void hoist_wasi_config_add_arg(hoist_wasi_config_t*, const char* arg);
WASM_API_EXTERN void hoist_wasi_config_add_env(hoist_wasi_config_t*, const char* name,
                                               const char* value);
WASM_API_EXTERN void hoist_wasi_config_add_directory(hoist_wasi_config_t*, const char* host_path,
                                                     const char* guest_path, bool read_only);
/* The process's own standard input, output and error output. */
WASM_API_EXTERN void hoist_wasi_config_inherit_stdio(hoist_wasi_config_t*);
/* Stream 0, 1 or 2 is a descriptor of the host, which stays the caller's. */
WASM_API_EXTERN void hoist_wasi_config_set_stream(hoist_wasi_config_t*, unsigned stream,
                                                  int descriptor);
/* Defines WASI preview 1. */
WASM_API_EXTERN bool hoist_linker_define_wasi(hoist_linker_t*, own hoist_wasi_config_t*,
                                              own hoist_error_t** error);

/* ---- Calls without boxing. ------------------------------------------------------------------ */

/* One argument or result; the function's type says which member counts. */
typedef union hoist_raw_t {
  int32_t i32;
  int64_t i64;
  float32_t f32;
  float64_t f64;
} hoist_raw_t;

/* A function whose type has been checked once. Signature: letters of the parameters, a colon,
 * letters of the results: i (i32), I (i64), f (f32), F (f64); "ii:i". Keeps its own reference. */
typedef struct hoist_typed_func_t hoist_typed_func_t;
WASM_API_EXTERN own hoist_typed_func_t* hoist_typed_func_new(const wasm_func_t*,
                                                             const char* signature,
                                                             own hoist_error_t** error);
WASM_API_EXTERN void hoist_typed_func_delete(own hoist_typed_func_t*);
/* Arguments in `values`, results out in their place: it has room for the larger number. */
WASM_API_EXTERN own wasm_trap_t* hoist_typed_func_call(const hoist_typed_func_t*,
                                                       hoist_raw_t* values);

/* ---- Guest memory, checked. ----------------------------------------------------------------- */

/* False, and nothing is copied, if any byte lies outside. */
WASM_API_EXTERN bool hoist_memory_read(const wasm_memory_t*, uint64_t address, void* to,
                                       size_t size);
WASM_API_EXTERN bool hoist_memory_write(wasm_memory_t*, uint64_t address, const void* from,
                                        size_t size);

#undef own

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HOIST_H */
