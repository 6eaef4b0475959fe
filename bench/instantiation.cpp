// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What an instance costs: bench_instantiation MODULE|bench/small.wat [pooled|demand|keep] [LIVE]
///
/// Prints, as lines "name value": microseconds to make a store and an instance and to end both
/// (median), the same with one call of "f" if the module exports it, and, with LIVE, what that many
/// stores with an instance each cost at once. Imports but that of small.wat are made by a linker
/// with UnknownImports::Trap; start functions other than the module's own do not run.

#include <memory>
#include <string>
#include <string_view>

#include "measure.hpp"

namespace {

hoist::Linker make_linker(const hoist::Engine& engine) {
  hoist::Linker linker(engine);
  linker.unknown_imports(hoist::UnknownImports::Trap);
  bench::must(linker.define_func("env", "host", [](std::int32_t x) { return x; }));
  return linker;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string mode = argc > 2 ? argv[2] : "demand";
  const int live = argc > 3 ? std::atoi(argv[3]) : 0;
  hoist::Config config;
  if (mode != "demand") {
    config.pooling.emplace();
    const auto slots = static_cast<std::uint32_t>(std::max(live, 100));
    config.pooling->instances = config.pooling->memories = config.pooling->tables = slots;
    if (mode == "keep") config.pooling->keep_resident_bytes = std::uint64_t{1} << 20;
  }
  double start = bench::seconds();
  const hoist::Engine engine = bench::must(hoist::Engine::create(config));
  fmt::print("engine_us {:.2f}\n", (bench::seconds() - start) * 1e6);
  const bool small = std::string_view(argv[1]).ends_with("small.wat");
  const hoist::Module module = bench::must(hoist::Module::from_file(engine, argv[1]));
  hoist::Linker linker = make_linker(engine);
  start = bench::seconds();
  {
    hoist::Store store(engine);
    bench::must(linker.instantiate(store, module));
  }
  fmt::print("first_us {:.2f}\n", (bench::seconds() - start) * 1e6);

  const int count = small ? 1000 : 20;
  const int batches = 31;
  fmt::print("cycle_us {:.3f}\n", 1e6 * bench::median_seconds(batches, count, [&] {
                                    hoist::Store store(engine);
                                    bench::must(linker.instantiate(store, module));
                                  }));
  if (small) {
    fmt::print("cycle_and_call_us {:.3f}\n",
               1e6 * bench::median_seconds(batches, count, [&] {
                 hoist::Store store(engine);
                 const hoist::Instance instance = bench::must(linker.instantiate(store, module));
                 bench::must(bench::must(instance.typed<std::int32_t(std::int32_t)>("f"))(7));
               }));
  }
  // Making alone: the ends of the stores are not timed.
  std::vector<double> samples;
  for (int i = 0; i < batches * count / 10; ++i) {
    hoist::Store store(engine);
    const double begin = bench::seconds();
    bench::must(linker.instantiate(store, module));
    samples.push_back(bench::seconds() - begin);
  }
  std::sort(samples.begin(), samples.end());
  fmt::print("make_us {:.3f}\n", samples[samples.size() / 2] * 1e6);

  if (live > 0) {
    std::vector<std::unique_ptr<hoist::Store>> stores;
    const std::uint64_t before = bench::resident_bytes();
    start = bench::seconds();
    for (int i = 0; i < live; ++i) {
      stores.push_back(std::make_unique<hoist::Store>(engine));
      bench::must(linker.instantiate(*stores.back(), module));
    }
    const double made = bench::seconds();
    const std::uint64_t after = bench::resident_bytes();
    stores.clear();
    fmt::print("live_make_us_each {:.3f}\nlive_end_us_each {:.3f}\nlive_bytes_each {}\n",
               (made - start) / live * 1e6, (bench::seconds() - made) / live * 1e6,
               (after - before) / static_cast<std::uint64_t>(live));
  }
  return 0;
}
