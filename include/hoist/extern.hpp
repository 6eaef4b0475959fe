// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Extern: anything that is imported or exported. A handle, copied freely.

#include <optional>

#include "hoist/detail/export.hpp"
#include "hoist/result.hpp"
#include "hoist/store.hpp"
#include "hoist/types.hpp"

namespace hoist {

class Func;
class Global;
class Memory;
class Table;
class Tag;

namespace detail {

/// What Func, Memory, Table, Global and Instance have in common: a thing in a store.
class HOIST_API Handle {
 public:
  StoreRef store() const noexcept { return store_; }
  /// Same thing in the same store?
  friend bool operator==(const Handle&, const Handle&) = default;

 protected:
  Handle() = default;
  friend class Access;
  StoreRef store_;
  void* object_ = nullptr;
};

}  // namespace detail

class HOIST_API Extern : public detail::Handle {
 public:
  Extern(const Func& func) noexcept;      // NOLINT: implicit by design
  Extern(const Memory& memory) noexcept;  // NOLINT: implicit by design
  Extern(const Table& table) noexcept;    // NOLINT: implicit by design
  Extern(const Global& global) noexcept;  // NOLINT: implicit by design
  Extern(const Tag& tag) noexcept;        // NOLINT: implicit by design

  ExternKind kind() const { return kind_; }
  /// With the present size as the minimum of a memory or table.
  ExternType type() const noexcept;
  std::optional<Func> func() const noexcept;
  std::optional<Memory> memory() const noexcept;
  std::optional<Table> table() const noexcept;
  std::optional<Global> global() const noexcept;
  std::optional<Tag> tag() const noexcept;

 private:
  friend class detail::Access;
  Extern() = default;
  ExternKind kind_ = ExternKind::Func;
};

}  // namespace hoist
