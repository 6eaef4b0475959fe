// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/wast_runner.hpp"

#include <fmt/core.h>

#include "hoist/wast_values.hpp"

namespace hoist::cli {

namespace {

using wasm::Command;
using wasm::CommandKind;

/// Rules of older versions of the language that assertions still expect to hold.
struct LiftedRule {
  std::string_view message;
  const char* since;
};
constexpr LiftedRule kLifted[] = {
    {"multiple tables", "rule lifted by reference-types"},
};

/// "unsupported feature: simd (v128.load)" -> "simd"; "unsupported instruction: struct.new, in
/// function 1" -> "instruction struct.new"; of other messages all.
std::string feature_of(const Error& error) {
  struct Prefix {
    std::string_view text;
    std::string_view word;
  };
  constexpr Prefix kPrefixes[] = {{"unsupported feature: ", ""},
                                  {"unsupported instruction: ", "instruction "}};
  std::string_view text = error.message();
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    text.remove_prefix(prefix.text.size());
    return std::string(prefix.word) + std::string(text.substr(0, text.find_first_of(" (,;:")));
  }
  return std::string(text);
}

/// The specification's words for a trap.
std::string trap_text(const Error& error) {
  if (const Trap* trap = Trap::of(error)) return trap->message();
  return error.message();
}

/// Traps under the names that scripts of other engines have for them.
struct TrapName {
  std::string_view ours;
  std::string_view theirs;
};
constexpr TrapName kTrapNames[] = {
    {"out of bounds table access", "undefined element"},  // one trap for all that is beyond a table
    {"undefined element", "out of bounds"},
    {"expected shared memory", "atomic wait on non-shared memory"},
};

/// Scripts say a part of the message, or more than it ("uninitialized element 2").
bool same_message(std::string_view found, std::string_view expected) {
  for (const TrapName& row : kTrapNames) {
    if (found == row.ours && expected == row.theirs) return true;
  }
  return found.find(expected) != std::string_view::npos || expected.starts_with(found);
}

/// Words of engine tests for what only fails because of a limit of that engine; here it may work.
constexpr std::string_view kEngineLimits[] = {
    "failed to allocate", "overflow calculating table allocation size", "exceeds memory limits"};

bool is_engine_limit(std::string_view expected) {
  for (const std::string_view words : kEngineLimits) {
    if (expected.find(words) != std::string_view::npos) return true;
  }
  return false;
}

/// Whether the import section of `bytes` may name `module`; the module need not be well-formed.
bool may_import_from(std::span<const std::uint8_t> bytes, std::string_view module) {
  constexpr std::size_t kHeader = 8;
  constexpr std::uint8_t kImportSection = 2;
  std::size_t at = kHeader;
  while (at + 1 < bytes.size()) {
    const std::uint8_t id = bytes[at++];
    std::uint64_t size = 0;
    for (unsigned shift = 0; at < bytes.size() && shift < 35; shift += 7) {
      const std::uint8_t byte = bytes[at++];
      size |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    if (size > bytes.size() - at) return false;
    if (id == kImportSection) {
      const std::string_view content(reinterpret_cast<const char*>(bytes.data() + at), size);
      return module.size() < 0x80 && content.find(static_cast<char>(module.size()) +
                                                  std::string(module)) != std::string_view::npos;
    }
    at += size;
  }
  return false;
}

std::string error_text(const Error& error) {
  if (error.has_offset() && error.line() == 0) {
    return fmt::format("{} (at offset 0x{:x})", error.message(), error.offset());
  }
  if (error.line() != 0) {
    return fmt::format("{} (line {}, column {})", error.message(), error.line(), error.column());
  }
  return error.message();
}

}  // namespace

ScriptRunner::ScriptRunner(const Engine& engine, bool exact_messages)
    : engine_(engine), exact_messages_(exact_messages), store_(engine), linker_(engine) {
  linker_.allow_shadowing(true);
  // For engines whose code counts it; an error for others.
  static_cast<void>(store_.set_fuel(std::uint64_t{1} << 62));
  define_spectest();
}

ScriptRunner::~ScriptRunner() {
  finish();
}

void ScriptRunner::finish() {
  for (auto& [id, thread] : threads_) join(thread);
  threads_.clear();
}

/// The host module of the official test suite.
void ScriptRunner::define_spectest() {
  const auto keep = [this](const Result<void>& done) {
    if (!done) outcome_.failures.push_back({0, "cannot make spectest: " + done.error().message()});
  };
  const auto put = [&](std::string_view name, auto made) {
    if (!made) return keep(std::move(made).error());
    keep(linker_.define("spectest", name, *made));
  };
  keep(linker_.define_func("spectest", "print", [] {}));
  keep(linker_.define_func("spectest", "print_i32", [](std::int32_t) {}));
  keep(linker_.define_func("spectest", "print_i64", [](std::int64_t) {}));
  keep(linker_.define_func("spectest", "print_f32", [](float) {}));
  keep(linker_.define_func("spectest", "print_f64", [](double) {}));
  keep(linker_.define_func("spectest", "print_i32_f32", [](std::int32_t, float) {}));
  keep(linker_.define_func("spectest", "print_f64_f64", [](double, double) {}));
  put("global_i32", Global::create(store_, {ValKind::I32, false}, Val(std::int32_t{666})));
  put("global_i64", Global::create(store_, {ValKind::I64, false}, Val(std::int64_t{666})));
  put("global_f32", Global::create(store_, {ValKind::F32, false}, Val(666.6f)));
  put("global_f64", Global::create(store_, {ValKind::F64, false}, Val(666.6)));
  put("table", Table::create(store_, {ValKind::FuncRef, 10, 20}, Val::null(ValKind::FuncRef)));
  put("table64",
      Table::create(store_, {ValKind::FuncRef, 10, 20, true}, Val::null(ValKind::FuncRef)));
  put("memory", Memory::create(store_, {1, 2}));
  put("shared_memory", Memory::create(store_, {1, 2, false, true}));
}

void ScriptRunner::run(const Command& command) {
  Answer answer = execute(command);
  if (answer.verdict == Verdict::Failed) {
    if (std::string feature = missed_effect(command); !feature.empty()) {
      answer = unsupported(std::move(feature));
    }
  }
  switch (answer.verdict) {
    case Verdict::Passed: ++outcome_.passed; return;
    case Verdict::Unsupported:
      ++outcome_.unsupported;
      ++outcome_.reasons[answer.text];
      return;
    case Verdict::Failed: outcome_.failures.push_back({command.line, answer.text}); return;
  }
}

ScriptRunner::Answer ScriptRunner::execute(const Command& command) {
  switch (command.kind) {
    case CommandKind::Module:
    case CommandKind::ModuleDefinition: return module(command);
    case CommandKind::ModuleInstance: return module_instance(command);
    case CommandKind::Register: return register_instance(command);
    case CommandKind::Action: {
      Answer unable;
      const auto results = act(command.action, unable);
      return results ? passed() : unable;
    }
    case CommandKind::AssertReturn: return assert_return(command);
    case CommandKind::AssertTrap: return assert_trap(command, command.message);
    case CommandKind::AssertExhaustion: return assert_trap(command, "call stack exhausted");
    case CommandKind::AssertTrapModule: return assert_trap_module(command);
    case CommandKind::AssertUnlinkable: return assert_unlinkable(command);
    case CommandKind::AssertMalformed:
    case CommandKind::AssertMalformedCustom:
    case CommandKind::AssertInvalid:
    case CommandKind::AssertInvalidCustom: return assert_rejected(command);
    case CommandKind::AssertException: return assert_exception(command);
    case CommandKind::AssertSuspension: return unsupported("stack-switching");
    case CommandKind::Thread: return thread(command);
    case CommandKind::Wait: return wait(command);
    case CommandKind::Broken: return failed(error_text(*command.error));
  }
  return failed("unknown command");
}

// ---- States.

ScriptRunner::Answer ScriptRunner::answer_of(const Error& error) {
  if (error.kind() == ErrorKind::Unsupported) return unsupported(feature_of(error));
  return failed(error_text(error));
}

template <typename T>
ScriptRunner::Answer ScriptRunner::answer_of(const State<T>& state) {
  if (state.value) return passed();
  return state.unsupported.empty() ? failed(state.failure) : unsupported(state.unsupported);
}

template <typename T>
ScriptRunner::State<T> ScriptRunner::state_of(const Error& error) {
  if (error.kind() == ErrorKind::Unsupported) return {.unsupported = feature_of(error)};
  return {.failure = error_text(error)};
}

const ScriptRunner::Running* ScriptRunner::find_instance(
    const std::optional<std::string>& id) const {
  if (!id) return names_.last_instance ? &*names_.last_instance : nullptr;
  const auto found = names_.instances.find(*id);
  return found == names_.instances.end() ? nullptr : &found->second;
}

ScriptRunner::Definition ScriptRunner::define(const wasm::ScriptModule& module) {
  if (module.error) return state_of<Module>(*module.error);
  auto compiled = Module::compile(engine_, module.bytes);
  if (!compiled) return state_of<Module>(compiled.error());
  return {.value = *std::move(compiled)};
}

void ScriptRunner::note_missed_effects(const wasm::ScriptModule& module,
                                       const std::string& feature) {
  for (const auto& [name, instance] : registered_) {
    if (may_import_from(module.bytes, name)) missed_effects_.emplace_back(instance, feature);
  }
}

std::string ScriptRunner::missed_effect(const Command& command) const {
  if (missed_effects_.empty() || command.action.name.empty()) return {};
  const Running* running = find_instance(command.action.module);
  if (running == nullptr || !running->value) return {};
  for (const auto& [instance, feature] : missed_effects_) {
    if (instance == *running->value) return feature;
  }
  return {};
}

std::string ScriptRunner::missing_feature(const Module& module) const {
  if (registered_unsupported_.empty()) return {};
  for (const ImportType& import : module.imports()) {
    const auto found = registered_unsupported_.find(import.module);
    if (found != registered_unsupported_.end()) return found->second;
  }
  return {};
}

ScriptRunner::Running ScriptRunner::instantiate(const Definition& definition) {
  if (!definition.value) {
    return {.unsupported = definition.unsupported, .failure = definition.failure};
  }
  if (std::string feature = missing_feature(*definition.value); !feature.empty()) {
    return {.unsupported = std::move(feature)};
  }
  link_by_identifier(*definition.value);
  auto instance = linker_.instantiate_raw(store_, *definition.value);
  if (!instance) return state_of<Instance>(instance.error());
  return {.value = *std::move(instance)};
}

void ScriptRunner::link_by_identifier(const Module& module) {
  for (const ImportType& import : module.imports()) {
    if (linker_.has(import.module, import.field)) continue;
    const auto found = names_.instances.find(import.module);
    if (found == names_.instances.end() || !found->second.value) continue;
    // What cannot be defined is missed when the module is linked.
    static_cast<void>(linker_.define_instance(import.module, *found->second.value));
  }
}

// ---- Modules.

ScriptRunner::Answer ScriptRunner::module(const Command& command) {
  Definition definition = define(command.module);
  if (command.module.id) names_.definitions.insert_or_assign(*command.module.id, definition);
  names_.last_definition = definition;
  if (command.kind == CommandKind::ModuleDefinition) return answer_of(definition);
  if (!definition.unsupported.empty()) note_missed_effects(command.module, definition.unsupported);
  Running running = instantiate(definition);
  const Answer answer = answer_of(running);
  if (!running.value && running.unsupported.empty()) {
    running.failure = fmt::format("needs the module of line {}, which failed", command.line);
  }
  if (command.module.id) names_.instances.insert_or_assign(*command.module.id, running);
  names_.last_instance = std::move(running);
  return answer;
}

ScriptRunner::Answer ScriptRunner::module_instance(const Command& command) {
  const Definition* definition =
      names_.last_definition && !command.of ? &*names_.last_definition : nullptr;
  if (command.of) {
    const auto found = names_.definitions.find(*command.of);
    if (found != names_.definitions.end()) definition = &found->second;
  }
  if (definition == nullptr) return failed("no module definition of that name");
  Running running = instantiate(*definition);
  const Answer answer = answer_of(running);
  if (command.id) names_.instances.insert_or_assign(*command.id, running);
  names_.last_instance = std::move(running);
  return answer;
}

ScriptRunner::Answer ScriptRunner::register_instance(const Command& command) {
  if (const auto found = command.of ? shared_.find(*command.of) : shared_.end();
      found != shared_.end()) {
    for (const auto& [name, memory] : found->second) {
      if (auto done = linker_.define(command.name, name, memory); !done) {
        return failed(done.error().message());
      }
    }
    return passed();
  }
  const Running* running = find_instance(command.of);
  if (running == nullptr) return failed("no module instance of that name");
  registered_unsupported_.erase(command.name);
  registered_.erase(command.name);
  if (!running->value) {
    if (!running->unsupported.empty()) registered_unsupported_[command.name] = running->unsupported;
    return answer_of(*running);
  }
  registered_.emplace(command.name, *running->value);
  const auto done = linker_.define_instance(command.name, *running->value);
  return done ? passed() : failed(done.error().message());
}

// ---- Threads.

ScriptRunner::SharedExports ScriptRunner::shared_exports(const Instance& instance) {
  SharedExports out;
  const std::optional<Module> module = instance.module();
  if (!module) return out;
  for (const ExportType& item : module->exports()) {
    if (item.type.kind != ExternKind::Memory || !item.type.memory.shared) continue;
    const auto memory = instance.memory(item.name);
    if (!memory) continue;
    if (auto shared = memory->shared()) out.emplace_back(item.name, *std::move(shared));
  }
  return out;
}

/// Those of a thread that cannot start are not run; waiting for it answers the same.
ScriptRunner::Answer ScriptRunner::thread(const Command& command) {
  Answer answer = start_thread(command);
  if (answer.verdict != Verdict::Passed) not_started_[*command.id] = answer;
  return answer;
}

ScriptRunner::Answer ScriptRunner::start_thread(const Command& command) {
  const std::string& id = *command.id;
  if (threads_.contains(id)) return failed("a thread of that name runs already");
  auto runner = std::make_unique<ScriptRunner>(engine_, exact_messages_);
  for (const std::string& module : command.shared) {
    const Running* running = find_instance(module);
    if (running == nullptr) return failed("no module instance of that name");
    if (!running->value) return answer_of(*running);
    runner->shared_.insert_or_assign(module, shared_exports(*running->value));
  }
  ScriptThread& thread = threads_[id];
  thread.runner = std::move(runner);
  thread.thread = std::thread([&own = *thread.runner, &command] {
    for (const Command& nested : command.nested) own.run(nested);
    own.finish();
  });
  return passed();
}

void ScriptRunner::join(ScriptThread& thread) {
  thread.thread.join();
  ScriptOutcome& theirs = thread.runner->outcome_;
  outcome_.passed += theirs.passed;
  outcome_.unsupported += theirs.unsupported;
  for (ScriptFailure& failure : theirs.failures) outcome_.failures.push_back(std::move(failure));
  for (const auto& [reason, count] : theirs.reasons) outcome_.reasons[reason] += count;
}

ScriptRunner::Answer ScriptRunner::wait(const Command& command) {
  const auto found = threads_.find(*command.id);
  if (found == threads_.end()) {
    const auto missed = not_started_.find(*command.id);
    return missed != not_started_.end() ? missed->second : failed("no thread of that name runs");
  }
  join(found->second);
  threads_.erase(found);
  return passed();
}

// ---- Actions.

Result<std::vector<Val>> ScriptRunner::act(const wasm::ScriptAction& action, Answer& unable) {
  const auto give_up = [&](Answer why) {
    unable = std::move(why);
    return Error(ErrorKind::BadArgument, unable.text);
  };
  const Running* running = find_instance(action.module);
  if (running == nullptr) return give_up(failed("no module instance of that name"));
  if (!running->value) return give_up(answer_of(*running));
  if (action.kind == wasm::ActionKind::Get) {
    const auto global = running->value->global(action.name);
    if (!global) return give_up(failed(global.error().message()));
    return std::vector<Val>{global->get()};
  }
  const auto func = running->value->func(action.name);
  if (!func) return give_up(failed(func.error().message()));
  const auto arguments = script_arguments(action.arguments);
  if (!arguments) return give_up(answer_of(arguments.error()));
  auto results = func->call_raw(*arguments);
  if (!results) {
    unable = answer_of(results.error());
    if (results.error().kind() == ErrorKind::Trap) {
      unable = failed("trapped: " + trap_text(results.error()));
    }
  }
  return results;
}

ScriptRunner::Answer ScriptRunner::assert_return(const Command& command) {
  Answer unable;
  const auto results = act(command.action, unable);
  if (!results) return unable;
  const std::string difference = compare_results(command.results, *results);
  if (difference.empty()) return passed();
  return failed(fmt::format("\"{}\": {}", command.action.name, difference));
}

ScriptRunner::Answer ScriptRunner::assert_trap(const Command& command, std::string_view message) {
  Answer unable;
  const auto results = act(command.action, unable);
  if (results && is_engine_limit(message)) return unsupported("the limit of another engine");
  if (results)
    return failed(
        fmt::format("\"{}\" returned, expected trap \"{}\"", command.action.name, message));
  if (results.error().kind() != ErrorKind::Trap) return unable;
  const std::string found = trap_text(results.error());
  if (same_message(found, message)) return passed();
  return failed(fmt::format("\"{}\" trapped with \"{}\", expected \"{}\"", command.action.name,
                            found, message));
}

/// The script names no tag; an uncaught exception of any is one.
ScriptRunner::Answer ScriptRunner::assert_exception(const Command& command) {
  Answer unable;
  const auto results = act(command.action, unable);
  if (!results && results.error().kind() == ErrorKind::Exception) return passed();
  if (!results && unable.verdict == Verdict::Unsupported) return unable;
  return failed(fmt::format("\"{}\" {}, expected an exception", command.action.name,
                            results ? "returned" : unable.text));
}

// ---- Assertions on modules.

ScriptRunner::Answer ScriptRunner::assert_trap_module(const Command& command) {
  const Definition definition = define(command.module);
  if (!definition.unsupported.empty()) note_missed_effects(command.module, definition.unsupported);
  if (!definition.value) return answer_of(definition);
  if (std::string feature = missing_feature(*definition.value); !feature.empty()) {
    return unsupported(std::move(feature));
  }
  const auto instance = linker_.instantiate_raw(store_, *definition.value);
  if (is_engine_limit(command.message)) {
    const bool limited = !instance && (instance.error().kind() == ErrorKind::Limit ||
                                       instance.error().kind() == ErrorKind::OutOfMemory);
    return limited ? passed() : unsupported("the limit of another engine");
  }
  if (instance) return failed(fmt::format("instantiated, expected trap \"{}\"", command.message));
  if (instance.error().kind() != ErrorKind::Trap) return answer_of(instance.error());
  const std::string found = trap_text(instance.error());
  if (same_message(found, command.message)) return passed();
  return failed(fmt::format("trapped with \"{}\", expected \"{}\"", found, command.message));
}

ScriptRunner::Answer ScriptRunner::assert_unlinkable(const Command& command) {
  const Definition definition = define(command.module);
  if (!definition.value) return answer_of(definition);
  if (std::string feature = missing_feature(*definition.value); !feature.empty()) {
    return unsupported(std::move(feature));
  }
  link_by_identifier(*definition.value);
  const auto instance = linker_.instantiate_raw(store_, *definition.value);
  if (instance) return failed(fmt::format("linked, expected \"{}\"", command.message));
  if (instance.error().kind() != ErrorKind::Link) return answer_of(instance.error());
  if (says(instance.error(), command.message)) return passed();
  return failed(fmt::format("did not link: \"{}\", expected \"{}\"", instance.error().message(),
                            command.message));
}

bool ScriptRunner::says(const Error& error, const std::string& expected) const {
  return !exact_messages_ || error.message().find(expected) != std::string::npos;
}

/// Malformed or invalid, in the standard part of a module or in a custom section.
ScriptRunner::Answer ScriptRunner::assert_rejected(const Command& command) {
  Result<void> valid;
  if (command.module.error) {
    valid = *command.module.error;
  } else {
    valid = Module::validate(command.module.bytes, engine_.config().features);
  }
  if (valid) {
    for (const LiftedRule& rule : kLifted) {
      if (command.message == rule.message) return unsupported(rule.since);
    }
    return failed(fmt::format("accepted, expected \"{}\"", command.message));
  }
  const Error& error = valid.error();
  const bool is_malformed = error.kind() == ErrorKind::Malformed;
  const bool is_invalid = error.kind() == ErrorKind::Invalid;
  // Sizes in the text had 32 bits once; now a memory that is too large is invalid.
  const bool old_size = is_invalid && command.kind == CommandKind::AssertMalformed &&
                        command.message == "i32 constant out of range";
  bool as_expected = is_malformed || is_invalid;  // of custom sections either will do
  if (command.kind == CommandKind::AssertMalformed) as_expected = is_malformed;
  if (command.kind == CommandKind::AssertInvalid) as_expected = is_invalid;
  if (old_size || (as_expected && says(error, command.message))) return passed();
  if (error.kind() == ErrorKind::Unsupported) return answer_of(error);
  return failed(fmt::format("rejected as {} ({}), expected {} \"{}\"",
                            is_malformed ? "malformed"
                            : is_invalid ? "invalid"
                                         : "an error",
                            error_text(error), wasm::to_string(command.kind), command.message));
}

}  // namespace hoist::cli
