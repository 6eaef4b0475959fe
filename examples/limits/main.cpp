// A guest that would run for ever or eat all memory, and what stops it.
#include <cstdio>
#include <hoist/hoist.hpp>
#include <thread>

static constexpr const char* kGuest = R"((module
  (memory 1)
  (func (export "spin") (loop (br 0)))
  (func (export "eat") (result i32)
    (local i32)
    (loop
      (local.set 0 (i32.add (local.get 0) (i32.const 1)))
      (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (local.get 0))
  (func $deep (export "deep") (call $deep))))";

int main() {
  hoist::Config config;
  config.fuel = true;
  config.epoch = true;
  auto engine = hoist::Engine::create(config);
  if (!engine) return 1;
  auto module = hoist::Module::from_text(*engine, kGuest);
  if (!module) return std::fprintf(stderr, "%s\n", module.error().message().c_str()), 1;
  hoist::StoreLimits limits;
  limits.memory_bytes = std::uint64_t{10} * 65536;
  hoist::Store store(*engine, limits);
  auto instance = hoist::Instance::create(store, *module);
  if (!instance || !store.set_fuel(1'000'000)) return 1;
  const auto run = [&](const char* name) {
    auto done = instance->func(name)->call();
    std::printf("%s: %s\n", name, done ? "returned" : done.error().message().c_str());
    if (done && !done->empty()) std::printf("  grew %d times\n", (*done)[0].i32() - 1);
  };
  run("spin");  // out of fuel
  if (!store.set_fuel(std::uint64_t{1} << 60)) return 1;
  run("eat");   // memory.grow says no after nine pages
  run("deep");  // the stack has an end
  hoist::InterruptHandle stop = store.interrupt_handle();
  std::thread watchdog([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.interrupt();
  });
  run("spin");  // interrupted
  watchdog.join();
}
