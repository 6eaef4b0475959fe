// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hoist's additions to the C API: settings, linker, WASI.
#include "hoist.h"

#include <string>
#include <utility>

#include "api/c/func.hpp"
#include "api/c/objects.hpp"
#include "api/c/types.hpp"

namespace c_api = hoist::c_api;

struct hoist_linker_t {
  hoist::Linker linker;
};
struct hoist_wasi_config_t {
  hoist::WasiConfig config;
};

namespace hoist::c_api {

/// Clears `*error`; false, with an error in it, if a pointer is null.
template <typename... T>
static bool check(hoist_error_t** error, const T*... needed) {
  if (error != nullptr) *error = nullptr;
  if (((needed != nullptr) && ...)) return true;
  set_error(error, Error(ErrorKind::BadArgument, "a null pointer was passed"));
  return false;
}

static bool finish(Result<void> done, hoist_error_t** error) {
  if (!done) set_error(error, std::move(done).error());
  return done.has_value();
}

}  // namespace hoist::c_api

extern "C" {

const char* hoist_version(void) {
  return hoist::version();
}

// ---- Settings.

void hoist_config_set_opt_level(wasm_config_t* config, uint8_t level) {
  if (config != nullptr) config->config.opt_level = static_cast<hoist::OptLevel>(level);
}
void hoist_config_set_threads(wasm_config_t* config, unsigned threads) {
  if (config != nullptr) config->config.threads = threads;
}
void hoist_config_set_guest_stack_bytes(wasm_config_t* config, uint64_t bytes) {
  if (config != nullptr) config->config.guest_stack_bytes = bytes;
}
void hoist_config_set_host_reserve_bytes(wasm_config_t* config, uint64_t bytes) {
  if (config != nullptr) config->config.host_reserve_bytes = bytes;
}
void hoist_config_set_perf_map(wasm_config_t* config, bool on) {
  if (config == nullptr) return;
  config->config.profiler = on ? hoist::Profiler::PerfMap : hoist::Profiler::None;
}

wasm_engine_t* hoist_engine_new(wasm_config_t* config, hoist_error_t** error) {
  if (error != nullptr) *error = nullptr;
  auto made = hoist::Engine::create(config == nullptr ? hoist::Config() : config->config);
  wasm_config_delete(config);
  if (made) return new wasm_engine_t{*std::move(made)};
  c_api::set_error(error, std::move(made).error());
  return nullptr;
}

hoist_store_limits_t hoist_store_limits_default(void) {
  const hoist::StoreLimits limits;
  return {limits.memory_bytes, limits.table_elements, limits.instances};
}
wasm_store_t* hoist_store_new(wasm_engine_t* engine, const hoist_store_limits_t* limits) {
  if (engine == nullptr) return nullptr;
  hoist::StoreLimits wanted;
  if (limits != nullptr) {
    wanted.memory_bytes = limits->memory_bytes;
    wanted.table_elements = limits->table_elements;
    wanted.instances = limits->instances;
  }
  return new wasm_store_t(engine->engine, wanted);
}
void hoist_store_set_data(wasm_store_t* store, void* data) {
  if (store != nullptr) store->data = data;
}
void* hoist_store_get_data(const wasm_store_t* store) {
  return store == nullptr ? nullptr : store->data;
}

// ---- Linker.

hoist_linker_t* hoist_linker_new(wasm_engine_t* engine) {
  return engine == nullptr ? nullptr : new hoist_linker_t{hoist::Linker(engine->engine)};
}
void hoist_linker_delete(hoist_linker_t* linker) {
  delete linker;
}
void hoist_linker_allow_shadowing(hoist_linker_t* linker, bool allow) {
  if (linker != nullptr) linker->linker.allow_shadowing(allow);
}
bool hoist_linker_define(hoist_linker_t* linker, const char* module, const char* name,
                         const wasm_extern_t* item, hoist_error_t** error) {
  if (!c_api::check(error, linker, module, name, item)) return false;
  return c_api::finish(linker->linker.define(module, name, c_api::extern_of(*item)), error);
}
bool hoist_linker_define_func(hoist_linker_t* linker, const char* module, const char* name,
                              const wasm_functype_t* type, wasm_func_callback_with_env_t callback,
                              void* env, void (*finalizer)(void*), hoist_error_t** error) {
  const bool has_callback = callback != nullptr;
  if (!c_api::check(error, linker, module, name, type, has_callback ? &has_callback : nullptr)) {
    if (finalizer != nullptr) finalizer(env);
    return false;
  }
  c_api::HostCallback host;
  host.with_env = callback;
  host.env = env;
  host.finalizer = finalizer;
  return c_api::finish(
      linker->linker.define_host(module, name, c_api::host_function(c_api::to_cpp(*type), host)),
      error);
}
bool hoist_linker_define_instance(hoist_linker_t* linker, const char* module,
                                  const wasm_instance_t* instance, hoist_error_t** error) {
  if (!c_api::check(error, linker, module, instance)) return false;
  return c_api::finish(linker->linker.define_instance(module, instance->instance), error);
}
wasm_instance_t* hoist_linker_instantiate(hoist_linker_t* linker, wasm_store_t* store,
                                          const wasm_module_t* module, wasm_trap_t** trap) {
  if (trap != nullptr) *trap = nullptr;
  if (linker == nullptr || store == nullptr || module == nullptr) {
    if (trap != nullptr) *trap = c_api::misuse({}, "a null pointer was passed");
    return nullptr;
  }
  const c_api::CallScope scope(*store);
  auto made = linker->linker.instantiate_raw(store->store, module->module);
  if (made) return c_api::reference(*store, *made);
  wasm_trap_t* failed = c_api::new_trap(*store, std::move(made).error());
  if (trap != nullptr) {
    *trap = failed;
  } else {
    wasm_trap_delete(failed);
  }
  return nullptr;
}

// ---- WASI.

hoist_wasi_config_t* hoist_wasi_config_new(void) {
  auto* out = new hoist_wasi_config_t;
  out->config.in = out->config.out = out->config.err = hoist::WasiStream::null();
  return out;
}
void hoist_wasi_config_delete(hoist_wasi_config_t* config) {
  delete config;
}
void hoist_wasi_config_add_arg(hoist_wasi_config_t* config, const char* arg) {
  if (config != nullptr && arg != nullptr) config->config.args.emplace_back(arg);
}
void hoist_wasi_config_add_env(hoist_wasi_config_t* config, const char* name, const char* value) {
  if (config == nullptr || name == nullptr || value == nullptr) return;
  config->config.env.emplace_back(name, value);
}
void hoist_wasi_config_add_directory(hoist_wasi_config_t* config, const char* host_path,
                                     const char* guest_path, bool read_only) {
  if (config == nullptr || host_path == nullptr || guest_path == nullptr) return;
  config->config.directories.push_back({host_path, guest_path, read_only});
}
void hoist_wasi_config_inherit_stdio(hoist_wasi_config_t* config) {
  if (config == nullptr) return;
  config->config.in = config->config.out = config->config.err = hoist::WasiStream::inherit();
}
void hoist_wasi_config_set_stream(hoist_wasi_config_t* config, unsigned stream, int descriptor) {
  if (config == nullptr || stream > 2) return;
  hoist::WasiStream* const streams[] = {&config->config.in, &config->config.out,
                                        &config->config.err};
  hoist::WasiStream chosen;
  chosen.kind = hoist::WasiStream::Kind::Descriptor;
  chosen.descriptor = descriptor;
  *streams[stream] = chosen;
}
bool hoist_linker_define_wasi(hoist_linker_t* linker, hoist_wasi_config_t* config,
                              hoist_error_t** error) {
  if (!c_api::check(error, linker, config)) {
    hoist_wasi_config_delete(config);
    return false;
  }
  hoist::WasiConfig wanted = std::move(config->config);
  hoist_wasi_config_delete(config);
  return c_api::finish(hoist::add_wasi_to_linker(linker->linker, std::move(wanted)), error);
}

}  // extern "C"
