// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/module.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/impl.hpp"
#include "platform/clocks.hpp"
#include "platform/embedder_call.hpp"
#include "platform/files.hpp"
#include "runtime/objects/types.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/feature_list.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist {

using platform::Clock;
using platform::now_ns;

bool api::spawns_threads(const wasm::Module& module) {
  return std::any_of(module.imports.begin(), module.imports.end(), [](const wasm::Import& import) {
    return import.module == "wasi" && import.field == "thread-spawn";
  });
}

runtime::CompileRequest api::compile_request(const wasm::Module& module,
                                             const CompileOptions& options,
                                             const CompileOptions*& context) {
  context = &options;
  runtime::CompileRequest request;
  request.interrupts = spawns_threads(module);
  if (options.on_progress == nullptr) return request;
  request.progress.context = &context;
  request.progress.on_progress = [](void* the_context, std::uint32_t done,
                                    std::uint32_t functions) {
    const CompileOptions& to = **static_cast<const CompileOptions**>(the_context);
    platform::embedder_call([&] { to.on_progress(to.context, {done, functions}); });
  };
  return request;
}

/// `begun`: when the work on this module began, for the statistics.
static Result<Module> compile_bytes(const Engine& engine, wasm::ModuleBytes bytes,
                                    const CompileOptions& options, std::uint64_t begun) {
  if (engine.impl() == nullptr) return api::moved_from("engine");
  const std::shared_ptr<runtime::Engine>& inner = engine.impl()->engine;
  HOIST_TRY_VOID(api::check_cpu(inner->compiler().settings().cpu_features));
  CompileStats stats;
  stats.module_bytes = bytes.span().size();
  HOIST_TRY(wasm::Module module, wasm::decode(std::move(bytes), engine.impl()->features));
  HOIST_TRY_VOID(wasm::validate_module(module));
  const std::uint64_t decoded = now_ns(Clock::Monotonic);
  stats.decode_ns = decoded - begun;
  stats.functions = module.num_defined_functions();
  stats.code_section_bytes = module.code_section.size;

  runtime::CompileReport report;
  const CompileOptions* context = nullptr;
  const runtime::CompileRequest request = api::compile_request(module, options, context);
  HOIST_TRY(image::Image image, inner->compiler().compile_module(module, request, &report));
  const std::uint64_t compiled = now_ns(Clock::Monotonic);
  stats.compile_ns = compiled - decoded;
  stats.compile_cpu_ns = report.cpu_ns;
  stats.translate_cpu_ns = report.translate_ns;
  stats.optimise_cpu_ns = report.optimise_ns;
  stats.lower_cpu_ns = report.lower_ns;
  stats.regalloc_cpu_ns = report.regalloc_ns;
  stats.emit_cpu_ns = report.emit_ns;
  stats.link_cpu_ns = report.link_ns;
  stats.from_cache = report.from_cache;
  stats.machine_code_bytes = image.text().size();

  HOIST_TRY(auto code, runtime::ModuleCode::load(inner, std::move(module), std::move(image)));
  stats.load_ns = now_ns(Clock::Monotonic) - compiled;
  stats.peak_memory_bytes = platform::peak_resident_bytes();
  return Module(
      std::make_shared<detail::ModuleImpl>(detail::ModuleImpl{engine, std::move(code), stats}));
}

