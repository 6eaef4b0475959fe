// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs Ruby inside a C++ program: ruby.wasm (npm package @ruby/3.4-wasm-wasi) through the public
// headers alone. The module is a reactor whose interface follows the canonical ABI: strings and
// lists go through cabi_realloc, Ruby objects are handles that the host keeps for the guest.
//
// Usage: ruby RUBY.WASM

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "guest.hpp"

using guest::expect;
using guest::need;
using hoist::Result;

/// The handle table of one resource type: numbers for the guest's own representation.
class Handles {
 public:
  std::uint32_t add(std::uint32_t representation) {
    items_.emplace(++last_, representation);
    return last_;
  }
  Result<std::uint32_t> get(std::uint32_t handle) const {
    auto found = items_.find(handle);
    if (found == items_.end()) {
      return hoist::Error(hoist::ErrorKind::Host, "no handle " + std::to_string(handle));
    }
    return found->second;
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> items_;
  std::uint32_t last_ = 0;
};

class Ruby {
 public:
  Ruby(hoist::StoreRef store, hoist::Instance instance)
      : store_(store),
        instance_(instance),
        memory_(need(instance.memory("memory"), "memory")),
        realloc_(
            function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t)>(
                "cabi_realloc")),
        eval_(function<std::uint32_t(std::uint32_t, std::uint32_t)>(
            "rb-eval-string-protect: func(str: string) -> tuple<handle<rb-abi-value>, s32>")),
        string_(function<std::uint32_t(std::uint32_t)>(
            "rstring-ptr: func(value: handle<rb-abi-value>) -> string")),
        free_string_(function<void(std::uint32_t)>("cabi_post_rstring-ptr")),
        intern_(function<std::uint32_t(std::uint32_t, std::uint32_t)>(
            "rb-intern: func(name: string) -> u32")),
        call_(function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t)>(
            "rb-funcallv-protect: func(recv: handle<rb-abi-value>, mid: u32, args: "
            "list<handle<rb-abi-value>>) -> tuple<handle<rb-abi-value>, s32>")),
        error_(function<std::uint32_t()>("rb-errinfo: func() -> handle<rb-abi-value>")) {}

  void start(const std::vector<std::string>& args) {
    need(function<void()>("_initialize")(), "_initialize");
    const std::uint32_t list = allocate(static_cast<std::uint32_t>(args.size()) * 8, 4);
    std::uint32_t at = list;
    for (const std::string& arg : args) {
      const auto [address, bytes] = pass(arg);
      need(memory_.set(at, address), "ruby-init arguments");
      need(memory_.set(at + 4, bytes), "ruby-init arguments");
      at += 8;
    }
    auto init =
        function<void(std::uint32_t, std::uint32_t)>("ruby-init: func(args: list<string>) -> ()");
    need(init(list, static_cast<std::uint32_t>(args.size())), "ruby-init");
  }

  /// The value of the expression as Ruby's `to_s` writes it, or "ERROR " and the exception's
  /// message.
  std::string eval(const std::string& code) {
    const auto [address, bytes] = pass(code);
    const auto [value, state] = outcome(need(eval_(address, bytes), "rb-eval-string-protect"));
    if (state != 0) return "ERROR " + text(need(error_(), "rb-errinfo"));
    return text(value);
  }

 private:
  template <typename Signature>
  hoist::TypedFunc<Signature> function(const char* name) {
    return need(instance_.typed<Signature>(name), name);
  }
  std::uint32_t allocate(std::uint32_t bytes, std::uint32_t align) {
    return need(realloc_(0u, 0u, align, bytes), "cabi_realloc");
  }
  /// Ruby reads every string as a C string: the zero at its end is passed along.
  std::pair<std::uint32_t, std::uint32_t> pass(const std::string& text) {
    const auto bytes = static_cast<std::uint32_t>(text.size() + 1);
    const std::uint32_t address = allocate(bytes, 1);
    need(memory_.write(address, {reinterpret_cast<const std::uint8_t*>(text.c_str()), bytes}),
         "copying a string to the guest");
    return {address, bytes};
  }
  std::pair<std::uint32_t, std::int32_t> outcome(std::uint32_t at) {
    return {need(memory_.get<std::uint32_t>(at), "result"),
            need(memory_.get<std::int32_t>(at + 4), "result")};
  }
  std::string text(std::uint32_t value) {
    const auto [name, bytes] = pass("to_s");
    const std::uint32_t to_s = need(intern_(name, bytes), "rb-intern");
    const auto [string, state] = outcome(need(call_(value, to_s, 0u, 0u), "rb-funcallv-protect"));
    if (state != 0) guest::fail("to_s", "raised an exception");
    const std::uint32_t area = need(string_(string), "rstring-ptr");
    const auto address = need(memory_.get<std::uint32_t>(area), "rstring-ptr");
    const auto length = need(memory_.get<std::uint32_t>(area + 4), "rstring-ptr");
    std::string copy(need(memory_.text(address, length), "rstring-ptr"));
    need(free_string_(area), "cabi_post_rstring-ptr");
    return copy;
  }

  hoist::StoreRef store_;
  hoist::Instance instance_;
  hoist::Memory memory_;
  hoist::TypedFunc<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t)>
      realloc_;
  hoist::TypedFunc<std::uint32_t(std::uint32_t, std::uint32_t)> eval_;
  hoist::TypedFunc<std::uint32_t(std::uint32_t)> string_;
  hoist::TypedFunc<void(std::uint32_t)> free_string_;
  hoist::TypedFunc<std::uint32_t(std::uint32_t, std::uint32_t)> intern_;
  hoist::TypedFunc<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t)> call_;
  hoist::TypedFunc<std::uint32_t()> error_;
};

