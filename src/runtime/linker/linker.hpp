// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Linker: imports by name. Deterministic: names are kept sorted. One thread at a time.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hoist/linker.hpp"
#include "runtime/store/instance.hpp"

namespace hoist::runtime {

class Linker {
 public:
  /// Something of one store, or a host function or shared memory for any store.
  struct StoreItem {
    StoreRef store;
    Extern item;
  };
  using Item =
      std::variant<StoreItem, std::shared_ptr<const HostFunction>, std::shared_ptr<LinearMemory>>;

  explicit Linker(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  const std::shared_ptr<Engine>& engine() const { return engine_; }
  bool allow_shadowing = false;
  UnknownImports unknown_imports = UnknownImports::Error;

  /// @error BadArgument: defined already.
  Result<void> define(std::string_view module, std::string_view field, Item item);
  const Item* find(std::string_view module, std::string_view field) const;
  /// @error BadArgument: there is nothing under the name, or the new one is taken.
  Result<void> alias(std::string_view module, std::string_view field, std::string_view as_module,
                     std::string_view as_field);
  Result<void> alias_module(std::string_view module, std::string_view as_module);

  /// The imports of a module, in order, as things of `store`.
  /// @error Link: unknown, of another type, or of another store; Limit, OutOfMemory.
  Result<std::vector<Extern>> resolve(Store& store, const ModuleCode& code) const;

 private:
  using Fields = std::map<std::string, Item, std::less<>>;
  Result<Extern> resolve_one(Store& store, const ModuleCode& code,
                             const wasm::Import& import) const;
  Result<Extern> make_unknown(Store& store, const ModuleCode& code,
                              const wasm::Import& import) const;
  Error unknown_error(const ModuleCode& code, const wasm::Import& import) const;

  std::shared_ptr<Engine> engine_;
  std::map<std::string, Fields, std::less<>> modules_;
};

}  // namespace hoist::runtime
