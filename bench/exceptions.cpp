// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What exceptions cost, in nanoseconds for one round, as lines "name value":
/// bench_exceptions bench/exceptions.wat [BATCHES]
/// call and call_in_try: a call that throws nothing. throw_N: thrown and caught over N frames.

#include <string>

#include "measure.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int batches = argc > 2 ? std::atoi(argv[2]) : 21;
  const hoist::Engine engine = bench::must(hoist::Engine::create());
  const hoist::Module module = bench::must(hoist::Module::from_file(engine, argv[1]));
  hoist::Store store(engine);
  const hoist::Instance instance = bench::must(hoist::Instance::create(store, module));
  for (const char* name :
       {"call", "call_in_try", "throw_here", "throw_1", "throw_10", "throw_1_ref"}) {
    const auto run = bench::must(instance.typed<std::int32_t(std::int32_t)>(name));
    const std::int32_t rounds = std::string(name).find("throw_1") == 0 ? 20'000 : 200'000;
    const double each = bench::median_seconds(batches, 1, [&] { bench::must(run(rounds)); });
    fmt::print("{}_ns {:.2f}\n", name, 1e9 * each / rounds);
  }
  return 0;
}
