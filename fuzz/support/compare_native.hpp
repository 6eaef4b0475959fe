// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Runs one program in the interpreter and as native code. For fuzz targets a difference is printed
/// and ends the process; `hoistdev fuzz` asks for it instead.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/gen/byte_source.hpp"
#include "ir/data_value.hpp"
#include "ir/function.hpp"
#include "ir/interp/interpreter.hpp"
#include "native/jit_module.hpp"

namespace hoist::fuzz {

/// Sets of arguments for a signature, biased towards edges.
using ArgumentSets = std::vector<std::vector<ir::DataValue>>;
ArgumentSets argument_sets(const ir::Signature& signature, std::uint64_t seed, unsigned count);

/// A test file without its `run:` lines.
std::string program_text(std::span<const ir::Function> functions);

/// What the interpreter says about the last function of `functions`, for each set of arguments.
std::vector<ir::Interpreter::Outcome> interpret(std::span<const ir::Function> functions,
                                                const ArgumentSets& sets);

Result<std::vector<ir::Interpreter::Outcome>> try_interpret(std::span<const ir::Function> functions,
                                                            const ArgumentSets& sets);

struct Finding {
  const char* what;
  std::string detail;
  bool unsupported;  ///< the back end says so: no difference
};
/// As `compare_native`; nothing if all is well.
std::optional<Finding> find_difference(std::span<const ir::Function> functions,
                                       const ArgumentSets& sets,
                                       std::span<const ir::Interpreter::Outcome> expected,
                                       const native::JitOptions& options);

/// Compiles `functions` and compares with `expected`, outcomes of `interpret`; runs out of fuel are
/// left out. Any NaN equals any other.
void compare_native(std::span<const ir::Function> functions, const ArgumentSets& sets,
                    std::span<const ir::Interpreter::Outcome> expected, unsigned opt_level,
                    bool baseline_cpu);

/// The same for another form of the program in the interpreter.
void compare_interpreted(std::span<const ir::Function> functions, const ArgumentSets& sets,
                         std::span<const ir::Interpreter::Outcome> expected);

}  // namespace hoist::fuzz
