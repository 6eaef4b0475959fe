// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Reader of CLIF text: functions, and the test files around them.
///
/// Errors are ErrorKind::Malformed with line and column. The reader checks syntax, names and what
/// it needs to give each value a type; the rest is the verifier's. Memory is bounded by the text's
/// size and the limits on entity numbers below.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/entity_ref.hpp"
#include "ir/function.hpp"

namespace hoist::ir {

/// Block numbers are below this, value numbers and others (stack slots, …) have limits of their
/// own.
inline constexpr std::uint32_t kMaxTextBlocks = 100'000;
inline constexpr std::uint32_t kMaxTextValues = 1u << 22;
inline constexpr std::uint32_t kMaxTextEntities = 1u << 16;
/// Parameters, arguments, results and the like of one block, call or instruction.
inline constexpr std::size_t kMaxBlockArgs = 0xffff;

/// A comment belongs to the entity that was read before it.
struct AttachedComment {
  EntityRef owner;
  std::string text;  ///< from ';' on
  std::uint32_t line = 0;
};

struct ParsedFunction {
  Function func;
  std::vector<AttachedComment> comments;  ///< in the order of the text
  std::uint32_t line = 0;
  std::uint32_t end_line = 0;  ///< of the closing brace
};

/// `test run opt`, `set a=b c`, `target x86_64 has_bmi2`, `feature "x"`: the words after the first.
struct ParsedLine {
  std::vector<std::string> words;
  std::uint32_t line = 0;
};

struct ParsedFile {
  std::vector<ParsedLine> tests, sets, targets, features;
  std::vector<AttachedComment> comments;  ///< before the first function
  std::vector<ParsedFunction> functions;
};

/// A signature without a convention has `fast`, or the host's in a file with `test run`.
Result<ParsedFile> parse_file(std::string_view text);
/// Exactly one function.
Result<Function> parse_function(std::string_view text);

}  // namespace hoist::ir
