// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes to an IR program: what it computes in the interpreter, as built without simplification, it
// computes as native code at opt levels 0 and 2 too, with the builder's simplifier or without.
// Input: a byte of flags, two bytes that seed the arguments, then the program.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/gen/ir_program.hpp"
#include "fuzz/support/compare_native.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/passes/reference_slots.hpp"
#include "opt/rules/rules.hpp"

using namespace hoist;  // NOLINT: a fuzz target, not a library

static void expect_valid(const std::vector<ir::Function>& functions) {
  for (const ir::Function& func : functions) {
    const Result<void> verified = ir::verify(func);
    if (verified) continue;
    std::fprintf(stderr, "%s\nverifier: %s\n", ir::to_string(func).c_str(),
                 verified.error().message().c_str());
    std::abort();
  }
}

/// Some values are references from now on: that changes nothing but stack maps, which must be
/// right.
static void mark_references(std::vector<ir::Function>& functions, std::uint64_t seed) {
  for (ir::Function& func : functions) {
    for (std::size_t i = 0; i < func.value_count(); ++i) {
      const ir::Value v(i);
      if (func.type(v) == ir::I64 && (i * 7 + seed) % 5 < 2) func.mark_reference(v);
    }
    ir::Function copy = func;
    opt::ReferenceSlots slots;
    if (!slots.run(copy)) continue;
    const std::string wrong = opt::check_reference_slots(copy);
    if (wrong.empty()) continue;
    std::fprintf(stderr, "%s\nstack maps: %s\n", ir::to_string(copy).c_str(), wrong.c_str());
    std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteSource head({data, size});
  const unsigned flags = head.u8();
  const std::uint64_t seed = head.u8() | std::uint64_t{head.u8()} << 8;
  const std::span<const std::uint8_t> rest =
      size > 3 ? std::span(data + 3, size - 3) : std::span<const std::uint8_t>();
  const bool simplify = (flags & 1) != 0;
  const bool baseline_cpu = (flags & 6) == 2;
  // A program with a pinned register would have to be compiled with one.
  const unsigned families = (flags >> 3) & fuzz::kAllFamilies & ~unsigned{fuzz::kPinned};

  std::vector<ir::Function> functions;
  fuzz::ByteSource plain(rest);
  fuzz::generate_program(plain, nullptr, functions, families);
  expect_valid(functions);
  const fuzz::ArgumentSets sets = fuzz::argument_sets(functions.back().signature, seed, 4);
  const auto expected = fuzz::interpret(functions, sets);
  if (simplify) {
    fuzz::ByteSource again(rest);
    fuzz::generate_program(again, opt::simplify_while_building, functions, families);
    expect_valid(functions);
    fuzz::compare_interpreted(functions, sets, expected);
  }
  if (seed % 2 == 1) mark_references(functions, seed);
  fuzz::compare_native(functions, sets, expected, 0, baseline_cpu);
  fuzz::compare_native(functions, sets, expected, 2, baseline_cpu);
  return 0;
}
