// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// References: counting, identity, host info, casts; engine and store.
#include "api/c/objects.hpp"

#include <utility>

#include "api/c/types.hpp"
#include "api/impl.hpp"
#include "base/check.hpp"
#include "platform/embedder_call.hpp"
#include "runtime/objects/host_function.hpp"
#include "runtime/store/instance.hpp"

namespace hoist::c_api {

using detail::Access;

wasm_store_t* store_of(const wasm_ref_t* ref) {
  return ref == nullptr ? nullptr : static_cast<wasm_store_t*>(ref->store.data());
}

/// Calls the finalizer, if there is one and it was not called. The reference may be gone then.
static void finalize(wasm_ref_t* ref) {
  if (ref->finalizer == nullptr) return;
  const auto finalizer = std::exchange(ref->finalizer, nullptr);
  void* const info = ref->host_info;
  platform::embedder_call([&] { finalizer(info); });
}

void destroy(wasm_ref_t* ref) {
  finalize(ref);
  switch (ref->kind) {
#define HOIST_C_REF(name, ref_kind) \
  case RefKind::ref_kind: delete static_cast<wasm_##name##_t*>(ref); break;
#include "api/c/tables.def"
  }
}

void drop_reference(wasm_ref_t* ref) {
  if (ref == nullptr) return;
  // One deletion too many of something that its store keeps is forgiven.
  if (ref->references != 0) --ref->references;
  if (ref->references == 0 && !ref->kept) destroy(ref);
}

void keep(wasm_store_t& store, wasm_ref_t* ref) {
  if (ref->kept) return;
  ref->kept = true;
  store.kept.push_back(ref);
}

/// The object of `key`, made on first use; one more reference to it.
template <typename Ref, typename Handle>
static Ref* find_or_make(wasm_store_t& store, const ObjectKey& key, const Handle& handle) {
  wasm_ref_t*& place = store.objects[key];
  if (place != nullptr) return add_reference(static_cast<Ref*>(place));
  auto* made = new Ref(store.store.ref(), handle);
  place = made;
  keep(store, made);
  return made;
}

/// Imported again, a function has another VmFuncRef; what it calls is the same.
static ObjectKey key_of(const Func& func) {
  const auto& ref = *static_cast<const image::VmFuncRef*>(Access::object(func));
  if (const image::VmHostContext* host = runtime::host_context(ref)) return {host->host, 0};
  return {ref.ctx, std::uint64_t{1} + ref.func_index};
}

wasm_func_t* reference(wasm_store_t& store, const Func& func) {
  return find_or_make<wasm_func_t>(store, key_of(func), func);
}
wasm_global_t* reference(wasm_store_t& store, const Global& global) {
  return find_or_make<wasm_global_t>(store, {Access::object(global), 0}, global);
}
wasm_table_t* reference(wasm_store_t& store, const Table& table) {
  return find_or_make<wasm_table_t>(store, {Access::object(table), 0}, table);
}
wasm_memory_t* reference(wasm_store_t& store, const Memory& memory) {
  return find_or_make<wasm_memory_t>(store, {Access::object(memory), 0}, memory);
}
wasm_tag_t* reference(wasm_store_t& store, const Tag& tag) {
  return find_or_make<wasm_tag_t>(store, {Access::object(tag), 0}, tag);
}

wasm_instance_t* reference(wasm_store_t& store, const Instance& instance) {
  return find_or_make<wasm_instance_t>(store, {Access::object(instance), 0}, instance);
}

wasm_extern_t* reference(wasm_store_t& store, const Extern& item) {
  switch (item.kind()) {
    case ExternKind::Func: return reference(store, *item.func());
    case ExternKind::Global: return reference(store, *item.global());
    case ExternKind::Table: return reference(store, *item.table());
    case ExternKind::Memory: return reference(store, *item.memory());
    case ExternKind::Tag: return reference(store, *item.tag());
  }
  HOIST_UNREACHABLE("an ExternKind");
}

Extern extern_of(const wasm_extern_t& item) {
  switch (item.kind) {
    case RefKind::Func: return static_cast<const wasm_func_t&>(item).func;
    case RefKind::Global: return static_cast<const wasm_global_t&>(item).global;
    case RefKind::Table: return static_cast<const wasm_table_t&>(item).table;
    case RefKind::Memory: return static_cast<const wasm_memory_t&>(item).memory;
    case RefKind::Tag: return static_cast<const wasm_tag_t&>(item).tag;
    case RefKind::Trap:
    case RefKind::Foreign:
    case RefKind::Module:
    case RefKind::Instance: break;
  }
  HOIST_UNREACHABLE("an extern");
}

static void end(wasm_store_t* store) {
  {
    // Host functions end here, with their finalizers; from here on all handles are dead.
    const Store ended = std::move(store->store);
  }
  for (wasm_ref_t* ref : store->kept) {
    ref->kept = false;
    if (ref->references == 0) {
      destroy(ref);
    } else {
      finalize(ref);
    }
  }
  drop_reference(store->pending);
  delete store;
}

CallScope::~CallScope() {
  if (--store_.calls == 0 && store_.is_deleted) end(&store_);
}

template <typename Ref>
static Ref* cast(const wasm_ref_t* ref, RefKind kind) {
  if (ref == nullptr || ref->kind != kind) return nullptr;
  return static_cast<Ref*>(const_cast<wasm_ref_t*>(ref));
}

static bool is_extern(const wasm_ref_t* ref) {
  switch (ref->kind) {
#define HOIST_C_EXTERN(name, ref_kind) case RefKind::ref_kind:
#include "api/c/tables.def"
    return true;
    case RefKind::Trap:
    case RefKind::Foreign:
    case RefKind::Module:
    case RefKind::Instance: return false;
  }
  HOIST_UNREACHABLE("a RefKind");
}

static void set_info(wasm_ref_t* ref, void* info, void (*finalizer)(void*)) {
  if (ref == nullptr) return;
  // The pointer that was there ends here.
  finalize(ref);
  ref->host_info = info;
  ref->finalizer = finalizer;
}

}  // namespace hoist::c_api

