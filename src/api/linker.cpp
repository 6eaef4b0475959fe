// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/linker.hpp"

#include <fmt/core.h>

#include <utility>

#include "api/impl.hpp"

namespace hoist {

using api::Access;

Linker::Linker(const Engine& engine) noexcept
    : impl_(engine.impl() == nullptr
                ? nullptr
                : new detail::LinkerImpl{engine, runtime::Linker(engine.impl()->engine)}) {}
Linker::Linker(Linker&&) noexcept = default;
Linker& Linker::operator=(Linker&&) noexcept = default;
Linker::~Linker() = default;

Engine Linker::engine() const noexcept {
  return impl_ == nullptr ? Engine(nullptr) : impl_->engine;
}
void Linker::allow_shadowing(bool allow) noexcept {
  if (impl_ != nullptr) impl_->linker.allow_shadowing = allow;
}
void Linker::unknown_imports(UnknownImports what) noexcept {
  if (impl_ != nullptr) impl_->linker.unknown_imports = what;
}

Result<void> Linker::define(std::string_view module, std::string_view field,
                            const Extern& item) noexcept {
  if (impl_ == nullptr) return api::moved_from("linker");
  if (!item.store().alive()) return api::store_gone();
  return impl_->linker.define(module, field,
                              runtime::Linker::StoreItem{item.store(), api::to_runtime(item)});
}

Result<void> Linker::define(std::string_view module, std::string_view field,
                            const SharedMemory& memory) noexcept {
  if (impl_ == nullptr) return api::moved_from("linker");
  const auto* shared = memory.impl();
  if (shared == nullptr) return api::moved_from("shared memory");
  if (shared->engine != impl_->linker.engine()) {
    return Error(ErrorKind::BadArgument, "linker and shared memory must be of the same engine");
  }
  return impl_->linker.define(module, field, shared->memory);
}

Result<void> Linker::define_host(std::string_view module, std::string_view field,
                                 detail::HostFuncSpec spec) noexcept {
  if (impl_ == nullptr) {
    spec.destroy(spec.closure);
    return api::moved_from("linker");
  }
  std::string name;
  name.reserve(module.size() + 1 + field.size());
  name.append(module).append(1, '.').append(field);
  return impl_->linker.define(module, field,
                              std::make_shared<const runtime::HostFunction>(
                                  impl_->engine.impl()->engine, std::move(spec), std::move(name)));
}

Result<void> Linker::define_instance(std::string_view module, const Instance& instance) noexcept {
  if (!instance.store().alive()) return api::store_gone();
  for (const auto& [field, item] : instance.exports()) {
    HOIST_TRY_VOID(define(module, field, item));
  }
  return {};
}

Result<void> Linker::alias(std::string_view module, std::string_view field,
                           std::string_view as_module, std::string_view as_field) noexcept {
  if (impl_ == nullptr) return api::moved_from("linker");
  return impl_->linker.alias(module, field, as_module, as_field);
}

Result<void> Linker::alias_module(std::string_view module, std::string_view as_module) noexcept {
  if (impl_ == nullptr) return api::moved_from("linker");
  return impl_->linker.alias_module(module, as_module);
}

bool Linker::has(std::string_view module, std::string_view field) const noexcept {
  return impl_ != nullptr && impl_->linker.find(module, field) != nullptr;
}

Result<Instance> Linker::instantiate_raw(StoreRef store, const Module& module) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  if (impl_ == nullptr) return api::moved_from("linker");
  if (module.impl() == nullptr) return api::moved_from("module");
  const auto& code = module.impl()->code;
  if (inner->engine() != impl_->linker.engine() || code->engine() != inner->engine()) {
    return Error(ErrorKind::BadArgument, "linker, store and module must be of the same engine");
  }
  HOIST_TRY(const std::vector<runtime::Extern> items, impl_->linker.resolve(*inner, *code));
  HOIST_TRY(runtime::Instance * instance,
            runtime::Instance::instantiate(*inner, code, items, module.impl()));
  return Access::make<Instance>(store, instance);
}

}  // namespace hoist
