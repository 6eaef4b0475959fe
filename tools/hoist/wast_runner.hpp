// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Runs the commands of one test script against the engine.
///
/// A command passes, fails, or is unsupported: it needs a module that this build rejected with the
/// name of a feature, directly or through imports. An assertion about a rejected module never
/// passes. The commands of a `thread` run where it is started, one after the other, in the same
/// store: modules cannot share memory yet, so nothing can wait for another thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
  /// `missing` is a setting of the engine that the script asks for and this build lacks, or empty:
  /// what fails then is unsupported.
  explicit ScriptRunner(const Engine& engine, std::string missing = {});

  /// Runs one command; its effects stay for the next ones.
  void run(const wasm::Command& command);
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
  /// The results of an action, or why there are none.
  Result<std::vector<Val>> act(const wasm::ScriptAction& action, Answer& unable);
  void define_spectest();

  Engine engine_;
  std::string missing_;
  Store store_;
  Linker linker_;
  Names names_;
  std::map<std::string, Instance, std::less<>> registered_;
  std::map<std::string, std::string> registered_unsupported_;  // feature by import module
  std::vector<std::pair<Instance, std::string>> missed_effects_;
  ScriptOutcome outcome_;
};

}  // namespace hoist::cli
