// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions: calls in both directions.
#include "api/c/func.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "api/c/objects.hpp"
#include "api/c/types.hpp"
#include "api/impl.hpp"
#include "base/check.hpp"
#include "platform/embedder_call.hpp"
#include "runtime/objects/host_function.hpp"

namespace hoist::c_api {

using detail::Access;
using detail::HostCall;
using detail::Slot;

// ---- From the guest to the host.

namespace {

/// Some values, on the stack if there are few.
template <typename T>
class SmallArray {
 public:
  explicit SmallArray(std::size_t size) {
    if (size > kInline) heap_.reset(new T[size]());
  }
  T* data() { return heap_ ? heap_.get() : inline_; }
  T& operator[](std::size_t i) { return data()[i]; }

 private:
  static constexpr std::size_t kInline = 16;
  std::unique_ptr<T[]> heap_;
  T inline_[kInline] = {};
};

void drop_values(wasm_val_t* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) wasm_val_delete(&values[i]);
}

/// Moves what a host function left in `results` to the slots.
bool take_results(wasm_store_t& store, HostCall& call, wasm_val_t* results) {
  const auto types = call.type().results();
  bool ok = true;
  for (std::size_t i = 0; i < types.size() && ok; ++i) {
    auto slot = to_slot(store, results[i], types[i].kind(), "result of a host function", i);
    if (slot) {
      call.slots()[i] = *slot;
    } else {
      call.fail(std::move(slot).error());
      ok = false;
    }
  }
  drop_values(results, types.size());
  return ok;
}

bool invoke(void* closure, HostCall& call) noexcept {
  const auto& callback = *static_cast<const HostCallback*>(closure);
  auto* store = static_cast<wasm_store_t*>(call.store().data());
  if (store == nullptr) {
    call.fail(Error(ErrorKind::BadArgument, "a C host function was called in a store of C++"));
    return false;
  }
  const auto params = call.type().params();
  const auto result_types = call.type().results();
  SmallArray<wasm_val_t> args(params.size());
  SmallArray<wasm_val_t> results(result_types.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    args[i] = from_slot(*store, params[i].kind(), call.slots()[i]);
  }
  for (std::size_t i = 0; i < result_types.size(); ++i) results[i] = zero(result_types[i].kind());
  const wasm_val_vec_t args_vec{params.size(), args.data()};
  wasm_val_vec_t results_vec{result_types.size(), results.data()};
  wasm_trap_t* trap = platform::embedder_call([&] {
    return callback.with_env != nullptr ? callback.with_env(callback.env, &args_vec, &results_vec)
                                        : callback.plain(&args_vec, &results_vec);
  });
  bool ok = trap == nullptr;
  if (ok) {
    ok = take_results(*store, call, results.data());
  } else {
    call.fail(trap->error);
    if (trap->error.kind() == ErrorKind::Exception) {
      drop_reference(trap);  // it may be caught
    } else {
      drop_reference(std::exchange(store->pending, trap));
    }
  }
  drop_values(args.data(), params.size());
  return ok;
}

}  // namespace

static bool has_vectors(std::span<const ValType> types) {
  return std::ranges::any_of(types, [](ValType type) { return type == ValKind::V128; });
}
bool has_vectors(const FuncType& type) {
  return has_vectors(type.params()) || has_vectors(type.results());
}

detail::HostFuncSpec host_function(FuncType type, const HostCallback& callback) {
  return {std::move(type), invoke, new HostCallback(callback), [](void* closure) {
            auto* ended = static_cast<HostCallback*>(closure);
            if (ended->finalizer != nullptr)
              platform::embedder_call([&] { ended->finalizer(ended->env); });
            delete ended;
          }};
}

// ---- From the host to the guest.

static Result<void> call_slots(wasm_store_t& store, const Func& func, Slot* slots) {
  if (!detail::enter(store.store.ref(), Access::object(func), slots)) {
    return detail::take_error(store.store.ref());
  }
  return {};
}

