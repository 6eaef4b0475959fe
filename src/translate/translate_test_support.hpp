// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For tests: WebAssembly text to the IR of its functions.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "translate/translator.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist::translate::testing {

/// A module and what its functions share; null with a failed expectation if the text is wrong.
struct TestModule {
  wasm::Module module;
  std::unique_ptr<ModuleEnv> env;
};

inline std::unique_ptr<TestModule> module_of(std::string_view wat,
                                             const image::CodeSettings& settings = {}) {
  auto bytes = wasm::assemble_wat(wat);
  EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().message());
  if (!bytes) return nullptr;
  auto module = wasm::decode(wasm::ModuleBytes::own(*std::move(bytes)));
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().message());
  if (!module) return nullptr;
  auto out = std::make_unique<TestModule>();
  out->module = *std::move(module);
  const auto valid = wasm::validate_module(out->module);
  EXPECT_TRUE(valid.has_value()) << (valid ? "" : valid.error().message());
  if (!valid) return nullptr;
  out->env = std::make_unique<ModuleEnv>(out->module, settings);
  return out;
}

/// IR text of a function, verified; "error: ..." if it cannot be translated.
inline std::string ir_of(const TestModule& module, std::uint32_t func,
                         ir::SimplifyFn simplify = nullptr) {
  Translator translator(*module.env, simplify);
  ir::Function out;
  const auto done = translator.translate(func, out);
  if (!done) return "error: " + done.error().message();
  const auto fine = ir::verify(out);
  if (!fine) ADD_FAILURE() << fine.error().message() << '\n' << ir::to_string(out);
  return ir::to_string(out);
}

inline std::string ir_of(std::string_view wat, std::uint32_t func = 0) {
  const auto module = module_of(wat);
  return module ? ir_of(*module, func) : "";
}

/// IR text reduced to what a test is about: one line per block header and instruction, without
/// locations, indentation and comments; aliases and the preamble (but for `fn` lines) left out.
inline std::string reduced(const std::string& text) {
  std::string out;
  bool in_body = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("@")) line.erase(0, line.find(' '));
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    in_body |= line.starts_with("block");
    if (const std::size_t comment = line.find("  ;"); comment != std::string::npos)
      line.resize(comment);
    if (line.empty() || line == "}" || line.find(" -> ") != std::string::npos) continue;
    if (in_body || line.starts_with("fn")) out += line + '\n';
  }
  return out;
}

inline std::string body_of(std::string_view wat, std::uint32_t func = 0) {
  return '\n' + reduced(ir_of(wat, func));
}

}  // namespace hoist::translate::testing
