// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hoist's additions to the C API: settings, linker.
#include "hoist.h"

#include <string>
#include <utility>

#include "api/c/func.hpp"
#include "api/c/objects.hpp"
#include "api/c/types.hpp"

namespace c_api = hoist::c_api;

struct hoist_interrupt_t {
  hoist::InterruptHandle handle;
};

namespace hoist::c_api {

StoreLimits plain_limits(const hoist_store_limits_t* limits) {
  StoreLimits out;
  if (limits == nullptr) return out;
  out.memory_bytes = limits->memory_bytes;
  out.total_memory_bytes = limits->total_memory_bytes;
  out.table_elements = limits->table_elements;
  out.total_table_elements = limits->total_table_elements;
  out.instances = limits->instances;
  out.memories = limits->memories;
  out.tables = limits->tables;
  out.references = limits->references;
  out.reference_bytes = limits->reference_bytes;
  out.pooled = !limits->not_pooled;
  out.trap_on_refused_growth = limits->trap_on_refused_growth;
  return out;
}

hoist_growth_t to_c(const Growth& growth) {
  hoist_growth_t out{};
  out.current = growth.current;
  out.desired = growth.desired;
  out.maximum = growth.maximum;
  out.what = growth.what == Growth::What::Memory ? HOIST_GROWTH_MEMORY : HOIST_GROWTH_TABLE;
  out.allowed = growth.allowed;
  return out;
}

static StoreLimits to_cpp(const hoist_store_limits_t* limits, wasm_store_t* store) {
  StoreLimits out = plain_limits(limits);
  if (limits == nullptr || limits->on_growth == nullptr) return out;
  store->growth = {limits->on_growth, limits->context};
  out.context = store;
  out.on_growth = [](void* context, const Growth& growth) {
    const auto& callback = static_cast<const wasm_store_t*>(context)->growth;
    const hoist_growth_t asked = to_c(growth);
    return callback.function(callback.context, &asked);
  };
  return out;
}

/// Calls one of the embedder's callbacks, a member of the store, for the library.
template <auto kMember>
static std::uint64_t ask(void* context, StoreRef) {
  auto* store = static_cast<wasm_store_t*>(context);
  const auto callback = store->*kMember;
  return callback.function(callback.context, store);
}

bool finish(Result<void> done, hoist_error_t** error) {
  if (!done) set_error(error, std::move(done).error());
  return done.has_value();
}

}  // namespace hoist::c_api

wasm_store_t::wasm_store_t(const hoist::Engine& engine, const hoist_store_limits_t* limits)
    : store(engine, c_api::to_cpp(limits, this)) {
  store.set_data(this);
}

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
void hoist_config_set_profiler(wasm_config_t* config, uint8_t kind) {
  if (config != nullptr) config->config.profiler = static_cast<hoist::Profiler>(kind);
}
void hoist_config_set_demangle(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.demangle = on;
}

void hoist_config_set_fuel(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.fuel = on;
}
void hoist_config_set_epoch(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.epoch = on;
}
void hoist_config_set_interruptible(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.interruptible = on;
}
void hoist_config_set_signals(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.signals = on;
}
void hoist_config_set_explicit_bounds_checks(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.explicit_bounds_checks = on;
}
void hoist_config_set_canonical_nans(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.canonical_nans = on;
}
void hoist_config_set_deterministic_relaxed_simd(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.deterministic_relaxed_simd = on;
}
void hoist_config_set_cache_directory(wasm_config_t* config, const char* path) {
  if (config != nullptr) config->config.cache_directory = path == nullptr ? "" : path;
}
void hoist_config_set_cache_bytes(wasm_config_t* config, uint64_t bytes) {
  if (config != nullptr) config->config.cache_bytes = bytes;
}
void hoist_config_set_cpu(wasm_config_t* config, const char* cpu) {
  if (config != nullptr) config->config.cpu = cpu == nullptr ? "native" : cpu;
}
void hoist_config_set_features(wasm_config_t* config, const char* features) {
  if (config != nullptr) config->config.features = features == nullptr ? "" : features;
}
void hoist_config_set_collect_always(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.collect_always = on;
}
void hoist_config_set_verify_ir(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.verify_ir = on;
}
void hoist_config_set_check_allocation(wasm_config_t* config, bool on) {
  if (config != nullptr) config->config.check_allocation = on;
}
hoist_pooling_options_t hoist_pooling_options_default(void) {
  const hoist::PoolingOptions options;
  return {options.instances,          options.memories,       options.tables,
          options.memory_bytes,       options.table_elements, options.instance_bytes,
          options.keep_resident_bytes};
}
void hoist_config_set_pooling(wasm_config_t* config, const hoist_pooling_options_t* options) {
  if (config == nullptr) return;
  config->config.pooling.reset();
  if (options == nullptr) return;
  hoist::PoolingOptions& out = config->config.pooling.emplace();
  out.instances = options->instances;
  out.memories = options->memories;
  out.tables = options->tables;
  out.memory_bytes = options->memory_bytes;
  out.table_elements = options->table_elements;
  out.instance_bytes = options->instance_bytes;
  out.keep_resident_bytes = options->keep_resident_bytes;
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
  hoist_store_limits_t out{};
  out.memory_bytes = limits.memory_bytes;
  out.total_memory_bytes = limits.total_memory_bytes;
  out.table_elements = limits.table_elements;
  out.total_table_elements = limits.total_table_elements;
  out.instances = limits.instances;
  out.memories = limits.memories;
  out.tables = limits.tables;
  out.references = limits.references;
  out.reference_bytes = limits.reference_bytes;
  return out;
}
wasm_store_t* hoist_store_new(wasm_engine_t* engine, const hoist_store_limits_t* limits) {
  if (engine == nullptr) return nullptr;
  return new wasm_store_t(engine->engine, limits);
}
void hoist_store_set_data(wasm_store_t* store, void* data) {
  if (store != nullptr) store->data = data;
}
void* hoist_store_get_data(const wasm_store_t* store) {
  return store == nullptr ? nullptr : store->data;
}

