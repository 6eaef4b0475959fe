// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Func: a function of the guest or of the host, and the ways to call and to make one.
///
///   auto add = Func::wrap(store, [](std::int32_t a, std::int32_t b) { return a + b; });
///   auto run = instance.typed<std::int32_t(std::int32_t)>("run");   // Result<TypedFunc<...>>
///   Result<std::int32_t> answer = (*run)(7);
///
/// A call that enters WebAssembly returns an Error of kind Trap (trap.hpp), Exception
/// (exception.hpp), Exit, or whatever error a host function returned. An exception that a host
/// function throws comes out of that call, if the embedder's file is compiled with exceptions; the
/// guest's frames between are left without running anything. Host functions must not be left by
/// longjmp or by cancelling the thread.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "hoist/detail/exceptions.hpp"
#include "hoist/detail/typed.hpp"
#include "hoist/extern.hpp"
#include "hoist/trap.hpp"
#include "hoist/value.hpp"

namespace hoist {

class Instance;
template <typename Signature>
class TypedFunc;

/// Who called a host function. Valid during the call.
class HOIST_API Caller {
 public:
  explicit Caller(const detail::HostCall& call) noexcept
      : store_(call.store()), instance_(call.instance()) {}
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  StoreRef store() const noexcept { return store_; }
  /// The instance that imported the function; empty if it was called otherwise (by the host, or as
  /// a function reference that the host made).
  std::optional<Instance> instance() const noexcept;
  /// An export of that instance.
  std::optional<Extern> get(std::string_view name) const noexcept;
  /// The memory that it exports under this name.
  std::optional<Memory> memory(std::string_view name = "memory") const noexcept;
  /// The guest's frames at this moment, without a trap.
  Trap backtrace() const noexcept;

 private:
  StoreRef store_;
  void* instance_;
};

class HOIST_API Func : public detail::Handle {
 public:
  /// A host function whose type is known at run time.
  /// @param callback  Result<void>(Caller&, std::span<const Val> args, std::span<Val> results);
  ///                  `results` holds zeros of the right types; it is kept until the store ends.
  template <typename F, typename Mode = detail::Exceptions>
  static Func create(StoreRef store, FuncType type, F callback) {
    return make(store, dynamic_spec<F, Mode>(std::move(type), std::move(callback)));
  }
  /// A host function from a callable with one call operator (or a function pointer). Parameters: an
  /// optional Caller& first, then (u)int32_t, (u)int64_t, float, double, V128, ExternRef,
  /// std::optional<Func>, or a view of guest memory (guest.hpp), which stands for an address and a
  /// count. Returns void, one of these but a view, a std::tuple of them, or a Result of any.
  template <typename F, typename Mode = detail::Exceptions>
  static Func wrap(StoreRef store, F callable) {
    return make(store, typed_spec<F, Mode>(std::move(callable)));
  }

  FuncType type() const noexcept;
  /// For messages: the name section's name, or "func[3]".
  std::string name() const noexcept;

  /// Calls it. `results` must have the right length; their old values do not matter.
  /// @error BadArgument: number, type or store of an argument, or the store is gone. Others: above.
  template <typename Mode = detail::Exceptions>
  Result<void> call(std::span<const Val> args, std::span<Val> results) const
      noexcept(!Mode::kEnabled) {
    return detail::pass_on<Mode>(call_raw(args, results));
  }
  template <typename Mode = detail::Exceptions>
  Result<std::vector<Val>> call(std::span<const Val> args) const noexcept(!Mode::kEnabled) {
    return detail::pass_on<Mode>(call_raw(args));
  }
  template <typename Mode = detail::Exceptions>
  Result<std::vector<Val>> call(std::initializer_list<Val> args = {}) const
      noexcept(!Mode::kEnabled) {
    return detail::pass_on<Mode>(call_raw(std::span<const Val>(args.begin(), args.size())));
  }

  /// The function as one of a C++ type: `func.typed<float(std::int32_t, double)>()`. Results: void,
  /// a value, or a std::tuple. @error BadArgument: it has another type; names both.
  template <typename Signature>
  Result<TypedFunc<Signature>> typed() const noexcept;

  /// Call without passing on exceptions: an exception is an Error of kind Host.
  Result<void> call_raw(std::span<const Val> args, std::span<Val> results) const noexcept;
  Result<std::vector<Val>> call_raw(std::span<const Val> args) const noexcept;

  /// The parts of `create` and `wrap`, for Linker.
  template <typename F, typename Mode>
  static detail::HostFuncSpec dynamic_spec(FuncType type, F callback);
  template <typename F, typename Mode>
  static detail::HostFuncSpec typed_spec(F callable);

 private:
  friend class detail::Access;
  Func() = default;
  static Func make(StoreRef store, detail::HostFuncSpec spec) noexcept;
};

namespace detail {
HOIST_API Result<void> check_type(const Func& func, std::span<const ValType> params,
                                  std::span<const ValType> results) noexcept;
/// The Handle's object, for `enter`.
HOIST_API void* object_of(const Handle& handle) noexcept;
HOIST_API Error other_store_error() noexcept;
/// False if the function is of another store.
HOIST_API bool func_to_slot(const Func& func, StoreRef store, Slot& slot) noexcept;
HOIST_API std::optional<Func> func_from_slot(const Slot& slot, StoreRef store) noexcept;

template <>
struct SlotType<std::optional<Func>> {
  static constexpr bool kKnown = true;
  static constexpr ValKind kKind = ValKind::FuncRef;
  static bool put(const std::optional<Func>& value, StoreRef store, Slot& slot) {
    if (value) return func_to_slot(*value, store, slot);
    slot.bits[0] = 0;
    return true;
  }
  static std::optional<Func> get(const Slot& slot, StoreRef store) {
    return func_from_slot(slot, store);
  }
};
}  // namespace detail

/// A Func whose type has been checked: calls without boxing.
template <typename R, typename... Args>
class TypedFunc<R(Args...)> {
  using Results = detail::ResultList<R>;
  static_assert((detail::WasmParam<Args> && ...),
                "parameters are (u)int32_t, (u)int64_t, float, double, V128, ExternRef, "
                "std::optional<Func>, guest_span<T> or guest_string_view");
  using Params = detail::ParamList<Args...>;

