/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * hoist.h: options of engines, linkers and WASI that additions.c does not use, seen from the guest. */
#include "support.h"

/* It runs beside itself, compiled as the other language. */
#ifdef __cplusplus
#define FILES "options.cpp"
#else
#define FILES "options.c"
#endif

static const char* cat =
    "(module"
    "  (import \"wasi_snapshot_preview1\" \"fd_read\""
    "    (func $read (param i32 i32 i32 i32) (result i32)))"
    "  (import \"wasi_snapshot_preview1\" \"fd_write\""
    "    (func $write (param i32 i32 i32 i32) (result i32)))"
    "  (import \"wasi_snapshot_preview1\" \"clock_time_get\""
    "    (func $time (param i32 i64 i32) (result i32)))"
    "  (import \"wasi_snapshot_preview1\" \"random_get\" (func $random (param i32 i32) (result i32)))"
    "  (import \"wasi_unstable\" \"random_get\" (func $older (param i32 i32) (result i32)))"
    "  (memory (export \"memory\") 1)"
    "  (data (i32.const 16) \"\\00\\01\\00\\00\\10\\00\\00\\00\")"
    /* Up to 16 bytes from standard input to output; the errno of either. */
    "  (func (export \"cat\") (result i32) (local $errno i32)"
    "    (i32.store (i32.const 20) (i32.const 16))"
    "    (local.set $errno (call $read (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 8)))"
    "    (if (local.get $errno) (then (return (local.get $errno))))"
    "    (i32.store (i32.const 20) (i32.load (i32.const 8)))"
    "    (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 8)))"
    "  (func (export \"time\") (result i32)"
    "    (drop (call $time (i32.const 1) (i64.const 0) (i32.const 0))) (i32.load (i32.const 0)))"
    "  (func (export \"random\") (result i32)"
    "    (drop (call $random (i32.const 0) (i32.const 2)))"
    "    (drop (call $older (i32.const 2) (i32.const 2))) (i32.load (i32.const 0))))";

static size_t read_some(void* context, uint8_t* into, size_t size) {
  const char** text = (const char**)context;
  const size_t length = strlen(*text);
  const size_t count = length < size ? length : size;
  if (count != 0) memcpy(into, *text, count);
  *text += count;
  return count;
}
static char written[64];
static size_t write_some(void* context, const uint8_t* from, size_t size) {
  char* out = (char*)context;
  const size_t used = strlen(out);
  if (size > 63 - used) return SIZE_MAX;
  memcpy(out + used, from, size);
  out[used + size] = 0;
  return size;
}
static uint64_t clock_of_ours(void* context, uint32_t clock) {
  return *(uint64_t*)context + clock;
}
static void bytes_of_ours(void* context, uint8_t* out, size_t size) {
  for (size_t i = 0; i < size; ++i) out[i] = *(uint8_t*)context;
}
static char listening[64];
static void heard(void* context, const char* wanted, const char* address) {
  CHECK(strcmp(wanted, "127.0.0.1:0") == 0);
  snprintf((char*)context, 64, "%s", address);
}

/* What `function` of the module above gives with a configuration, which this consumes. */
static int32_t run(wasm_engine_t* engine, hoist_wasi_config_t* wasi, const char* function) {
  hoist_error_t* error = NULL;
  hoist_linker_t* linker = hoist_linker_new(engine);
  CHECK(hoist_linker_define_wasi(linker, wasi, &error) && error == NULL);
  CHECK(hoist_linker_has(linker, "wasi_unstable", "fd_seek"));
  CHECK(!hoist_linker_has(linker, "wasi_unstable", "sock_accept"));
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(store, cat);
  wasm_instance_t* instance = hoist_linker_instantiate(linker, store, module, NULL);
  CHECK(instance != NULL);
  wasm_extern_t* func = hoist_instance_export(instance, function);
  wasm_val_t result = WASM_INIT_VAL;
  CHECK(call(wasm_extern_as_func(func), 0, NULL, 1, &result) == NULL);
  wasm_extern_delete(func);
  wasm_instance_delete(instance);
  wasm_module_delete(module);
  wasm_store_delete(store);
  hoist_linker_delete(linker);
  return result.of.i32;
}

