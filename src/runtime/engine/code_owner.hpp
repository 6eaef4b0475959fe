// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Whose code is whose, for code of this layer: that of a module, or a trampoline that no module
/// brought. What listeners and the sampler are told of it.

#include <string>

#include "base/function_ref.hpp"
#include "jit/code_events.hpp"

namespace hoist::wasm {
class LineTable;
struct SourceFrame;
}  // namespace hoist::wasm

namespace hoist::runtime {

class ModuleCode;

class CodeOwner final : public jit::CodeOwner {
 public:
  CodeOwner();
  /// Null: the code is not of this layer, or nobody's.
  static const CodeOwner* of(const jit::CodeOwner* owner);

  const ModuleCode* module = nullptr;  ///< null: a trampoline that no module brought
  std::string signature;               ///< of that trampoline
  bool raw_names = false;

  std::string module_name() const override;
  /// "fib", "wasm[module]::function[3]", "entry trampoline [i32] -> [i32]".
  std::string name(image::FuncKey key) const override;
  CodeKind kind(image::FuncKey key) const override;
  Place place(std::uint32_t source) const override;
  /// Where an offset in the module comes from; null: no module or nothing known.
  const wasm::LineTable* lines() const;
  /// Calls visit(frame) for each function that the module's source has at an offset in it,
  /// innermost first (wasm::for_each_source_frame); at least once.
  void source_frames(std::uint32_t source,
                     base::FunctionRef<void(const wasm::SourceFrame&)> visit) const;
};

}  // namespace hoist::runtime
