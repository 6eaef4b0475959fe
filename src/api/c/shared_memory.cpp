// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memories without a store, and threads of WASI programs.
#include "hoist/shared_memory.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "api/c/objects.hpp"
#include "api/c/types.hpp"
#include "hoist/wasi_threads.hpp"

namespace c_api = hoist::c_api;

struct hoist_shared_memory_t {
  hoist::SharedMemory memory;
};
struct hoist_wasi_threads_t {
  c_api::Callback<hoist_growth_callback_t> growth;
  c_api::Callback<hoist_wasi_thread_start_t> start;
  c_api::Callback<hoist_wasi_thread_failure_t> failure;
  std::optional<hoist::WasiThreads> threads;  // ends before what it calls
};
struct hoist_wasi_thread_t {
  hoist::StoreRef store;
};

namespace hoist::c_api {

/// The callbacks of a program's threads; each may be null.
static void call_back(hoist_wasi_threads_t& self, WasiThreadsConfig& config) {
  config.context = config.limits.context = &self;
  if (self.growth.function != nullptr) {
    config.limits.on_growth = [](void* context, const Growth& growth) {
      const auto& callback = static_cast<const hoist_wasi_threads_t*>(context)->growth;
      const hoist_growth_t asked = to_c(growth);
      return callback.function(callback.context, &asked);
    };
  }
  config.on_start = [](void* context, StoreRef store) {
    const auto& callback = static_cast<const hoist_wasi_threads_t*>(context)->start;
    hoist_wasi_thread_t thread{store};
    if (callback.function != nullptr) callback.function(callback.context, &thread);
  };
  config.on_failure = [](void* context, std::int32_t thread, const Error& error) {
    const auto& callback = static_cast<const hoist_wasi_threads_t*>(context)->failure;
    const hoist_error_t given{error};
    if (callback.function != nullptr) callback.function(callback.context, thread, &given);
  };
}

}  // namespace hoist::c_api

