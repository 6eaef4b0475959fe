// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A JitModule made of CLIF text for tests, at the opt level that is the test's parameter, each
/// register allocation proved.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/text/reader.hpp"
#include "native/jit_module.hpp"

namespace hoist::native {

class JitModuleTest : public testing::TestWithParam<unsigned> {
 protected:
  /// A module in which the name `symbol` is the host's `function`.
  template <typename R, typename... Args>
  void start(const char* symbol, R (*function)(Args...)) {
    JitOptions options;
    options.opt_level = GetParam();
    options.check_allocation = true;
    auto module = JitModule::create(options);
    ASSERT_TRUE(module) << module.error().message();
    module_ = *std::move(module);
    module_->define_host_symbol(
        symbol, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(function)));
  }
  void build(const std::string& text) {
    const Result<ir::ParsedFile> file = ir::parse_file(text);
    ASSERT_TRUE(file) << file.error().message();
    for (const ir::ParsedFunction& f : file->functions) {
      const Result<void> defined = module_->define(f.func);
      ASSERT_TRUE(defined) << defined.error().message();
    }
    const Result<void> done = module_->finalise();
    ASSERT_TRUE(done) << done.error().message();
  }
  /// The bits of the first result; all ones if there is none.
  std::uint64_t call(std::string name, std::vector<ir::DataValue> args) {
    const auto outcome = module_->call(ir::ExternalName::testcase(std::move(name)), args);
    EXPECT_TRUE(outcome) << outcome.error().message();
    if (!outcome || outcome->values.empty()) return ~std::uint64_t{0};
    return outcome->values[0].lo;
  }
  std::unique_ptr<JitModule> module_;
};

}  // namespace hoist::native
