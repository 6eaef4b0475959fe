// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Joins lowering, emission and printing behind codegen::Target.
#include "isa/x64/target.hpp"

#include "isa/x64/emit.hpp"
#include "isa/x64/lower_function.hpp"
#include "isa/x64/print.hpp"

namespace hoist::isa::x64 {

namespace {

class Scratch final : public codegen::TargetScratch {
 public:
  Scratch(FeatureSet features, bool pins_register) : lowering(features, pins_register) {}
  Lowering lowering;
  EmitScratch emission;
};

}  // namespace

std::unique_ptr<codegen::TargetScratch> X64Target::make_scratch() const {
  return std::make_unique<Scratch>(features_, pins_register_);
}

const codegen::RegisterFile& X64Target::registers(ir::CallConv conv) const {
  return register_file(conv, pins_register_);
}

Result<void> X64Target::lower(const ir::Function& func, codegen::TargetScratch& scratch,
                              codegen::MachFunction& out) const {
  return lower_function(static_cast<Scratch&>(scratch).lowering, func, out);
}

Result<void> X64Target::emit(const codegen::MachFunction& func, const codegen::Allocation& alloc,
                             codegen::TargetScratch& scratch, codegen::CompiledCode& out) const {
  return emit_function(func, alloc, static_cast<Scratch&>(scratch).emission, out);
}

Result<void> X64Target::entry_trampoline(const ir::Signature& sig, bool has_ctx,
                                         codegen::CompiledCode& out) const {
  return emit_entry_trampoline(sig, has_ctx, out);
}

void X64Target::print(base::Printer& out, const codegen::MachFunction& func,
                      const codegen::MachInst& inst, const codegen::Allocation* alloc) const {
  print_inst(out, func, inst, alloc);
}

}  // namespace hoist::isa::x64
