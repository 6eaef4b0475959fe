// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist run: compile a module and run it, as a WASI command, a reactor, or one exported function.
#include <fmt/core.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/text/printable.hpp"
#include "hoist/cache.hpp"
#include "hoist/cli.hpp"
#include "hoist/hoist.hpp"
#include "hoist/limits.hpp"
#include "platform/private_dir.hpp"

namespace hoist::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct RunOptions {
  std::vector<std::string> directories;
  std::vector<std::string> environment;
  std::vector<std::string> listen;
  std::vector<int> descriptors;
  RunLimits limits;
  CodeOptions code;
  std::string invoke;
  std::string timings = "none";
  std::string unknown_imports = "error";
  std::string profile = "none";
  unsigned threads = 0;
  unsigned opt_level = 2;
  CacheOptions cache;
  bool verify = false;
  std::vector<std::string> command;  // FILE, then ARGS
};

struct Timings {
  CompileStats compile;
  std::uint64_t instantiate_ns = 0;
  std::uint64_t run_ns = 0;
};

std::uint64_t ns_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

double ms(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

void print_timings(const Timings& t, bool json) {
  const CompileStats& c = t.compile;
  if (json) {
    note(fmt::format(
        "{{\"from_cache\": {}, \"decode_ms\": {:.3f}, \"compile_ms\": {:.3f}, \"compile_cpu_ms\": "
        "{:.3f}, "
        "\"translate_cpu_ms\": {:.3f}, \"optimise_cpu_ms\": {:.3f}, \"lower_cpu_ms\": {:.3f}, "
        "\"regalloc_cpu_ms\": {:.3f}, \"emit_cpu_ms\": {:.3f}, \"link_cpu_ms\": {:.3f}, "
        "\"load_ms\": {:.3f}, \"instantiate_ms\": {:.3f}, \"run_ms\": {:.3f}, \"functions\": {}, "
        "\"wasm_bytes\": {}, \"code_section_bytes\": {}, \"machine_code_bytes\": {}, "
        "\"peak_memory_bytes\": {}}}\n",
        c.from_cache, ms(c.decode_ns), ms(c.compile_ns), ms(c.compile_cpu_ns),
        ms(c.translate_cpu_ns), ms(c.optimise_cpu_ns), ms(c.lower_cpu_ns), ms(c.regalloc_cpu_ns),
        ms(c.emit_cpu_ns), ms(c.link_cpu_ns), ms(c.load_ns), ms(t.instantiate_ns), ms(t.run_ns),
        c.functions, c.module_bytes, c.code_section_bytes, c.machine_code_bytes,
        c.peak_memory_bytes));
    return;
  }
  note(fmt::format("decode      {:>10.3f} ms\n", ms(c.decode_ns)));
  note(fmt::format("compile     {:>10.3f} ms wall, {:.3f} ms CPU{}\n", ms(c.compile_ns),
                   ms(c.compile_cpu_ns), c.from_cache ? " (found compiled)" : ""));
  note(fmt::format(
      "  translate {:>10.3f} ms CPU\n  optimise  {:>10.3f} ms CPU\n  lower     {:>10.3f} ms CPU\n",
      ms(c.translate_cpu_ns), ms(c.optimise_cpu_ns), ms(c.lower_cpu_ns)));
  note(fmt::format(
      "  regalloc  {:>10.3f} ms CPU\n  emit      {:>10.3f} ms CPU\n  link      {:>10.3f} ms CPU\n",
      ms(c.regalloc_cpu_ns), ms(c.emit_cpu_ns), ms(c.link_cpu_ns)));
  note(fmt::format("load        {:>10.3f} ms\ninstantiate {:>10.3f} ms\nrun         {:>10.3f} ms\n",
                   ms(c.load_ns), ms(t.instantiate_ns), ms(t.run_ns)));
  note(fmt::format(
      "{} functions, {} bytes of WebAssembly, {} of code section, {} of machine code, peak "
      "memory {} bytes\n",
      c.functions, c.module_bytes, c.code_section_bytes, c.machine_code_bytes,
      c.peak_memory_bytes));
}

Error bad_argument(std::string message) {
  return {ErrorKind::BadArgument, std::move(message)};
}

/// A decimal or 0x number, signed or unsigned, that fits `bits`.
Result<std::uint64_t> parse_integer(const std::string& text, unsigned bits) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  }
  std::uint64_t magnitude = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  const std::uint64_t limit = negative     ? std::uint64_t{1} << (bits - 1)
                              : bits == 64 ? ~std::uint64_t{0}
                                           : (std::uint64_t{1} << bits) - 1;
  if (digits.empty() || end != digits.data() + digits.size() ||
      code == std::errc::invalid_argument) {
    return bad_argument(fmt::format("'{}' is not a number of type i{}", text, bits));
  }
  if (code == std::errc::result_out_of_range || magnitude > limit) {
    return bad_argument(fmt::format("'{}' does not fit i{}", text, bits));
  }
  return negative ? ~magnitude + 1 : magnitude;
}

