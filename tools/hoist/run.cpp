// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist run: compile a module and run it, as a WASI command, a reactor, or one exported function.
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "base/text/printable.hpp"
#include "hoist/arguments.hpp"
#include "hoist/cache.hpp"
#include "hoist/cli.hpp"
#include "hoist/hoist.hpp"
#include "hoist/limits.hpp"
#include "hoist/profile.hpp"
#include "platform/files.hpp"
#include "platform/private_dir.hpp"
#include "platform/threads.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct RunOptions {
  std::vector<std::string> directories;
  std::vector<std::string> environment;
  std::vector<std::string> listen;
  std::vector<std::string> preload;
  std::vector<int> descriptors;
  RunLimits limits;
  CodeOptions code;
  std::string invoke;
  std::string timings = "none";
  std::string unknown_imports = "error";
  RunProfile profile;
  unsigned threads = 0;
  unsigned max_threads = 256;
  unsigned opt_level = 2;
  CacheOptions cache;
  bool verify = false;
  std::vector<std::string> command;  // FILE, then ARGS
  std::string subcommand;
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
  const bool has_frames = error.kind() == ErrorKind::Limit || error.kind() == ErrorKind::Exception;
  if (trap != nullptr && has_frames) {
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

/// " (…)" for a mistake in the order of arguments that may be behind an error, or empty.
std::string order_hint(const RunOptions& options, bool file_is_missing) {
  const std::vector<std::string> args(options.command.begin() + 1, options.command.end());
  for (const std::string& arg : args) {
    if (file_is_missing && (arg.ends_with(".wasm") || arg.ends_with(".wat"))) {
      return fmt::format(" (FILE comes first: did you mean '{} {}'?)", arg, options.command[0]);
    }
    if (!file_is_missing && arg.starts_with("--invoke")) {
      return " (--invoke came after FILE, so it was given to the program)";
    }
  }
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
          : fmt::format("the module has no _start function{}; choose one with --invoke: {}",
                        order_hint(options, false), functions));
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
  config.on_listen = [](void*, const char* wanted, const char* address) noexcept {
    const std::string_view text = wanted;
    if (text.find_first_not_of('0', text.rfind(':') + 1) != text.npos) return;
    note(fmt::format("hoist: listening on {}\n", address));
  };
  config.descriptors = options.descriptors;
  return config;
}

Result<Config> engine_config(const RunOptions& options) {
  Config config;
  config.opt_level = static_cast<OptLevel>(options.opt_level);
  config.threads = options.threads;
  config.verify_ir = config.check_allocation = options.verify;
  options.profile.apply(config);
  use_cache(options.cache, config);
  apply(options.code, config);
  options.limits.apply(config);
  return config;
}

bool wants_wasi(const Module& module) {
  for (const ImportType& import : module.imports()) {
    if (import.module.starts_with("wasi_")) return true;
  }
  return false;
}

/// A module of --preload.
struct Preload {
  std::string name;
  std::string file;
  Module module;
};

/// `threads` is filled in for a program that can spawn some; `failed` with the file at fault.
Result<Instance> instantiate(StoreRef store, const Module& module, Linker& linker, WasiConfig wasi,
                             RunOptions& options, const std::vector<Preload>& preloads,
                             std::optional<WasiThreads>& threads, ProgramEnd& end,
                             std::string& failed) {
  bool any_wasi = wants_wasi(module);
  for (const Preload& preload : preloads) any_wasi |= wants_wasi(preload.module);
  if (any_wasi) {
    auto added = add_wasi_to_linker(linker, std::move(wasi));
    if (!added) return std::move(added).error();
  }
  linker.unknown_imports(options.unknown_imports == "trap"      ? UnknownImports::Trap
                         : options.unknown_imports == "default" ? UnknownImports::Default
                                                                : UnknownImports::Error);
  if (WasiThreads::is_wanted(module)) {
    failed = options.command.front();
    if (!preloads.empty()) {
      return Error(ErrorKind::Unsupported,
                   "it starts threads, each in a store of its own: modules of --preload are not "
                   "there");
    }
    auto added = WasiThreads::add_to_linker(linker, module,
                                            options.limits.threads(options.max_threads, end));
    if (!added) return std::move(added).error();
    threads.emplace(*std::move(added));
  }
  failed = preloads.empty() ? options.command.front() : preloads.front().file;
  for (const Preload& preload : preloads) {
    failed = preload.file;
    auto instance = linker.instantiate(store, preload.module);
    if (!instance) return instance;
    if (auto defined = linker.define_instance(preload.name, *instance); !defined) {
      return std::move(defined).error();
    }
    if (!preload.module.find_export("_initialize")) continue;
    if (auto done = call_function(*instance, "_initialize", {}); !done) {
      return std::move(done).error();
    }
  }
  failed = options.command.front();
  return linker.instantiate(store, module);
}

