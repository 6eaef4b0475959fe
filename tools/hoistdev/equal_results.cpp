// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoistdev/equal_results.hpp"

#include "base/bits.hpp"
#include "hoistdev/filetest_run.hpp"
#include "ir/text/data_value_text.hpp"
#include "ir/text/printer.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

constexpr std::uint64_t kMemoryAddress = 0x20'0000;
constexpr std::size_t kMemoryBytes = 1 << 14;

}  // namespace

std::optional<std::vector<ir::DataValue>> arguments_for(const ir::Signature& signature,
                                                        unsigned set) {
  std::vector<ir::DataValue> args;
  for (const ir::AbiParam& param : signature.params) {
    const ir::Type type = param.type;
    if (type.is_dynamic() || type.bits() > 128) return std::nullopt;
    const std::uint64_t number = args.size();
    std::uint64_t bits = (number + 3) * set * 0x0001'0007 + set % 3 - number % 2;
    if (type == ir::F32) bits = std::bit_cast<std::uint32_t>(static_cast<float>(set) - 1.5f);
    if (type == ir::F64) bits = std::bit_cast<std::uint64_t>(static_cast<double>(set) * 3.25 - 4);
    if (type == ir::I64)
      bits = set % 2 == 0 ? kMemoryAddress + 512 * (number + set % 4) : number + set;
    if (type.is_vector()) bits *= 0x0101'0101'0301'0107u;
    args.push_back({type, base::zero_extend(bits, std::min(type.bits(), 64u)),
                    type.bits() == 128 ? bits >> 3 : 0});
  }
  return args;
}

std::optional<Interpreted> interpret(std::span<const ir::Function* const> functions,
                                     std::size_t index, std::span<const ir::DataValue> args) {
  Interpreted done;
  done.memory.resize(kMemoryBytes);
  for (std::size_t i = 0; i < kMemoryBytes; ++i) {
    done.memory[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  }
  ir::Interpreter::Limits limits;
  limits.fuel = 300'000;
  limits.call_depth = 2'000;
  ir::Interpreter interpreter(limits);
  for (const ir::Function* func : functions) interpreter.add_function(*func);
  interpreter.map_memory(kMemoryAddress, done.memory);
  Result<ir::Interpreter::Outcome> outcome = interpreter.run(*functions[index], args);
  using Kind = ir::Interpreter::Outcome::Kind;
  if (!outcome || outcome->kind == Kind::OutOfFuel) return std::nullopt;
  // How deep calls nest is not part of what a program means.
  if (outcome->kind == Kind::Trapped && outcome->trap == ir::TrapCode::StackOverflow) {
    return std::nullopt;
  }
  done.outcome = *std::move(outcome);
  return done;
}

std::optional<std::string> results_differ(std::span<const ir::Function* const> before,
                                          std::span<const ir::Function* const> after,
                                          std::size_t index, unsigned& compared) {
  for (unsigned set = 0; set < kArgumentSets; ++set) {
    const auto args = arguments_for(before[index]->signature, set);
    if (!args) return std::nullopt;
    const std::optional<Interpreted> x = interpret(before, index, *args);
    if (!x) continue;
    const std::optional<Interpreted> y = interpret(after, index, *args);
    if (!y) continue;
    ++compared;
    base::Printer call;
    call << before[index]->name << '(';
    for (std::size_t i = 0; i < args->size(); ++i) call << (i == 0 ? "" : ", ") << (*args)[i];
    call << ')';
    if (!same_outcome(x->outcome, y->outcome)) {
      return call.take() + " gives " + outcome_text(x->outcome) + " before and " +
             outcome_text(y->outcome) + " after";
    }
    if (x->memory != y->memory) return call.take() + " leaves other memory";
  }
  return std::nullopt;
}

}  // namespace hoistdev
