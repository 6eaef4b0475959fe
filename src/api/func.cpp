// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/func.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/impl.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist {

using api::Access;
using image::VmFuncRef;

static image::VmGlobal* vm_slots(detail::Slot* slots) {
  static_assert(sizeof(detail::Slot) == sizeof(image::VmGlobal));
  return reinterpret_cast<image::VmGlobal*>(slots);
}

// ---- Between the templates and the runtime.
namespace detail {

bool enter(StoreRef store, void* func, Slot* slots) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return false;
  return inner->call(*static_cast<VmFuncRef*>(func), vm_slots(slots));
}

Error take_error(StoreRef store) noexcept {
  runtime::Store* inner = Access::store(store);
  return inner == nullptr ? api::store_gone() : inner->take_error();
}

void* object_of(const Handle& handle) noexcept {
  return Access::object(handle);
}

Error other_store_error() noexcept {
  return {ErrorKind::BadArgument,
          "a function of another store was passed, or an externref that has ended (or, in a build "
          "of Hoist without compiler, one that "
          "no module of the store has the code to call)"};
}

bool func_to_slot(const Func& func, StoreRef store, Slot& slot) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr || func.store() != store) return false;
  auto* ref = static_cast<VmFuncRef*>(Access::object(func));
  if (!inner->prepare_func_ref(*ref)) return false;
  slot.bits[0] = reinterpret_cast<std::uintptr_t>(ref);
  return true;
}

std::optional<Func> func_from_slot(const Slot& slot, StoreRef store) noexcept {
  if (slot.bits[0] == 0) return std::nullopt;
  return Access::make<Func>(store,
                            reinterpret_cast<void*>(static_cast<std::uintptr_t>(slot.bits[0])));
}

Result<void> check_type(const Func& func, std::span<const ValType> params,
                        std::span<const ValType> results) noexcept {
  if (!func.store().alive()) return api::store_gone();
  const FuncType type = func.type();
  if (std::ranges::equal(type.params(), params) && std::ranges::equal(type.results(), results)) {
    // Values of C++ types are not checked against more than their kind.
    const auto& ref = *static_cast<const VmFuncRef*>(Access::object(func));
    const auto& exact = Access::store(func.store())->engine()->types().get(ref.type_id);
    if (std::ranges::all_of(exact.params(), api::is_general)) return {};
    return Error(ErrorKind::BadArgument,
                 fmt::format("'{}' has type {}, which has no C++ type; Func::call takes its "
                             "arguments as Vals",
                             func.name(), wasm::to_string(exact)));
  }
  const FuncType wanted({params.begin(), params.end()}, {results.begin(), results.end()});
  return Error(ErrorKind::BadArgument, fmt::format("'{}' has type {}, not {}", func.name(),
                                                   to_string(type), to_string(wanted)));
}

DynamicArgs::DynamicArgs(HostCall& call) noexcept
    : num_args_(call.type().params().size()), num_results_(call.type().results().size()) {
  if (num_args_ + num_results_ > kInline) heap_.reset(new Val[num_args_ + num_results_]);
  runtime::Store& store = *Access::store(call.store());
  const std::span<const ValType> params = call.type().params();
  const std::span<const ValType> types = call.type().results();
  Val* next = vals();
  for (std::size_t i = 0; i < num_args_; ++i) {
    std::construct_at(next++, api::from_slot(store, params[i], call.slots()[i].bits));
  }
  for (const ValType type : types) std::construct_at(next++, Val::zero(type));
}

bool DynamicArgs::finish(HostCall& call) noexcept {
  runtime::Store& store = *Access::store(call.store());
  const std::span<const ValType> types = call.type().results();
  for (std::size_t i = 0; i < num_results_; ++i) {
    if (api::is_plain(results()[i], types[i])) {
      call.slots()[i] = Slot{{Access::bits(results()[i]), Access::upper(results()[i])}};
      continue;
    }
    auto bits =
        api::to_bits(store, results()[i], types[i], fmt::format("result {} of a host function", i));
    if (!bits) {
      call.fail(std::move(bits).error());
      return false;
    }
    call.slots()[i] = Slot{{*bits, 0}};
  }
  return true;
}

}  // namespace detail

// ---- Func.