/// A module, or an image of one. An image is a program with all its powers, so it has to be marked
/// as one, which `hoist compile` does and a download does not.
Result<Module> load_module(const Engine& engine, const std::string& file,
                           const CompileOptions& compile) {
  if (file == "-") {
    HOIST_TRY(const std::vector<std::uint8_t> bytes,
              platform::read_file("/dev/stdin", wasm::kMaxModuleBytes));
    if (!Module::is_image(bytes)) return Module::load(engine, bytes, compile);
    return Error(ErrorKind::BadArgument,
                 "an image, which is machine code, is run from an executable file only");
  }
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

/// The same for the thread of a program that ended it.
int report_thread(const std::string& file, std::int32_t thread, const Error& error,
                  RunLimits& limits) {
  if (error.kind() != ErrorKind::Exit) {
    note(
        fmt::format("hoist: {}: thread {} of the program failed\n", base::printable(file), thread));
  }
  return report(file, error, limits);
}

/// Whether the program did anything before this error, which may be why there is none of it.
bool came_to_run(const Error& error) {
  return Trap::of(error) != nullptr || error.kind() == ErrorKind::Exit;
}

/// The main thread does not come back: it is in a host function or in code that does not look.
void abandon(void* context, std::int32_t thread, const Error& error) {
  auto& options = *static_cast<RunOptions*>(context);
  options.profile.wait_if_ended();
  const int status = report_thread(options.command.front(), thread, error, options.limits);
  static_cast<void>(options.profile.finish());
  std::fflush(stdout);
  std::_Exit(status);
}

int run(RunOptions& options) {
  const std::string& file = options.command.front();
  // A mistake in an option is one whether the program needs the option or not.
  auto wasi = wasi_config(options);
  if (!wasi) return fail(wasi.error().message());
  if (auto ready = options.profile.prepare(options.command); !ready)
    return fail(ready.error().message());
  auto config = engine_config(options);
  if (!config) return fail(config.error().message());
  auto engine = Engine::create(*config);
  if (!engine) return fail(engine.error().message());

  std::vector<Preload> preloads;
  for (const std::string& entry : options.preload) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size()) {
      return fail(fmt::format("--preload takes NAME=FILE, not '{}'", entry));
    }
    const std::string preloaded = entry.substr(equals + 1);
    auto loaded = load_module(*engine, preloaded, {});
    if (!loaded) return fail(describe(preloaded, loaded.error()));
    preloads.push_back({entry.substr(0, equals), preloaded, *std::move(loaded)});
  }

  Timings timings;
  ProgressLine progress("compiling " + file);
  CompileOptions compile;
  compile.context = &progress;
  compile.on_progress = [](void* context, const CompileProgress& now) {
    static_cast<ProgressLine*>(context)->update(now.functions_done, now.functions);
  };
  auto module = load_module(*engine, file, compile);
  progress.clear();
  if (!module) {
    const bool missing = module.error().kind() == ErrorKind::Io;
    return fail(describe(file, module.error()) + (missing ? order_hint(options, true) : ""));
  }
  timings.compile = module->stats();

  Store store(*engine, options.limits.store_limits());
  Linker linker(*engine);
  if (auto started = options.limits.start(store); !started) return fail(started.error().message());
  if (auto started = options.profile.start(*module, store); !started)
    return fail(started.error().message());
  auto start = Clock::now();
  ProgramEnd end(abandon, &options);
  std::optional<WasiThreads> threads;
  std::string at_fault = file;
  auto instance = instantiate(store, *module, linker, *std::move(wasi), options, preloads, threads,
                              end, at_fault);
  timings.instantiate_ns = ns_since(start);
  int status = 0;
  Result<void> done;
  if (instance) {
    start = Clock::now();
    done = run_default(*module, *instance, options);
    timings.run_ns = ns_since(start);
  } else {
    done = instance.error();
  }
  end.main_returned();
  options.profile.wait_if_ended();
  std::fflush(stdout);
  if (const auto failure = threads ? threads->failure() : std::nullopt) {
    status = report_thread(file, failure->thread, failure->error, options.limits);
  } else if (!done) {
    status = report(instance ? file : at_fault, done.error(), options.limits);
  }
  options.limits.stop();
  if (!done && !came_to_run(done.error())) {
    options.profile.discard();
  } else if (!options.profile.finish() && status == 0) {
    status = kFailure;
  }
  // It may be why the program failed, though it has another explanation or none.
  if (const std::string refusal = options.limits.refusal(); status != 0 && !refusal.empty()) {
    note(fmt::format("hoist: note: {}\n", refusal));
  }
  if (options.timings != "none") print_timings(timings, options.timings == "json");
  // The program ends with its main thread. A loop of another one may not notice.
  constexpr std::int64_t kPatienceNs = 100'000'000;
  if (threads && !threads->stop(kPatienceNs)) {
    std::fflush(nullptr);
    std::_Exit(status);
  }
  return status;
}

}  // namespace

namespace {

/// On a stack that is large enough for the program.
int run_with_stack(RunOptions& options) {
  if (options.command.empty()) {
    return fail(
        fmt::format("a FILE is needed: hoist {0} [OPTIONS] FILE [ARGS...] (see hoist {0} --help)",
                    options.subcommand));
  }
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
        platform::name_this_thread("main");
        self.status = run(self.options);
      },
      &call);
  return made ? call.status : fail("--max-stack: the system gives no stack of that size");
}

