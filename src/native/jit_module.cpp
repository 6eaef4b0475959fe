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
Result<isa::FeatureSet> host_features(std::string_view without) {
  const platform::CpuFeatures cpu = platform::detect_cpu_features();
  isa::FeatureSet features = isa::baseline_features("x86_64");
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, saved)      \
  if (cpu.has(platform::CpuFeature::name)) {                      \
    features |= masm::x64::feature_bit(masm::x64::Feature::name); \
  }
#include "platform/cpu_features.def"
  HOIST_TRY(const isa::FeatureSet removed, isa::features_by_name("x86_64", without));
  return features & ~removed;
}

std::string name_text(const ir::ExternalName& name) {
  base::Printer out;
  out << name;
  return out.take();
}

/// The name of the entry that holds the index of a thread-local variable; no function has it.
std::string thread_local_entry(const std::string& printed) {
  return "thread-local variable " + printed;
}

}  // namespace

Result<std::unique_ptr<JitModule>> JitModule::create(const JitOptions& options) {
  HOIST_TRY_VOID(platform::check_cpu_baseline(platform::detect_cpu_features()));
  const std::string_view target_name = platform::cpu_architecture();
  HOIST_TRY(isa::FeatureSet features, host_features(options.without_features));
  if (options.baseline_cpu) features = isa::baseline_features(target_name);
  HOIST_TRY(std::unique_ptr<codegen::Target> target,
            isa::make_target(target_name, features, options.pinned_register));
  auto state = std::make_unique<State>(options, std::move(target));
  return std::unique_ptr<JitModule>(new JitModule(std::move(state)));
}

JitModule::JitModule(std::unique_ptr<State> state) : state_(std::move(state)) {}
JitModule::~JitModule() = default;

void JitModule::define_host_symbol(std::string name, const void* address) {
  state_->host_symbols["%" + std::move(name)] = address;
}

Result<void> JitModule::define_thread_local(std::string name, const void* address) {
  const std::optional<platform::ThreadLocalIndex> index = platform::thread_local_index(address);
  if (!index) {
    return Error(ErrorKind::BadArgument, "no thread-local variable at the address of %" + name);
  }
  state_->thread_locals[thread_local_entry("%" + name)] = *index;
  return {};
}

const void* JitModule::State::host_symbol(const ir::ExternalName& name) const {
  return host_symbol(name_text(name));
}

const void* JitModule::State::host_symbol(const std::string& printed) const {
  if (const auto found = host_symbols.find(printed); found != host_symbols.end()) {
    return found->second;
  }
  return printed.starts_with('%') ? find_libcall(std::string_view(printed).substr(1)) : nullptr;
}

std::string JitModule::State::printed(const ir::ExternalName& name) {
  return name_text(name);
}

JitModule::State::Entry& JitModule::State::entry(const std::string& printed) {
  const auto [found, is_new] = numbers.try_emplace(printed, entries.size());
  if (is_new) {
    Entry& entry = entries.emplace_back();
    entry.name = found->first;
    entry.key = FuncKey(FuncKind::User, 0, static_cast<std::uint32_t>(entries.size() - 1));
  }
  return entries[found->second];
}

/// Everything defined in the module is in one image, so near; host functions may be far.
void JitModule::State::set_distances(ir::Function& func) const {
  // Patchable calls are near whatever they call; see add_host_stub.
  for (ir::ExtFunc& ext : func.ext_funcs) {
    ext.colocated = ext.patchable || host_symbol(ext.name) == nullptr;
  }
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
    const bool is_index = reloc.kind == CompiledCode::RelocKind::TlsIndex32;
    ImageBuilder::Reloc out;
    out.offset = reloc.offset;
    out.target = (is_index ? entry(thread_local_entry(name_text(name))) : entry(name)).key;
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
  function.has_frame = code.has_frame ? 1 : 0;
  function.code_size = code.code_size;
  std::vector<image::TrapEntry> traps;
  for (const CompiledCode::TrapSite& site : code.traps) traps.push_back({site.offset, site.code});
  std::vector<image::AddressEntry> addresses;
  for (const CompiledCode::LocEntry& loc : code.locs) addresses.push_back({loc.offset, loc.loc});
  name_inlined();
  const std::uint32_t start =
      builder.add_function(function, code.align, code.bytes, relocs, traps, addresses);
  builder.add_tables(start, code.tables.unwind, code.tables.is_plain() ? nullptr : &code.tables);
  return {};
}