extern "C" {

// ---- Shared memories.

hoist_shared_memory_t* hoist_shared_memory_new(wasm_engine_t* engine,
                                               const hoist_memory_type_t* type,
                                               hoist_error_t** error) {
  if (!c_api::check(error, engine, type)) return nullptr;
  hoist::MemoryType wanted;
  wanted.minimum = type->minimum;
  if (type->maximum != UINT64_MAX) wanted.maximum = type->maximum;
  wanted.is_64 = type->is_64;
  wanted.page_size_log2 = type->page_size_log2;
  auto made = hoist::SharedMemory::create(engine->engine, wanted);
  if (made) return new hoist_shared_memory_t{*std::move(made)};
  c_api::set_error(error, std::move(made).error());
  return nullptr;
}
hoist_shared_memory_t* hoist_shared_memory_copy(const hoist_shared_memory_t* memory) {
  return memory == nullptr ? nullptr : new hoist_shared_memory_t(*memory);
}
void hoist_shared_memory_delete(hoist_shared_memory_t* memory) {
  delete memory;
}
hoist_shared_memory_t* hoist_memory_shared(const wasm_memory_t* memory) {
  if (c_api::store_of(memory) == nullptr) return nullptr;
  auto shared = memory->memory.shared();
  return shared ? new hoist_shared_memory_t{*std::move(shared)} : nullptr;
}
wasm_memory_t* hoist_shared_memory_in(const hoist_shared_memory_t* memory, wasm_store_t* store,
                                      hoist_error_t** error) {
  if (!c_api::check(error, memory, store)) return nullptr;
  const c_api::CallScope scope(*store);
  auto made = memory->memory.in(store->store);
  if (made) return c_api::reference(*store, *made);
  c_api::set_error(error, std::move(made).error());
  return nullptr;
}
byte_t* hoist_shared_memory_data(const hoist_shared_memory_t* memory) {
  return memory == nullptr ? nullptr : reinterpret_cast<byte_t*>(memory->memory.data());
}
uint64_t hoist_shared_memory_size(const hoist_shared_memory_t* memory) {
  return memory == nullptr ? 0 : memory->memory.size_bytes();
}
bool hoist_shared_memory_grow(const hoist_shared_memory_t* memory, uint64_t delta) {
  return memory != nullptr && memory->memory.grow(delta).has_value();
}
uint32_t hoist_shared_memory_notify(const hoist_shared_memory_t* memory, uint64_t address,
                                    uint32_t count) {
  if (memory == nullptr) return UINT32_MAX;
  const auto woken = memory->memory.notify(address, count);
  return woken ? *woken : UINT32_MAX;
}

static int number_of(const hoist::Result<hoist::SharedMemory::WaitOutcome>& outcome) {
  return outcome ? static_cast<int>(*outcome) : -1;
}
int hoist_shared_memory_wait32(const hoist_shared_memory_t* memory, uint64_t address,
                               uint32_t expected, int64_t timeout_ns) {
  return memory == nullptr ? -1 : number_of(memory->memory.wait32(address, expected, timeout_ns));
}
int hoist_shared_memory_wait64(const hoist_shared_memory_t* memory, uint64_t address,
                               uint64_t expected, int64_t timeout_ns) {
  return memory == nullptr ? -1 : number_of(memory->memory.wait64(address, expected, timeout_ns));
}
bool hoist_linker_define_shared_memory(hoist_linker_t* linker, const char* module, const char* name,
                                       const hoist_shared_memory_t* memory, hoist_error_t** error) {
  if (!c_api::check(error, linker, module, name, memory)) return false;
  return c_api::finish(linker->linker.define(module, name, memory->memory), error);
}

// ---- Threads.

bool hoist_module_wants_wasi_threads(const wasm_module_t* module) {
  return module != nullptr && hoist::WasiThreads::is_wanted(module->module);
}
hoist_wasi_threads_t* hoist_linker_define_wasi_threads(hoist_linker_t* linker,
                                                       const wasm_module_t* module,
                                                       const hoist_store_limits_t* limits,
                                                       uint32_t max_threads,
                                                       hoist_error_t** error) {
  if (!c_api::check(error, linker, module)) return nullptr;
  hoist::WasiThreadsConfig config;
  config.limits = c_api::plain_limits(limits);
  config.max_threads = max_threads;
  auto out = std::make_unique<hoist_wasi_threads_t>();
  if (limits != nullptr) out->growth = {limits->on_growth, limits->context};
  c_api::call_back(*out, config);
  auto made = hoist::WasiThreads::add_to_linker(linker->linker, module->module, config);
  if (made) {
    out->threads.emplace(*std::move(made));
    return out.release();
  }
  c_api::set_error(error, std::move(made).error());
  return nullptr;
}
void hoist_wasi_threads_on_start(hoist_wasi_threads_t* threads, hoist_wasi_thread_start_t start,
                                 void* context) {
  if (threads != nullptr) threads->start = {start, context};
}
void hoist_wasi_threads_on_failure(hoist_wasi_threads_t* threads,
                                   hoist_wasi_thread_failure_t failure, void* context) {
  if (threads != nullptr) threads->failure = {failure, context};
}
bool hoist_wasi_thread_set_fuel(hoist_wasi_thread_t* thread, uint64_t units) {
  return thread != nullptr && thread->store.set_fuel(units).has_value();
}
bool hoist_wasi_thread_set_epoch_deadline(hoist_wasi_thread_t* thread, uint64_t ticks) {
  return thread != nullptr && thread->store.set_epoch_deadline(ticks).has_value();
}
hoist_error_t* hoist_wasi_threads_failure(const hoist_wasi_threads_t* threads, int32_t* thread) {
  if (threads == nullptr) return nullptr;
  auto failure = threads->threads->failure();
  if (!failure) return nullptr;
  if (thread != nullptr) *thread = failure->thread;
  return new hoist_error_t{std::move(failure->error)};
}
void hoist_wasi_threads_delete(hoist_wasi_threads_t* threads) {
  delete threads;
}

}  // extern "C"