Func Func::make(StoreRef store, detail::HostFuncSpec spec) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) {
    spec.destroy(spec.closure);
    return Access::make<Func>(store, nullptr);
  }
  auto function = std::make_shared<const runtime::HostFunction>(inner->engine(), std::move(spec));
  return Access::make<Func>(store, inner->new_host_function(std::move(function)));
}

FuncType Func::type() const noexcept {
  const auto* ref = Access::live<VmFuncRef>(*this);
  if (ref == nullptr) return {};
  return Access::store(store_)->engine()->types().get_public(ref->type_id);
}

std::string Func::name() const noexcept {
  const auto* ref = Access::live<VmFuncRef>(*this);
  if (ref == nullptr) return "function of a store that is gone";
  if (runtime::host_context(*ref) != nullptr) return "host function";
  const auto* header = static_cast<const image::VmContextHeader*>(ref->ctx);
  const auto& instance = *static_cast<const runtime::Instance*>(header->instance);
  return runtime::display_name(instance.code(), ref->func_index);
}

Result<void> Func::call_raw(std::span<const Val> args, std::span<Val> results) const noexcept {
  runtime::Store* store = Access::store(store_);
  if (store == nullptr) return api::store_gone();
  auto& ref = *static_cast<VmFuncRef*>(object_);
  const FuncType& type = store->engine()->types().get_public(ref.type_id);
  const wasm::FuncType& exact = store->engine()->types().get(ref.type_id);
  const std::size_t num_params = type.params().size();
  const std::size_t num_results = type.results().size();
  if (args.size() != num_params) {
    return Error(ErrorKind::BadArgument, fmt::format("'{}' takes {} arguments, but {} were given",
                                                     name(), num_params, args.size()));
  }
  if (results.size() != num_results) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("'{}' has {} results, but room for {} was given", name(), num_results,
                             results.size()));
  }
  constexpr std::size_t kInline = 16;
  image::VmGlobal inline_slots[kInline];
  std::vector<image::VmGlobal> heap_slots;
  image::VmGlobal* slots = inline_slots;
  if (std::max(num_params, num_results) > kInline) {
    heap_slots.resize(std::max(num_params, num_results));
    slots = heap_slots.data();
  }
  for (std::size_t i = 0; i < num_params; ++i) {
    const ValType wanted = type.params()[i];
    if (api::is_plain(args[i], wanted) && api::is_general(exact.params()[i])) {
      slots[i].bits[0] = Access::bits(args[i]);
      slots[i].bits[1] = Access::upper(args[i]);
    } else {
      HOIST_TRY(slots[i].bits[0], api::to_bits(*store, args[i], exact.params()[i],
                                               fmt::format("argument {} of '{}'", i, name())));
    }
  }
  if (!store->call(ref, slots)) return api::failure(*store);
  for (std::size_t i = 0; i < num_results; ++i) {
    results[i] = api::from_slot(*store, type.results()[i], slots[i].bits);
  }
  return {};
}

Result<std::vector<Val>> Func::call_raw(std::span<const Val> args) const noexcept {
  runtime::Store* store = Access::store(store_);
  if (store == nullptr) return api::store_gone();
  const auto& ref = *static_cast<const VmFuncRef*>(object_);
  std::vector<Val> results(store->engine()->types().get(ref.type_id).results().size());
  HOIST_TRY_VOID(call_raw(args, results));
  return results;
}

// ---- Caller.

std::optional<Instance> Caller::instance() const noexcept {
  if (instance_ == nullptr) return std::nullopt;
  return Access::make<Instance>(store_, instance_);
}

std::optional<Extern> Caller::get(std::string_view name) const noexcept {
  if (instance_ == nullptr) return std::nullopt;
  const runtime::Extern found = static_cast<runtime::Instance*>(instance_)->find_export(name);
  if (found.object == nullptr) return std::nullopt;
  return api::to_public(*Access::store(store_), found);
}

std::optional<Memory> Caller::memory(std::string_view name) const noexcept {
  if (instance_ == nullptr) return std::nullopt;
  const runtime::Extern found = static_cast<runtime::Instance*>(instance_)->find_export(name);
  if (found.object == nullptr || found.kind != wasm::ExternKind::Memory) return std::nullopt;
  return Access::make<Memory>(store_, found.object);
}

Trap Caller::backtrace() const noexcept {
  const runtime::Store* store = Access::store(store_);
  return store == nullptr ? Trap() : Trap(store->backtrace());
}

}  // namespace hoist
