// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Between the templates of func.hpp and the library: what a host function is made of and what it
/// sees of a call. Not for direct use.

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "hoist/detail/export.hpp"
#include "hoist/result.hpp"
#include "hoist/store.hpp"
#include "hoist/types.hpp"
#include "hoist/value.hpp"

namespace hoist::detail {

/// One call of a host function: arguments in `slots`, results out in the same slots.
class HOIST_API HostCall {
 public:
  HostCall(StoreRef store, void* instance, Slot* slots, const FuncType* type, void* host)
      : store_(store), instance_(instance), slots_(slots), type_(type), host_(host) {}
  StoreRef store() const { return store_; }
  void* instance() const { return instance_; }
  Slot* slots() const { return slots_; }
  const FuncType& type() const { return *type_; }
  /// Leaves `error` for the caller of WebAssembly; the thunk then returns false.
  void fail(Error error) noexcept;

 private:
  StoreRef store_;
  void* instance_;
  Slot* slots_;
  const FuncType* type_;
  void* host_;
};

/// Runs a host function; false after HostCall::fail. Never throws.
using HostThunk = bool (*)(void* closure, HostCall& call) noexcept;

/// What the library keeps of a host function; it calls `destroy(closure)` once, at the end.
struct HostFuncSpec {
  FuncType type;
  HostThunk thunk = nullptr;
  void* closure = nullptr;
  void (*destroy)(void* closure) = nullptr;
};

/// Arguments and results of a dynamic host function as Vals.
class HOIST_API DynamicArgs {
 public:
  explicit DynamicArgs(HostCall& call) noexcept;
  std::span<const Val> args() const { return {vals(), num_args_}; }
  std::span<Val> results() { return {vals() + num_args_, num_results_}; }
  /// Checks the results' types and writes them to the slots; false after HostCall::fail.
  bool finish(HostCall& call) noexcept;

 private:
  static constexpr std::size_t kInline = 8;
  static_assert(std::is_trivially_destructible_v<Val>);
  Val* vals() { return heap_ ? heap_.get() : inline_; }
  const Val* vals() const { return heap_ ? heap_.get() : inline_; }
  std::size_t num_args_;
  std::size_t num_results_;
  std::unique_ptr<Val[]> heap_;
  union {
    Val inline_[kInline];  ///< begun one by one, as many as there are
  };
};

/// Calls what a Func names with arguments in `slots`; the results come back in the same slots.
/// False: `take_error` says why.
HOIST_API bool enter(StoreRef store, void* func, Slot* slots) noexcept;
HOIST_API Error take_error(StoreRef store) noexcept;

}  // namespace hoist::detail