static void check_streams(wasm_engine_t* engine) {
  const int32_t badf = 8;
  hoist_wasi_config_t* wasi = hoist_wasi_config_new();
  const char* text = "of a callback";
  hoist_wasi_config_set_reader(wasi, read_some, (void*)&text);
  hoist_wasi_config_set_writer(wasi, 1, write_some, written);
  CHECK(run(engine, wasi, "cat") == 0 && strcmp(written, "of a callback") == 0 && *text == 0);

  /* Through a file and back. */
  const char* path = FILES ".out";
  for (int again = 0; again < 2; ++again) {
    wasi = hoist_wasi_config_new();
    wasm_byte_vec_t bytes;
    wasm_byte_vec_new(&bytes, 5, "bytes");
    hoist_wasi_config_set_input(wasi, &bytes);
    wasm_byte_vec_delete(&bytes);
    hoist_wasi_config_set_stream_file(wasi, 1, path, again == 1);
    CHECK(run(engine, wasi, "cat") == 0);
  }
  written[0] = 0;
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_set_stream_file(wasi, 0, path, false);
  hoist_wasi_config_set_writer(wasi, 1, write_some, written);
  CHECK(run(engine, wasi, "cat") == 0 && strcmp(written, "bytesbytes") == 0);
  remove(path);

  wasi = hoist_wasi_config_new();
  hoist_wasi_config_set_stream_kind(wasi, 0, HOIST_STREAM_CLOSED);
  CHECK(run(engine, wasi, "cat") == badf);
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_set_stream_kind(wasi, 0, HOIST_STREAM_CLOSED);
  hoist_wasi_config_set_stream_kind(wasi, 0, HOIST_STREAM_NULL);
  CHECK(run(engine, wasi, "cat") == 0);
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_set_stream_kind(wasi, 1, HOIST_STREAM_INHERIT);
  hoist_wasi_config_set_stream_kind(wasi, 1, 77);
  CHECK(run(engine, wasi, "cat") == 0);

  hoist_error_t* error = NULL;
  hoist_linker_t* linker = hoist_linker_new(engine);
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_set_stream_file(wasi, 0, "no/such/file", false);
  CHECK(!hoist_linker_define_wasi(linker, wasi, &error));
  CHECK(hoist_error_kind(error) == HOIST_ERROR_IO);
  hoist_error_delete(error);
  hoist_linker_delete(linker);
}

static void check_hooks(wasm_engine_t* engine) {
  hoist_wasi_config_t* wasi = hoist_wasi_config_new();
  uint64_t now = 41;
  hoist_wasi_config_set_clock(wasi, clock_of_ours, &now);
  CHECK(run(engine, wasi, "time") == 42);
  wasi = hoist_wasi_config_new();
  uint8_t byte = 7;
  hoist_wasi_config_set_random(wasi, bytes_of_ours, &byte);
  CHECK(run(engine, wasi, "random") == 0x07070707);
  wasi = hoist_wasi_config_new();
  hoist_wasi_config_set_clock(wasi, NULL, NULL);
  hoist_wasi_config_set_random(wasi, NULL, NULL);
  hoist_wasi_config_add_listener(wasi, "127.0.0.1:0");
  hoist_wasi_config_set_listen_callback(wasi, heard, listening);
  run(engine, wasi, "time");
  CHECK(strncmp(listening, "127.0.0.1:", 10) == 0 && atoi(listening + 10) > 0);
}

static void check_features(void) {
  wasm_config_t* config = wasm_config_new();
  hoist_config_set_features(config, "-simd");
  hoist_config_set_verify_ir(config, true);
  hoist_config_set_check_allocation(config, true);
  hoist_config_set_collect_always(config, true);
  hoist_error_t* error = NULL;
  wasm_engine_t* engine = hoist_engine_new(config, &error);
  CHECK(engine != NULL && error == NULL);
  wasm_store_t* store = wasm_store_new(engine);
  const char* text = "(module (func (drop (v128.const i64x2 0 0))))";
  CHECK(hoist_module_from_text(store, text, strlen(text), &error) == NULL);
  CHECK(strstr(hoist_error_message(error), "simd") != NULL);
  hoist_error_delete(error);
  wasm_store_delete(store);
  wasm_engine_delete(engine);

  config = wasm_config_new();
  hoist_config_set_features(config, "+smid");
  CHECK(hoist_engine_new(config, &error) == NULL);
  CHECK(hoist_error_kind(error) == HOIST_ERROR_BAD_ARGUMENT);
  hoist_error_delete(error);
  config = wasm_config_new();
  hoist_config_set_features(config, "-simd");
  hoist_config_set_features(config, NULL);
  engine = hoist_engine_new(config, &error);
  store = wasm_store_new(engine);
  wasm_module_delete(compile(store, text));
  wasm_store_delete(store);
  wasm_engine_delete(engine);
}