using hoist::c_api::RefKind;

extern "C" {

// ---- What every kind of reference has.

#define HOIST_C_REF_BASE(name)                                                      \
  void wasm_##name##_delete(wasm_##name##_t* ref) {                                 \
    hoist::c_api::drop_reference(ref);                                              \
  }                                                                                 \
  wasm_##name##_t* wasm_##name##_copy(const wasm_##name##_t* ref) {                 \
    return hoist::c_api::add_reference(ref);                                        \
  }                                                                                 \
  bool wasm_##name##_same(const wasm_##name##_t* a, const wasm_##name##_t* b) {     \
    return a == b;                                                                  \
  }                                                                                 \
  void* wasm_##name##_get_host_info(const wasm_##name##_t* ref) {                   \
    return ref == nullptr ? nullptr : ref->host_info;                               \
  }                                                                                 \
  void wasm_##name##_set_host_info(wasm_##name##_t* ref, void* info) {              \
    hoist::c_api::set_info(ref, info, nullptr);                                     \
  }                                                                                 \
  void wasm_##name##_set_host_info_with_finalizer(wasm_##name##_t* ref, void* info, \
                                                  void (*finalizer)(void*)) {       \
    hoist::c_api::set_info(ref, info, finalizer);                                   \
  }

// To something more general; and back, if it is of that kind.
#define HOIST_C_UPCASTS(name, base)                                                    \
  wasm_##base##_t* wasm_##name##_as_##base(wasm_##name##_t* ref) {                     \
    return ref;                                                                        \
  }                                                                                    \
  const wasm_##base##_t* wasm_##name##_as_##base##_const(const wasm_##name##_t* ref) { \
    return ref;                                                                        \
  }
