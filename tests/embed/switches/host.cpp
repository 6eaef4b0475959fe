// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs images with a library that was built with or without compiler and WASI:
// host GUEST-IMAGE WASI-IMAGE HAS-COMPILER HAS-WASI. Silent if all is well.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <hoist/hoist.hpp>

using hoist::ErrorKind;

static void check(bool fine, const char* what, const std::string& found = {}) {
  if (fine) return;
  std::fprintf(stderr, "not true: %s %s\n", what, found.c_str());
  std::exit(1);
}
#define CHECK(condition) check(condition, #condition)

template <typename T>
static std::string text(const hoist::Result<T>& result) {
  return result ? std::string() : result.error().message();
}

static std::int32_t add(std::int32_t a, std::int32_t b) {
  return a + b;
}
static double halve(double x) {
  return x / 2;
}
static std::string logged;

static void run_guest(const hoist::Engine& engine, const char* path, bool has_compiler) {
  auto module = hoist::Module::deserialize_file(engine, path);
  check(module.has_value(), "the image loads:", text(module));
  hoist::Linker linker(engine);
  CHECK(linker.define_func("host", "add", add).has_value());
  CHECK(linker.define_func("host", "halve", halve).has_value());
  CHECK(linker.define_func("host", "log", [](hoist::guest_string_view it) { logged = it.str(); })
            .has_value());
  hoist::Store store(engine);
  // Its type is that of an import: the image has the code to call it by reference.
  const hoist::Func known = hoist::Func::wrap(store, add);
  auto instance = linker.instantiate(store, *module);
  check(instance.has_value(), "it instantiates:", text(instance));
  auto run = instance->typed<std::int32_t(std::int32_t, std::int32_t)>("run");
  auto sum = (*run)(40, 2);
  CHECK(sum && *sum == 42 && logged == "from the image");
  auto trap = instance->typed<void()>("trap");
  auto trapped = (*trap)();
  CHECK(!trapped && trapped.error().kind() == ErrorKind::Trap);

  auto table = instance->table("table");
  CHECK(table.has_value());
  auto set = table->set(1, known);
  check(set.has_value(), "a host function fits into the table:", text(set));
  using Ternary = std::int32_t(std::int32_t, std::int32_t, std::int32_t);
  auto indirect = instance->typed<Ternary>("indirect");
  auto difference = (*indirect)(40, 2, 0);
  CHECK(difference && *difference == 38);
  auto total = (*indirect)(40, 2, 1);
  CHECK(total && *total == 42);

  // A type that only an import has.
  set = table->set(3, hoist::Func::wrap(store, halve));
  check(set.has_value(), "so does another:", text(set));
  auto half = (*instance->typed<double(std::int32_t)>("indirect_halve"))(3);
  check(half && *half == 1.5, "the guest calls it:", text(half));

  // Nothing in the image has this type.
  const hoist::Func odd = hoist::Func::wrap(store, [](double x, float) { return x; });
  auto refused = table->set(2, odd);
  check(refused.has_value() == has_compiler, "another type needs the compiler:", text(refused));
  if (!has_compiler) CHECK(refused.error().kind() == ErrorKind::Unsupported);
  // From the host to the host needs none.
  auto called = odd.call({hoist::Val(1.5), hoist::Val(1.0F)});
  check(called.has_value() && (*called)[0].f64() == 1.5, "the host calls it:", text(called));
}

static void run_wasi(const hoist::Engine& engine, const char* path, bool has_wasi) {
  auto module = hoist::Module::deserialize_file(engine, path);
  check(module.has_value(), "the image loads:", text(module));
  hoist::Linker linker(engine);
  auto added = hoist::add_wasi_to_linker(linker, {});
  check(added.has_value() == has_wasi, "WASI is there or not:", text(added));
  if (!has_wasi) {
    CHECK(added.error().kind() == ErrorKind::Unsupported);
    return;
  }
  hoist::Store store(engine);
  auto instance = linker.instantiate(store, *module);
  check(instance.has_value(), "it instantiates:", text(instance));
  auto done = (*instance->typed<void()>("_start"))();
  CHECK(!done && done.error().kind() == ErrorKind::Exit && done.error().code() == 7);
}

int main(int argc, char** argv) {
  CHECK(argc == 5);
  const bool has_compiler = std::strcmp(argv[3], "ON") == 0;
  auto engine = hoist::Engine::create();
  check(engine.has_value(), "an engine:", text(engine));
  run_guest(*engine, argv[1], has_compiler);
  run_wasi(*engine, argv[2], std::strcmp(argv[4], "ON") == 0);

  static constexpr std::uint8_t kEmpty[] = {0, 'a', 's', 'm', 1, 0, 0, 0};
  auto compiled = hoist::Module::compile(*engine, kEmpty);
  check(compiled.has_value() == has_compiler, "Module::compile:", text(compiled));
  auto from_text = hoist::Module::from_text(*engine, "(module)");
  check(from_text.has_value() == has_compiler, "Module::from_text:", text(from_text));
  if (!has_compiler) {
    CHECK(compiled.error().kind() == ErrorKind::Unsupported);
    CHECK(from_text.error().kind() == ErrorKind::Unsupported);
  }
  CHECK(hoist::Module::validate(kEmpty).has_value());
  return 0;
}
