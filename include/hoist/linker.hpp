// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Linker: finds the imports of modules by name. Host functions that are defined by `define_func`
/// and `define_callback` belong to no store: one linker can instantiate into many. A linker belongs
/// to one thread at a time; instances that it made share the host functions' closures.

#include <memory>
#include <string>
#include <string_view>

#include "hoist/instance.hpp"
#include "hoist/shared_memory.hpp"

namespace hoist {

namespace detail {
struct LinkerImpl;
}

/// What a linker does about an import that nothing was defined for.
enum class UnknownImports : std::uint8_t {
  Error,   ///< instantiation fails and names it
  Trap,    ///< a function that traps when called ("unknown import called"); other kinds are errors
  Default  ///< a function that returns zeros; memories, tables and globals with zeros
};

class HOIST_API Linker {
 public:
  explicit Linker(const Engine& engine) noexcept;
  Linker(Linker&&) noexcept;
  Linker& operator=(Linker&&) noexcept;
  ~Linker();

  Engine engine() const noexcept;
  /// Whether a name may be defined again (the last one counts). Off at first: an Error then.
  void allow_shadowing(bool allow) noexcept;
  void unknown_imports(UnknownImports what) noexcept;

  /// @error BadArgument: the name is defined already, or the store is gone.
  Result<void> define(std::string_view module, std::string_view field, const Extern& item) noexcept;
  /// A shared memory for instances of any store.
  Result<void> define(std::string_view module, std::string_view field,
                      const SharedMemory& memory) noexcept;
  /// A host function from a callable: see Func::wrap.
  template <typename F, typename Mode = detail::Exceptions>
  Result<void> define_func(std::string_view module, std::string_view field, F callable) {
    return define_host(module, field, Func::typed_spec<F, Mode>(std::move(callable)));
  }
  /// A host function with a type known at run time: see Func::create.
  template <typename F, typename Mode = detail::Exceptions>
  Result<void> define_callback(std::string_view module, std::string_view field, FuncType type,
                               F callback) {
    return define_host(module, field,
                       Func::dynamic_spec<F, Mode>(std::move(type), std::move(callback)));
  }
  /// All exports of an instance, as `module`.
  Result<void> define_instance(std::string_view module, const Instance& instance) noexcept;
  /// `as_module`.`as_field` is what `module`.`field` is now.
  Result<void> alias(std::string_view module, std::string_view field, std::string_view as_module,
                     std::string_view as_field) noexcept;
  /// All that `module` has now, under the name `as_module` too.
  Result<void> alias_module(std::string_view module, std::string_view as_module) noexcept;
  bool has(std::string_view module, std::string_view field) const noexcept;

  /// Instantiates a module with imports found by name. Errors as Instance::create; a missing import
  /// is of kind Link and says what could provide it.
  template <typename Mode = detail::Exceptions>
  Result<Instance> instantiate(StoreRef store, const Module& module) noexcept(!Mode::kEnabled) {
    return detail::pass_on<Mode>(instantiate_raw(store, module));
  }
  Result<Instance> instantiate_raw(StoreRef store, const Module& module) noexcept;

  Result<void> define_host(std::string_view module, std::string_view field,
                           detail::HostFuncSpec spec) noexcept;

 private:
  friend class detail::Access;
  std::unique_ptr<detail::LinkerImpl> impl_;
};

}  // namespace hoist