template <typename T>
Result<T> parse_float(const std::string& text, const char* type) {
  char* end = nullptr;
  T value;
  if constexpr (sizeof(T) == 4) {
    value = std::strtof(text.c_str(), &end);
  } else {
    value = std::strtod(text.c_str(), &end);
  }
  if (text.empty() || *end != '\0')
    return bad_argument(fmt::format("'{}' is not a number of type {}", text, type));
  return value;
}

Result<Val> parse_value(const std::string& text, ValType type) {
  switch (type.kind()) {
    case ValKind::I32: {
      auto value = parse_integer(text, 32);
      if (!value) return std::move(value).error();
      return Val(static_cast<std::uint32_t>(*value));
    }
    case ValKind::I64: {
      auto value = parse_integer(text, 64);
      if (!value) return std::move(value).error();
      return Val(*value);
    }
    case ValKind::F32: {
      auto value = parse_float<float>(text, "f32");
      if (!value) return std::move(value).error();
      return Val(*value);
    }
    case ValKind::F64: {
      auto value = parse_float<double>(text, "f64");
      if (!value) return std::move(value).error();
      return Val(*value);
    }
    case ValKind::FuncRef:
    case ValKind::ExternRef:
      if (text == "null") return Val::null(type);
      return bad_argument(fmt::format(
          "a reference of type {} can only be given as 'null', not '{}'", name(type), text));
    case ValKind::V128: break;
  }
  return bad_argument("a parameter of type v128 cannot be given on the command line");
}

std::string print_value(const Val& value) {
  switch (value.kind()) {
    case ValKind::I32: return fmt::format("{}", value.i32());
    case ValKind::I64: return fmt::format("{}", value.i64());
    case ValKind::F32: return fmt::format("{}", value.f32());
    case ValKind::F64: return fmt::format("{}", value.f64());
    case ValKind::V128:
    case ValKind::FuncRef:
    case ValKind::ExternRef: break;
  }
  return to_string(value);
}

/// Status for an Error of a call into the guest, after telling the user.
int report(const std::string& file, const Error& error, RunLimits& limits) {
  if (error.kind() == ErrorKind::Exit)
    return error.code() >= 0 && error.code() <= 255 ? error.code() : 255;
  const Trap* trap = Trap::of(error);
  if (trap != nullptr && error.kind() == ErrorKind::Trap) {
    if (trap->code() == TrapCode::Interrupted && limits.timed_out()) {
      note(fmt::format("hoist: {}: timeout of {} exceeded (--timeout)\n{}", base::printable(file),
                       limits.timeout_text(), trap->backtrace()));
      return kTimedOut;
    }
    note(fmt::format("hoist: {}: {}", base::printable(file), trap->to_string()));
    return kTrapped;
  }
  if (trap != nullptr && error.kind() == ErrorKind::Limit) {
    note(fmt::format("hoist: {}: {}\n{}", base::printable(file), base::printable(error.message()),
                     trap->backtrace()));
    return kTrapped;
  }
  return fail(describe(file, error));
}

Result<void> call_function(const Instance& instance, const std::string& name,
                           const std::vector<std::string>& texts) {
  auto func = instance.func(name);
  if (!func) return std::move(func).error();
  const FuncType type = func->type();
  if (type.params().size() != texts.size()) {
    return bad_argument(fmt::format("function '{}' has type {}: it takes {} argument{}, {} given",
                                    name, to_string(type), type.params().size(),
                                    type.params().size() == 1 ? "" : "s", texts.size()));
  }
  std::vector<Val> args;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto value = parse_value(texts[i], type.params()[i]);
    if (!value)
      return bad_argument(
          fmt::format("argument {} of '{}': {}", i + 1, name, value.error().message()));
    args.push_back(*std::move(value));
  }
  auto results = func->call(args);
  if (!results) return std::move(results).error();
  for (const Val& value : *results) print(fmt::format("{}\n", print_value(value)));
  return {};
}

/// What of a module runs when nothing is named with --invoke.
Result<void> run_default(const Module& module, const Instance& instance,
                         const RunOptions& options) {
  const std::vector<std::string> args(options.command.begin() + 1, options.command.end());
  if (module.find_export("_initialize") && !module.find_export("_start")) {
    auto done = call_function(instance, "_initialize", {});
    if (!done) return done;
  }
  if (!options.invoke.empty()) return call_function(instance, options.invoke, args);
  if (module.find_export("_start")) return call_function(instance, "_start", {});
  if (module.has_start() || module.find_export("_initialize")) return {};
  std::string functions;
  for (const ExportType& item : module.exports()) {
    if (item.type.kind == ExternKind::Func)
      functions += (functions.empty() ? "" : ", ") + item.name;
  }
  return bad_argument(
      functions.empty()
          ? "the module has no start function and exports no function to run"
          : fmt::format("the module has no _start function; choose one with --invoke: {}",
                        functions));
}