void hoist_store_collect(wasm_store_t* store) {
  if (!c_api::is_alive(store)) return;
  const c_api::CallScope scope(*store);
  store->store.collect();
}
uint64_t hoist_store_references(const wasm_store_t* store) {
  return store == nullptr ? 0 : store->store.references();
}

bool hoist_store_set_fuel(wasm_store_t* store, uint64_t units) {
  return store != nullptr && store->store.set_fuel(units).has_value();
}
bool hoist_store_add_fuel(wasm_store_t* store, uint64_t units) {
  return store != nullptr && store->store.add_fuel(units).has_value();
}
void hoist_store_on_out_of_fuel(wasm_store_t* store, hoist_limit_callback_t refill, void* context) {
  if (store == nullptr) return;
  store->refill = {refill, context};
  store->store.on_out_of_fuel(refill == nullptr ? nullptr : c_api::ask<&wasm_store_t::refill>,
                              store);
}
bool hoist_store_get_fuel(const wasm_store_t* store, uint64_t* units) {
  if (store == nullptr || units == nullptr) return false;
  auto left = store->store.fuel();
  if (left) *units = *left;
  return left.has_value();
}
bool hoist_store_set_epoch_deadline(wasm_store_t* store, uint64_t ticks) {
  return store != nullptr && store->store.set_epoch_deadline(ticks).has_value();
}
void hoist_engine_increment_epoch(wasm_engine_t* engine) {
  if (engine != nullptr) engine->engine.increment_epoch();
}
uint64_t hoist_engine_epoch(const wasm_engine_t* engine) {
  return engine == nullptr ? 0 : engine->engine.epoch();
}
void hoist_store_on_epoch_deadline(wasm_store_t* store, hoist_limit_callback_t extend,
                                   void* context) {
  if (store == nullptr) return;
  store->extend = {extend, context};
  store->store.on_epoch_deadline(extend == nullptr ? nullptr : c_api::ask<&wasm_store_t::extend>,
                                 store);
}
hoist_interrupt_t* hoist_interrupt_new(const wasm_store_t* store) {
  return store == nullptr ? nullptr : new hoist_interrupt_t{store->store.interrupt_handle()};
}
void hoist_interrupt_delete(hoist_interrupt_t* handle) {
  delete handle;
}
void hoist_interrupt(const hoist_interrupt_t* handle) {
  if (handle != nullptr) handle->handle.interrupt();
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
void hoist_linker_unknown_imports(hoist_linker_t* linker, uint8_t what) {
  if (linker == nullptr || what > HOIST_UNKNOWN_IMPORTS_DEFAULT) return;
  linker->linker.unknown_imports(static_cast<hoist::UnknownImports>(what));
}
bool hoist_linker_alias(hoist_linker_t* linker, const char* module, const char* name,
                        const char* as_module, const char* as_name, hoist_error_t** error) {
  if (!c_api::check(error, linker, module, name, as_module, as_name)) return false;
  return c_api::finish(linker->linker.alias(module, name, as_module, as_name), error);
}
bool hoist_linker_alias_module(hoist_linker_t* linker, const char* module, const char* as_module,
                               hoist_error_t** error) {
  if (!c_api::check(error, linker, module, as_module)) return false;
  return c_api::finish(linker->linker.alias_module(module, as_module), error);
}
bool hoist_linker_has(const hoist_linker_t* linker, const char* module, const char* name) {
  if (linker == nullptr || module == nullptr || name == nullptr) return false;
  return linker->linker.has(module, name);
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
  hoist::FuncType wanted = c_api::to_cpp(*type);
  if (c_api::has_vectors(wanted)) {
    if (finalizer != nullptr) finalizer(env);
    c_api::set_error(error, {hoist::ErrorKind::Unsupported, "wasm.h has no values of type v128"});
    return false;
  }
  c_api::HostCallback host;
  host.with_env = callback;
  host.env = env;
  host.finalizer = finalizer;
  return c_api::finish(
      linker->linker.define_host(module, name, c_api::host_function(std::move(wanted), host)),
      error);
}
bool hoist_linker_define_instance(hoist_linker_t* linker, const char* module,
                                  const wasm_instance_t* instance, hoist_error_t** error) {
  if (!c_api::check(error, linker, module, instance)) return false;
  return c_api::finish(linker->linker.define_instance(module, instance->instance), error);
}
wasm_instance_t* hoist_linker_instantiate(hoist_linker_t* linker, wasm_store_t* store,
                                          const wasm_module_t* module, wasm_trap_t** trap) {
  const bool has_all_else = linker != nullptr && module != nullptr;
  if (!c_api::can_instantiate(store, has_all_else, trap)) return nullptr;
  const c_api::CallScope scope(*store);
  return c_api::instance_or_trap(
      *store, linker->linker.instantiate_raw(store->store, module->module), trap);
}

static_assert(HOIST_UNKNOWN_IMPORTS_DEFAULT == static_cast<int>(hoist::UnknownImports::Default));

}  // extern "C"
