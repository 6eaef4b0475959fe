// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes to the decoder; what is a valid module compiles at opt levels 0 and 2, every pass
// verified and every register allocation proved, and gives the same image with two threads; what
// the compiler names as unsupported (objects of the GC proposal) is passed over.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "asm/x64/regs.hpp"
#include "base/check.hpp"
#include "compiler/compile_module.hpp"
#include "isa/registry.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/validate/validator.hpp"

using namespace hoist;  // NOLINT: a fuzz target, not a library

/// Larger code sections take too long under sanitizers and add nothing.
static constexpr std::size_t kMaxCodeSection = 16 * 1024;

static std::optional<image::Image> compile(const wasm::Module& module, unsigned opt_level,
                                           unsigned threads) {
  static const auto target =
      isa::make_target("x86_64", isa::baseline_features("x86_64")).value().release();
  compiler::CompilerOptions options;
  options.target = target;
  options.opt_level = opt_level;
  options.threads = threads;
  options.verify = true;
  options.check_allocation = true;
  auto image = compiler::compile_module(module, options);
  if (!image && image.error().kind() == ErrorKind::Unsupported) return std::nullopt;
  if (!image) {
    std::fprintf(stderr, "opt level %u: %s\n", opt_level, image.error().message().c_str());
    std::abort();
  }
  return *std::move(image);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto module = wasm::decode(wasm::ModuleBytes::borrow({data, size}));
  if (!module || module->code_section.size > kMaxCodeSection) return 0;
  if (!wasm::validate_all(*module)) return 0;
  if (!compile(*module, 0, 1)) return 0;
  const auto one = compile(*module, 2, 1);
  const auto two = compile(*module, 2, 2);
  HOIST_CHECK(one && two && std::ranges::equal(one->text(), two->text()),
              "the number of threads does not change the code");
  return 0;
}
