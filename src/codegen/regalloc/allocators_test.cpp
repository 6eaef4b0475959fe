// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Both allocators on random functions, proved by the checker.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "codegen/mach/print.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "codegen/regalloc/random_function.hpp"

namespace hoist::codegen {

namespace {

using testing::make_registers;
using testing::random_function;
using testing::RandomOptions;

void check_seeds(AllocatorKind kind, std::uint64_t first, std::uint64_t count,
                 const RandomOptions& options) {
  // HOIST_TEST_EFFORT multiplies the number of functions.
  if (const char* effort = std::getenv("HOIST_TEST_EFFORT"))
    count *= std::strtoull(effort, nullptr, 10);
  const auto allocator = make_allocator(kind);
  const RegisterFile regs = make_registers(options);
  Allocation alloc;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const MachFunction func = random_function(seed, options);
    const auto result = allocator->run(func, regs, alloc);
    std::string message = result ? check_allocation(func, regs, alloc) : result.error().message();
    if (message.empty()) continue;
    base::Printer text;
    print_function(text, func, &alloc);
    FAIL() << "seed " << seed << ": " << message << "\n" << text.view();
  }
}

class Allocators : public ::testing::TestWithParam<AllocatorKind> {};
INSTANTIATE_TEST_SUITE_P(All, Allocators,
                         ::testing::Values(AllocatorKind::LinearScan, AllocatorKind::Simple));

TEST_P(Allocators, RandomFunctions) {
  check_seeds(GetParam(), 1, 1500, {});
}

TEST_P(Allocators, FewRegisters) {
  RandomOptions options;
  options.int_regs = 4;
  options.float_regs = 3;
  options.callee_saved = 1;
  check_seeds(GetParam(), 10'000'000, 1500, options);
}

TEST_P(Allocators, ManyRegisters) {
  RandomOptions options;
  options.int_regs = 14;
  options.float_regs = 15;
  options.callee_saved = 5;
  options.insts_per_block = 30;
  check_seeds(GetParam(), 20'000'000, 500, options);
}

TEST_P(Allocators, ManyBlocks) {
  RandomOptions options;
  options.blocks = 60;
  options.insts_per_block = 5;
  options.live_bias = 80;
  check_seeds(GetParam(), 30'000'000, 300, options);
}

TEST_P(Allocators, IsDeterministic) {
  const RegisterFile regs = make_registers({});
  const auto reused = make_allocator(GetParam());
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    const MachFunction func = random_function(seed, {});
    Allocation a;
    Allocation b;
    ASSERT_TRUE(reused->run(func, regs, a));
    ASSERT_TRUE(make_allocator(GetParam())->run(func, regs, b));
    ASSERT_EQ(a.allocs, b.allocs);
    ASSERT_EQ(a.moves.size(), b.moves.size());
    ASSERT_EQ(a.spill_slots, b.spill_slots);
  }
}

}  // namespace

}  // namespace hoist::codegen
