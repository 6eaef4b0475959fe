// One module, compiled once; each thread has a store of its own.
#include <cstdio>
#include <hoist/hoist.hpp>
#include <thread>
#include <vector>

static constexpr const char* kGuest = R"((module
  (func $fib (export "fib") (param i32) (result i32)
    (if (result i32) (i32.lt_s (local.get 0) (i32.const 2))
      (then (local.get 0))
      (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1)))
                     (call $fib (i32.sub (local.get 0) (i32.const 2)))))))))";

int main() {
  auto engine = hoist::Engine::create();
  if (!engine) return 1;
  auto module = hoist::Module::from_text(*engine, kGuest);
  if (!module) return std::fprintf(stderr, "%s\n", module.error().message().c_str()), 1;
  std::vector<std::int32_t> results(8, -1);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      hoist::Store store(*engine);
      auto instance = hoist::Instance::create(store, *module);
      if (!instance) return;
      auto fib = instance->typed<std::int32_t(std::int32_t)>("fib");
      if (!fib) return;
      if (auto value = (*fib)(static_cast<std::int32_t>(15 + i))) results[i] = *value;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::printf("fib(%zu) = %d\n", 15 + i, results[i]);
  }
}