static void check_images(wasm_engine_t* engine) {
  hoist_error_t* error = NULL;
  wasm_byte_vec_t text, image;
  const char* source = "(module (func (export \"f\") (result i32) (i32.const 11)))";
  wasm_byte_vec_new(&text, strlen(source), source);
  CHECK(hoist_module_precompile(engine, &text, &image, &error) && image.size > 100);
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = hoist_module_deserialize(store, &image, &error);
  CHECK(module != NULL);
  const char* path = FILES ".image";
  CHECK(hoist_module_serialize_to_file(module, path, &error));
  wasm_module_t* again = hoist_module_deserialize_file(store, path, &error);
  CHECK(again != NULL);
  remove(path);
  CHECK(!hoist_module_serialize_to_file(module, "no/such/folder/image", &error));
  CHECK(hoist_error_kind(error) == HOIST_ERROR_IO);
  hoist_error_delete(error);
  CHECK(hoist_module_deserialize_file(store, path, &error) == NULL && error != NULL);
  hoist_error_delete(error);
  wasm_byte_vec_delete(&image);
  CHECK(!hoist_module_precompile(engine, NULL, &image, &error) && image.size == 0);
  hoist_error_delete(error);

  /* Binary, with a shared memory. */
  const char binary[] = "\0asm\1\0\0\0\5\4\1\3\1\1";
  wasm_byte_vec_delete(&text);
  wasm_byte_vec_new(&text, sizeof binary - 1, binary);
  CHECK(hoist_module_validate_features(&text, NULL, &error));
  CHECK(!hoist_module_validate_features(&text, "-threads", &error));
  CHECK(strstr(hoist_error_message(error), "threads") != NULL);
  hoist_error_delete(error);
  wasm_byte_vec_delete(&text);
  wasm_module_delete(module);
  wasm_module_delete(again);
  wasm_store_delete(store);
}

static void check_linker(wasm_engine_t* engine) {
  hoist_error_t* error = NULL;
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(
      store,
      "(module (import \"a\" \"f\" (func (result i32))) (func (export \"g\") (result i32) (call 0)))");
  hoist_linker_t* linker = hoist_linker_new(engine);
  CHECK(hoist_linker_instantiate(linker, store, module, NULL) == NULL);
  hoist_linker_unknown_imports(linker, HOIST_UNKNOWN_IMPORTS_DEFAULT);
  hoist_linker_unknown_imports(linker, 99);
  wasm_instance_t* instance = hoist_linker_instantiate(linker, store, module, NULL);
  CHECK(instance != NULL);
  wasm_extern_t* g = hoist_instance_export(instance, "g");
  CHECK(returns(wasm_extern_as_func(g), 0, NULL, 0));
  wasm_extern_delete(g);
  hoist_linker_unknown_imports(linker, HOIST_UNKNOWN_IMPORTS_TRAP);
  wasm_instance_t* trapping = hoist_linker_instantiate(linker, store, module, NULL);
  CHECK(trapping != NULL);
  g = hoist_instance_export(trapping, "g");
  CHECK(traps(wasm_extern_as_func(g), 0, NULL, 1, "unknown import"));
  wasm_extern_delete(g);

  CHECK(hoist_linker_define_instance(linker, "made", instance, &error));
  CHECK(hoist_linker_alias(linker, "made", "g", "a", "f", &error));
  CHECK(hoist_linker_alias_module(linker, "made", "again", &error));
  CHECK(hoist_linker_has(linker, "a", "f") && hoist_linker_has(linker, "again", "g"));
  CHECK(!hoist_linker_has(linker, "a", "g"));
  CHECK(!hoist_linker_alias(linker, "none", "g", "a", "h", &error) && error != NULL);
  hoist_error_delete(error);
  wasm_instance_delete(instance);
  wasm_instance_delete(trapping);
  wasm_module_delete(module);
  hoist_linker_delete(linker);
  wasm_store_delete(store);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  check_streams(engine);
  check_hooks(engine);
  check_features();
  check_images(engine);
  check_linker(engine);
  wasm_engine_delete(engine);
  return 0;
}
