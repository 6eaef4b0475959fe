// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Engine: what the modules and stores of one configuration share. Any thread.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/result.hpp"
#include "jit/loaded_image.hpp"
#include "runtime/compiler_interface.hpp"
#include "runtime/engine/code_owner.hpp"
#include "runtime/engine/type_registry.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/memory/region_cache.hpp"

namespace hoist::runtime {

struct EngineOptions {
  std::uint64_t guest_stack_bytes = std::uint64_t{1} << 20;
  std::uint64_t host_reserve_bytes = std::uint64_t{128} << 10;
  // Of the code that the compiler makes.
  bool signals = true;
  bool explicit_bounds = false;
  bool fuel = false;
  bool epoch = false;
  bool raw_names = false;  ///< mangled names stay so in backtraces and profiles
  /// Stores collect at every allocation: for tests.
  bool collect_always = false;
};

class Engine {
 public:
  /// Installs the trap handler unless traps need no signals.
  Engine(const EngineOptions& options, std::unique_ptr<Compiler> compiler,
         jit::CodeListeners listeners);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const EngineOptions& options() const { return options_; }
  const Compiler& compiler() const { return *compiler_; }
  const jit::CodeListeners& listeners() const { return listeners_; }
  TypeRegistry& types() { return types_; }
  /// Counts up at the embedder's pace; any thread, signal handlers too.
  std::atomic<std::uint64_t>& epoch() { return epoch_; }
  /// Address space for memories without a slot in the pool.
  RegionCache& regions() { return regions_; }
  /// Null if its stores allocate on demand only.
  Pool* pool() const { return pool_.get(); }
  /// Before the engine is shared.
  void use_pool(std::unique_ptr<Pool> pool) { pool_ = std::move(pool); }

  /// Code of the trampoline for a type that no module brought; made on demand, kept with the
  /// engine. Errors as Compiler::compile_module and LoadedImage::load.
  Result<const void*> exit_trampoline(std::uint32_t type_id);

 private:
  EngineOptions options_;
  std::unique_ptr<Compiler> compiler_;
  jit::CodeListeners listeners_;
  TypeRegistry types_;
  std::atomic<std::uint64_t> epoch_{0};
  RegionCache regions_;
  std::unique_ptr<Pool> pool_;
  std::mutex mutex_;
  struct Exit {
    CodeOwner owner;
    std::unique_ptr<jit::LoadedImage> code;
  };
  std::map<std::uint32_t, Exit> exits_;  // by type
};

}  // namespace hoist::runtime