int main(int argc, char** argv) {
  if (argc != 2) guest::fail("ruby", "usage: ruby RUBY.WASM");
  hoist::Config config;
  config.guest_stack_bytes = std::uint64_t{4} << 20;
  const hoist::Engine engine = need(hoist::Engine::create(config), "engine");
  const hoist::Module module = need(hoist::Module::from_file(engine, argv[1]), argv[1]);

  hoist::Store store(engine);
  hoist::Linker linker(engine);
  std::string out;
  hoist::WasiConfig wasi;
  wasi.args = {"ruby"};
  wasi.out = hoist::WasiStream::to(out);
  need(hoist::add_wasi_to_linker(linker, wasi), "WASI");
  Handles ruby_values;
  const char* abi = "canonical_abi";
  need(linker.define_func(abi, "resource_new_rb-abi-value",
                          [&](std::uint32_t value) { return ruby_values.add(value); }),
       abi);
  need(linker.define_func(abi, "resource_get_rb-abi-value",
                          [&](std::uint32_t handle) { return ruby_values.get(handle); }),
       abi);
  need(linker.define_func(abi, "resource_drop_js-abi-value", [](std::uint32_t) {}), abi);
  // There is no JavaScript here: what "rb-js-abi-host" offers traps when it is used.
  linker.unknown_imports(hoist::UnknownImports::Trap);

  Ruby ruby(store, need(linker.instantiate(store, module), "instantiate"));
  ruby.start({"ruby", "--disable-gems", "-EUTF-8", "-e_=0"});
  expect("arithmetic", ruby.eval("(1..20).inject(:*)"), "2432902008176640000");
  expect("strings", ruby.eval("'gueste'.tr('e', 'o').reverse + \"\\u00e9\""), "otsoug\u00e9");
  expect("collections", ruby.eval("%w[lua ruby wasm].map { |w| [w.size, w] }.sort.to_h.inspect"),
         "{3 => \"lua\", 4 => \"wasm\"}");
  expect("exceptions", ruby.eval("raise ArgumentError, 'no such luck'"), "ERROR no such luck");
  expect("state", ruby.eval("$seen = 41; $seen += 1"), "42");
  expect("fibers and GC",
         ruby.eval("GC.start; Fiber.new { 3.times { |i| Fiber.yield i }; :done }.then { |f| "
                   "4.times.map { f.resume }.inspect }"),
         "[0, 1, 2, :done]");
  expect("output", (ruby.eval("$stdout.puts 'from the guest'; $stdout.flush"), out),
         "from the guest\n");
  return 0;
}
