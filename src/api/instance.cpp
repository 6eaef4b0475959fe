// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/instance.hpp"

#include <fmt/core.h>

#include <utility>

#include "api/impl.hpp"
#include "runtime/objects/types.hpp"

namespace hoist {

using api::Access;

Result<Instance> Instance::create_raw(StoreRef store, const Module& module,
                                      std::span<const Extern> imports) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  if (module.impl() == nullptr) return api::moved_from("module");
  std::vector<runtime::Extern> items;
  items.reserve(imports.size());
  for (std::size_t i = 0; i < imports.size(); ++i) {
    if (imports[i].store() != store) {
      return Error(ErrorKind::Link,
                   fmt::format("import {} is a {} of another store", i, name(imports[i].kind())));
    }
    items.push_back(api::to_runtime(imports[i]));
  }
  HOIST_TRY(runtime::Instance * instance,
            runtime::Instance::instantiate(*inner, module.impl()->code, items, module.impl()));
  return Access::make<Instance>(store, instance);
}

std::optional<Module> Instance::module() const noexcept {
  const auto* instance = Access::live<runtime::Instance>(*this);
  if (instance == nullptr) return std::nullopt;
  return Module(std::static_pointer_cast<detail::ModuleImpl>(instance->embedder_module()));
}

std::optional<Extern> Instance::get(std::string_view name) const noexcept {
  auto* instance = Access::live<runtime::Instance>(*this);
  if (instance == nullptr) return std::nullopt;
  const runtime::Extern found = instance->find_export(name);
  if (found.object == nullptr) return std::nullopt;
  return api::to_public(instance->store(), found);
}

std::vector<std::pair<std::string, Extern>> Instance::exports() const noexcept {
  std::vector<std::pair<std::string, Extern>> out;
  auto* instance = Access::live<runtime::Instance>(*this);
  if (instance == nullptr) return out;
  for (const wasm::Export& item : instance->code().module().exports) {
    out.emplace_back(item.name, api::to_public(instance->store(), instance->export_at(item)));
  }
  return out;
}

/// What is there instead: the exports of that kind, a few of them.
static Error no_export(const runtime::Instance& instance, std::string_view name, ExternKind kind) {
  constexpr std::size_t kListed = 10;
  const wasm::Module& module = instance.code().module();
  if (const wasm::Export* other = instance.code().find_export(name)) {
    return {ErrorKind::BadArgument, fmt::format("the export '{}' is a {}, not a {}", name,
                                                text(other->kind), hoist::name(kind))};
  }
  std::string message = fmt::format("there is no export '{}'", name);
  std::size_t count = 0;
  for (const wasm::Export& item : module.exports) {
    if (runtime::to_public(item.kind) != kind) continue;
    if (count < kListed) {
      message += fmt::format("{} '{}'", count == 0 ? "; there are" : ",", item.name);
    }
    ++count;
  }
  if (count > kListed) message += fmt::format(" and {} more", count - kListed);
  if (count == 0) message += fmt::format("; the module exports no {}", hoist::name(kind));
  return {ErrorKind::BadArgument, std::move(message)};
}

static Result<runtime::Extern> find(runtime::Instance* instance, std::string_view name,
                                    ExternKind kind) {
  if (instance == nullptr) return api::store_gone();
  const runtime::Extern found = instance->find_export(name);
  if (found.object == nullptr || runtime::to_public(found.kind) != kind) {
    return no_export(*instance, name, kind);
  }
  return found;
}

Result<Func> Instance::func(std::string_view name) const noexcept {
  HOIST_TRY(const auto found, find(Access::live<runtime::Instance>(*this), name, ExternKind::Func));
  return Access::make<Func>(store_, found.object);
}

Result<Memory> Instance::memory(std::string_view name) const noexcept {
  HOIST_TRY(const auto found,
            find(Access::live<runtime::Instance>(*this), name, ExternKind::Memory));
  return Access::make<Memory>(store_, found.object);
}

Result<Table> Instance::table(std::string_view name) const noexcept {
  HOIST_TRY(const auto found,
            find(Access::live<runtime::Instance>(*this), name, ExternKind::Table));
  return Access::make<Table>(store_, found.object);
}

Result<Global> Instance::global(std::string_view name) const noexcept {
  HOIST_TRY(const auto found,
            find(Access::live<runtime::Instance>(*this), name, ExternKind::Global));
  return Access::make<Global>(store_, found.object);
}

}  // namespace hoist
