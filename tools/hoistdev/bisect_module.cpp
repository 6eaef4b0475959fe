// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Bisection of a WebAssembly module: it is compiled again and again, the first N functions
/// optimised and the others not, and a command says whether the image does what it should.
#include "hoistdev/bisect_module.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "asm/x64/regs.hpp"
#include "compiler/compile_module.hpp"
#include "hoistdev/read_module.hpp"
#include "hoistdev/smallest.hpp"
#include "image/image_file.hpp"
#include "isa/registry.hpp"
#include "opt/pipeline.hpp"
#include "platform/cpu_features.hpp"
#include "platform/private_dir.hpp"
#include "runtime/engine/symbol_names.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

constexpr std::uint32_t kAllPasses = (std::uint32_t{1} << opt::kPassCount) - 1;

class ModuleBisection {
 public:
  ModuleBisection(const wasm::Module& module, const codegen::Target& target,
                  const platform::CpuFeatures& cpu, const std::string& command)
      : module_(module),
        command_(command),
        path_("/tmp/hoistdev-" + std::to_string(getpid()) + ".image") {
    options_.target = &target;
    options_.code.cpu_features = cpu.bits();
  }
  ~ModuleBisection() { std::remove(path_.c_str()); }
  ModuleBisection(const ModuleBisection&) = delete;
  ModuleBisection& operator=(const ModuleBisection&) = delete;

  int run() {
    const std::uint32_t count = module_.num_defined_functions();
    if (!is_wrong(count)) {
      std::printf("nothing is wrong: the command is content with the optimised module\n");
      return 1;
    }
    if (is_wrong(0)) {
      std::printf("wrong without optimisation already, or the command always fails\n");
      return 1;
    }
    const auto first = static_cast<std::uint32_t>(
        smallest(count, [&](std::uint64_t n) { return is_wrong(static_cast<std::uint32_t>(n)); }));
    std::printf("function %u, %u of the %u defined ones (hoistdev translate --function %u)\n",
                module_.num_imported_functions + first - 1, first, count,
                module_.num_imported_functions + first - 1);
    if (is_wrong(first, kAllPasses, 0)) {
      std::printf("no pass of the mid-end: the rules while building, or code of level 2\n");
      return 0;
    }
    const auto passes = static_cast<unsigned>(smallest(
        opt::kPassCount, [&](std::uint64_t n) { return is_wrong(first, without_after(n)); }));
    std::printf("pass %s\n", opt::info(static_cast<opt::Pass>(passes - 1)).text);
    const std::uint32_t off = without_after(passes);
    if (is_wrong(first, off, 0)) return 0;
    std::uint64_t known = 1;
    while (!is_wrong(first, off, known)) known *= 2;
    std::printf("rewrite %llu of that function\n",
                static_cast<unsigned long long>(
                    smallest(known, [&](std::uint64_t n) { return is_wrong(first, off, n); })));
    return 0;
  }

 private:
  static std::uint32_t without_after(std::uint64_t passes) {
    return kAllPasses & ~((std::uint32_t{1} << passes) - 1);
  }

  /// With the first `optimised` functions optimised; passes and rewrites of the last of them left
  /// out. What cannot be compiled is wrong too.
  bool is_wrong(std::uint32_t optimised, std::uint32_t passes_off = 0,
                std::uint64_t max_rewrites = ~std::uint64_t{0}) {
    options_.optimised_functions = optimised;
    options_.last_passes_off = passes_off;
    options_.last_max_rewrites = max_rewrites;
    const Result<image::Image> image = compiler::compile_module(module_, options_);
    if (!image) return true;
    const std::vector<image::ImageSymbol> symbols = runtime::image_symbols(module_, *image);
    image::ImageFileParts parts;
    parts.module = module_.bytes.span();
    parts.symbols = symbols;
    const std::vector<std::uint8_t> bytes = image::image_file(*image, parts);
    if (const auto written = platform::replace_file(path_, bytes, true); !written) {
      std::fprintf(stderr, "hoistdev: %s\n", written.error().message().c_str());
      std::exit(2);
    }
    std::fflush(nullptr);
    return std::system((command_ + " " + path_).c_str()) != 0;
  }

  const wasm::Module& module_;
  std::string command_;
  std::string path_;
  compiler::CompilerOptions options_;
};

}  // namespace

int bisect_module(const std::string& path, const std::string& command, const std::string& cpu) {
  const auto module = read_module(path);
  if (!module) return report(path, module.error());
  const auto features = platform::parse_cpu_features(cpu);
  if (!features) return report(path, features.error());
  isa::FeatureSet of_target = 0;
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, saved)       \
  if (features->has(platform::CpuFeature::name)) {                 \
    of_target |= masm::x64::feature_bit(masm::x64::Feature::name); \
  }
#include "platform/cpu_features.def"
  const auto target = isa::make_target("x86_64", of_target);
  if (!target) return report(path, target.error());
  return ModuleBisection(*module, **target, *features, command).run();
}

}  // namespace hoistdev
