// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz/support/compare_native.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/random.hpp"
#include "fuzz/gen/ir_program.hpp"
#include "ir/text/data_value_text.hpp"
#include "ir/text/printer.hpp"

namespace hoist::fuzz {

using Outcome = ir::Interpreter::Outcome;

namespace {

/// Loops of generated programs are short; nested ones with calls may still multiply.
constexpr std::uint64_t kFuel = 100'000;
/// Three frames of generated programs; made anew for each run.
constexpr std::size_t kStackBytes = 4096;

void print_values(base::Printer& out, std::span<const ir::DataValue> values) {
  for (std::size_t i = 0; i < values.size(); ++i) out << (i == 0 ? "" : ", ") << values[i];
}

std::string outcome_text(const Outcome& outcome) {
  base::Printer out;
  if (outcome.kind == Outcome::Kind::Trapped) {
    out << "trap ";
    ir::print(out, outcome.trap);
  } else {
    out << '[';
    print_values(out, outcome.values);
    out << ']';
  }
  return out.take();
}

[[noreturn]] void report(std::span<const ir::Function> functions, const char* what,
                         const std::string& detail) {
  std::fputs(program_text(functions).c_str(), stderr);
  std::fprintf(stderr, "; %s: %s\n", what, detail.c_str());
  std::abort();
}

std::string difference_text(std::span<const ir::Function> functions, const std::string& where,
                            std::span<const ir::DataValue> args, const Outcome& expected,
                            const Outcome& found) {
  base::Printer call;
  call << functions.back().name << '(';
  print_values(call, args);
  call << ") == " << outcome_text(expected) << "\n; " << where << " found " << outcome_text(found);
  return call.take();
}

bool is_nan(const ir::DataValue& value) {
  if (value.type == ir::F32) return (value.lo & 0x7fff'ffff) > 0x7f80'0000;
  return value.type == ir::F64 && (value.lo & ~(std::uint64_t{1} << 63)) > 0x7ff0'0000'0000'0000;
}

bool agree(const Outcome& a, const Outcome& b) {
  if (a.kind != b.kind || a.trap != b.trap || a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const ir::DataValue& x = a.values[i];
    const ir::DataValue& y = b.values[i];
    if (x != y && !(x.type == y.type && is_nan(x) && is_nan(y))) return false;
  }
  return true;
}

}  // namespace

ArgumentSets argument_sets(const ir::Signature& signature, std::uint64_t seed, unsigned count) {
  base::SplitMix64 random(seed);
  ArgumentSets sets(count);
  for (std::vector<ir::DataValue>& args : sets) {
    for (const ir::AbiParam& param : signature.params) {
      std::uint8_t bytes[16];
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
      ByteSource source(bytes);
      args.push_back({param.type, interesting_value(source, param.type)});
    }
  }
  return sets;
}

std::string program_text(std::span<const ir::Function> functions) {
  base::Printer out;
  bool pins_register = false;
  for (const ir::Function& func : functions) {
    for (std::size_t i = 0; i < func.inst_count(); ++i) {
      const ir::Op op = func.op(ir::Inst(i));
      pins_register |= op == ir::Op::GetPinnedReg || op == ir::Op::SetPinnedReg;
    }
  }
  out << "test interpret\ntest run\n"
      << (pins_register ? "set enable_pinned_reg=true\n" : "") << "target x86_64\n\n";
  for (const ir::Function& func : functions) {
    ir::print(out, func);
    out << '\n';
  }
  return out.take();
}

Result<std::vector<Outcome>> try_interpret(std::span<const ir::Function> functions,
                                           const ArgumentSets& sets) {
  ir::Interpreter interpreter(ir::Interpreter::Limits{.fuel = kFuel, .stack_bytes = kStackBytes});
  for (const ir::Function& func : functions) interpreter.add_function(func);
  std::vector<Outcome> outcomes;
  for (const std::vector<ir::DataValue>& args : sets) {
    auto outcome = interpreter.run(functions.back(), args);
    if (!outcome) return outcome.error();
    outcomes.push_back(*std::move(outcome));
  }
  return outcomes;
}

std::vector<Outcome> interpret(std::span<const ir::Function> functions, const ArgumentSets& sets) {
  auto outcomes = try_interpret(functions, sets);
  if (!outcomes) report(functions, "interpreter", outcomes.error().message());
  return *std::move(outcomes);
}

std::optional<Finding> find_difference(std::span<const ir::Function> functions,
                                       const ArgumentSets& sets, std::span<const Outcome> expected,
                                       const native::JitOptions& options) {
  const auto failed = [](const char* what, const Error& error) {
    return Finding{what, error.message(), error.kind() == ErrorKind::Unsupported};
  };
  auto module = native::JitModule::create(options);
  if (!module) return failed("create", module.error());
  for (const ir::Function& func : functions) {
    const Result<void> defined = (*module)->define(func);
    if (!defined) return failed("compile", defined.error());
  }
  const Result<void> finalised = (*module)->finalise();
  if (!finalised) return failed("link", finalised.error());
  std::string where = "native code at opt level " + std::to_string(options.opt_level);
  if (options.baseline_cpu) where += " for the baseline CPU";
  if (!options.without_features.empty()) {
    where += " without " + std::string(options.without_features);
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (expected[i].kind == Outcome::Kind::OutOfFuel) continue;
    auto called = (*module)->call(functions.back().name, sets[i]);
    if (!called) return failed("call", called.error());
    Outcome found;
    if (called->trap != image::TrapCode::None) found.kind = Outcome::Kind::Trapped;
    found.trap = called->trap;
    found.values = std::move(called->values);
    if (!agree(expected[i], found)) {
      return Finding{"run", difference_text(functions, where, sets[i], expected[i], found), false};
    }
  }
  return std::nullopt;
}

void compare_native(std::span<const ir::Function> functions, const ArgumentSets& sets,
                    std::span<const Outcome> expected, unsigned opt_level, bool baseline_cpu) {
  native::JitOptions options;
  options.opt_level = opt_level;
  options.check_allocation = true;
  options.baseline_cpu = baseline_cpu;
  const auto finding = find_difference(functions, sets, expected, options);
  if (finding && !finding->unsupported) report(functions, finding->what, finding->detail);
}

void compare_interpreted(std::span<const ir::Function> functions, const ArgumentSets& sets,
                         std::span<const Outcome> expected) {
  const std::vector<Outcome> found = interpret(functions, sets);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (expected[i].kind == Outcome::Kind::OutOfFuel || found[i].kind == Outcome::Kind::OutOfFuel ||
        agree(expected[i], found[i])) {
      continue;
    }
    report(functions, "run",
           difference_text(functions, "the interpreter after simplification", sets[i], expected[i],
                           found[i]));
  }
}

}  // namespace hoist::fuzz
