// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What crossing between host and guest costs, in nanoseconds for one call, as lines "name value".
/// Guest-to-host calls are made by a loop in the guest; its own cost is measured with a call of a
/// function of the guest and subtracted.

#include "measure.hpp"

namespace {

constexpr const char* kModule = R"((module
  (import "env" "typed" (func $typed (param i32) (result i32)))
  (import "env" "untyped" (func $untyped (param i32) (result i32)))
  (table 3 3 funcref)
  (elem (i32.const 0) $own $typed $untyped)
  (type $t (func (param i32) (result i32)))
  (func $own (export "add") (type $t) (i32.add (local.get 0) (i32.const 1)))
  (func (export "nothing"))
  (func (export "loop") (param $which i32) (param $count i32) (result i32)
    (local $x i32)
    (loop $again
      (local.set $x (call_indirect (type $t) (local.get $x) (local.get $which)))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
    (local.get $x))))";

constexpr int kBatches = 21;
constexpr int kCalls = 200'000;

}  // namespace

int main() {
  const hoist::Engine engine = bench::must(hoist::Engine::create());
  const hoist::Module module = bench::must(hoist::Module::from_text(engine, kModule));
  hoist::Store store(engine);
  hoist::Linker linker(engine);
  bench::must(linker.define_func("env", "typed", [](std::int32_t x) { return x + 1; }));
  bench::must(linker.define_callback(
      "env", "untyped", hoist::FuncType({hoist::ValKind::I32}, {hoist::ValKind::I32}),
      [](hoist::Caller&, std::span<const hoist::Val> args,
         std::span<hoist::Val> results) -> hoist::Result<void> {
        results[0] = hoist::Val(args[0].i32() + 1);
        return {};
      }));
  const hoist::Instance instance = bench::must(linker.instantiate(store, module));

  const auto nothing = bench::must(instance.typed<void()>("nothing"));
  const auto add = bench::must(instance.typed<std::int32_t(std::int32_t)>("add"));
  const hoist::Func untyped = bench::must(instance.func("add"));
  fmt::print("host_to_guest_typed_nothing_ns {:.2f}\n",
             1e9 * bench::median_seconds(kBatches, kCalls, [&] { bench::must(nothing()); }));
  std::int32_t sum = 0;
  fmt::print("host_to_guest_typed_ns {:.2f}\n",
             1e9 * bench::median_seconds(kBatches, kCalls, [&] { sum = bench::must(add(sum)); }));
  fmt::print("host_to_guest_untyped_ns {:.2f}\n",
             1e9 * bench::median_seconds(kBatches, kCalls, [&] {
               hoist::Val result;
               const hoist::Val arg = hoist::Val(sum);
               bench::must(untyped.call({&arg, 1}, {&result, 1}));
               sum = result.i32();
             }));
  const auto loop = bench::must(instance.typed<std::int32_t(std::int32_t, std::int32_t)>("loop"));
  const auto guest = [&](std::int32_t which) {
    return 1e9 / kCalls *
           bench::median_seconds(kBatches, 1, [&] { sum += bench::must(loop(which, kCalls)); });
  };
  const double own = guest(0);
  fmt::print("guest_to_guest_indirect_ns {:.2f}\n", own);
  fmt::print("guest_to_host_typed_ns {:.2f}\n", guest(1) - own);
  fmt::print("guest_to_host_untyped_ns {:.2f}\n", guest(2) - own);
  return sum == 1 ? 1 : 0;
}
