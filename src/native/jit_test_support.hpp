// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A JitModule made of CLIF text for tests, at the opt level that is the test's parameter, each
/// register allocation proved.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/text/reader.hpp"
#include "native/jit_module.hpp"

namespace hoist::native {

class JitModuleTest : public testing::TestWithParam<unsigned> {
 protected:
  /// An empty module.
  void start() {
    JitOptions options;
    options.opt_level = GetParam();
    options.check_allocation = true;
    auto module = JitModule::create(options);
    ASSERT_TRUE(module) << module.error().message();
    module_ = *std::move(module);
  }
  /// A module in which the name `symbol` is the host's `function`.
  template <typename R, typename... Args>
  void start(const char* symbol, R (*function)(Args...)) {
    ASSERT_NO_FATAL_FAILURE(start());
    module_->define_host_symbol(
        symbol, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(function)));
  }
  /// Adds the functions of the text.
  Result<void> define(std::string_view text) {
    HOIST_TRY(const ir::ParsedFile file, ir::parse_file(text));
    for (const ir::ParsedFunction& f : file.functions) HOIST_TRY_VOID(module_->define(f.func));
    return {};
  }
  void build(std::string_view text) {
    const Result<void> defined = define(text);
    ASSERT_TRUE(defined) << defined.error().message();
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
