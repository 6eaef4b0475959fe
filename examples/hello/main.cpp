// The smallest host: a guest that calls back.
#include <cstdio>
#include <hoist/hoist.hpp>

int main() {
  auto engine = hoist::Engine::create();
  if (!engine) return std::fprintf(stderr, "%s\n", engine.error().message().c_str()), 1;
  auto module = hoist::Module::from_text(*engine, R"((module
    (import "host" "hello" (func $hello (param i32)))
    (func (export "run") (call $hello (i32.const 42)))))");
  if (!module) return std::fprintf(stderr, "%s\n", module.error().message().c_str()), 1;

  hoist::Store store(*engine);
  hoist::Linker linker(*engine);
  auto defined = linker.define_func("host", "hello", [](std::int32_t number) {
    std::printf("hello from the guest: %d\n", number);
  });
  if (!defined) return 1;
  auto instance = linker.instantiate(store, *module);
  if (!instance) return std::fprintf(stderr, "%s\n", instance.error().message().c_str()), 1;
  auto run = instance->typed<void()>("run");
  if (!run) return std::fprintf(stderr, "%s\n", run.error().message().c_str()), 1;
  return (*run)() ? 0 : 1;
}
