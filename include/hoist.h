/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Hoist's additions to the C API of wasm.h: settings, errors with messages, WebAssembly text and
 * files, limits, WASI, linking by name, and calls without boxing. The same rules hold as in wasm.h:
 * ownership as marked, and misuse has an answer (an error, null or false) and no undefined
 * behaviour.
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
  HOIST_ERROR_INTERNAL,
  HOIST_ERROR_EXCEPTION
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
enum hoist_valkind_enum { HOIST_V128 = 4, HOIST_EXNREF = 130, HOIST_ANYREF = 131 };

/* 0, 1 or 2. */
WASM_API_EXTERN void hoist_config_set_opt_level(wasm_config_t*, uint8_t level);
/* Threads that compile one module; 0 is one per core. */
WASM_API_EXTERN void hoist_config_set_threads(wasm_config_t*, unsigned threads);
WASM_API_EXTERN void hoist_config_set_guest_stack_bytes(wasm_config_t*, uint64_t bytes);
WASM_API_EXTERN void hoist_config_set_host_reserve_bytes(wasm_config_t*, uint64_t bytes);
/* Which profiler is told about machine code (docs/profiling.md): in the order of
 * hoist::Profiler. */
enum hoist_profiler_kind_enum {
  HOIST_PROFILER_NONE,
  HOIST_PROFILER_PERF_MAP,
  HOIST_PROFILER_JITDUMP,
  HOIST_PROFILER_VTUNE
};
WASM_API_EXTERN void hoist_config_set_profiler(wasm_config_t*, uint8_t kind);
/* The same as HOIST_PROFILER_PERF_MAP or _NONE. */
WASM_API_EXTERN void hoist_config_set_perf_map(wasm_config_t*, bool on);
/* Whether names of C++ and Rust functions are shown as their source has them (the default). */
WASM_API_EXTERN void hoist_config_set_demangle(wasm_config_t*, bool on);

/* One function or trampoline of code that was loaded, or that goes. Strings last for the call. */
typedef struct hoist_code_t {
  const char* name;
  const char* module;
  const void* address;
  uint64_t size;
  uint64_t load_id; /* of the code that it was loaded with; never the same twice in a process */
  uint8_t kind;     /* in the order of hoist::CodeKind: 0 is a function of the module */
} hoist_code_t;
/* From any thread; must not use the engine. */
typedef void (*hoist_code_callback_t)(void* context, const hoist_code_t*, bool loaded);
/* Null: nobody, the default. `context` outlives the engine. */
WASM_API_EXTERN void hoist_config_set_code_callback(wasm_config_t*, hoist_code_callback_t,
                                                    void* context);
/* Code counts what it executes, for hoist_store_set_fuel; it looks at the epoch, for
 * hoist_store_set_epoch_deadline, and loops can be interrupted. docs/limits.md has the costs. */
WASM_API_EXTERN void hoist_config_set_fuel(wasm_config_t*, bool on);
WASM_API_EXTERN void hoist_config_set_epoch(wasm_config_t*, bool on);
/* Loops can be interrupted, and nothing else: cheaper. */
WASM_API_EXTERN void hoist_config_set_interruptible(wasm_config_t*, bool on);
/* Without signal handlers; with comparisons instead of guard pages. */
WASM_API_EXTERN void hoist_config_set_signals(wasm_config_t*, bool on);
WASM_API_EXTERN void hoist_config_set_explicit_bounds_checks(wasm_config_t*, bool on);
/* Results that do not depend on the CPU: docs/vectors.md. */
WASM_API_EXTERN void hoist_config_set_canonical_nans(wasm_config_t*, bool on);
WASM_API_EXTERN void hoist_config_set_deterministic_relaxed_simd(wasm_config_t*, bool on);
/* Where compiled modules are kept between processes; null or empty: nowhere. */
WASM_API_EXTERN void hoist_config_set_cache_directory(wasm_config_t*, const char* path);
WASM_API_EXTERN void hoist_config_set_cache_bytes(wasm_config_t*, uint64_t bytes);
/* "native" (the default, also for null), "baseline", or features: "popcnt,avx2". */
WASM_API_EXTERN void hoist_config_set_cpu(wasm_config_t*, const char* cpu);