Result<WasiConfig> wasi_config(const RunOptions& options) {
  WasiConfig config;
  config.args = options.command;
  for (const std::string& entry : options.environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad_argument(fmt::format("--env takes NAME=VALUE, not '{}'", entry));
    config.env.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  for (const std::string& entry : options.directories) {
    const std::size_t split = entry.find("::");
    const std::string host = entry.substr(0, split);
    if (host.empty())
      return bad_argument(fmt::format("--dir takes HOST or HOST::GUEST, not '{}'", entry));
    std::string guest = split == std::string::npos ? host : entry.substr(split + 2);
    if (guest == "ro" && split != std::string::npos) {
      return bad_argument(
          fmt::format("--dir '{}': read-only is HOST::GUEST::ro; a guest directory named ro is "
                      "HOST::./ro",
                      entry));
    }
    // HOST::GUEST::ro takes away all that changes anything.
    const std::size_t mode = guest.rfind("::");
    const bool read_only = mode != std::string::npos && guest.substr(mode) == "::ro";
    if (mode != std::string::npos) {
      if (!read_only)
        return bad_argument(
            fmt::format("--dir takes HOST, HOST::GUEST or HOST::GUEST::ro, not '{}'", entry));
      guest.resize(mode);
    }
    config.directories.push_back({host, std::move(guest), read_only});
  }
  config.exit_on_broken_pipe = true;  // `hoist run … | head` ends
  config.listen = options.listen;
  config.descriptors = options.descriptors;
  return config;
}

Result<Config> engine_config(const RunOptions& options) {
  Config config;
  config.opt_level = static_cast<OptLevel>(options.opt_level);
  config.threads = options.threads;
  config.verify_ir = config.check_allocation = options.verify;
  if (options.profile == "perfmap") config.profiler = Profiler::PerfMap;
  use_cache(options.cache, config);
  apply(options.code, config);
  options.limits.apply(config);
  return config;
}

Result<Instance> instantiate(StoreRef store, const Module& module, Linker& linker, WasiConfig wasi,
                             const RunOptions& options) {
  bool wants_wasi = false;
  for (const ImportType& import : module.imports())
    wants_wasi |= import.module.starts_with("wasi_");
  if (wants_wasi) {
    auto added = add_wasi_to_linker(linker, std::move(wasi));
    if (!added) return std::move(added).error();
  }
  linker.unknown_imports(options.unknown_imports == "trap"      ? UnknownImports::Trap
                         : options.unknown_imports == "default" ? UnknownImports::Default
                                                                : UnknownImports::Error);
  return linker.instantiate(store, module);
}

/// A module, or an image of one. An image is a program with all its powers, so it has to be marked
/// as one, which `hoist compile` does and a download does not.
Result<Module> load_module(const Engine& engine, const std::string& file,
                           const CompileOptions& compile) {
  if (!platform::begins_like(file, Module::is_image)) {
    return Module::from_file(engine, file, compile);
  }
  if (!platform::is_executable(file)) {
    return Error(ErrorKind::BadArgument,
                 "it is an image, which is machine code, but not executable: if you trust it as a "
                 "program, chmod +x it");
  }
  return Module::deserialize_file(engine, file);
}

int run(RunOptions& options) {
  const std::string& file = options.command.front();
  // A mistake in an option is one whether the program needs the option or not.
  auto wasi = wasi_config(options);
  if (!wasi) return fail(wasi.error().message());
  auto config = engine_config(options);
  if (!config) return fail(config.error().message());
  auto engine = Engine::create(*config);
  if (!engine) return fail(engine.error().message());

  Timings timings;
  ProgressLine progress("compiling " + file);
  CompileOptions compile;
  compile.context = &progress;
  compile.on_progress = [](void* context, const CompileProgress& now) {
    static_cast<ProgressLine*>(context)->update(now.functions_done, now.functions);
  };
  auto module = load_module(*engine, file, compile);
  progress.clear();
  if (!module) return fail(describe(file, module.error()));
  timings.compile = module->stats();

  Store store(*engine, options.limits.store_limits());
  Linker linker(*engine);
  if (auto started = options.limits.start(store); !started) return fail(started.error().message());
  auto start = Clock::now();
  auto instance = instantiate(store, *module, linker, *std::move(wasi), options);
  timings.instantiate_ns = ns_since(start);
  int status = 0;
  if (!instance) {
    status = report(file, instance.error(), options.limits);
  } else {
    start = Clock::now();
    auto done = run_default(*module, *instance, options);
    timings.run_ns = ns_since(start);
    std::fflush(stdout);
    if (!done) status = report(file, done.error(), options.limits);
  }
  options.limits.stop();
  // It may be why the program failed, though it has another explanation or none.
  if (const std::string refusal = options.limits.refusal(); status != 0 && !refusal.empty()) {
    note(fmt::format("hoist: note: {}\n", refusal));
  }
  if (options.timings != "none") print_timings(timings, options.timings == "json");
  return status;
}

}  // namespace

