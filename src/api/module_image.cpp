// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules as images: Module::serialize and its way back.
#include <fmt/core.h>

#include <cstring>
#include <utility>

#include "api/impl.hpp"
#include "image/image_file.hpp"
#include "image/image_open.hpp"
#include "platform/clocks.hpp"
#include "platform/cpu_features.hpp"
#include "platform/pages.hpp"
#include "platform/private_dir.hpp"
#include "platform/threads.hpp"
#include "runtime/engine/image_check.hpp"
#include "runtime/engine/symbol_names.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/feature_list.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/used_features.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist {

using platform::Clock;
using platform::now_ns;

static const char* on_off(bool on) {
  return on ? "on" : "off";
}

Result<void> api::check_cpu(std::uint64_t features) {
  const auto missing =
      platform::CpuFeatures::from_bits(features & ~platform::detect_cpu_features().bits());
  if (missing.bits() == 0) return {};
  return Error(ErrorKind::Unsupported,
               fmt::format("the code needs CPU features that this machine lacks: {} (compile it "
                           "for the CPU \"baseline\")",
                           missing.to_string()));
}

/// Whether code made with `image` runs in an engine whose code is made with `engine`.
static Result<void> check_settings(const image::CodeSettings& image,
                                   const image::CodeSettings& engine) {
  HOIST_TRY_VOID(api::check_cpu(image.cpu_features));
  struct Option {  // of the command
    const char* off;
    const char* on;
    const char* as(bool wanted) const { return wanted ? on : off; }
  };
  struct Setting {
    const char* name;
    bool image;
    bool engine;
    const char* member;  // of Config
    Option compile;
    Option run;
  };
  static constexpr Option kSignals{"--signals=off", "--signals=on"};
  static constexpr Option kBounds{"--bounds-checks=auto", "--bounds-checks=explicit"};
  static constexpr Option kFuel{"no --fuel", "--fuel"};
  static constexpr Option kInterrupts{"", "--interruptible"};
  static constexpr Option kTimeout{"no --timeout", ""};
  static constexpr Option kNan{"--nan=any", "--nan=canonical"};
  static constexpr Option kRelaxed{"--relaxed-simd=fast", "--relaxed-simd=deterministic"};
  // Code that looks at more than the engine asks for runs in it.
  const Setting settings[] = {
      {"checks for interruption", image.is_interruptible() || !engine.is_interruptible(), true,
       "interruptible", kInterrupts, kTimeout},
      {"epoch checks", image.epoch || !engine.epoch, true, "epoch", {"", "--epoch"}, kTimeout},
      {"signals", image.signals, engine.signals, "signals", kSignals, kSignals},
      {"explicit bounds checks", image.explicit_bounds, engine.explicit_bounds,
       "explicit_bounds_checks", kBounds, kBounds},
      {"fuel", image.fuel, engine.fuel, "fuel", kFuel, kFuel},
      {"canonical NaNs", image.canonical_nans, engine.canonical_nans, "canonical_nans", kNan, kNan},
      {"deterministic relaxed SIMD", image.deterministic_relaxed, engine.deterministic_relaxed,
       "deterministic_relaxed_simd", kRelaxed, kRelaxed},
  };
  for (const Setting& setting : settings) {
    if (setting.image == setting.engine) continue;
    return Error(
        ErrorKind::Unsupported,
        fmt::format("the image was compiled with {} {}, the engine has {}: both must be the same "
                    "(hoist compile with {}, or hoist run with {}; in the API Config::{})",
                    setting.name, on_off(setting.image), on_off(setting.engine),
                    setting.compile.as(setting.engine), setting.run.as(setting.image),
                    setting.member));
  }
  return {};
}

/// Bodies of images are not validated again: `accepted` is what they were accepted with. What the
/// module uses of that matters only where the engine allows less.
static Result<void> check_features(const wasm::Module& module, std::uint64_t accepted,
                                   wasm::Features allowed) {
  const std::uint64_t refused = ~wasm::bits_of(allowed);
  if ((accepted & refused) == 0) return {};
  const wasm::Features features = wasm::features_of_bits(accepted);
  if (wasm::bits_of(features) != accepted)
    return Error(ErrorKind::Malformed, "damaged image: it has unknown features");
  const std::uint64_t missing =
      wasm::bits_of(wasm::used_features(module.bytes, features)) & refused;
  if (missing == 0) return {};
  return Error(ErrorKind::Unsupported,
               fmt::format("the image's module uses features that the engine has off: {} (hoist "
                           "run with --features; in the API Config::features)",
                           wasm::switchable_names(missing)));
}

static Error damaged_module(const Error& reason) {
  return {ErrorKind::Malformed,
          fmt::format("damaged image: its module is not valid: {}", reason.message())};
}