/* Language features that modules may use, as differences from the defaults, in the text that
 * `hoist run --features` takes: "+legacy-exceptions,-threads"; null or empty: the defaults. What is
 * wrong with it is an error of hoist_engine_new. */
WASM_API_EXTERN void hoist_config_set_features(wasm_config_t*, const char* features);
/* For tests of Hoist: stores look for unreachable references whenever one is made; compilers check
 * themselves. */
WASM_API_EXTERN void hoist_config_set_collect_always(wasm_config_t*, bool on);
WASM_API_EXTERN void hoist_config_set_verify_ir(wasm_config_t*, bool on);
WASM_API_EXTERN void hoist_config_set_check_allocation(wasm_config_t*, bool on);

/* A pool for hosts that start many instances; counts are of what is alive at once. */
typedef struct hoist_pooling_options_t {
  uint32_t instances;
  uint32_t memories; /* each takes 6 GiB of address space */
  uint32_t tables;
  uint64_t memory_bytes;   /* of each memory, at most 4 GiB */
  uint64_t table_elements; /* of each table */
  uint64_t instance_bytes; /* of each instance's own state */
  uint64_t keep_resident_bytes;
} hoist_pooling_options_t;
WASM_API_EXTERN hoist_pooling_options_t hoist_pooling_options_default(void);
/* Null: no pool, the default. */
WASM_API_EXTERN void hoist_config_set_pooling(wasm_config_t*, const hoist_pooling_options_t*);

/* `config` may be null: all defaults. */
WASM_API_EXTERN own wasm_engine_t* hoist_engine_new(own wasm_config_t* config,
                                                    own hoist_error_t** error);

enum hoist_growth_what_enum { HOIST_GROWTH_MEMORY, HOIST_GROWTH_TABLE };

/* A memory or table that is about to be made (`current` is 0) or to grow, in bytes or elements. */
typedef struct hoist_growth_t {
  uint64_t current;
  uint64_t desired;
  uint64_t maximum; /* declared by the guest; UINT64_MAX if it is not */
  uint8_t what;     /* HOIST_GROWTH_MEMORY, ... */
  bool allowed;     /* what the limits say */
} hoist_growth_t;
/* Whether it may grow. On the guest's thread; must not use the store. */
typedef bool (*hoist_growth_callback_t)(void* context, const hoist_growth_t*);

/* Bounds on what guests may make; UINT64_MAX is none. */
typedef struct hoist_store_limits_t {
  uint64_t memory_bytes;       /* of each memory */
  uint64_t total_memory_bytes; /* of all together */
  uint64_t table_elements;     /* of each table */
  uint64_t instances;
  uint64_t memories;
  uint64_t tables;
  bool not_pooled;                   /* take nothing from the engine's pool */
  bool trap_on_refused_growth;       /* instead of memory.grow and table.grow giving -1 */
  hoist_growth_callback_t on_growth; /* has the last word, whatever the limits say; or null */
  void* context;
  uint64_t references;           /* objects that guests hold as externrefs, and exceptions */
  uint64_t reference_bytes;      /* of those in the library */
  uint64_t total_table_elements; /* of all tables together */
} hoist_store_limits_t;
/* What a store has that was made without limits. */
WASM_API_EXTERN hoist_store_limits_t hoist_store_limits_default(void);
/* `limits` may be null. */
WASM_API_EXTERN own wasm_store_t* hoist_store_new(wasm_engine_t*,
                                                  const hoist_store_limits_t* limits);
