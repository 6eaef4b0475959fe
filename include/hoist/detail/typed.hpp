// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// C++ signatures to WebAssembly signatures, and C++ values to and from slots: no boxing.

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hoist/detail/exceptions.hpp"
#include "hoist/detail/host_call.hpp"
#include "hoist/value.hpp"

namespace hoist {
class Caller;
class Func;
}  // namespace hoist

namespace hoist::detail {

/// SlotType<T>: kind of T, `put` (false: a reference of another store) and `get`. The one for
/// std::optional<Func> is in func.hpp.
template <typename T>
struct SlotType {
  static constexpr bool kKnown = false;
};
template <typename T>
  requires(Int32<T> || Int64<T>)
struct SlotType<T> {
  static constexpr bool kKnown = true;
  static constexpr ValKind kKind = sizeof(T) == 4 ? ValKind::I32 : ValKind::I64;
  static bool put(T value, StoreRef, Slot& slot) {
    slot.bits[0] = static_cast<std::make_unsigned_t<T>>(value);
    return true;
  }
  static T get(const Slot& slot, StoreRef) { return static_cast<T>(slot.bits[0]); }
};
template <>
struct SlotType<float> {
  static constexpr bool kKnown = true;
  static constexpr ValKind kKind = ValKind::F32;
  static bool put(float value, StoreRef, Slot& slot) {
    slot.bits[0] = std::bit_cast<std::uint32_t>(value);
    return true;
  }
  static float get(const Slot& slot, StoreRef) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(slot.bits[0]));
  }
};
template <>
struct SlotType<double> {
  static constexpr bool kKnown = true;
  static constexpr ValKind kKind = ValKind::F64;
  static bool put(double value, StoreRef, Slot& slot) {
    slot.bits[0] = std::bit_cast<std::uint64_t>(value);
    return true;
  }
  static double get(const Slot& slot, StoreRef) { return std::bit_cast<double>(slot.bits[0]); }
};
template <>
struct SlotType<V128> {
  static constexpr bool kKnown = true;
  static constexpr ValKind kKind = ValKind::V128;
  static bool put(const V128& value, StoreRef, Slot& slot) {
    const V128::Lanes<std::uint64_t> halves = value.lanes<std::uint64_t>();
    slot.bits[0] = halves[0];
    slot.bits[1] = halves[1];
    return true;
  }
  static V128 get(const Slot& slot, StoreRef) {
    return V128::of<std::uint64_t>({slot.bits[0], slot.bits[1]});
  }
};
/// Of references that the store owns. `put` is false for one of another store, or that has ended.
HOIST_API bool extern_to_slot(const ExternRef& value, StoreRef store, Slot& slot) noexcept;
HOIST_API ExternRef extern_from_slot(const Slot& slot, StoreRef store) noexcept;
template <>
struct SlotType<ExternRef> {
  static constexpr bool kKnown = true;
  static constexpr ValKind kKind = ValKind::ExternRef;
  static bool put(const ExternRef& value, StoreRef store, Slot& slot) {
    if (!value.is_plain()) [[unlikely]]
      return extern_to_slot(value, store, slot);
    slot.bits[0] = value.word();
    return true;
  }
  static ExternRef get(const Slot& slot, StoreRef store) {
    if (slot.bits[0] == 0) return {};
    if ((slot.bits[0] & kHostWord) == 0) [[unlikely]]
      return extern_from_slot(slot, store);
    return ExternRef(
        reinterpret_cast<void*>(static_cast<std::uintptr_t>(slot.bits[0] & ~kHostWord)));
  }
};
/// A C++ type that a WebAssembly value can have: (u)int32_t, (u)int64_t, float, double, V128,
/// ExternRef, std::optional<Func>.
template <typename T>
concept WasmValue = SlotType<T>::kKnown;

/// Results: void, one value, or a tuple of them.
template <typename R>
struct ResultList;
template <>
struct ResultList<void> {
  static constexpr std::array<ValType, 0> kTypes{};
  static void get(const Slot*, StoreRef) {}
};
template <WasmValue T>
struct ResultList<T> {
  static constexpr std::array<ValType, 1> kTypes{SlotType<T>::kKind};
  static T get(const Slot* slots, StoreRef store) { return SlotType<T>::get(slots[0], store); }
  static bool put(const T& value, StoreRef store, Slot* slots) {
    return SlotType<T>::put(value, store, slots[0]);
  }
};
template <WasmValue... T>
struct ResultList<std::tuple<T...>> {
  static constexpr std::array<ValType, sizeof...(T)> kTypes{ValType(SlotType<T>::kKind)...};
  static std::tuple<T...> get(const Slot* slots, StoreRef store) {
    return get(slots, store, std::index_sequence_for<T...>());
  }
  static bool put(const std::tuple<T...>& values, StoreRef store, Slot* slots) {
    return put(values, store, slots, std::index_sequence_for<T...>());
  }

