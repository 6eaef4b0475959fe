// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The script language of the WebAssembly test suites (.wast) as a list of commands.
///
/// Any bytes give a list: a command that cannot be read is one of kind Broken with its Error, and
/// reading goes on at the next top-level parenthesis. Modules are assembled while reading; one that
/// is malformed carries its Error, for assertions to expect.
/// Source: interpreter/README.md of the WebAssembly specification, "Scripts"; threads proposal.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hoist::wasm {

enum class ScriptType : std::uint8_t {
  I32,
  I64,
  F32,
  F64,
  V128,
  RefNull,    ///< `heap` names the type; 0 where any null will do
  RefFunc,    ///< expected: any function
  RefExtern,  ///< host value number `low`; expected without a number: any
  RefHost,    ///< the same as an internal (any) reference
  RefAny,     ///< the kinds from here on are only expected: any reference of that kind
  RefEq,
  RefI31,
  RefStruct,
  RefArray,
  RefExn,
  Either  ///< expected: one of `alternatives`
};

/// A NaN of which only a property is expected.
enum class NanPattern : std::uint8_t { None, Canonical, Arithmetic };

/// An argument or an expected result.
struct ScriptValue {
  ScriptType type = ScriptType::I32;
  std::uint8_t heap = 0;       ///< RefNull: byte of the abstract heap type, or 0
  bool has_number = false;     ///< RefExtern, RefHost: `low` is given
  std::uint8_t lane_bits = 0;  ///< V128: 8, 16, 32 or 64
  bool float_lanes = false;    ///< V128
  std::uint64_t low = 0;       ///< bits
  std::uint64_t high = 0;      ///< V128: upper half
  NanPattern nan[4] = {};      ///< F32, F64: first; V128: by lane
  std::vector<ScriptValue> alternatives;
};

enum class ActionKind : std::uint8_t { Invoke, Get };

struct ScriptAction {
  ActionKind kind = ActionKind::Invoke;
  std::optional<std::string> module;  ///< identifier without "$"; else the last instance
  std::string name;
  std::vector<ScriptValue> arguments;
};

enum class ModuleForm : std::uint8_t { Text, Binary, Quote };

struct ScriptModule {
  ModuleForm form = ModuleForm::Text;
  std::optional<std::string> id;
  std::vector<std::uint8_t> bytes;
  std::optional<Error> error;  ///< the text could not be assembled
};

enum class CommandKind : std::uint8_t {
  Module,            ///< define and instantiate `module`
  ModuleDefinition,  ///< define `module`
  ModuleInstance,    ///< instantiate definition `of` (or the last) as `id`
  Register,          ///< instance `of` (or the last) as import module `name`
  Action,
  AssertReturn,
  AssertTrap,        ///< of `action`
  AssertTrapModule,  ///< of instantiating `module`
  AssertExhaustion,
  AssertException,
  AssertSuspension,
  AssertMalformed,
  AssertMalformedCustom,
  AssertInvalid,
  AssertInvalidCustom,
  AssertUnlinkable,
  Thread,  ///< run `nested` in a thread named `id` that sees instances `shared`
  Wait,    ///< for thread `id`
  Broken   ///< could not be read: `error`
};
const char* to_string(CommandKind kind);

struct Command {
  CommandKind kind = CommandKind::Broken;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  ScriptModule module;
  ScriptAction action;
  std::vector<ScriptValue> results;  ///< AssertReturn
  std::string message;               ///< expected text of an error
  std::string name;                  ///< Register
  std::optional<std::string> id;     ///< ModuleInstance, Thread, Wait
  std::optional<std::string> of;     ///< ModuleInstance, Register
  std::vector<std::string> shared;   ///< Thread
  std::vector<Command> nested;       ///< Thread
  std::optional<Error> error;        ///< Broken
};

struct Script {
  std::vector<Command> commands;
};

Script parse_script(std::string_view text);

}  // namespace hoist::wasm
