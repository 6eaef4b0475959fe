// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// JitModule: IR functions to code that runs in this process, without WebAssembly.
///
///   auto module = JitModule::create({});
///   module->define(function);            // ... more functions, in any order
///   module->finalise();
///   module->call(name, arguments);       // or address(name), cast to the function's type
///
/// Functions call each other by name. A name that no function of the module has is a host symbol:
/// the libcalls of CLIF (libcalls.hpp) are there from the start, and `%__cranelift_throw`
/// (throw.hpp).

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hoist/code_listener.hpp"
#include "ir/data_value.hpp"
#include "ir/function.hpp"
#include "jit/loaded_image.hpp"

namespace hoist::native {

/// What source locations of the IR stand for. Any thread may ask, as long as there is a module that
/// uses it.
class SourceMap {
 public:
  struct Place {
    std::string_view file;   ///< valid as long as the map
    std::uint32_t line = 0;  ///< 0: of no line
  };
  virtual ~SourceMap() = default;
  virtual Place find(std::uint32_t loc) const noexcept = 0;
};

struct JitOptions {
  unsigned opt_level = 2;
  bool verify = true;             ///< before compiling and after each pass
  bool check_allocation = false;  ///< prove each register allocation
  /// Names of CPU features that are not used though the CPU has them: "avx2 fma".
  std::string_view without_features;
  bool baseline_cpu = false;     ///< only features that every supported CPU has
  bool pinned_register = false;  ///< for functions with get_pinned_reg and set_pinned_reg

  // For profilers and whoever else listens.
  std::string name = "jit";  ///< of the module
  /// Hear of the code when the module is finalised, and before it goes. The agents that come with
  /// Hoist are listeners: profiling::make_agent.
  std::vector<std::shared_ptr<CodeListener>> listeners;
  /// Null: source locations are line numbers of a file with the module's name.
  std::shared_ptr<const SourceMap> sources;
  bool raw_names = false;  ///< mangled names of functions are shown as they are
};

/// How a call ended: with values, or with a trap.
struct CallOutcome {
  image::TrapCode trap = image::TrapCode::None;
  std::vector<ir::DataValue> values;
};

/// One thread at a time until finalised; then any number may call.
class JitModule {
 public:
  /// @error Unsupported: Hoist has no code generator for this machine, or the CPU is too old.
  static Result<std::unique_ptr<JitModule>> create(const JitOptions& options);
  ~JitModule();
  JitModule(const JitModule&) = delete;
  JitModule& operator=(const JitModule&) = delete;

  /// Before the first function that uses it. `%name` in the IR is then this address.
  void define_host_symbol(std::string name, const void* address);

  /// Before `finalise`. `symbol tls %name` in the IR is then the variable that the calling thread
  /// has at `address`, and in other threads theirs.
  /// @error BadArgument: no module of the process has a thread-local variable there.
  Result<void> define_thread_local(std::string name, const void* address);

  /// What a function of the module, or one that was inlined into it, is called for people; without
  /// it, its name in the IR. Until finalised.
  void show_as(const ir::ExternalName& name, std::string shown);

  /// For the functions defined from now on.
  void set_opt_level(unsigned level);

  /// Compiles `func` (a copy of it).
  /// @error Invalid: the verifier refuses it; Unsupported: the target does; BadArgument: a second
  ///        function of the same name, or the module is finalised.
  Result<void> define(const ir::Function& func);

  /// Links and makes executable. @error Link: names a function that nothing defines.
  Result<void> finalise();

  /// Entry of a function in its own calling convention, or null.
  const void* address(const ir::ExternalName& name) const;

  /// Calls a function with scalar arguments. Traps come back as values; other faults are not
  /// caught, and neither is running out of stack in a function without a stack limit.
  /// @error BadArgument: no such function, or the arguments are not those of its signature.
  Result<CallOutcome> call(const ir::ExternalName& name, std::span<const ir::DataValue> args) const;

  /// The code with its tables (patchable calls, debug tags, exceptions …); null until finalised.
  const jit::LoadedImage* code() const;
  /// Replaces patchable calls (numbers of code()->image().tables().patch_sites) by no-operations,
  /// or puts them back. No other thread may be in the module. Errors as
  /// jit::LoadedImage::set_patch_sites.
  Result<void> set_patchable_calls(std::span<const std::uint32_t> calls, bool active);
  /// See jit::LoadedImage::register_frames.
  Result<void> register_frames();

 private:
  struct State;
  explicit JitModule(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hoist::native