static wasm_func_t* new_host_function(wasm_store_t& store, const wasm_functype_t& type,
                                      const HostCallback& callback) {
  FuncType wanted = to_cpp(type);
  if (has_vectors(wanted)) {
    if (callback.finalizer != nullptr) callback.finalizer(callback.env);
    return nullptr;
  }
  runtime::Store& inner = *Access::store(store.store.ref());
  auto function = std::make_shared<const runtime::HostFunction>(
      inner.engine(), host_function(std::move(wanted), callback));
  return reference(
      store, Access::make<Func>(store.store.ref(), inner.new_host_function(std::move(function))));
}

static wasm_trap_t* call(const wasm_func_t& func, const wasm_val_vec_t& args,
                         wasm_val_vec_t& results) {
  wasm_store_t* store = store_of(&func);
  if (store == nullptr) return misuse(func.store, "the function's store is gone");
  const auto params = func.type.params();
  const auto result_types = func.type.results();
  if (args.size != params.size() || (args.size != 0 && args.data == nullptr)) {
    return misuse(func.store, fmt::format("'{}' takes {} arguments, but {} were given",
                                          func.func.name(), params.size(), args.size));
  }
  if (results.size < result_types.size() || (!result_types.empty() && results.data == nullptr)) {
    return misuse(func.store, fmt::format("'{}' has {} results, but room for {} was given",
                                          func.func.name(), result_types.size(), results.size));
  }
  if (has_vectors(result_types)) return misuse(func.store, "wasm.h has no values of type v128");
  // If a host function deletes the store, `scope` ends it after the results have been read.
  const CallScope scope(*store);
  SmallArray<Slot> slots(std::max(params.size(), result_types.size()));
  for (std::size_t i = 0; i < params.size(); ++i) {
    auto slot = to_slot(*store, args.data[i], params[i].kind(), "argument", i);
    if (!slot) return new wasm_trap_t(func.store, std::move(slot).error());
    slots[i] = *slot;
  }
  if (auto done = call_slots(*store, func.func, slots.data()); !done) {
    return new_trap(*store, std::move(done).error());
  }
  for (std::size_t i = 0; i < result_types.size(); ++i) {
    results.data[i] = from_slot(*store, result_types[i].kind(), slots[i]);
  }
  return nullptr;
}

}  // namespace hoist::c_api

/// A function with the letters of its types, each checked to be a number.
struct hoist_typed_func_t {
  wasm_func_t* func;
};