 private:
  template <std::size_t... I>
  static std::tuple<T...> get([[maybe_unused]] const Slot* slots, [[maybe_unused]] StoreRef store,
                              std::index_sequence<I...>) {
    return std::tuple<T...>(SlotType<T>::get(slots[I], store)...);
  }
  template <std::size_t... I>
  static bool put([[maybe_unused]] const std::tuple<T...>& values, [[maybe_unused]] StoreRef store,
                  [[maybe_unused]] Slot* slots, std::index_sequence<I...>) {
    return (SlotType<T>::put(std::get<I>(values), store, slots[I]) && ...);
  }
};

/// What a host function returns, without a Result around it.
template <typename R>
struct HostReturn {
  using Plain = R;
  static constexpr bool kFallible = false;
};
template <typename R>
struct HostReturn<Result<R>> {
  using Plain = R;
  static constexpr bool kFallible = true;
};

/// Signature of anything with one non-template call operator.
template <typename F>
struct CallableType : CallableType<decltype(&F::operator())> {};
template <typename C, typename R, typename... A>
struct CallableType<R (C::*)(A...)> : CallableType<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct CallableType<R (C::*)(A...) const> : CallableType<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct CallableType<R (C::*)(A...) noexcept> : CallableType<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct CallableType<R (C::*)(A...) const noexcept> : CallableType<R (*)(A...)> {};
template <typename R, typename... A>
struct CallableType<R (*)(A...) noexcept> : CallableType<R (*)(A...)> {};
template <typename R, typename... A>
struct CallableType<R (*)(A...)> {
  using Return = R;
  using Args = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr bool kTakesCaller = false;
};
template <typename R, typename... A>
struct CallableType<R (*)(Caller&, A...)> {
  using Return = R;
  using Args = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr bool kTakesCaller = true;
};

/// How a parameter is passed. One WebAssembly value for most C++ types; views of guest memory
/// (guest.hpp) are two, and can fail: `get` then calls HostCall::fail and clears `ok`.
template <typename T>
struct ParamType {
  static constexpr bool kKnown = SlotType<T>::kKnown;
  static constexpr bool kCanFail = false;
  static constexpr std::size_t kSlots = 1;
  static constexpr ValKind kind(std::size_t) { return SlotType<T>::kKind; }
  static T get(const Slot* slots, HostCall& call, bool&) {
    return SlotType<T>::get(slots[0], call.store());
  }
  static bool put(const T& value, StoreRef store, Slot* slots) {
    return SlotType<T>::put(value, store, slots[0]);
  }
};
template <typename T>
concept WasmParam = ParamType<T>::kKnown;

/// The parameters of a signature: their WebAssembly types, and where each begins.
template <WasmParam... T>
struct ParamList {
  static constexpr std::size_t kSlots = (ParamType<T>::kSlots + ... + 0);
  static constexpr bool kCanFail = (ParamType<T>::kCanFail || ... || false);
  static constexpr std::array<ValType, kSlots> kTypes = [] {
    std::array<ValType, kSlots> out{};
    [[maybe_unused]] std::size_t at = 0;
    [[maybe_unused]] const auto add = [&]<typename P>(P*) {
      for (std::size_t i = 0; i < P::kSlots; ++i) out[at++] = P::kind(i);
    };
    (add(static_cast<ParamType<T>*>(nullptr)), ...);
    return out;
  }();
  static constexpr std::array<std::size_t, sizeof...(T) + 1> kOffsets = [] {
    std::array<std::size_t, sizeof...(T) + 1> out{};
    [[maybe_unused]] std::size_t i = 0;
    [[maybe_unused]] std::size_t at = 0;
    ((out[i++] = at, at += ParamType<T>::kSlots), ...);
    return out;
  }();
};

template <typename Args>
struct ArgList;
template <typename... T>
struct ArgList<std::tuple<T...>> {
  static_assert(
      (WasmParam<T> && ...),
      "a host function's parameters are (u)int32_t, (u)int64_t, float, double, ExternRef, "
      "std::optional<Func>, guest_span<T> or guest_string_view, after an optional Caller&");
  using Params = ParamList<T...>;
};

}  // namespace hoist::detail
