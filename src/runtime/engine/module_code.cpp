// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/module_code.hpp"

#include <algorithm>
#include <utility>

namespace hoist::runtime {

using image::FuncKey;
using image::FuncKind;

ModuleCode::ModuleCode(std::shared_ptr<Engine> engine, wasm::Module module)
    : engine_(std::move(engine)),
      module_(std::move(module)),
      func_refs_(module_),
      layout_(image::instance_layout(module_, func_refs_)),
      lines_(std::make_shared<hoist::detail::LineSource>(module_)) {
  sort_exports();
  owner_.module = this;
  owner_.raw_names = engine_->options().raw_names;
}

ModuleCode::~ModuleCode() {
  if (code_ != nullptr) jit::tell_unloading(engine_->listeners(), owner_, *code_);
  if (lines_.use_count() > 1) lines_->module_ends();
  if (Pool* pool = engine_->pool(); pool != nullptr && plan_ != nullptr) {
    pool->forget_block(plan_->id());
    for (std::uint32_t i = 0; images_ != nullptr && i < module_.memories.size(); ++i) {
      if (const auto image = images_->of(i)) pool->forget_image(*image);
    }
  }
  engine_->types().release(type_ids_);
}

Result<std::shared_ptr<const ModuleCode>> ModuleCode::load(std::shared_ptr<Engine> engine,
                                                           wasm::Module module,
                                                           image::Image image) {
  std::shared_ptr<ModuleCode> out(new ModuleCode(std::move(engine), std::move(module)));
  HOIST_TRY(out->type_ids_, out->engine_->types().acquire(out->module_));
  HOIST_TRY(out->code_, jit::LoadedImage::load(std::move(image), &out->owner_));
  jit::tell_loaded(out->engine_->listeners(), out->owner_, *out->code_);
  return std::shared_ptr<const ModuleCode>(std::move(out));
}

void ModuleCode::sort_exports() {
  exports_by_name_.resize(module_.exports.size());
  for (std::uint32_t i = 0; i < exports_by_name_.size(); ++i) exports_by_name_[i] = i;
  std::sort(exports_by_name_.begin(), exports_by_name_.end(),
            [this](std::uint32_t a, std::uint32_t b) {
              return module_.exports[a].name < module_.exports[b].name;
            });
}

const InstancePlan& ModuleCode::plan() const {
  std::call_once(plan_once_, [this] { plan_ = std::make_unique<const InstancePlan>(*this); });
  return *plan_;
}

const MemoryImages& ModuleCode::images(bool pooled) const {
  if (!pooled) {
    if (plan().data_bytes() < MemoryImages::kCopied) return no_images_;
    if (!instantiated_.load(std::memory_order_relaxed) &&
        !instantiated_.exchange(true, std::memory_order_relaxed)) {
      return no_images_;
    }
  }
  std::call_once(images_once_, [this] { images_ = std::make_unique<const MemoryImages>(module_); });
  return *images_;
}

const wasm::Export* ModuleCode::find_export(std::string_view name) const {
  const auto at = std::lower_bound(exports_by_name_.begin(), exports_by_name_.end(), name,
                                   [this](std::uint32_t i, std::string_view wanted) {
                                     return module_.exports[i].name < wanted;
                                   });
  if (at == exports_by_name_.end() || module_.exports[*at].name != name) return nullptr;
  return &module_.exports[*at];
}

const void* ModuleCode::function_code(std::uint32_t func) const {
  return code_->address(FuncKey(FuncKind::WasmFunction, 0, func));
}

const void* ModuleCode::entry_trampoline(std::uint32_t func) const {
  return code_->address(FuncKey(FuncKind::EntryTrampoline, 0,
                                module_.canonical_type(module_.functions[func].type_index)));
}

const void* ModuleCode::exit_trampoline(std::uint32_t func) const {
  return code_->address(FuncKey(FuncKind::ExitTrampoline, 0,
                                module_.canonical_type(module_.functions[func].type_index)));
}

const void* ModuleCode::exit_trampoline_of_type(std::uint32_t type_id) const {
  const auto at = std::find(type_ids_.begin(), type_ids_.end(), type_id);
  if (at == type_ids_.end()) return nullptr;
  const auto type_index = static_cast<std::uint32_t>(at - type_ids_.begin());
  return code_->address(FuncKey(FuncKind::ExitTrampoline, 0, module_.canonical_type(type_index)));
}

const SymbolNames& ModuleCode::names() const {
  std::call_once(names_once_, [this] { names_ = std::make_unique<const SymbolNames>(module_); });
  return *names_;
}

std::string display_name(const ModuleCode& code, std::uint32_t func) {
  return code.names()(FuncKey(FuncKind::WasmFunction, 0, func));
}

}  // namespace hoist::runtime
