// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions of host functions where files with and without exceptions make one program: they come
// out of the call that entered WebAssembly where that file has exceptions, and are an Error where
// it has not, whoever is between. Exceptions of callbacks that are plain function pointers, of C
// and of C++, end the process.
#include <hoist.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "mixed.hpp"

namespace {

int failures = 0;

void check(const char* what, bool good) {
  if (good) return;
  std::fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

template <typename T>
T must(hoist::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    std::exit(1);
  }
  return *std::move(result);
}

/// Counts what is alive, to see that an exception is neither lost nor kept.
struct Thrown : std::runtime_error {
  static int alive;
  Thrown() : std::runtime_error("thrown by the host") { ++alive; }
  Thrown(const Thrown& other) : std::runtime_error(other) { ++alive; }
  ~Thrown() noexcept override { --alive; }
};
int Thrown::alive = 0;

template <typename F>
bool throws(F&& body) {
  try {
    body();
  } catch (const Thrown& thrown) {
    return std::strcmp(thrown.what(), "thrown by the host") == 0;
  }
  return false;
}

constexpr const char* kModule = R"((module
  (import "h" "throw" (func $throw)) (import "h" "bounce" (func $bounce))
  (func (export "inner") (call $throw))
  (func (export "outer") (call $bounce))
  (func (export "fine") (nop))))";
constexpr const char* kStarts = R"((module
  (import "h" "throw" (func $throw)) (func $start (call $throw)) (start $start)))";
constexpr const char* kMessage = "a host function threw an exception: thrown by the host";

void mixed() {
  const hoist::Engine engine = must(hoist::Engine::create());
  hoist::Store store(engine);
  hoist::Linker linker(engine);
  check("define", linker.define_func("h", "throw", [] { throw Thrown(); }).has_value());
  check("define bounce", without::define_bounce(linker).has_value());
  const hoist::Instance instance =
      must(linker.instantiate(store, must(hoist::Module::from_text(engine, kModule))));
  const hoist::Func inner = must(instance.func("inner"));
  const hoist::Func outer = must(instance.func("outer"));
  const auto typed = must(outer.typed<void()>());
  for (int i = 0; i < 3; ++i) {
    check("straight", throws([&] { (void)inner.call(); }));
    check("through a host function without exceptions", throws([&] { (void)outer.call(); }));
    check("typed", throws([&] { (void)typed(); }));
    check("as an error", without::call(inner) == kMessage);
    check("as an error, nested", without::call(outer) == kMessage);
    check("as an error, typed", without::call_typed(outer) == kMessage);
    check("the store works on", must(instance.func("fine")).call().has_value());
  }
  const hoist::Module starts = must(hoist::Module::from_text(engine, kStarts));
  check("start function", throws([&] { (void)linker.instantiate(store, starts); }));
  check("start function as an error", without::instantiate(linker, store, starts) == kMessage);
  // Host functions that the host calls, with no guest between, of every kind.
  const hoist::Func wrapped =
      hoist::Func::wrap(store, [](std::int32_t) -> std::int32_t { throw Thrown(); });
  check("wrap", throws([&] { (void)wrapped.call({1}); }));
  const hoist::Func created =
      hoist::Func::create(store, hoist::FuncType(),
                          [](hoist::Caller&, std::span<const hoist::Val>,
                             std::span<hoist::Val>) -> hoist::Result<void> { throw Thrown(); });
  check("create", throws([&] { (void)created.call(); }));
  check("create, as an error", without::call(created) == kMessage);
  check("exceptions alive", Thrown::alive == 0);
}

// ---- What ends the process.

void throw_it() {
  throw Thrown();
}

/// Whether `body` ends by std::terminate, though the caller would catch.
void ends(const char* what, void (*body)()) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    std::freopen("/dev/null", "w", stderr);
    ::alarm(60);
    std::set_terminate([] { ::_exit(99); });
    try {
      body();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 99)
    std::fprintf(stderr, "%s\n", WEXITSTATUS(status) == 1 ? "it came through" : "it was lost");
  check(what, WIFEXITED(status) && WEXITSTATUS(status) == 99);
}

void from_without() {
  const hoist::Engine engine = must(hoist::Engine::create());
  hoist::Store store(engine);
  (void)without::make_calling(store, throw_it).call();
}

constexpr const char* kGrows =
    "(module (memory 1) (func (export \"f\") (drop (memory.grow (i32.const 1)))))";

void grow(const char* text, bool only_make) {
  const hoist::Engine engine = must(hoist::Engine::create());
  static bool throw_now = false;
  throw_now = only_make;
  hoist::StoreLimits limits;
  limits.on_growth = [](void*, const hoist::Growth&) -> bool {
    if (throw_now) throw Thrown();
    return true;
  };
  hoist::Store store(engine, limits);
  hoist::Linker linker(engine);
  const auto instance =
      must(linker.instantiate(store, must(hoist::Module::from_text(engine, text))));
  throw_now = true;
  (void)must(instance.func("f")).call();
}
void growing() {
  grow(kGrows, false);
}
void making() {
  grow(kGrows, true);
}

void fuel() {
  hoist::Config config;
  config.fuel = true;
  const hoist::Engine engine = must(hoist::Engine::create(config));
  hoist::Store store(engine);
  store.on_out_of_fuel([](void*, hoist::StoreRef) -> std::uint64_t { throw Thrown(); });
  hoist::Linker linker(engine);
  const auto instance = must(linker.instantiate(
      store,
      must(hoist::Module::from_text(engine, "(module (func (export \"f\") (loop (br 0))))"))));
  (void)must(instance.func("f")).call();
}

wasm_trap_t* c_callback(const wasm_val_vec_t*, wasm_val_vec_t*) {
  throw Thrown();
}

void c_function() {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_functype_t* type = wasm_functype_new_0_0();
  wasm_func_t* func = wasm_func_new(store, type, c_callback);
  wasm_val_vec_t none = WASM_EMPTY_VEC;
  (void)wasm_func_call(func, &none, &none);
}

void c_function_from_guest() {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_functype_t* type = wasm_functype_new_0_0();
  const char* text = "(module (import \"\" \"f\" (func)) (func (export \"g\") (call 0)))";
  wasm_module_t* module = hoist_module_from_text(store, text, std::strlen(text), nullptr);
  wasm_extern_t* imports[] = {wasm_func_as_extern(wasm_func_new(store, type, c_callback))};
  const wasm_extern_vec_t list = WASM_ARRAY_VEC(imports);
  wasm_instance_t* instance = wasm_instance_new(store, module, &list, nullptr);
  wasm_extern_t* g = hoist_instance_export(instance, "g");
  wasm_val_vec_t none = WASM_EMPTY_VEC;
  (void)wasm_func_call(wasm_extern_as_func(g), &none, &none);
}

void c_finalizer() {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_foreign_t* foreign = wasm_foreign_new(store);
  wasm_foreign_set_host_info_with_finalizer(foreign, nullptr, [](void*) { throw Thrown(); });
  wasm_foreign_delete(foreign);
}

}  // namespace

int main() {
  mixed();
  ends("a host function without exceptions", from_without);
  ends("a growth callback in memory.grow", growing);
  ends("a growth callback in instantiation", making);
  ends("a fuel callback", fuel);
  ends("a C host function called by the host", c_function);
  ends("a C host function called by a guest", c_function_from_guest);
  ends("a C finalizer", c_finalizer);
  return failures == 0 ? 0 : 1;
}
