// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowering as text: what is folded, fused and left out. Results of running the code are tested elsewhere.
#include <gtest/gtest.h>

#include <string>

#include "codegen/mach/print.hpp"
#include "ir/text/reader.hpp"
#include "isa/registry.hpp"
#include "isa/x64/lower_function.hpp"
#include "isa/x64/print.hpp"

namespace hoist::isa::x64 {

/// The machine IR of one function; its first two lines (block and arguments) are kept.
static std::string lowered(std::string_view text,
                           masm::x64::FeatureSet features = baseline_features("x86_64")) {
  const Result<ir::Function> func = ir::parse_function(text);
  if (!func) return "parse: " + func.error().message();
  Lowering rules(features);
  codegen::MachFunction mach;
  if (const Result<void> done = lower_function(rules, *func, mach); !done) {
    return "error: " + done.error().message();
  }
  base::Printer out;
  codegen::print_function(out, mach, nullptr,
                          [&](base::Printer& to, const codegen::MachInst& inst) {
                            x64::print_inst(to, mach, inst, nullptr);
                          });
  return out.take();
}

TEST(Lower, Print) {
  EXPECT_EQ(lowered("function %f(i64, i32, i32) -> i32 fast {\n"
                    "block0(v0: i64, v1: i32, v2: i32):\n"
                    "  v3 = uextend.i64 v1\n"
                    "  v4 = iadd v0, v3\n"
                    "  v5 = load.i32 v4+8\n"
                    "  v6 = iadd v5, v2\n"
                    "  return v6\n"
                    "}\n"),
            "");
}

}  // namespace hoist::isa::x64