namespace {

/// On a stack that is large enough for the program.
int run_with_stack(RunOptions& options) {
  if (options.command.empty()) return fail("run needs a FILE (see hoist run --help)");
  if (auto read = options.limits.parse(); !read) return fail(read.error().message());
  const std::uint64_t bytes = options.limits.thread_stack_bytes();
  if (bytes == 0) return run(options);
  struct Call {
    RunOptions& options;
    int status;
  } call{options, 0};
  const bool made = on_stack(
      bytes,
      [](void* context) {
        auto& self = *static_cast<Call*>(context);
        self.status = run(self.options);
      },
      &call);
  return made ? call.status : fail("--max-stack: the system gives no stack of that size");
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  const auto shared = std::make_shared<RunOptions>();
  RunOptions& options = *shared;
  CLI::App* sub = app.add_subcommand("run", "Compile a module and run it");
  sub->footer(
      "hoist run [OPTIONS] FILE [ARGS...]\n\n"
      "FILE is binary WebAssembly, its text form, or an image of `hoist compile`. A WASI command "
      "(it exports _start) is run with "
      "ARGS; of a\n"
      "reactor, _initialize runs first. With --invoke, ARGS are the arguments of the function, and "
      "its\n"
      "results are printed one a line. Options come before FILE.\n\n"
      "The exit status is the program's (255 for one above 255); 134 when it traps or a limit "
      "stops it (message and "
      "backtrace on stderr); 1 "
      "for an\n"
      "error of Hoist or its input; 124 when --timeout stops it.");
  sub->add_option("--dir", options.directories,
                  "Let the program see directory HOST, as GUEST if given; with ::ro it can change "
                  "nothing there (repeatable)")
      ->allow_extra_args(false)
      ->type_name("HOST[::GUEST[::ro]]");
  sub->add_option("--listen", options.listen,
                  "Listen on a numeric TCP address and give the program the socket: the first is "
                  "its descriptor 3 (repeatable)")
      ->allow_extra_args(false)
      ->type_name("ADDR:PORT");
  sub->add_option("--fd", options.descriptors,
                  "Give the program the open descriptor N (socket, pipe, file), at the next number "
                  "after those of --listen (repeatable)")
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 1 << 20))
      ->type_name("N");
  sub->add_option("--env", options.environment, "Set an environment variable (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  sub->add_option("--invoke", options.invoke, "Call this exported function with ARGS")
      ->type_name("NAME");
  sub->add_flag("--timings{text}", options.timings,
                "Print times and sizes to stderr at the end, as text or with --timings=json")
      ->check(CLI::IsMember({"text", "json"}));
  sub->add_option("--unknown-imports", options.unknown_imports,
                  "What to do about imports that nothing provides: error (default); trap: a "
                  "function that traps when "
                  "called; default: a function that returns zeros")
      ->check(CLI::IsMember({"error", "trap", "default"}))
      ->type_name("error|trap|default");
  sub->add_option("--threads", options.threads, "Threads that compile; 0 (default) is one per core")
      ->check(CLI::Range(0u, 1024u))
      ->type_name("N");
  sub->add_option("--opt-level", options.opt_level,
                  "0: compile fastest; 1; 2 (default): run fastest")
      ->check(CLI::Range(0u, 2u))
      ->type_name("0|1|2");
  sub->add_option("--profile", options.profile,
                  "Write /tmp/perf-PID.map, which `perf report` reads")
      ->check(CLI::IsMember({"none", "perfmap"}))
      ->type_name("perfmap");
  add_cache_options(*sub, options.cache);
  options.limits.add_options(*sub);
  add_code_options(*sub, options.code);
  sub->add_flag("--verify", options.verify, "Check the compiler's work at every stage (slow)");
  sub->prefix_command();
  sub->callback([sub, shared, &status] {
    shared->command = sub->remaining();
    std::vector<std::string>& command = shared->command;
    if (!command.empty() && command.front().size() > 1 && command.front()[0] == '-') {
      status = fail(fmt::format("run has no option '{}' (see hoist run --help)", command.front()));
      return;
    }
    status = run_with_stack(*shared);
  });
}

}  // namespace hoist::cli
