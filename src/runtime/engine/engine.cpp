// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "jit/trap_handler.hpp"

namespace hoist::runtime {

Engine::Engine(const EngineOptions& options, std::unique_ptr<Compiler> compiler,
               std::unique_ptr<CodeListener> listener)
    : options_(options), compiler_(std::move(compiler)), listener_(std::move(listener)) {
  // More than there is address space; jit::ThreadState needs a value that no engine has.
  options_.host_reserve_bytes = std::min(options_.host_reserve_bytes, std::uint64_t{1} << 48);
  if (options.signals) jit::install_trap_handler();
}

Engine::~Engine() = default;

Result<const void*> Engine::exit_trampoline(std::uint32_t type_id) {
  constexpr image::FuncKey key(image::FuncKind::ExitTrampoline, 0, 0);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto at = exits_.find(type_id); at != exits_.end()) return at->second->address(key);

  const wasm::FuncType& type = types_.get(type_id);
  HOIST_TRY(image::Image image, compiler_->compile_exit_trampoline(type));
  HOIST_TRY(std::unique_ptr<jit::LoadedImage> loaded,
            jit::LoadedImage::load(std::move(image), nullptr));
  const void* address = loaded->address(key);
  HOIST_CHECK(address != nullptr, "the compiler made the trampoline that was asked for");
  if (listener_ != nullptr) {
    const CodeSymbol symbol{"exit trampoline " + wasm::to_string(type), address,
                            loaded->image().function(key)->size};
    listener_->on_code_loaded({&symbol, 1});
  }
  types_.acquire(type);  // held as long as the engine: the number must not be given to another type
  exits_.emplace(type_id, std::move(loaded));
  return address;
}

}  // namespace hoist::runtime