/* A pointer of the embedder. */
WASM_API_EXTERN void hoist_store_set_data(wasm_store_t*, void* data);
WASM_API_EXTERN void* hoist_store_get_data(const wasm_store_t*);
/* Lets go of the objects that guests had as externrefs and cannot reach any more; happens by itself
 * as more are passed. Finalizers may run. */
WASM_API_EXTERN void hoist_store_collect(wasm_store_t*);
/* How many there are, with exceptions. */
WASM_API_EXTERN uint64_t hoist_store_references(const wasm_store_t*);

/* Units that guests may still execute. False: an engine without hoist_config_set_fuel. */
WASM_API_EXTERN bool hoist_store_set_fuel(wasm_store_t*, uint64_t units);
WASM_API_EXTERN bool hoist_store_add_fuel(wasm_store_t*, uint64_t units);
WASM_API_EXTERN bool hoist_store_get_fuel(const wasm_store_t*, uint64_t* units);
/* Called on the guest's thread in the middle of a call; may use the store as host functions may. */
typedef uint64_t (*hoist_limit_callback_t)(void* context, wasm_store_t*);
/* When no fuel is left: how many units to add, or 0 to trap. Null: always trap. */
WASM_API_EXTERN void hoist_store_on_out_of_fuel(wasm_store_t*, hoist_limit_callback_t,
                                                void* context);
/* Guests trap once the engine's epoch is so many ticks further. False: an engine without
 * hoist_config_set_epoch. Any thread may count the epoch up. */
WASM_API_EXTERN bool hoist_store_set_epoch_deadline(wasm_store_t*, uint64_t ticks);
WASM_API_EXTERN void hoist_engine_increment_epoch(wasm_engine_t*);
WASM_API_EXTERN uint64_t hoist_engine_epoch(const wasm_engine_t*);
/* At the deadline: how many ticks further the next one is, or 0 to trap. Null: always trap. */
WASM_API_EXTERN void hoist_store_on_epoch_deadline(wasm_store_t*, hoist_limit_callback_t,
                                                   void* context);

/* Stops the call into a store that is in progress, or else the next one, from another thread or a
 * signal handler; may outlive the store. Without hoist_config_set_epoch loops are not stopped. */
typedef struct hoist_interrupt_t hoist_interrupt_t;
WASM_API_EXTERN own hoist_interrupt_t* hoist_interrupt_new(const wasm_store_t*);
WASM_API_EXTERN void hoist_interrupt_delete(own hoist_interrupt_t*);
WASM_API_EXTERN void hoist_interrupt(const hoist_interrupt_t*);

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
/* The same with files: written at once or not at all; mapped, not copied. */
WASM_API_EXTERN bool hoist_module_serialize_to_file(const wasm_module_t*, const char* path,
                                                    own hoist_error_t** error);
WASM_API_EXTERN own wasm_module_t* hoist_module_deserialize_file(wasm_store_t*, const char* path,
                                                                 own hoist_error_t** error);
/* Compiles a module, binary or text, for the engine's CPU, which need not be this one
 * (hoist_config_set_cpu): `out` is what hoist_module_serialize gives. */
WASM_API_EXTERN bool hoist_module_precompile(const wasm_engine_t*, const wasm_byte_vec_t* module,
                                             own wasm_byte_vec_t* out, own hoist_error_t** error);
/* As hoist_module_validate, with other features than the defaults (hoist_config_set_features). */
WASM_API_EXTERN bool hoist_module_validate_features(const wasm_byte_vec_t* binary,
                                                    const char* features,
                                                    own hoist_error_t** error);

/* ---- The sampling profiler of guests: one at a time in a process, all stores and threads. ---- */

typedef struct hoist_profiler_t hoist_profiler_t;
/* An interval of 0 is one millisecond. `wall`: waiting in host functions counts; else CPU time. */
WASM_API_EXTERN own hoist_profiler_t* hoist_profiler_start(uint64_t interval_ns, bool wall,
                                                           own hoist_error_t** error);
