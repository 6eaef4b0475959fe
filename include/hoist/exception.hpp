// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Tags and exceptions of WebAssembly, seen and made by the host.
///
///   auto done = run.call();                                  // the guest throws
///   if (!done) {
///     if (auto thrown = Exception::of(done.error())) {
///       if (thrown->tag() == my_tag) handle(thrown->payload()[0].i32());
///     }
///   }
///
/// A host function throws by returning an Error: that of a call which failed (so the exception goes
/// on), or `exception.error()`. Guest code around the call may catch it. The C++ exceptions of host
/// functions, traps and all other errors pass the guest's handlers by.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hoist/extern.hpp"
#include "hoist/trap.hpp"
#include "hoist/value.hpp"

namespace hoist {

/// What handlers of exceptions go by: an identity, and the types of what exceptions carry.
class HOIST_API Tag : public detail::Handle {
 public:
  static Result<Tag> create(StoreRef store, std::vector<ValType> payload) noexcept;
  /// Parameters are what exceptions carry; there are no results.
  FuncType type() const noexcept;
  /// For messages: the name section's or an export's name, or "tag[2]".
  std::string name() const noexcept;

 private:
  friend class detail::Access;
  Tag() = default;
};

/// An exception on its way. Copied freely; keeps the exception alive. Use it on its store's thread.
class HOIST_API Exception {
 public:
  /// The exception behind an error of kind Exception; empty for other errors, and once the store is
  /// gone.
  static std::optional<Exception> of(const Error& error) noexcept;
  /// @error BadArgument: number, type or store of a value. OutOfMemory, Limit.
  static Result<Exception> create(const Tag& tag, std::span<const Val> payload) noexcept;

  /// As in a handle's `store`: after its end the exception has no payload.
  StoreRef store() const noexcept { return store_; }
  Tag tag() const noexcept;
  std::vector<Val> payload() const noexcept;
  /// The frames of the guest that it has left without being caught; none for a new one.
  const Trap& trace() const noexcept;
  /// For a host function to return: throws it (again).
  Error error() const noexcept { return error_; }

 private:
  Exception(Error error, StoreRef store) : error_(std::move(error)), store_(store) {}
  Error error_;
  StoreRef store_;
};

}  // namespace hoist