#define HOIST_C_CASTS(name, base, ref_kind)                                            \
  HOIST_C_UPCASTS(name, base)                                                          \
  wasm_##name##_t* wasm_##base##_as_##name(wasm_##base##_t* ref) {                     \
    return hoist::c_api::cast<wasm_##name##_t>(ref, RefKind::ref_kind);                \
  }                                                                                    \
  const wasm_##name##_t* wasm_##base##_as_##name##_const(const wasm_##base##_t* ref) { \
    return hoist::c_api::cast<wasm_##name##_t>(ref, RefKind::ref_kind);                \
  }

#define HOIST_C_REF(name, ref_kind) \
  HOIST_C_REF_BASE(name)            \
  HOIST_C_CASTS(name, ref, ref_kind)
#define HOIST_C_EXTERN(name, ref_kind) HOIST_C_CASTS(name, extern, ref_kind)
#include "api/c/tables.def"

HOIST_C_REF_BASE(ref)
HOIST_C_REF_BASE(extern)
HOIST_C_UPCASTS(extern, ref)

wasm_extern_t* wasm_ref_as_extern(wasm_ref_t* ref) {
  if (ref == nullptr || !hoist::c_api::is_extern(ref)) return nullptr;
  return static_cast<wasm_extern_t*>(ref);
}
const wasm_extern_t* wasm_ref_as_extern_const(const wasm_ref_t* ref) {
  if (ref == nullptr || !hoist::c_api::is_extern(ref)) return nullptr;
  return static_cast<const wasm_extern_t*>(ref);
}

wasm_externkind_t wasm_extern_kind(const wasm_extern_t* item) {
  if (item == nullptr) return WASM_EXTERN_FUNC;
  switch (item->kind) {
    case RefKind::Global: return WASM_EXTERN_GLOBAL;
    case RefKind::Table: return WASM_EXTERN_TABLE;
    case RefKind::Memory: return WASM_EXTERN_MEMORY;
    case RefKind::Tag: return WASM_EXTERN_TAG;
    case RefKind::Func:
    case RefKind::Trap:
    case RefKind::Foreign:
    case RefKind::Module:
    case RefKind::Instance: break;
  }
  return WASM_EXTERN_FUNC;
}
wasm_externtype_t* wasm_extern_type(const wasm_extern_t* item) {
  if (item == nullptr) return nullptr;
  switch (item->kind) {
#define HOIST_C_EXTERN(name, ref_kind) \
  case RefKind::ref_kind: return wasm_##name##_type(static_cast<const wasm_##name##_t*>(item));
#include "api/c/tables.def"
    case RefKind::Trap:
    case RefKind::Foreign:
    case RefKind::Module:
    case RefKind::Instance: break;
  }
  return nullptr;
}

// ---- Engine and store.

wasm_config_t* wasm_config_new(void) {
  return new wasm_config_t;
}
void wasm_config_delete(wasm_config_t* config) {
  delete config;
}
wasm_engine_t* wasm_engine_new(void) {
  return hoist_engine_new(nullptr, nullptr);
}
wasm_engine_t* wasm_engine_new_with_config(wasm_config_t* config) {
  return config == nullptr ? nullptr : hoist_engine_new(config, nullptr);
}
void wasm_engine_delete(wasm_engine_t* engine) {
  delete engine;
}
wasm_store_t* wasm_store_new(wasm_engine_t* engine) {
  return hoist_store_new(engine, nullptr);
}
void wasm_store_delete(wasm_store_t* store) {
  if (store == nullptr) return;
  if (store->calls != 0) {
    store->is_deleted = true;
  } else {
    hoist::c_api::end(store);
  }
}

wasm_foreign_t* wasm_foreign_new(wasm_store_t* store) {
  return store == nullptr ? nullptr : new wasm_foreign_t(store->store.ref());
}

}  // extern "C"