void JitModule::State::name_inlined() {
  for (std::size_t i = 0; i < code.inline_callees.size(); ++i) {
    const std::string name = name_text(code.inline_callees[i]);
    FuncKey& key = code.tables.inline_frames[i].callee;
    if (const auto found = numbers.find(name); found != numbers.end()) {
      key = entries[found->second].key;
      continue;
    }
    const auto [at, is_new] =
        inlined_numbers.try_emplace(name, static_cast<std::uint32_t>(inlined.size()));
    if (is_new) inlined.push_back(name);
    key = FuncKey(FuncKind::User, kInlinedOnly, at->second);
  }
}

/// A jump to a host function that changes no register: what a near call to it calls.
Result<void> JitModule::State::add_host_stub(FuncKey key, const void* address) {
  constexpr std::uint8_t kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip + 0]
  code.clear();
  code.bytes.assign(std::begin(kJump), std::end(kJump));
  code.code_size = sizeof kJump;
  code.has_frame = false;
  code.bytes.resize(sizeof kJump + sizeof(std::uint64_t));
  base::store_le(&code.bytes[sizeof kJump],
                 std::uint64_t{reinterpret_cast<std::uintptr_t>(address)});
  return add(key);
}

/// Two words that __tls_get_addr reads.
Result<void> JitModule::State::add_thread_local(FuncKey key, platform::ThreadLocalIndex index) {
  code.clear();
  code.bytes.resize(2 * sizeof(std::uint64_t));
  code.code_size = static_cast<std::uint32_t>(code.bytes.size());
  code.has_frame = false;
  base::store_le(&code.bytes[0], index.module);
  base::store_le(&code.bytes[sizeof(std::uint64_t)], index.offset);
  return add(key);
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

void JitModule::show_as(const ir::ExternalName& name, std::string shown) {
  if (state_->loaded == nullptr) state_->shown_names[name_text(name)] = std::move(shown);
}

void JitModule::set_opt_level(unsigned level) {
  state_->options.opt_level = level;
}

Result<void> JitModule::finalise() {
  State& s = *state_;
  if (s.loaded != nullptr) return {};
  for (const State::Entry& entry : s.entries) {
    if (entry.is_defined) continue;
    if (const auto found = s.thread_locals.find(entry.name); found != s.thread_locals.end()) {
      HOIST_TRY_VOID(s.add_thread_local(entry.key, found->second));
      continue;
    }
    const void* host = s.host_symbol(entry.name);
    if (host == nullptr && entry.name.starts_with(thread_local_entry({}))) {
      return Error(ErrorKind::Link, "unknown " + entry.name);
    }
    if (host == nullptr) return Error(ErrorKind::Link, "unknown function " + entry.name);
    HOIST_TRY_VOID(s.add_host_stub(entry.key, host));
  }
  for (State::Entry& entry : s.entries) {
    if (!entry.is_defined) continue;
    const auto known = std::ranges::find(s.entry_signatures, entry.signature);
    entry.trampoline = static_cast<std::uint32_t>(known - s.entry_signatures.begin());
    if (known != s.entry_signatures.end()) continue;
    HOIST_TRY_VOID(s.target->entry_trampoline(entry.signature, false, s.code));
    HOIST_TRY_VOID(s.add(FuncKey(FuncKind::EntryTrampoline, 0, entry.trampoline)));
    s.entry_signatures.push_back(entry.signature);
  }
  if (!s.builder.fits()) return Error(ErrorKind::Limit, "more than 2 GiB of code");
  HOIST_TRY(s.loaded, jit::LoadedImage::load(s.builder.finish(), &s.owner));
  jit::tell_loaded(s.options.listeners, s.owner, *s.loaded);
  return {};
}

const void* JitModule::address(const ir::ExternalName& name) const {
  const auto found = state_->numbers.find(name_text(name));
  if (state_->loaded == nullptr || found == state_->numbers.end()) return nullptr;
  return state_->loaded->address(state_->entries[found->second].key);
}

const jit::LoadedImage* JitModule::code() const {
  return state_->loaded.get();
}

Result<void> JitModule::set_patchable_calls(std::span<const std::uint32_t> calls, bool active) {
  if (state_->loaded == nullptr) {
    return Error(ErrorKind::BadArgument, "the module is not finalised: it has no calls to patch");
  }
  return state_->loaded->set_patch_sites(calls, active);
}

Result<void> JitModule::register_frames() {
  if (state_->loaded == nullptr) {
    return Error(ErrorKind::BadArgument, "the module is not finalised: it has no frames");
  }
  return state_->loaded->register_frames();
}

}  // namespace hoist::native
