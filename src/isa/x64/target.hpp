// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The x86-64 target.

#include "asm/x64/regs.hpp"
#include "codegen/target.hpp"

namespace hoist::isa::x64 {

class X64Target final : public codegen::Target {
 public:
  explicit X64Target(masm::x64::FeatureSet features, bool pins_register = false)
      : features_(features), pins_register_(pins_register) {}

  std::string_view name() const override { return "x86_64"; }
  std::unique_ptr<codegen::TargetScratch> make_scratch() const override;
  const codegen::RegisterFile& registers(ir::CallConv conv) const override;
  Result<void> lower(const ir::Function& func, codegen::TargetScratch& scratch,
                     codegen::MachFunction& out) const override;
  Result<void> emit(const codegen::MachFunction& func, const codegen::Allocation& alloc,
                    codegen::TargetScratch& scratch, codegen::CompiledCode& out) const override;
  Result<void> entry_trampoline(const ir::Signature& sig, bool has_ctx,
                                codegen::CompiledCode& out) const override;
  void print(base::Printer& out, const codegen::MachFunction& func, const codegen::MachInst& inst,
             const codegen::Allocation* alloc) const override;

 private:
  masm::x64::FeatureSet features_;
  bool pins_register_;
};

}  // namespace hoist::isa::x64
