// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Instance: a module with its imports, memories, tables and globals, ready to run.

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hoist/func.hpp"
#include "hoist/global.hpp"
#include "hoist/memory.hpp"
#include "hoist/module.hpp"
#include "hoist/table.hpp"

namespace hoist {

class HOIST_API Instance : public detail::Handle {
 public:
  /// Instantiates as the core specification says (section 4.5.4): checks the imports, makes
  /// memories, tables and globals, applies element and data segments in order, runs the start
  /// function.
  /// @param imports  one for each of module.imports(), in that order.
  /// @error Link: wrong number, type or store of an import; nothing has happened then.
  /// @error Trap: a segment did not fit or the start function trapped; segments before it have been
  ///        written to imported memories and tables and stay so. Others: from host functions.
  /// @error Limit, OutOfMemory.
  template <typename Mode = detail::Exceptions>
  static Result<Instance> create(StoreRef store, const Module& module,
                                 std::span<const Extern> imports = {}) noexcept(!Mode::kEnabled) {
    return detail::pass_on<Mode>(create_raw(store, module, imports));
  }
  /// An exception of a host function is an Error of kind Host.
  static Result<Instance> create_raw(StoreRef store, const Module& module,
                                     std::span<const Extern> imports) noexcept;

  /// Empty only if the store is gone.
  std::optional<Module> module() const noexcept;
  std::optional<Extern> get(std::string_view name) const noexcept;
  std::vector<std::pair<std::string, Extern>> exports() const noexcept;
  /// The export of that name and kind. @error BadArgument: there is none; says what there is.
  Result<Func> func(std::string_view name) const noexcept;
  Result<Memory> memory(std::string_view name) const noexcept;
  Result<Table> table(std::string_view name) const noexcept;
  Result<Global> global(std::string_view name) const noexcept;
  /// The exported function with its C++ type. @error BadArgument: missing, or of another type.
  template <typename Signature>
  Result<TypedFunc<Signature>> typed(std::string_view name) const noexcept {
    Result<Func> found = func(name);
    if (!found) return std::move(found).error();
    return found->typed<Signature>();
  }

 private:
  friend class detail::Access;
  Instance() = default;
};

}  // namespace hoist
