// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "jit/trap_handler.hpp"

namespace hoist::runtime {

Engine::Engine(const EngineOptions& options, std::unique_ptr<Compiler> compiler,
               jit::CodeListeners listeners)
    : options_(options), compiler_(std::move(compiler)), listeners_(std::move(listeners)) {
  // More than there is address space; jit::ThreadState needs a value that no engine has.
  options_.host_reserve_bytes = std::min(options_.host_reserve_bytes, std::uint64_t{1} << 48);
  if (options.signals) jit::install_trap_handler();
}

Engine::~Engine() {
  for (const auto& [type, exit] : exits_) jit::tell_unloading(listeners_, exit.owner, *exit.code);
}

Result<const void*> Engine::exit_trampoline(std::uint32_t type_id) {
  constexpr image::FuncKey key(image::FuncKind::ExitTrampoline, 0, 0);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto at = exits_.find(type_id); at != exits_.end())
    return at->second.code->address(key);

  const wasm::FuncType& type = types_.get(type_id);
  HOIST_TRY(image::Image image, compiler_->compile_exit_trampoline(type));
  Exit& exit = exits_[type_id];
  exit.owner.signature = wasm::to_string(type);
  auto loaded = jit::LoadedImage::load(std::move(image), &exit.owner);
  if (!loaded) {
    exits_.erase(type_id);
    return std::move(loaded).error();
  }
  exit.code = *std::move(loaded);
  const void* address = exit.code->address(key);
  HOIST_CHECK(address != nullptr, "the compiler made the trampoline that was asked for");
  types_.hold(type_id);  // held as long as the engine: the number must not be given to another type
  jit::tell_loaded(listeners_, exit.owner, *exit.code);
  return address;
}

}  // namespace hoist::runtime