/* Ends it, if it still runs, and writes what was sampled in the form that the file's name says:
 * .html, .json, .txt, .collapsed. */
WASM_API_EXTERN bool hoist_profiler_write(hoist_profiler_t*, const char* path,
                                          own hoist_error_t** error);
/* Ends it, if it still runs; how many samples were taken in guests. */
WASM_API_EXTERN uint64_t hoist_profiler_samples(hoist_profiler_t*);
WASM_API_EXTERN void hoist_profiler_delete(own hoist_profiler_t*);

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
/* Where the frame is in its source, if the module was built with DWARF (-g): the file as the
 * compiler named it, and the line; empty and 0 if it is not known. Read when it is asked for. Not
 * owned: valid as long as the frame. */
WASM_API_EXTERN const char* hoist_frame_source_file(wasm_frame_t*);
WASM_API_EXTERN uint32_t hoist_frame_source_line(wasm_frame_t*);
/* True if the frame's code is within that of the next frame. */
WASM_API_EXTERN bool hoist_frame_is_inlined(const wasm_frame_t*);

/* ---- Exceptions. A host function throws by returning a trap that is one: of a call that failed,
 * so that the exception goes on, or a new one. Guest code around the call may catch it. ---------
 */

/* Null: number, kind or store of a value. */
WASM_API_EXTERN own wasm_trap_t* hoist_exception_new(const wasm_tag_t*,
                                                     const wasm_val_vec_t* payload);
/* The tag of the exception that a trap (of kind HOIST_ERROR_EXCEPTION) is; else null. */
WASM_API_EXTERN own wasm_tag_t* hoist_exception_tag(const wasm_trap_t*);
/* What it carries; empty if the trap is no exception. */
WASM_API_EXTERN void hoist_exception_payload(const wasm_trap_t*, own wasm_val_vec_t* out);

/* ---- Instances by name. --------------------------------------------------------------------- */

/* Null if there is no such export. */
WASM_API_EXTERN own wasm_extern_t* hoist_instance_export(const wasm_instance_t*, const char* name);

/* Finds the imports of modules by name; see hoist::Linker. One thread at a time. */
typedef struct hoist_linker_t hoist_linker_t;
WASM_API_EXTERN own hoist_linker_t* hoist_linker_new(wasm_engine_t*);
WASM_API_EXTERN void hoist_linker_delete(own hoist_linker_t*);
WASM_API_EXTERN void hoist_linker_allow_shadowing(hoist_linker_t*, bool allow);
/* What becomes of imports that nothing was defined for: in the order of hoist::UnknownImports. */
enum hoist_unknown_imports_enum {
  HOIST_UNKNOWN_IMPORTS_ERROR,  /* at first */
  HOIST_UNKNOWN_IMPORTS_TRAP,   /* functions that trap when they are called */
  HOIST_UNKNOWN_IMPORTS_DEFAULT /* functions that return zeros */
};
WASM_API_EXTERN void hoist_linker_unknown_imports(hoist_linker_t*, uint8_t what);
WASM_API_EXTERN bool hoist_linker_has(const hoist_linker_t*, const char* module, const char* name);
/* `as_module`.`as_name` is what `module`.`name` is now; all that `module` has, under another name
 * too. */
WASM_API_EXTERN bool hoist_linker_alias(hoist_linker_t*, const char* module, const char* name,
                                        const char* as_module, const char* as_name,
                                        own hoist_error_t** error);
WASM_API_EXTERN bool hoist_linker_alias_module(hoist_linker_t*, const char* module,
                                               const char* as_module, own hoist_error_t** error);
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
/* The process's own, nothing (reads end at once, writes vanish), or not open (BADF). */
enum hoist_stream_kind_enum { HOIST_STREAM_INHERIT, HOIST_STREAM_NULL, HOIST_STREAM_CLOSED };
WASM_API_EXTERN void hoist_wasi_config_set_stream_kind(hoist_wasi_config_t*, unsigned stream,
                                                       uint8_t kind);