/// Says in the usage that a program follows, which CLI11 does not know of.
class ProgramUsage final : public CLI::Formatter {
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    while (usage.ends_with('\n')) usage.pop_back();
    return usage + " FILE [ARGS...]\n";
  }
};

}  // namespace

static void add_command(CLI::App& app, const char* name, const char* what, const char* footer,
                        const std::shared_ptr<RunOptions>& shared, const AfterMarker& after,
                        int& status) {
  RunOptions& options = *shared;
  options.subcommand = name;
  CLI::App* sub = app.add_subcommand(name, what);
  sub->footer(footer);
  sub->formatter(std::make_shared<ProgramUsage>());
  sub->add_option("--dir", options.directories,
                  "Let the program see directory HOST, as GUEST if given; with ::ro it can change "
                  "nothing there (repeatable)")
      ->allow_extra_args(false)
      ->type_name("HOST[::GUEST[::ro]]");
  sub->add_option("--listen", options.listen,
                  "Listen on a numeric TCP address and give the program the socket: the first is "
                  "its descriptor 3; the port that the system chooses for port 0 is told on stderr "
                  "(repeatable)")
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
  sub->add_option("--preload", options.preload,
                  "Instantiate FILE before the program, which can import its exports from module "
                  "NAME (repeatable: later ones can import from earlier ones)")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
  sub->add_option("--invoke", options.invoke, "Call this exported function with ARGS")
      ->type_name("NAME");
  sub->add_flag("--timings{text}", options.timings,
                "Print times and sizes to stderr at the end, as text or with --timings=json")
      ->check(CLI::IsMember({"text", "json"}));
  sub->add_option("--unknown-imports", options.unknown_imports,
                  "What to do about imports that nothing provides: error (default); trap: a "
                  "function that traps when "
                  "called; default: a function that returns zeros")
      ->check(CLI::IsMember({"error", "trap", "default"}).description(""))
      ->type_name("error|trap|default");
  sub->add_option("--threads", options.threads, "Threads that compile; 0 (default) is one per core")
      ->check(CLI::Range(0u, 1024u))
      ->type_name("N");
  sub->add_option("--max-threads", options.max_threads,
                  "Threads that the program may have besides its main thread, if it imports "
                  "\"wasi\".\"thread-spawn\" (default: 256)")
      ->check(CLI::Range(0u, 32768u))
      ->type_name("N");
  sub->add_option("--opt-level", options.opt_level,
                  "0: compile fastest; 1; 2 (default): run fastest")
      ->check(CLI::Range(0u, 2u))
      ->type_name("0|1|2");
  options.profile.add_options(*sub);
  add_cache_options(*sub, options.cache);
  options.limits.add_options(*sub);
  add_code_options(*sub, options.code);
  sub->add_flag("--verify", options.verify, "Check the compiler's work at every stage (slow)");
  sub->prefix_command();
  sub->callback([sub, shared, &after, &status] {
    const std::vector<std::string> rest = sub->remaining();
    if (!rest.empty() && rest.front().size() > 1 && rest.front()[0] == '-') {
      status = fail(fmt::format("{} has no option '{}' (see hoist {} --help)", sub->get_name(),
                                rest.front(), sub->get_name()));
      return;
    }
    shared->command = after.is_there ? after.words : rest;
    status = run_with_stack(*shared);
  });
}

void add_run(CLI::App& app, const AfterMarker& after, int& status) {
  add_command(
      app, "run", "Compile a module and run it",
      "FILE is binary WebAssembly, its text form, or an image of `hoist compile`; - is a module on "
      "the standard input. A WASI command "
      "(it exports _start) is run with "
      "ARGS; of a\n"
      "reactor, _initialize runs first. With --invoke, ARGS are the arguments of the function, and "
      "its\n"
      "results are printed one a line. Options come before FILE, and -- may end them; what follows "
      "FILE is\nthe program's, unchanged.\n\n"
      "The exit status is the program's (255 for one above 255); 134 when it traps, throws what "
      "nothing catches, or a limit "
      "stops it (message and "
      "backtrace on stderr); 1 "
      "for an\n"
      "error of Hoist or its input; 124 when --timeout stops it; 141 when it writes on to a pipe "
      "that nobody\nreads. Signals like those of Ctrl-C and kill end it as any program.",
      std::make_shared<RunOptions>(), after, status);
}

void add_profile(CLI::App& app, const AfterMarker& after, int& status) {
  const auto options = std::make_shared<RunOptions>();
  options->profile.always_samples();
  add_command(
      app, "profile", "Run a module and show where its time goes",
      "As hoist run --profile=guest: samples the program every millisecond, then prints the "
      "functions and\n"
      "source lines that took most time to stderr, and where the flame graph is "
      "(FILE.profile.html in the\n"
      "current directory unless --profile=guest,out=FILE says otherwise), also when Ctrl-C "
      "ends the\nprogram. Lines need DWARF (clang -g).",
      options, after, status);
}

}  // namespace hoist::cli