static Result<Module> load_image(const Engine& engine, std::span<const std::uint8_t> bytes,
                                 std::shared_ptr<const void> owner, std::uint64_t begun) {
  if (engine.impl() == nullptr) return api::moved_from("engine");
  const std::shared_ptr<runtime::Engine>& inner = engine.impl()->engine;
  image::OpenOptions options;
  options.target = platform::cpu_architecture();
  options.is_mapped = true;
  HOIST_TRY(image::Image image, image::open_image(bytes, owner, options));
  HOIST_TRY_VOID(check_settings(image.settings(), inner->compiler().settings()));
  // Whoever made the image has accepted the module's features.
  auto module = wasm::decode(wasm::ModuleBytes(owner, image.section(image::kModuleSection)),
                             wasm::all_features());
  if (!module) return damaged_module(module.error());
  // Entries of a cache do not say it.
  const std::uint64_t known = image.language_features();
  HOIST_TRY_VOID(check_features(*module, known != 0 ? known : wasm::bits_of(wasm::all_features()),
                                engine.impl()->features));
  if (auto valid = wasm::validate_module(*module); !valid) return damaged_module(valid.error());
  HOIST_TRY_VOID(runtime::check_image(*module, image));

  CompileStats stats;
  const std::uint64_t decoded = now_ns(Clock::Monotonic);
  stats.from_cache = true;
  stats.decode_ns = decoded - begun;
  stats.module_bytes = module->bytes.span().size();
  stats.functions = module->num_defined_functions();
  stats.code_section_bytes = module->code_section.size;
  stats.machine_code_bytes = image.text().size();
  HOIST_TRY(auto code, runtime::ModuleCode::load(inner, *std::move(module), std::move(image)));
  stats.load_ns = now_ns(Clock::Monotonic) - decoded;
  stats.peak_memory_bytes = platform::peak_resident_bytes();
  return Module(
      std::make_shared<detail::ModuleImpl>(detail::ModuleImpl{engine, std::move(code), stats}));
}

Result<Module> Module::deserialize(const Engine& engine,
                                   std::span<const std::uint8_t> image) noexcept {
  const std::uint64_t begun = now_ns(Clock::Monotonic);
  if (image.empty()) return Error(ErrorKind::Malformed, "not a Hoist image: it is empty");
  // Into pages of its own, so that the text can become executable where it lies.
  HOIST_TRY(platform::PageRegion pages, platform::PageRegion::reserve(image.size()));
  HOIST_TRY_VOID(pages.protect(0, pages.bytes(), platform::Access::ReadWrite));
  std::memcpy(pages.base(), image.data(), image.size());
  HOIST_TRY_VOID(pages.protect(0, pages.bytes(), platform::Access::Read));
  auto owner = std::make_shared<const platform::PageRegion>(std::move(pages));
  const std::span<const std::uint8_t> bytes(owner->base(), image.size());
  return load_image(engine, bytes, std::move(owner), begun);
}

Result<Module> Module::deserialize_file(const Engine& engine, const std::string& path) noexcept {
  const std::uint64_t begun = now_ns(Clock::Monotonic);
  HOIST_TRY(platform::MappedFile mapped, platform::MappedFile::open(path));
  auto owner = std::make_shared<const platform::MappedFile>(std::move(mapped));
  const std::span<const std::uint8_t> bytes(owner->data(), owner->size());
  return load_image(engine, bytes, std::move(owner), begun);
}

bool Module::is_image(std::span<const std::uint8_t> bytes) noexcept {
  return image::has_elf_magic(bytes);
}

/// `features`: what the module was accepted with.
static std::vector<std::uint8_t> file_of(const wasm::Module& module, const image::Image& image,
                                         std::uint64_t features) {
  const std::vector<image::ImageSymbol> symbols = runtime::image_symbols(module, image);
  image::ImageFileParts parts;
  parts.module = module.bytes.span();
  parts.symbols = symbols;
  parts.language_features = features;
  return image::image_file(image, parts);
}

Result<std::vector<std::uint8_t>> Module::serialize() const noexcept {
  if (impl_ == nullptr) return api::moved_from("module");
  const wasm::Module& module = impl_->code->module();
  const image::Image& image = impl_->code->code().image();
  // One that came from a file may have been accepted with other features than this engine's.
  const std::uint64_t known = image.language_features();
  return file_of(module, image, known != 0 ? known : wasm::bits_of(module.features));
}

Result<std::vector<std::uint8_t>> Module::precompile(const Engine& engine,
                                                     std::span<const std::uint8_t> bytes,
                                                     const CompileOptions& options) noexcept {
  if (engine.impl() == nullptr) return api::moved_from("engine");
  std::vector<std::uint8_t> assembled;
  if (!wasm::has_magic(bytes)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    HOIST_TRY(assembled, wasm::assemble_wat(text));
    bytes = assembled;
  }
  HOIST_TRY(const wasm::Module module,
            wasm::decode(wasm::ModuleBytes::borrow(bytes), engine.impl()->features));
  HOIST_TRY_VOID(wasm::validate_module(module));
  const CompileOptions* context = nullptr;
  const runtime::CompileRequest request = api::compile_request(module, options, context);
  HOIST_TRY(const image::Image image,
            engine.impl()->engine->compiler().compile_module(module, request, nullptr));
  return file_of(module, image, wasm::bits_of(module.features));
}

Result<void> Module::serialize_to_file(const std::string& path) const noexcept {
  HOIST_TRY(const std::vector<std::uint8_t> bytes, serialize());
  return platform::replace_file(path, bytes, true);
}

}  // namespace hoist