 public:
  static Result<TypedFunc> check(const Func& func) noexcept {
    if (auto ok = detail::check_type(func, Params::kTypes, Results::kTypes); !ok) {
      return std::move(ok).error();
    }
    return TypedFunc(func);
  }

  template <typename Mode = detail::Exceptions>
  Result<R> operator()(Args... args) const noexcept(!Mode::kEnabled) {
    constexpr std::size_t kSlots = std::max(Params::kSlots, Results::kTypes.size());
    detail::Slot slots[kSlots == 0 ? 1 : kSlots];
    [[maybe_unused]] std::size_t next = 0;
    const StoreRef store = func_.store();
    if (!(detail::ParamType<Args>::put(args, store, slots + Params::kOffsets[next++]) && ...)) {
      return detail::other_store_error();
    }
    if (!detail::enter(store, object_, slots)) [[unlikely]]
      return failed<Mode>(store);
    if constexpr (std::is_void_v<R>) {
      return {};
    } else {
      return Results::get(slots, store);
    }
  }
  const Func& func() const { return func_; }

 private:
  explicit TypedFunc(const Func& func) : func_(func), object_(detail::object_of(func)) {}
  /// Apart, so that calls which succeed save no registers for it.
  template <typename Mode>
  [[gnu::noinline, gnu::cold]] static Result<R> failed(StoreRef store) noexcept(!Mode::kEnabled) {
    Error error = detail::take_error(store);
    Mode::pass_on(error);
    return error;
  }
  Func func_;
  void* object_;
};

template <typename Signature>
Result<TypedFunc<Signature>> Func::typed() const noexcept {
  return TypedFunc<Signature>::check(*this);
}

namespace detail {

/// The arguments of `call`; the first that cannot be had has called HostCall::fail, and clears
/// `ok`.
template <typename... A, std::size_t... I>
std::tuple<A...> make_args([[maybe_unused]] HostCall& call, [[maybe_unused]] bool& ok,
                           std::tuple<A...>*, std::index_sequence<I...>) {
  // In order, since braces are.
  return std::tuple<A...>{
      ParamType<A>::get(call.slots() + ParamList<A...>::kOffsets[I], call, ok)...};
}

/// Calls `f` with the arguments of `call` and leaves its results there.
template <typename F>
bool call_typed(F& f, HostCall& call) {
  using Type = CallableType<F>;
  using Return = typename Type::Return;
  using Plain = typename HostReturn<Return>::Plain;
  using Args = typename Type::Args;
  constexpr auto kIndexes = std::make_index_sequence<std::tuple_size_v<Args>>();
  bool ok = true;
  [[maybe_unused]] Args args = make_args(call, ok, static_cast<Args*>(nullptr), kIndexes);
  if constexpr (ArgList<Args>::Params::kCanFail) {
    if (!ok) return false;
  }
  auto run = [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (Type::kTakesCaller) {
      Caller caller(call);
      return f(caller, std::get<I>(std::move(args))...);
    } else {
      return f(std::get<I>(std::move(args))...);
    }
  };
  if constexpr (std::is_void_v<Return>) {
    run(kIndexes);
    return true;
  } else {
    Return out = run(kIndexes);
    if constexpr (HostReturn<Return>::kFallible) {
      if (!out) {
        call.fail(std::move(out).error());
        return false;
      }
      if constexpr (std::is_void_v<Plain>) {
        return true;
      } else {
        if (ResultList<Plain>::put(*out, call.store(), call.slots())) return true;
      }
    } else {
      if (ResultList<Plain>::put(out, call.store(), call.slots())) return true;
    }
    if constexpr (!std::is_void_v<Plain>) call.fail(other_store_error());
    return false;
  }
}

template <typename F>
void destroy_closure(void* closure) {
  delete static_cast<F*>(closure);
}

}  // namespace detail

template <typename F, typename Mode>
detail::HostFuncSpec Func::typed_spec(F callable) {
  using Type = detail::CallableType<F>;
  using Plain = typename detail::HostReturn<typename Type::Return>::Plain;
  constexpr auto& kParams = detail::ArgList<typename Type::Args>::Params::kTypes;
  constexpr auto& kResults = detail::ResultList<Plain>::kTypes;
  return {FuncType({kParams.begin(), kParams.end()}, {kResults.begin(), kResults.end()}),
          [](void* closure, detail::HostCall& call) noexcept {
            return Mode::guard(call,
                               [&] { return detail::call_typed(*static_cast<F*>(closure), call); });
          },
          new F(std::move(callable)), detail::destroy_closure<F>};
}

template <typename F, typename Mode>
detail::HostFuncSpec Func::dynamic_spec(FuncType type, F callback) {
  return {std::move(type),
          [](void* closure, detail::HostCall& call) noexcept {
            return Mode::guard(call, [&] {
              Caller caller(call);
              detail::DynamicArgs values(call);
              Result<void> done =
                  (*static_cast<F*>(closure))(caller, values.args(), values.results());
              if (done) return values.finish(call);
              call.fail(std::move(done).error());
              return false;
            });
          },
          new F(std::move(callback)), detail::destroy_closure<F>};
}

}  // namespace hoist
