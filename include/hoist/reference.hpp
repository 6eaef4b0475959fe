// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// How the host keeps references alive that a store's collector owns: externrefs made by
/// ExternRef::create, and exceptions. What guests hold (tables, globals, running code) needs none
/// of this.
///
/// Every such reference that the host makes or is given (arguments, results, elements of tables,
/// values of globals) is a scoped root: it lives until the innermost scope that was open then ends.
/// A call of a host function is a scope. Outside of one, scopes are HandleScopes; without any, the
/// reference lives until the store ends. A Val or ExternRef that is used later than that is an
/// error, never a wrong object.

#include "hoist/value.hpp"

namespace hoist {

/// Lets go, at its end, of the references that the host got while it was the innermost scope.
/// Scopes end in the opposite order of their beginning.
class HOIST_API HandleScope {
 public:
  explicit HandleScope(StoreRef store) noexcept;
  ~HandleScope();
  HandleScope(const HandleScope&) = delete;
  HandleScope& operator=(const HandleScope&) = delete;

 private:
  StoreRef store_;
  std::uint64_t mark_ = 0;
};

/// Keeps one reference alive as long as it exists, independent of scopes. May outlive the store.
class HOIST_API Root {
 public:
  /// Keeps nothing.
  Root() = default;
  /// @error BadArgument: `value` belongs to another store, or its scope has ended.
  static Result<Root> create(StoreRef store, const Val& value) noexcept;
  Root(Root&& other) noexcept;
  Root& operator=(Root&& other) noexcept;
  ~Root();

  /// The reference, as a scoped root; null if the store is gone.
  Val get() const noexcept;

 private:
  StoreRef store_;
  ValType type_ = ValKind::ExternRef;
  std::uint32_t number_ = 0;
  bool holds_ = false;
};

}  // namespace hoist
