// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The source lines of a module's code and the calls that its compiler inlined, for the module and
/// for frames of traps, which may outlive it. Read on first use, from any thread; at the module's
/// end at the latest, if there are frames that may still ask.

#include <mutex>

#include "wasm/debug/inlined_calls.hpp"
#include "wasm/debug/line_table.hpp"
#include "wasm/format/module.hpp"

namespace hoist::detail {

class LineSource {
 public:
  /// `module` must live until `module_ends`.
  explicit LineSource(const wasm::Module& module) : module_(module) {}

  const wasm::LineTable& table() {
    std::call_once(once_, [this] { table_ = wasm::LineTable::read(module_); });
    return table_;
  }
  const wasm::InlinedCalls& inlined_calls() {
    std::call_once(calls_once_, [this] { calls_ = wasm::InlinedCalls::read(module_); });
    return calls_;
  }
  void module_ends() {
    static_cast<void>(table());
    static_cast<void>(inlined_calls());
  }

 private:
  const wasm::Module& module_;  ///< not looked at once both are there
  std::once_flag once_;
  std::once_flag calls_once_;
  wasm::LineTable table_;
  wasm::InlinedCalls calls_;
};

}  // namespace hoist::detail
