// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What crossing between host and guest costs, in nanoseconds for one call, as lines "name value":
/// bench_calls bench/calls.wat [REPEATS [ROW]]
/// Guest-to-host calls are made by a loop in the guest; its own cost is measured with a call of a
/// function of the guest and subtracted, unless there is a ROW: then nothing else is measured,
/// which serves to count instructions.

#include <string_view>

#include "measure.hpp"

namespace {

constexpr int kCalls = 200'000;

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int batches = argc > 2 ? std::atoi(argv[2]) : 21;
  const hoist::Engine engine = bench::must(hoist::Engine::create());
  const hoist::Module module = bench::must(hoist::Module::from_file(engine, argv[1]));
  hoist::Store store(engine);
  hoist::Linker linker(engine);
  bench::must(linker.define_func("env", "typed", [](std::int32_t x) { return x + 1; }));
  bench::must(linker.define_callback("env", "untyped",
                                     hoist::FuncType({hoist::ValKind::I32}, {hoist::ValKind::I32}),
                                     [](hoist::Caller&, std::span<const hoist::Val> args,
                                        std::span<hoist::Val> results) -> hoist::Result<void> {
                                       results[0] = hoist::Val(args[0].i32() + 1);
                                       return {};
                                     }));
  const hoist::Instance instance = bench::must(linker.instantiate(store, module));

  const auto nothing = bench::must(instance.typed<void()>("nothing"));
  const auto add = bench::must(instance.typed<std::int32_t(std::int32_t)>("add"));
  const hoist::Func untyped = bench::must(instance.func("add"));
  const std::string_view only = argc > 3 ? argv[3] : "";
  const auto row = [&](std::string_view name, int count, auto&& body) {
    if (!only.empty() && only != name) return 0.0;
    return 1e9 / (kCalls / count) * bench::median_seconds(batches, count, body);
  };
  std::int32_t sum = 0;
  const auto show = [&](std::string_view name, double nanoseconds) {
    if (nanoseconds != 0) fmt::print("{}_ns {:.2f}\n", name, nanoseconds);
  };
  const auto host = [&](std::string_view name, auto&& body) {
    show(name, row(name, kCalls, body));
  };
  host("host_to_guest_typed_nothing", [&] { bench::must(nothing()); });
  host("host_to_guest_typed", [&] { sum = bench::must(add(sum)); });
  host("host_to_guest_untyped", [&] {
    hoist::Val result;
    const hoist::Val arg = hoist::Val(sum);
    bench::must(untyped.call({&arg, 1}, {&result, 1}));
    sum = result.i32();
  });
  const auto loop = bench::must(instance.typed<std::int32_t(std::int32_t, std::int32_t)>("loop"));
  const auto guest = [&](std::string_view name, std::int32_t which) {
    return row(name, 1, [&] { sum += bench::must(loop(which, kCalls)); });
  };
  const double own = guest("guest_to_guest_indirect", 0);
  show("guest_to_guest_indirect", own);
  show("guest_to_host_typed", guest("guest_to_host_typed", 1) - (only.empty() ? own : 0));
  show("guest_to_host_untyped", guest("guest_to_host_untyped", 2) - (only.empty() ? own : 0));
  return sum == 1 ? 1 : 0;
}