/* A file: stream 0 is read from it, 1 and 2 are written to it, from its start or at its end. Opened
 * by hoist_linker_define_wasi. */
WASM_API_EXTERN void hoist_wasi_config_set_stream_file(hoist_wasi_config_t*, unsigned stream,
                                                       const char* path, bool append);
/* Standard input is these bytes, which are copied. */
WASM_API_EXTERN void hoist_wasi_config_set_input(hoist_wasi_config_t*, const wasm_byte_vec_t*);
/* Functions in place of the files, called on the guest's thread, which waits. They take or fill up
 * to `size` bytes and return how many; a reader returns 0 at the end; SIZE_MAX is an error (IO). */
typedef size_t (*hoist_wasi_read_t)(void* context, uint8_t* into, size_t size);
typedef size_t (*hoist_wasi_write_t)(void* context, const uint8_t* from, size_t size);
WASM_API_EXTERN void hoist_wasi_config_set_reader(hoist_wasi_config_t*, hoist_wasi_read_t,
                                                  void* context);
WASM_API_EXTERN void hoist_wasi_config_set_writer(hoist_wasi_config_t*, unsigned stream,
                                                  hoist_wasi_write_t, void* context);
/* Where the guest's time comes from, in nanoseconds, for the clocks 0 (real time) and 1
 * (monotonic), and its random bytes; null: from the system. Waiting takes real time. */
typedef uint64_t (*hoist_wasi_clock_t)(void* context, uint32_t clock);
WASM_API_EXTERN void hoist_wasi_config_set_clock(hoist_wasi_config_t*, hoist_wasi_clock_t,
                                                 void* context);
typedef void (*hoist_wasi_random_t)(void* context, uint8_t* out, size_t size);
WASM_API_EXTERN void hoist_wasi_config_set_random(hoist_wasi_config_t*, hoist_wasi_random_t,
                                                  void* context);
/* A TCP address to listen on ("127.0.0.1:8080", "[::1]:80"), and an open descriptor of the process
 * (socket, pipe, file) that stays the caller's. The guest finds listeners at descriptor 3, then the
 * descriptors, then the directories, each in the order of the calls. */
WASM_API_EXTERN void hoist_wasi_config_add_listener(hoist_wasi_config_t*, const char* address);
WASM_API_EXTERN void hoist_wasi_config_add_descriptor(hoist_wasi_config_t*, int descriptor);
/* Told of each address as it is listened on: where that has port 0, `address` has the port that the
 * system chose. */
typedef void (*hoist_wasi_listen_callback_t)(void* context, const char* wanted,
                                             const char* address);
WASM_API_EXTERN void hoist_wasi_config_set_listen_callback(hoist_wasi_config_t*,
                                                           hoist_wasi_listen_callback_t,
                                                           void* context);
/* Descriptors that the guest may have open at a time; 1024 at first. */
WASM_API_EXTERN void hoist_wasi_config_set_max_descriptors(hoist_wasi_config_t*, uint32_t count);
/* Whether a program that goes on writing to standard output after its reader has gone (the first
 * write fails with PIPE) ends, with status 141. Off at first. */
WASM_API_EXTERN void hoist_wasi_config_set_exit_on_broken_pipe(hoist_wasi_config_t*, bool on);
/* Defines WASI preview 1 (and wasi_unstable). The directories are opened and the addresses listened
 * on now. */
WASM_API_EXTERN bool hoist_linker_define_wasi(hoist_linker_t*, own hoist_wasi_config_t*,
                                              own hoist_error_t** error);

/* ---- Calls without boxing. ------------------------------------------------------------------ */

/* One argument or result; the function's type says which member counts. */
typedef union hoist_raw_t {
  int32_t i32;
  int64_t i64;
  float32_t f32;
  float64_t f64;
  uint8_t v128[16]; /* lowest byte first */
} hoist_raw_t;

