// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What a JitModule is made of.

#include <algorithm>
#include <deque>
#include <map>

#include "codegen/compile.hpp"
#include "image/image_builder.hpp"
#include "jit/code_events.hpp"
#include "jit/loaded_image.hpp"
#include "native/jit_module.hpp"
#include "platform/thread_locals.hpp"

namespace hoist::native {

/// Keys of functions that occur in the module only inlined: their number in State::inlined.
inline constexpr std::uint32_t kInlinedOnly = 1;

struct JitModule::State {
  /// The module's code for listeners. Functions of the module have keys of kind User.
  class Owner final : public jit::CodeOwner {
   public:
    explicit Owner(const State& state);
    std::string module_name() const override;
    std::string name(image::FuncKey key) const override;
    CodeKind kind(image::FuncKey key) const override;
    Place place(std::uint32_t source) const override;

   private:
    std::string shown(const std::string& name) const;
    const State& state_;
  };

  /// A function of the module: defined, or so far only called.
  struct Entry {
    std::string name;
    image::FuncKey key;
    bool is_defined = false;
    ir::Signature signature;
    std::uint32_t trampoline = 0;
  };

  State(const JitOptions& the_options, std::unique_ptr<codegen::Target> the_target)
      : options(the_options), target(std::move(the_target)), context(*target), owner(*this) {}
  ~State();

  const void* host_symbol(const ir::ExternalName& name) const;
  const void* host_symbol(const std::string& printed) const;
  Entry& entry(const ir::ExternalName& name) { return entry(printed(name)); }
  Entry& entry(const std::string& printed);
  static std::string printed(const ir::ExternalName& name);
  void set_distances(ir::Function& func) const;
  Result<std::vector<image::ImageBuilder::Reloc>> resolve(codegen::CompiledCode& code);
  /// Adds `code`.
  Result<void> add(image::FuncKey key);
  /// The keys of inlined functions, which the compiler knows by name only.
  void name_inlined();
  Result<void> add_host_stub(image::FuncKey key, const void* address);
  Result<void> add_thread_local(image::FuncKey key, platform::ThreadLocalIndex index);

  JitOptions options;
  std::unique_ptr<codegen::Target> target;
  codegen::CompileContext context;
  codegen::CompiledCode code;
  std::map<std::string, const void*> host_symbols;  // by printed name
  std::map<std::string, std::size_t> numbers;       // of entries, by printed name
  std::deque<Entry> entries;
  std::map<std::string, platform::ThreadLocalIndex> thread_locals;  // by the names of their entries
  std::vector<ir::Signature> entry_signatures;
  std::vector<std::string> inlined;  // printed names
  std::map<std::string, std::uint32_t> inlined_numbers;
  std::map<std::string, std::string> shown_names;  // by printed name
  Owner owner;
  image::ImageBuilder builder;
  std::unique_ptr<jit::LoadedImage> loaded;
};

}  // namespace hoist::native