static wasm::ModuleBytes copy_of(std::span<const std::uint8_t> bytes) {
  return wasm::ModuleBytes::own(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

Result<Module> Module::compile(const Engine& engine, std::span<const std::uint8_t> bytes,
                               const CompileOptions& options) noexcept {
  const std::uint64_t begun = now_ns(Clock::Monotonic);
  return compile_bytes(engine, copy_of(bytes), options, begun);
}

Result<Module> Module::compile_borrowed(const Engine& engine, std::span<const std::uint8_t> bytes,
                                        const CompileOptions& options) noexcept {
  const std::uint64_t begun = now_ns(Clock::Monotonic);
  return compile_bytes(engine, wasm::ModuleBytes::borrow(bytes), options, begun);
}

Result<Module> Module::from_text(const Engine& engine, std::string_view text,
                                 const CompileOptions& options) noexcept {
  const std::uint64_t begun = now_ns(Clock::Monotonic);
  HOIST_TRY(std::vector<std::uint8_t> bytes, wasm::assemble_wat(text));
  return compile_bytes(engine, wasm::ModuleBytes::own(std::move(bytes)), options, begun);
}

/// Never loaded unasked: an image is code that nothing holds back.
static Error is_an_image() {
  return {ErrorKind::BadArgument, "it is an image, not WebAssembly: it has to be loaded as one"};
}

static std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Module> Module::load(const Engine& engine, std::span<const std::uint8_t> bytes,
                            const CompileOptions& options) noexcept {
  if (wasm::has_magic(bytes)) return compile(engine, bytes, options);
  if (is_image(bytes)) return is_an_image();
  return from_text(engine, as_text(bytes), options);
}

Result<Module> Module::from_file(const Engine& engine, const std::string& path,
                                 const CompileOptions& options) noexcept {
  HOIST_TRY(std::vector<std::uint8_t> bytes, platform::read_file(path, wasm::kMaxModuleBytes));
  if (is_image(bytes)) return is_an_image();
  if (!wasm::has_magic(bytes)) return from_text(engine, as_text(bytes), options);
  const std::uint64_t begun = now_ns(Clock::Monotonic);
  return compile_bytes(engine, wasm::ModuleBytes::own(std::move(bytes)), options, begun);
}

Result<void> Module::validate(std::span<const std::uint8_t> bytes) noexcept {
  return validate(bytes, {});
}

Result<void> Module::validate(std::span<const std::uint8_t> bytes,
                              std::string_view features) noexcept {
  HOIST_TRY(const wasm::Features parsed, wasm::parse_features(features));
  HOIST_TRY(const wasm::Module module, wasm::decode(wasm::ModuleBytes::borrow(bytes), parsed));
  return wasm::validate_all(module);
}

Module::Module(std::shared_ptr<detail::ModuleImpl> impl) noexcept : impl_(std::move(impl)) {}
Module::Module(const Module&) noexcept = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(const Module&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

Engine Module::engine() const noexcept {
  return impl_ == nullptr ? Engine(nullptr) : impl_->engine;
}

std::vector<ImportType> Module::imports() const noexcept {
  if (impl_ == nullptr) return {};
  const wasm::Module& module = impl_->code->module();
  std::vector<ImportType> out;
  out.reserve(module.imports.size());
  for (const wasm::Import& import : module.imports) {
    out.push_back({std::string(import.module), std::string(import.field),
                   runtime::type_of(module, import.kind, import.index)});
  }
  return out;
}

std::vector<ExportType> Module::exports() const noexcept {
  if (impl_ == nullptr) return {};
  const wasm::Module& module = impl_->code->module();
  std::vector<ExportType> out;
  out.reserve(module.exports.size());
  for (const wasm::Export& item : module.exports) {
    out.push_back({std::string(item.name), runtime::type_of(module, item.kind, item.index)});
  }
  return out;
}

std::optional<ExternType> Module::find_export(std::string_view name) const noexcept {
  const wasm::Export* item = impl_ == nullptr ? nullptr : impl_->code->find_export(name);
  if (item == nullptr) return std::nullopt;
  return runtime::type_of(impl_->code->module(), item->kind, item->index);
}

std::string_view Module::name() const noexcept {
  return impl_ == nullptr ? std::string_view() : impl_->code->names().module();
}
bool Module::has_start() const noexcept {
  return impl_ != nullptr && impl_->code->module().start.has_value();
}

std::vector<std::span<const std::uint8_t>> Module::custom_sections(
    std::string_view name) const noexcept {
  if (impl_ == nullptr) return {};
  const wasm::Module& module = impl_->code->module();
  std::vector<std::span<const std::uint8_t>> out;
  for (const wasm::CustomSection& section : module.customs) {
    if (section.name == name) out.push_back(module.bytes_of(section.content));
  }
  return out;
}

const CompileStats& Module::stats() const noexcept {
  static constexpr CompileStats kNone;
  return impl_ == nullptr ? kNone : impl_->stats;
}

}  // namespace hoist
