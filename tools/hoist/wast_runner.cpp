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
    {"multiple memories", "rule lifted by multi-memory"},
};

/// "unsupported feature: simd (v128.load)" -> "simd".
std::string feature_of(const Error& error) {
  std::string_view text = error.message();
  constexpr std::string_view kPrefix = "unsupported feature: ";
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  return std::string(text.substr(0, text.find_first_of(" (,;:")));
}

/// The specification's words for a trap.
std::string trap_text(const Error& error) {
  if (const Trap* trap = Trap::of(error)) return trap->message();
  return error.message();
}

/// Scripts say a beginning of the message, or more than it ("uninitialized element 2").
bool same_message(std::string_view found, std::string_view expected) {
  // Scripts of engines that have one trap for all accesses beyond a table's end call it by the name
  // that the specification keeps for indirect calls.
  if (found == "out of bounds table access" && expected == "undefined element") return true;
  return found.starts_with(expected) || expected.starts_with(found);
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

ScriptRunner::ScriptRunner(const Engine& engine, std::string missing)
    : engine_(engine), missing_(std::move(missing)), store_(engine), linker_(engine) {
  linker_.allow_shadowing(true);
  // For engines whose code counts it; an error for others.
  static_cast<void>(store_.set_fuel(std::uint64_t{1} << 62));
  define_spectest();
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
  put("memory", Memory::create(store_, {1, 2}));
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
    case CommandKind::Wait: return passed();  // it has ended before
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
  if (!missing_.empty()) return missing_;
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

ScriptRunner::Answer ScriptRunner::thread(const Command& command) {
  Names own;
  for (const std::string& id : command.shared) {
    if (const Running* running = find_instance(id)) own.instances.insert_or_assign(id, *running);
  }
  std::swap(names_, own);
  for (const Command& nested : command.nested) run(nested);
  std::swap(names_, own);
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
  if (results)
    return failed(
        fmt::format("\"{}\" returned, expected trap \"{}\"", command.action.name, message));
  if (results.error().kind() != ErrorKind::Trap) return unable;
  const std::string found = trap_text(results.error());
  if (same_message(found, message)) return passed();
  return failed(fmt::format("\"{}\" trapped with \"{}\", expected \"{}\"", command.action.name,
                            found, message));
}

ScriptRunner::Answer ScriptRunner::assert_exception(const Command& command) {
  Answer unable;
  const auto results = act(command.action, unable);
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
  const auto instance = linker_.instantiate_raw(store_, *definition.value);
  if (instance) return failed(fmt::format("linked, expected \"{}\"", command.message));
  if (instance.error().kind() == ErrorKind::Link) return passed();
  return answer_of(instance.error());
}

/// Malformed or invalid, in the standard part of a module or in a custom section.
ScriptRunner::Answer ScriptRunner::assert_rejected(const Command& command) {
  Result<void> valid;
  if (command.module.error) {
    valid = *command.module.error;
  } else {
    valid = Module::validate(command.module.bytes);
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
  bool as_expected = is_malformed || is_invalid;  // of custom sections either will do
  if (command.kind == CommandKind::AssertMalformed) {
    // Sizes in the text had 32 bits once; now a memory that is too large is invalid.
    as_expected = is_malformed || (is_invalid && command.message == "i32 constant out of range");
  } else if (command.kind == CommandKind::AssertInvalid) {
    as_expected = is_invalid;
  }
  if (as_expected) return passed();
  if (error.kind() == ErrorKind::Unsupported) return answer_of(error);
  return failed(fmt::format("rejected as {} ({}), expected {} \"{}\"",
                            is_malformed ? "malformed"
                            : is_invalid ? "invalid"
                                         : "an error",
                            error_text(error), wasm::to_string(command.kind), command.message));
}

}  // namespace hoist::cli
