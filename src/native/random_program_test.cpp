// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs: interpreter and native code agree on every bit and every trap, with both
// register allocators and with and without CPU features beyond the baseline.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "ir/interp/interpreter.hpp"
#include "ir/text/reader.hpp"
#include "native/jit_module.hpp"
#include "native/random_clif_test_support.hpp"

namespace hoist::native {

using Outcome = ir::Interpreter::Outcome;

static bool is_nan(const ir::DataValue& value) {
  if (value.type == ir::F32) return (value.lo & 0x7fff'ffff) > 0x7f80'0000;
  return value.type == ir::F64 && (value.lo & 0x7fff'ffff'ffff'ffff) > 0x7ff0'0000'0000'0000;
}

static bool agree(const Outcome& expected, const CallOutcome& found) {
  if (expected.trap != found.trap || expected.values.size() != found.values.size()) return false;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (expected.values[i] != found.values[i] &&
        !(is_nan(expected.values[i]) && is_nan(found.values[i]))) {
      return false;
    }
  }
  return true;
}

static std::vector<ir::DataValue> random_arguments(base::SplitMix64& stream,
                                                   const ir::Signature& sig) {
  std::vector<ir::DataValue> args;
  for (const ir::AbiParam& param : sig.params) {
    std::uint64_t bits = stream.next();
    if (stream.next() % 2 == 0) bits = std::uint64_t{1} << (bits % 64);
    if (stream.next() % 4 == 0) bits = ~bits;
    if (param.type.bits() < 64) bits &= (std::uint64_t{1} << param.type.bits()) - 1;
    const ir::DataValue value{param.type, bits, 0};
    args.push_back(is_nan(value) ? ir::DataValue{param.type, 0, 0} : value);
  }
  return args;
}

static void check_program(std::uint64_t seed) {
  base::SplitMix64 stream(seed);
  const std::string text = RandomClif<base::SplitMix64>(stream).program();
  const Result<ir::ParsedFile> file = ir::parse_file("test run\n" + text);
  ASSERT_TRUE(file.has_value()) << "seed " << seed << ": " << file.error().message() << "\n"
                                << text;
  ir::Interpreter interpreter;
  for (const ir::ParsedFunction& f : file->functions) interpreter.add_function(f.func);
  const ir::Function& start = file->functions.back().func;
  std::vector<std::vector<ir::DataValue>> arguments;
  std::vector<Outcome> expected;
  for (int run = 0; run < 3; ++run) {
    arguments.push_back(random_arguments(stream, start.signature));
    Result<Outcome> outcome = interpreter.run(start, arguments.back());
    ASSERT_TRUE(outcome.has_value()) << "seed " << seed << ": " << outcome.error().message();
    ASSERT_NE(outcome->kind, Outcome::Kind::OutOfFuel) << "seed " << seed;
    expected.push_back(*std::move(outcome));
  }
  for (const unsigned opt_level : {0u, 2u}) {
    for (const bool baseline : {false, true}) {
      JitOptions options;
      options.opt_level = opt_level;
      options.baseline_cpu = baseline;
      options.check_allocation = true;
      Result<std::unique_ptr<JitModule>> module = JitModule::create(options);
      ASSERT_TRUE(module.has_value());
      for (const ir::ParsedFunction& f : file->functions) {
        const Result<void> defined = (*module)->define(f.func);
        ASSERT_TRUE(defined.has_value()) << "seed " << seed << ": " << defined.error().message();
      }
      ASSERT_TRUE((*module)->finalise().has_value());
      for (std::size_t run = 0; run < arguments.size(); ++run) {
        const Result<CallOutcome> found = (*module)->call(start.name, arguments[run]);
        ASSERT_TRUE(found.has_value()) << found.error().message();
        ASSERT_TRUE(agree(expected[run], *found))
            << "seed " << seed << ", run " << run << ", opt level " << opt_level
            << (baseline ? ", baseline CPU" : "") << "\n"
            << text;
      }
    }
  }
}

TEST(RandomPrograms, NativeCodeAgreesWithTheInterpreter) {
  for (std::uint64_t seed = 0; seed < 200 && !::testing::Test::HasFatalFailure(); ++seed) {
    check_program(seed);
  }
}

}  // namespace hoist::native
