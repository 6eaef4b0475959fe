// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Runs the commands of one test script against the engine.
///
/// A command passes, fails, or is unsupported: it needs a module that this build rejected with the
/// name of a feature or instruction, directly or through imports. An assertion about a rejected
/// module never passes. The commands of a `thread` run on a thread of their own, in a store of
/// their own: of a module that it shares, the thread sees the shared memories.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "hoist/hoist.hpp"
#include "wasm/text/wast_script.hpp"

namespace hoist::cli {

struct ScriptFailure {
  std::uint32_t line = 0;
  std::string message;
};

struct ScriptOutcome {
  std::uint64_t passed = 0;
  std::uint64_t unsupported = 0;
  std::vector<ScriptFailure> failures;
  std::map<std::string, std::uint64_t> reasons;  ///< commands by the feature that they lack
};

class ScriptRunner {
 public:
  /// `exact_messages`: what rejects a module must say what the script says, not just reject it.
  explicit ScriptRunner(const Engine& engine, bool exact_messages = false);
  /// Waits for the script's threads.
  ~ScriptRunner();
  ScriptRunner(const ScriptRunner&) = delete;
  ScriptRunner& operator=(const ScriptRunner&) = delete;

  /// Runs one command; its effects stay for the next ones. `command` lives as long as the runner.
  void run(const wasm::Command& command);
  /// Waits for threads that the script did not wait for.
  void finish();
  ScriptOutcome& outcome() { return outcome_; }

 private:
  /// What became of a module: one of the three is set.
  template <typename T>
  struct State {
    std::optional<T> value = {};
    std::string unsupported = {};  ///< feature
    std::string failure = {};
  };
  using Definition = State<Module>;
  using Running = State<Instance>;
  enum class Verdict : std::uint8_t { Passed, Unsupported, Failed };
  /// The end of a command: what is said of a failure, or the feature.
  struct Answer {
    Verdict verdict = Verdict::Passed;
    std::string text;
  };
  /// Names within a script, and within each thread.
  struct Names {
    std::map<std::string, Definition> definitions;
    std::map<std::string, Running> instances;
    std::optional<Definition> last_definition;
    std::optional<Running> last_instance;
  };

  /// A thread of the script; what became of its commands is added when it is waited for.
  struct ScriptThread {
    std::unique_ptr<ScriptRunner> runner;
    std::thread thread;
  };
  /// What a thread sees of a module of another store: the shared memories among its exports.
  using SharedExports = std::vector<std::pair<std::string, SharedMemory>>;

  static Answer passed() { return {}; }
  static Answer failed(std::string text) { return {Verdict::Failed, std::move(text)}; }
  static Answer unsupported(std::string feature) {
    return {Verdict::Unsupported, std::move(feature)};
  }
  static Answer answer_of(const Error& error);
  template <typename T>
  static Answer answer_of(const State<T>& state);
  template <typename T>
  static State<T> state_of(const Error& error);

  Answer execute(const wasm::Command& command);
  Definition define(const wasm::ScriptModule& module);
  Running instantiate(const Definition& definition);
  /// Scripts of some engines import from instances by their identifiers, without `register`.
  void link_by_identifier(const Module& module);
  /// The feature that a module lacks which `module` imports from, or empty.
  std::string missing_feature(const Module& module) const;
  /// Notes that a module which was rejected would have imported from registered instances.
  void note_missed_effects(const wasm::ScriptModule& module, const std::string& feature);
  /// The feature whose lack may have made `command` fail, or empty.
  std::string missed_effect(const wasm::Command& command) const;
  const Running* find_instance(const std::optional<std::string>& id) const;

  Answer module(const wasm::Command& command);
  Answer module_instance(const wasm::Command& command);
  Answer register_instance(const wasm::Command& command);
  Answer assert_return(const wasm::Command& command);
  Answer assert_trap(const wasm::Command& command, std::string_view message);
  Answer assert_trap_module(const wasm::Command& command);
  Answer assert_unlinkable(const wasm::Command& command);
  Answer assert_rejected(const wasm::Command& command);
  Answer assert_exception(const wasm::Command& command);
  Answer thread(const wasm::Command& command);
  Answer start_thread(const wasm::Command& command);
  Answer wait(const wasm::Command& command);
  void join(ScriptThread& thread);
  static SharedExports shared_exports(const Instance& instance);
  /// Whether the error of a rejected module says what the script expects.
  bool says(const Error& error, const std::string& expected) const;
  /// The results of an action, or why there are none.
  Result<std::vector<Val>> act(const wasm::ScriptAction& action, Answer& unable);
  void define_spectest();

  Engine engine_;
  bool exact_messages_;
  Store store_;
  Linker linker_;
  Names names_;
  std::map<std::string, Instance, std::less<>> registered_;
  std::map<std::string, std::string> registered_unsupported_;  // feature by import module
  std::vector<std::pair<Instance, std::string>> missed_effects_;
  std::map<std::string, SharedExports> shared_;  // modules of the thread that started this one
  std::map<std::string, ScriptThread> threads_;
  std::map<std::string, Answer> not_started_;  // threads by their name
  ScriptOutcome outcome_;
};

}  // namespace hoist::cli
