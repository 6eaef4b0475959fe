// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Compiling and linking; calls are in jit_call.cpp.
#include "native/jit_module.hpp"

#include "asm/x64/regs.hpp"
#include "base/bits.hpp"
#include "codegen/compile.hpp"
#include "ir/text/printer.hpp"
#include "isa/registry.hpp"
#include "native/jit_state.hpp"
#include "native/libcalls.hpp"
#include "platform/cpu_features.hpp"

namespace hoist::native {

using codegen::CompiledCode;
using image::FuncKey;
using image::FuncKind;
using image::ImageBuilder;

namespace {

/// The CPU's features as the x86-64 target counts them.
isa::FeatureSet host_features() {
  const platform::CpuFeatures cpu = platform::detect_cpu_features();
  isa::FeatureSet features = isa::baseline_features("x86_64");
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, avx)        \
  if (cpu.has(platform::CpuFeature::name)) {                      \
    features |= masm::x64::feature_bit(masm::x64::Feature::name); \
  }
#include "platform/cpu_features.def"
  return features;
}

std::string name_text(const ir::ExternalName& name) {
  base::Printer out;
  out << name;
  return out.take();
}

}  // namespace

Result<std::unique_ptr<JitModule>> JitModule::create(const JitOptions& options) {
  HOIST_TRY_VOID(platform::check_cpu_baseline(platform::detect_cpu_features()));
  const std::string_view target_name = platform::cpu_architecture();
  const isa::FeatureSet features =
      options.baseline_cpu ? isa::baseline_features(target_name) : host_features();
  HOIST_TRY(std::unique_ptr<codegen::Target> target, isa::make_target(target_name, features));
  auto state = std::make_unique<State>(options, std::move(target));
  return std::unique_ptr<JitModule>(new JitModule(std::move(state)));
}

JitModule::JitModule(std::unique_ptr<State> state) : state_(std::move(state)) {}
JitModule::~JitModule() = default;

void JitModule::define_host_symbol(std::string name, const void* address) {
  state_->host_symbols["%" + std::move(name)] = address;
}

const void* JitModule::State::host_symbol(const ir::ExternalName& name) const {
  if (const auto found = host_symbols.find(name_text(name)); found != host_symbols.end()) {
    return found->second;
  }
  return name.kind == ir::ExternalName::Kind::Testcase ? find_libcall(name.text) : nullptr;
}

JitModule::State::Entry& JitModule::State::entry(const ir::ExternalName& name) {
  const auto [found, is_new] = numbers.try_emplace(name_text(name), entries.size());
  if (is_new) {
    Entry& entry = entries.emplace_back();
    entry.name = found->first;
    entry.key = FuncKey(FuncKind::User, 0, static_cast<std::uint32_t>(entries.size() - 1));
  }
  return entries[found->second];
}

/// Everything defined in the module is in one image, so near; host functions may be far.
void JitModule::State::set_distances(ir::Function& func) const {
  for (ir::ExtFunc& ext : func.ext_funcs) ext.colocated = host_symbol(ext.name) == nullptr;
  for (ir::GlobalValueData& global : func.global_values) {
    if (global.kind == ir::GlobalValueData::Kind::Symbol) {
      global.colocated = host_symbol(global.name) == nullptr;
    }
  }
}

/// Host addresses are written into the code; the rest is left to the image builder.
Result<std::vector<ImageBuilder::Reloc>> JitModule::State::resolve(CompiledCode& compiled) {
  std::vector<ImageBuilder::Reloc> relocs;
  for (const CompiledCode::Reloc& reloc : compiled.relocs) {
    const ir::ExternalName& name = compiled.symbols[reloc.symbol];
    if (reloc.kind == CompiledCode::RelocKind::Abs64) {
      const void* address = host_symbol(name);
      if (address == nullptr) {
        return Error(ErrorKind::Link, "unknown host symbol " + name_text(name));
      }
      const auto value =
          reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uint64_t>(reloc.addend);
      base::store_le<std::uint64_t>(&compiled.bytes[reloc.offset], value);
      continue;
    }
    if (!base::fits_i32(reloc.addend)) {
      return Error(ErrorKind::Limit, "an offset beyond 2 GiB from " + name_text(name));
    }
    ImageBuilder::Reloc out;
    out.offset = reloc.offset;
    out.target = entry(name).key;
    out.addend = static_cast<std::int32_t>(reloc.addend);
    relocs.push_back(out);
  }
  return relocs;
}

Result<void> JitModule::State::add(FuncKey key) {
  HOIST_TRY(const std::vector<ImageBuilder::Reloc> relocs, resolve(code));
  image::FunctionEntry function;
  function.key = key;
  function.size = static_cast<std::uint32_t>(code.bytes.size());
  function.prologue_end = code.prologue_end;
  function.has_frame = code.has_frame;
  std::vector<image::TrapEntry> traps;
  for (const CompiledCode::TrapSite& site : code.traps) traps.push_back({site.offset, site.code});
  std::vector<image::AddressEntry> addresses;
  for (const CompiledCode::LocEntry& loc : code.locs) addresses.push_back({loc.offset, loc.loc});
  builder.add_function(function, code.align, code.bytes, relocs, traps, addresses);
  return {};
}

Result<void> JitModule::define(const ir::Function& func) {
  State& s = *state_;
  if (s.loaded != nullptr) {
    return Error(ErrorKind::BadArgument, "the module is finalised: no more functions");
  }
  if (s.host_symbol(func.name) != nullptr) {
    return Error(ErrorKind::BadArgument, name_text(func.name) + " is a host symbol");
  }
  if (s.entry(func.name).is_defined) {
    return Error(ErrorKind::BadArgument, "a second function " + name_text(func.name));
  }
  ir::Function copy = func;
  s.set_distances(copy);
  codegen::CompileOptions options;
  options.opt_level = s.options.opt_level;
  options.verify = s.options.verify;
  options.check_allocation = s.options.check_allocation;
  HOIST_TRY_VOID(s.context.compile(copy, options, s.code));
  HOIST_TRY_VOID(s.add(s.entry(func.name).key));
  State::Entry& entry = s.entry(func.name);
  entry.is_defined = true;
  entry.signature = func.signature;
  return {};
}

Result<void> JitModule::finalise() {
  State& s = *state_;
  if (s.loaded != nullptr) return {};
  for (const State::Entry& entry : s.entries) {
    if (!entry.is_defined) return Error(ErrorKind::Link, "unknown function " + entry.name);
  }
  for (State::Entry& entry : s.entries) {
    const auto known = std::ranges::find(s.entry_signatures, entry.signature);
    entry.trampoline = static_cast<std::uint32_t>(known - s.entry_signatures.begin());
    if (known != s.entry_signatures.end()) continue;
    HOIST_TRY_VOID(s.target->entry_trampoline(entry.signature, false, s.code));
    HOIST_TRY_VOID(s.add(FuncKey(FuncKind::EntryTrampoline, 0, entry.trampoline)));
    s.entry_signatures.push_back(entry.signature);
  }
  if (!s.builder.fits()) return Error(ErrorKind::Limit, "more than 2 GiB of code");
  HOIST_TRY(s.loaded, jit::LoadedImage::load(s.builder.finish(), this));
  return {};
}

const void* JitModule::address(const ir::ExternalName& name) const {
  const auto found = state_->numbers.find(name_text(name));
  if (state_->loaded == nullptr || found == state_->numbers.end()) return nullptr;
  return state_->loaded->address(state_->entries[found->second].key);
}

}  // namespace hoist::native