extern "C" {

wasm_func_t* wasm_func_new_with_env(wasm_store_t* store, const wasm_functype_t* type,
                                    wasm_func_callback_with_env_t callback, void* env,
                                    void (*finalizer)(void*)) {
  if (!hoist::c_api::is_alive(store) || type == nullptr || callback == nullptr) {
    if (finalizer != nullptr) finalizer(env);
    return nullptr;
  }
  hoist::c_api::HostCallback host;
  host.with_env = callback;
  host.env = env;
  host.finalizer = finalizer;
  return hoist::c_api::new_host_function(*store, *type, host);
}

wasm_func_t* wasm_func_new(wasm_store_t* store, const wasm_functype_t* type,
                           wasm_func_callback_t callback) {
  if (!hoist::c_api::is_alive(store) || type == nullptr || callback == nullptr) {
    return nullptr;
  }
  hoist::c_api::HostCallback host;
  host.plain = callback;
  return hoist::c_api::new_host_function(*store, *type, host);
}

wasm_functype_t* wasm_func_type(const wasm_func_t* func) {
  return func == nullptr ? nullptr : hoist::c_api::new_type(func->type);
}
size_t wasm_func_param_arity(const wasm_func_t* func) {
  return func == nullptr ? 0 : func->type.params().size();
}
size_t wasm_func_result_arity(const wasm_func_t* func) {
  return func == nullptr ? 0 : func->type.results().size();
}

wasm_trap_t* wasm_func_call(const wasm_func_t* func, const wasm_val_vec_t* args,
                            wasm_val_vec_t* results) {
  if (func == nullptr) return hoist::c_api::misuse({}, "a null function was called");
  wasm_val_vec_t none = WASM_EMPTY_VEC;
  return hoist::c_api::call(*func, args == nullptr ? none : *args,
                            results == nullptr ? none : *results);
}

// ---- Typed calls.

static char letter(hoist::ValType type) {
  switch (type.kind()) {
#define HOIST_C_VALKIND(c_name, kind, the_letter) \
  case hoist::ValKind::kind: return the_letter;
#include "api/c/tables.def"
  }
  HOIST_UNREACHABLE("a ValKind");
}

hoist_typed_func_t* hoist_typed_func_new(const wasm_func_t* func, const char* signature,
                                         hoist_error_t** error) {
  if (!hoist::c_api::check(error, func, signature)) return nullptr;
  std::string actual;
  bool is_numeric = true;
  const auto add = [&](std::span<const hoist::ValType> types) {
    for (const hoist::ValType type : types) {
      actual += letter(type);
      is_numeric = is_numeric && (type.is_num() || type == hoist::ValKind::V128);
    }
  };
  add(func->type.params());
  actual += ':';
  add(func->type.results());
  if (actual == signature && is_numeric) {
    return new hoist_typed_func_t{wasm_func_copy(func)};
  }
  hoist::c_api::set_error(
      error,
      {hoist::ErrorKind::BadArgument,
       is_numeric
           ? fmt::format("'{}' has signature \"{}\", not \"{}\"", func->func.name(), actual,
                         signature)
           : fmt::format("'{}' has type {}: only numbers and vectors can be passed without boxing",
                         func->func.name(), to_string(func->type))});
  return nullptr;
}

void hoist_typed_func_delete(hoist_typed_func_t* func) {
  if (func == nullptr) return;
  wasm_func_delete(func->func);
  delete func;
}

wasm_trap_t* hoist_typed_func_call(const hoist_typed_func_t* typed, hoist_raw_t* values) {
  if (typed == nullptr) return hoist::c_api::misuse({}, "a null function was called");
  const wasm_func_t& func = *typed->func;
  wasm_store_t* store = hoist::c_api::store_of(&func);
  if (store == nullptr) return hoist::c_api::misuse(func.store, "the function's store is gone");
  const auto params = func.type.params();
  const auto results = func.type.results();
  const std::size_t count = std::max(params.size(), results.size());
  if (count != 0 && values == nullptr) {
    return hoist::c_api::misuse(func.store, "no room for the values of a call");
  }
  hoist::c_api::SmallArray<hoist::detail::Slot> slots(count);
  const auto is_32 = [](hoist::ValType type) {
    return type == hoist::ValKind::I32 || type == hoist::ValKind::F32;
  };
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i] == hoist::ValKind::V128) {
      std::memcpy(slots[i].bits, values[i].v128, sizeof(slots[i].bits));
      continue;
    }
    slots[i].bits[0] = is_32(params[i]) ? static_cast<std::uint32_t>(values[i].i32)
                                        : static_cast<std::uint64_t>(values[i].i64);
  }
  const hoist::c_api::CallScope scope(*store);
  if (auto done = hoist::c_api::call_slots(*store, func.func, slots.data()); !done) {
    return hoist::c_api::new_trap(*store, std::move(done).error());
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == hoist::ValKind::V128) {
      std::memcpy(values[i].v128, slots[i].bits, sizeof(slots[i].bits));
    } else if (is_32(results[i])) {
      values[i].i32 = static_cast<std::int32_t>(slots[i].bits[0]);
    } else {
      values[i].i64 = static_cast<std::int64_t>(slots[i].bits[0]);
    }
  }
  return nullptr;
}

}  // extern "C"