/* A function whose type has been checked once. Signature: letters of the parameters, a colon,
 * letters of the results: i (i32), I (i64), f (f32), F (f64), v (v128); "ii:i". Keeps its own
 * reference. */
typedef struct hoist_typed_func_t hoist_typed_func_t;
WASM_API_EXTERN own hoist_typed_func_t* hoist_typed_func_new(const wasm_func_t*,
                                                             const char* signature,
                                                             own hoist_error_t** error);
WASM_API_EXTERN void hoist_typed_func_delete(own hoist_typed_func_t*);
/* Arguments in `values`, results out in their place: it has room for the larger number. */
WASM_API_EXTERN own wasm_trap_t* hoist_typed_func_call(const hoist_typed_func_t*,
                                                       hoist_raw_t* values);

/* Value of a global of type v128, which a wasm_val_t has no room for. False: of another type,
 * immutable, or the store is gone. */
WASM_API_EXTERN bool hoist_global_get_v128(const wasm_global_t*, uint8_t out[16]);
WASM_API_EXTERN bool hoist_global_set_v128(wasm_global_t*, const uint8_t value[16]);

/* ---- Memories and tables that wasm.h has no room for. ---------------------------------------- */

/* As hoist::MemoryType: sizes in pages of 1 << page_size_log2 bytes; UINT64_MAX is no maximum. */
typedef struct hoist_memory_type_t {
  uint64_t minimum;
  uint64_t maximum;
  bool is_64;             /* addresses are i64 */
  bool shared;            /* between threads; needs a maximum */
  uint8_t page_size_log2; /* 16, or 0 for pages of one byte */
} hoist_memory_type_t;
WASM_API_EXTERN own wasm_memorytype_t* hoist_memorytype_new(const hoist_memory_type_t*);
WASM_API_EXTERN void hoist_memorytype_get(const wasm_memorytype_t*, hoist_memory_type_t* out);
/* As hoist::TableType. */
typedef struct hoist_table_type_t {
  uint64_t minimum;
  uint64_t maximum;
  bool is_64; /* indexes are i64 */
} hoist_table_type_t;
WASM_API_EXTERN own wasm_tabletype_t* hoist_tabletype_new(own wasm_valtype_t* element,
                                                          const hoist_table_type_t*);
WASM_API_EXTERN void hoist_tabletype_get(const wasm_tabletype_t*, hoist_table_type_t* out);

/* In pages of the memory's type. */
WASM_API_EXTERN uint64_t hoist_memory_pages(const wasm_memory_t*);
WASM_API_EXTERN bool hoist_memory_grow(wasm_memory_t*, uint64_t delta);
WASM_API_EXTERN uint64_t hoist_table_size(const wasm_table_t*);
WASM_API_EXTERN own wasm_ref_t* hoist_table_get(const wasm_table_t*, uint64_t index);
WASM_API_EXTERN bool hoist_table_set(wasm_table_t*, uint64_t index, wasm_ref_t*);
WASM_API_EXTERN bool hoist_table_grow(wasm_table_t*, uint64_t delta, wasm_ref_t* init);

/* A memory that instances in several stores, on several threads, use at once; see
 * hoist::SharedMemory. Any thread may use it; it never moves. */
typedef struct hoist_shared_memory_t hoist_shared_memory_t;
WASM_API_EXTERN own hoist_shared_memory_t* hoist_shared_memory_new(wasm_engine_t*,
                                                                   const hoist_memory_type_t*,
                                                                   own hoist_error_t** error);
