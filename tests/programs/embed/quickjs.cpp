// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs JavaScript inside a C++ program: quickjs.wasm (npm package quickjs-wasi) through the public
// headers alone.
//
// Usage: quickjs QUICKJS.WASM

#include <cstdint>
#include <string>

#include "guest.hpp"

using guest::expect;
using guest::need;

class JavaScript {
  // First, since its result type is deduced.
  template <typename Signature, typename... Args>
  auto call(const char* name, Args... args) {
    return need(need(instance_.typed<Signature>(name), name)(args...), name);
  }

 public:
  explicit JavaScript(hoist::Instance instance)
      : instance_(instance), memory_(need(instance.memory("memory"), "memory")) {
    call<void()>("_initialize");
    if (call<std::int32_t()>("qjs_init") != 0) guest::fail("qjs_init", "failed");
  }

  /// The value of the script as a string, or "ERROR " and the exception's text.
  std::string eval(const std::string& code) {
    const std::uint32_t script = pass(code);
    const std::uint32_t name = pass("test.js");
    std::uint32_t value =
        call<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t)>(
            "qjs_eval", script, static_cast<std::uint32_t>(code.size()), name, 0u);
    free(script);
    free(name);
    std::string prefix;
    if (call<std::int32_t(std::uint32_t)>("qjs_is_exception", value) != 0) {
      value = call<std::uint32_t()>("qjs_get_exception");
      prefix = "ERROR ";
    }
    const std::uint32_t at = call<std::uint32_t(std::uint32_t)>("qjs_get_string", value);
    std::string text;
    for (std::uint32_t i = at;; ++i) {
      const char c = need(memory_.get<char>(i), "a result string");
      if (c == 0) break;
      text += c;
    }
    call<void(std::uint32_t)>("qjs_free_cstring", at);
    call<void(std::uint32_t)>("qjs_free_value", value);
    return prefix + text;
  }

 private:
  std::uint32_t pass(const std::string& text) {
    const auto bytes = static_cast<std::uint32_t>(text.size() + 1);
    const auto at = call<std::uint32_t(std::uint32_t)>("wasm_malloc", bytes);
    need(memory_.write(at, {reinterpret_cast<const std::uint8_t*>(text.c_str()), bytes}),
         "copying a string to the guest");
    return at;
  }
  void free(std::uint32_t at) { call<void(std::uint32_t)>("wasm_free", at); }

  hoist::Instance instance_;
  hoist::Memory memory_;
};

int main(int argc, char** argv) {
  if (argc != 2) guest::fail("quickjs", "usage: quickjs QUICKJS.WASM");
  const hoist::Engine engine = need(hoist::Engine::create(), "engine");
  const hoist::Module module = need(hoist::Module::from_file(engine, argv[1]), argv[1]);
  hoist::Store store(engine);
  hoist::Linker linker(engine);
  need(hoist::add_wasi_to_linker(linker, {}), "WASI");
  need(linker.define_func("env", "host_get_timezone_offset",
                          [](std::uint32_t, std::uint32_t) { return std::int32_t{0}; }),
       "host_get_timezone_offset");
  need(linker.define_func("env", "host_interrupt", [] { return std::int32_t{0}; }),
       "host_interrupt");
  linker.unknown_imports(hoist::UnknownImports::Trap);

  JavaScript js(need(linker.instantiate(store, module), "instantiate"));
  expect("arithmetic", js.eval("(2n ** 100n).toString() + ' ' + 0.1 * 3"),
         "1267650600228229401496703205376 0.30000000000000004");
  expect("closures", js.eval("let n = 0; const next = () => ++n; next(); next(); `n is ${n}`"),
         "n is 2");
  expect("collections", js.eval("JSON.stringify([...new Map([['a', [1, 2]], ['b', {c: null}]])])"),
         R"([["a",[1,2]],["b",{"c":null}]])");
  expect("regular expressions", js.eval("'2026-11-30'.replace(/(\\d+)-(\\d+)-(\\d+)/, '$3.$2.$1')"),
         "30.11.2026");
  expect("generators",
         js.eval("[...(function*() { for (let i = 0; i < 4; i++) yield i * i })()].join()"),
         "0,1,4,9");
  expect("exceptions", js.eval("null.field"),
         "ERROR TypeError: cannot read property 'field' of null");
  expect("sorting",
         js.eval("const a = Array.from({length: 20000}, (_, i) => (i * 7919) % 20011); a.sort((x, "
                 "y) => x - y);"
                 "a.every((v, i) => i === 0 || a[i - 1] <= v)"),
         "true");
  return 0;
}
