// Text and arrays of a guest as checked views: a bad pointer traps the guest and does nothing else.
#include <cstdio>
#include <hoist/hoist.hpp>

static constexpr const char* kGuest = R"((module
  (import "host" "log" (func $log (param i32 i32)))
  (import "host" "double" (func $double (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "good morning")
  (data (i32.const 64) "\01\00\00\00\02\00\00\00\03\00\00\00")
  (func (export "talk") (call $log (i32.const 16) (i32.const 12)))
  (func (export "work") (result i32)
    (call $double (i32.const 64) (i32.const 3))
    (i32.load (i32.const 72)))
  (func (export "lie") (call $log (i32.const 65530) (i32.const 100)))))";

int main() {
  auto engine = hoist::Engine::create();
  if (!engine) return 1;
  hoist::Linker linker(*engine);
  auto log = linker.define_func("host", "log", [](hoist::guest_string_view text) {
    std::printf("guest: %s\n", text.str().c_str());
  });
  auto twice = linker.define_func("host", "double", [](hoist::guest_span<std::int32_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i) values.set(i, values[i] * 2);
  });
  auto module = hoist::Module::from_text(*engine, kGuest);
  if (!log || !twice || !module) return 1;
  hoist::Store store(*engine);
  auto instance = linker.instantiate(store, *module);
  if (!instance) return std::fprintf(stderr, "%s\n", instance.error().message().c_str()), 1;

  auto talk = instance->typed<void()>("talk");
  auto work = instance->typed<std::int32_t()>("work");
  auto lie = instance->typed<void()>("lie");
  if (!talk || !work || !lie) return 1;
  if (!(*talk)()) return 1;
  std::printf("work: %d\n", *(*work)());
  auto caught = (*lie)();
  std::printf("lie: %s\n", caught ? "?" : caught.error().message().c_str());
}