WASM_API_EXTERN own hoist_shared_memory_t* hoist_shared_memory_copy(const hoist_shared_memory_t*);
WASM_API_EXTERN void hoist_shared_memory_delete(own hoist_shared_memory_t*);
/* Null if the memory's type is not shared. */
WASM_API_EXTERN own hoist_shared_memory_t* hoist_memory_shared(const wasm_memory_t*);
/* As something of a store. */
WASM_API_EXTERN own wasm_memory_t* hoist_shared_memory_in(const hoist_shared_memory_t*,
                                                          wasm_store_t*, own hoist_error_t** error);
WASM_API_EXTERN byte_t* hoist_shared_memory_data(const hoist_shared_memory_t*);
WASM_API_EXTERN uint64_t hoist_shared_memory_size(const hoist_shared_memory_t*); /* in bytes */
WASM_API_EXTERN bool hoist_shared_memory_grow(const hoist_shared_memory_t*, uint64_t delta);
/* How many were woken; UINT32_MAX: out of bounds or not aligned. */
WASM_API_EXTERN uint32_t hoist_shared_memory_notify(const hoist_shared_memory_t*, uint64_t address,
                                                    uint32_t count);
/* 0: woken, 1: not the expected value, 2: timed out; -1: out of bounds or not aligned. A negative
 * time is for ever. */
WASM_API_EXTERN int hoist_shared_memory_wait32(const hoist_shared_memory_t*, uint64_t address,
                                               uint32_t expected, int64_t timeout_ns);
WASM_API_EXTERN int hoist_shared_memory_wait64(const hoist_shared_memory_t*, uint64_t address,
                                               uint64_t expected, int64_t timeout_ns);
WASM_API_EXTERN bool hoist_linker_define_shared_memory(hoist_linker_t*, const char* module,
                                                       const char* name,
                                                       const hoist_shared_memory_t*,
                                                       own hoist_error_t** error);

/* Threads of WASI programs ("wasi" "thread-spawn"); see hoist::WasiThreads. Their stores are not
 * C's: host functions of the C API fail in them. The growth callback of `limits` is called on their
 * threads. After all other definitions. */
typedef struct hoist_wasi_threads_t hoist_wasi_threads_t;
WASM_API_EXTERN bool hoist_module_wants_wasi_threads(const wasm_module_t*);
WASM_API_EXTERN own hoist_wasi_threads_t* hoist_linker_define_wasi_threads(
    hoist_linker_t*, const wasm_module_t*, const hoist_store_limits_t* limits, uint32_t max_threads,
    own hoist_error_t** error);
/* Called on a new thread before the guest runs there; the argument is good for that time. Null:
 * nobody. This and the next one are to be set before the program is instantiated. */
typedef struct hoist_wasi_thread_t hoist_wasi_thread_t;
typedef void (*hoist_wasi_thread_start_t)(void* context, hoist_wasi_thread_t*);
WASM_API_EXTERN void hoist_wasi_threads_on_start(hoist_wasi_threads_t*, hoist_wasi_thread_start_t,
                                                 void* context);
/* As hoist_store_set_fuel and hoist_store_set_epoch_deadline, for that thread. */
WASM_API_EXTERN bool hoist_wasi_thread_set_fuel(hoist_wasi_thread_t*, uint64_t units);
WASM_API_EXTERN bool hoist_wasi_thread_set_epoch_deadline(hoist_wasi_thread_t*, uint64_t ticks);
/* Called on the thread whose failure ends the program, when all others have been told. */
typedef void (*hoist_wasi_thread_failure_t)(void* context, int32_t thread, const hoist_error_t*);
WASM_API_EXTERN void hoist_wasi_threads_on_failure(hoist_wasi_threads_t*,
                                                   hoist_wasi_thread_failure_t, void* context);
/* Why a thread ended the program, and its number if `thread` is not null; null: none did. */
WASM_API_EXTERN own hoist_error_t* hoist_wasi_threads_failure(const hoist_wasi_threads_t*,
                                                              int32_t* thread);
/* Interrupts all and waits for them. */
WASM_API_EXTERN void hoist_wasi_threads_delete(own hoist_wasi_threads_t*);

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
