// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the references of wasm.h point to. There is one object for each thing of a store, however
/// many references there are: a copy is the same pointer, counted. An object that its store keeps
/// (all but modules, traps and foreign objects that no guest has seen) lives until the store has
/// ended and the last reference is deleted; from the store's end on it answers as misuse, since the
/// C++ handle in it does. One thread at a time uses a store and its objects, so nothing here locks.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hoist.h"
#include "hoist/hoist.hpp"
#include "wasm.h"

namespace hoist::c_api {

enum class RefKind : std::uint8_t {
#define HOIST_C_REF(name, kind) kind,
#include "api/c/tables.def"
};

/// A function of the embedder with what it wants to be given.
template <typename Function>
struct Callback {
  Function function = nullptr;
  void* context = nullptr;
};

/// What a thing of a store is recognised by.
struct ObjectKey {
  const void* thing = nullptr;
  std::uint64_t number = 0;
  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};
struct ObjectKeyHash {
  std::size_t operator()(const ObjectKey& key) const {
    return std::hash<const void*>()(key.thing) ^ (key.number * 0x9e37'79b9'7f4a'7c15);
  }
};

}  // namespace hoist::c_api

struct wasm_ref_t {
  wasm_ref_t(hoist::c_api::RefKind the_kind, hoist::StoreRef the_store)
      : store(the_store), kind(the_kind) {}
  hoist::StoreRef store;
  void* host_info = nullptr;
  void (*finalizer)(void*) = nullptr;
  std::uint64_t references = 1;  ///< that the embedder owns
  hoist::c_api::RefKind kind;
  bool kept = false;       ///< by its store
  std::uint64_t word = 0;  ///< as an externref, if the store's collector keeps it
};

struct wasm_trap_t : wasm_ref_t {
  wasm_trap_t(hoist::StoreRef the_store, hoist::Error the_error)
      : wasm_ref_t(hoist::c_api::RefKind::Trap, the_store), error(std::move(the_error)) {}
  hoist::Error error;
};
struct wasm_foreign_t : wasm_ref_t {
  explicit wasm_foreign_t(hoist::StoreRef the_store)
      : wasm_ref_t(hoist::c_api::RefKind::Foreign, the_store) {}
};
struct wasm_module_t : wasm_ref_t {
  wasm_module_t(hoist::StoreRef the_store, hoist::Module the_module)
      : wasm_ref_t(hoist::c_api::RefKind::Module, the_store), module(std::move(the_module)) {}
  hoist::Module module;
};
struct wasm_instance_t : wasm_ref_t {
  wasm_instance_t(hoist::StoreRef the_store, hoist::Instance the_instance)
      : wasm_ref_t(hoist::c_api::RefKind::Instance, the_store), instance(the_instance) {}
  hoist::Instance instance;
};

struct wasm_extern_t : wasm_ref_t {
  using wasm_ref_t::wasm_ref_t;
};
struct wasm_func_t : wasm_extern_t {
  wasm_func_t(hoist::StoreRef the_store, hoist::Func the_func)
      : wasm_extern_t(hoist::c_api::RefKind::Func, the_store), func(the_func), type(func.type()) {}
  hoist::Func func;
  hoist::FuncType type;
};
struct wasm_global_t : wasm_extern_t {
  wasm_global_t(hoist::StoreRef the_store, hoist::Global the_global)
      : wasm_extern_t(hoist::c_api::RefKind::Global, the_store), global(the_global) {}
  hoist::Global global;
};
struct wasm_table_t : wasm_extern_t {
  wasm_table_t(hoist::StoreRef the_store, hoist::Table the_table)
      : wasm_extern_t(hoist::c_api::RefKind::Table, the_store), table(the_table) {}
  hoist::Table table;
};
struct wasm_memory_t : wasm_extern_t {
  wasm_memory_t(hoist::StoreRef the_store, hoist::Memory the_memory)
      : wasm_extern_t(hoist::c_api::RefKind::Memory, the_store), memory(the_memory) {}
  hoist::Memory memory;
};

struct wasm_tag_t : wasm_extern_t {
  wasm_tag_t(hoist::StoreRef the_store, hoist::Tag the_tag)
      : wasm_extern_t(hoist::c_api::RefKind::Tag, the_store), tag(the_tag) {}
  hoist::Tag tag;
};

struct wasm_config_t {
  hoist::Config config;
};
struct wasm_engine_t {
  hoist::Engine engine;
};
struct wasm_shared_module_t {
  hoist::Module module;
};

struct wasm_store_t {
  wasm_store_t(const hoist::Engine& engine, const hoist_store_limits_t* limits);
  hoist::c_api::Callback<hoist_growth_callback_t> growth;
  hoist::c_api::Callback<hoist_limit_callback_t> refill;
  hoist::c_api::Callback<hoist_limit_callback_t> extend;
  hoist::Store store;
  std::unordered_map<hoist::c_api::ObjectKey, wasm_ref_t*, hoist::c_api::ObjectKeyHash> objects;
  std::vector<wasm_ref_t*> kept;   ///< has one reference of its own to each
  wasm_trap_t* pending = nullptr;  ///< returned by a host function, on its way to wasm_func_call
  void* data = nullptr;            ///< the embedder's
  unsigned calls = 0;              ///< in progress
  bool is_deleted = false;         ///< ends when they have returned
};

struct hoist_linker_t {
  hoist::Linker linker;
};

struct wasm_frame_t {
  hoist::Frame frame;
  hoist::StoreRef store;
  wasm_instance_t* instance;
  /// Looked for when it is asked for.
  std::optional<hoist::SourcePlace> source = {};
};

namespace hoist::c_api {

/// The store of something; null if it is gone, or for a null reference.
wasm_store_t* store_of(const wasm_ref_t* ref);
inline bool is_of(const wasm_ref_t* ref, const wasm_store_t& store) {
  return ref->store == store.store.ref();
}

inline bool is_alive(const wasm_store_t* store) {
  return store != nullptr && store->store.ref().alive();
}

/// One more reference for the embedder.
template <typename Ref>
Ref* add_reference(const Ref* ref) {
  auto* out = const_cast<Ref*>(ref);
  if (out != nullptr) ++out->references;
  return out;
}
void drop_reference(wasm_ref_t* ref);
/// Nobody has a reference any more.
void destroy(wasm_ref_t* ref);
/// The store keeps it until it ends.
void keep(wasm_store_t& store, wasm_ref_t* ref);

// ---- References of the embedder to things of a store.
wasm_func_t* reference(wasm_store_t& store, const Func& func);
wasm_global_t* reference(wasm_store_t& store, const Global& global);
wasm_table_t* reference(wasm_store_t& store, const Table& table);
wasm_memory_t* reference(wasm_store_t& store, const Memory& memory);
wasm_tag_t* reference(wasm_store_t& store, const Tag& tag);
wasm_instance_t* reference(wasm_store_t& store, const Instance& instance);
wasm_extern_t* reference(wasm_store_t& store, const Extern& item);
/// Of an extern that is one: not null.
Extern extern_of(const wasm_extern_t& item);

/// The error of a call as a trap; the one that a host function returned, if it was that.
wasm_trap_t* new_trap(wasm_store_t& store, Error error);
wasm_trap_t* misuse(StoreRef store, std::string message);

/// For `number` below: there is only one.
inline constexpr std::size_t kNoNumber = ~std::size_t{0};

/// A call into a store; the store may be deleted meanwhile, and ends with the outermost call then.
class CallScope {
 public:
  /// A trap that is still there was dropped on its way, by a caller in C++.
  explicit CallScope(wasm_store_t& store) : store_(store), handles_(store.store.ref()) {
    ++store_.calls;
    drop_reference(std::exchange(store_.pending, nullptr));
  }
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  wasm_store_t& store_;
  HandleScope handles_;
};

// ---- Values.

/// @error BadArgument: another kind, or a reference of another store; `what` begins the message.
Result<detail::Slot> to_slot(wasm_store_t& store, const wasm_val_t& value, ValKind kind,
                             const char* what, std::size_t number);
Result<Val> to_val(wasm_store_t& store, const wasm_val_t& value, ValKind kind);
/// References in it belong to the embedder.
wasm_val_t from_slot(wasm_store_t& store, ValKind kind, const detail::Slot& slot);
wasm_val_t from_val(wasm_store_t& store, const Val& value);
wasm_val_t zero(ValKind kind);
/// A reference as an element of a table. @error as to_slot.
Result<Val> element(wasm_store_t& store, const wasm_ref_t* ref, ValKind kind);

/// Fills in `*out`, if there is one.
void set_error(hoist_error_t** out, Error error);
/// Whether it is done; else fills in `*error`.
bool finish(Result<void> done, hoist_error_t** error);
/// All but the callback.
StoreLimits plain_limits(const hoist_store_limits_t* limits);
hoist_growth_t to_c(const Growth& growth);
/// Clears `*error`; false, with an error in it, if a pointer is null.
template <typename... T>
bool check(hoist_error_t** error, const T*... needed) {
  if (error != nullptr) *error = nullptr;
  if (((needed != nullptr) && ...)) return true;
  set_error(error, Error(ErrorKind::BadArgument, "a null pointer was passed"));
  return false;
}

// ---- Instantiation, in both of its forms.

/// Clears `*trap`; false, with a trap in it, if the store is gone or something else is null.
bool can_instantiate(const wasm_store_t* store, bool has_all_else, wasm_trap_t** trap);
/// The instance; or null and, if there is a place for it, the trap.
wasm_instance_t* instance_or_trap(wasm_store_t& store, Result<Instance> made, wasm_trap_t** trap);

}  // namespace hoist::c_api

struct hoist_error_t {
  hoist::Error error;
};
