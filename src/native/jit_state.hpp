// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What a JitModule is made of.

#include <algorithm>
#include <deque>
#include <map>

#include "codegen/compile.hpp"
#include "image/image_builder.hpp"
#include "jit/loaded_image.hpp"
#include "native/jit_module.hpp"

namespace hoist::native {

struct JitModule::State {
  /// A function of the module: defined, or so far only called.
  struct Entry {
    std::string name;
    image::FuncKey key;
    bool is_defined = false;
    ir::Signature signature;
    std::uint32_t trampoline = 0;
  };

  State(const JitOptions& the_options, std::unique_ptr<codegen::Target> the_target)
      : options(the_options), target(std::move(the_target)), context(*target) {}

  const void* host_symbol(const ir::ExternalName& name) const;
  const void* host_symbol(const std::string& printed) const;
  Entry& entry(const ir::ExternalName& name);
  void set_distances(ir::Function& func) const;
  Result<std::vector<image::ImageBuilder::Reloc>> resolve(codegen::CompiledCode& code);
  /// Adds `code`.
  Result<void> add(image::FuncKey key);
  void name_inlined();
  Result<void> add_host_stub(image::FuncKey key, const void* address);

  JitOptions options;
  std::unique_ptr<codegen::Target> target;
  codegen::CompileContext context;
  codegen::CompiledCode code;
  std::map<std::string, const void*> host_symbols;  // by printed name
  std::map<std::string, std::size_t> numbers;       // of entries, by printed name
  std::deque<Entry> entries;
  std::vector<ir::Signature> entry_signatures;
  image::ImageBuilder builder;
  std::unique_ptr<jit::LoadedImage> loaded;
};

}  // namespace hoist::native
