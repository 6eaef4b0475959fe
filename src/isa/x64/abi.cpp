// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Assignment of signatures to registers and stack, and the register files.
#include "isa/x64/abi.hpp"

#include <array>
#include <string>

#include "base/bits.hpp"
#include "base/text/printer.hpp"

namespace hoist::isa::x64 {

namespace {

constexpr std::array kSysVIntParams = {Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::Rcx, Gpr::R8, Gpr::R9};
constexpr std::array kFastIntParams = {Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::Rcx,
                                       Gpr::R8,  Gpr::R9,  Gpr::Rax, Gpr::R10};
constexpr std::array kSysVIntResults = {Gpr::Rax, Gpr::Rdx};
constexpr std::array kFastIntResults = {Gpr::Rax, Gpr::Rdx, Gpr::Rcx, Gpr::Rsi, Gpr::Rdi, Gpr::R8};
constexpr std::array kFastFloats = {Xmm::Xmm0, Xmm::Xmm1, Xmm::Xmm2, Xmm::Xmm3,
                                    Xmm::Xmm4, Xmm::Xmm5, Xmm::Xmm6, Xmm::Xmm7};
constexpr std::array kSysVFloatResults = {Xmm::Xmm0, Xmm::Xmm1};

struct ConventionRegs {
  std::span<const Gpr> int_params;
  std::span<const Xmm> float_params;
  std::span<const Gpr> int_results;
  std::span<const Xmm> float_results;
};

constexpr ConventionRegs kSysV = {kSysVIntParams, kFastFloats, kSysVIntResults, kSysVFloatResults};
constexpr ConventionRegs kFast = {kFastIntParams, kFastFloats, kFastIntResults, kFastFloats};

/// Null for a convention that this target does not have.
const ConventionRegs* regs_of(ir::CallConv conv) {
  switch (conv) {
    case ir::CallConv::Fast:
    case ir::CallConv::Tail: return &kFast;
    case ir::CallConv::SystemV:
    case ir::CallConv::PreserveAll: return &kSysV;
    case ir::CallConv::WindowsFastcall:
    case ir::CallConv::AppleAarch64:
    case ir::CallConv::Probestack:
    case ir::CallConv::Winch: return nullptr;
  }
  return nullptr;
}

const char* conv_name(ir::CallConv conv) {
  switch (conv) {
    case ir::CallConv::Fast: return "fast";
    case ir::CallConv::Tail: return "tail";
    case ir::CallConv::SystemV: return "system_v";
    case ir::CallConv::WindowsFastcall: return "windows_fastcall";
    case ir::CallConv::AppleAarch64: return "apple_aarch64";
    case ir::CallConv::Probestack: return "probestack";
    case ir::CallConv::Winch: return "winch";
    case ir::CallConv::PreserveAll: return "preserve_all";
  }
  return "unknown";
}

bool in_float_register(ir::Type type) {
  return type.is_float() || (type.is_vector() && type.bits() <= 128);
}

bool is_passable(const ir::AbiParam& param) {
  if (param.purpose == ir::ArgPurpose::StructArgument) return false;
  const ir::Type type = param.type;
  return (type.is_int() && type.bits() <= 64) || in_float_register(type);
}

/// Assigns one list; stack places start at `stack` and move it.
Result<void> assign(std::span<const ir::AbiParam> list, std::span<const Gpr> ints,
                    std::span<const Xmm> floats, std::uint32_t& stack,
                    std::vector<ArgLocation>& out) {
  std::size_t next_int = 0;
  std::size_t next_float = 0;
  out.clear();
  for (const ir::AbiParam& param : list) {
    if (!is_passable(param)) {
      base::Printer text;
      text << "parameter or result of type " << param.type
           << (param.purpose == ir::ArgPurpose::StructArgument ? " passed as a structure" : "")
           << " on x86_64";
      return Error(ErrorKind::Unsupported, text.take());
    }
    ArgLocation loc;
    if (param.type.is_int() && next_int < ints.size()) {
      loc.reg = preg(ints[next_int++]);
    } else if (in_float_register(param.type) && next_float < floats.size()) {
      loc.reg = preg(floats[next_float++]);
    } else {
      const std::uint32_t bytes = param.type.bytes() > 8 ? 16 : 8;
      loc.offset = static_cast<std::uint32_t>(base::align_up(std::uint64_t{stack}, bytes));
      stack = loc.offset + bytes;
    }
    out.push_back(loc);
  }
  return {};
}

RegMask mask_of(std::span<const Gpr> regs) {
  RegMask mask;
  for (const Gpr reg : regs) mask.add(preg(reg));
  return mask;
}

constexpr std::array kCalleeSaved = {Gpr::Rbx, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15};
constexpr std::array kCallerSaved = {Gpr::Rsi, Gpr::Rdi, Gpr::Rax, Gpr::Rcx, Gpr::Rdx,
                                     Gpr::R8,  Gpr::R9,  Gpr::R10, Gpr::R11};

codegen::RegisterFile make_register_file(RegMask saved) {
  codegen::RegisterFile file;
  for (const Gpr reg : kCallerSaved) file.int_order.push_back(preg(reg));
  for (const Gpr reg : kCalleeSaved) file.int_order.push_back(preg(reg));
  for (unsigned n = 0; n < kFloatScratch.number(); ++n) file.float_order.push_back(PReg::fpr(n));
  file.callee_saved = saved;
  file.float_scratch = kFloatScratch;
  return file;
}

}  // namespace

Result<void> assign_signature(const ir::Signature& sig, SignatureLayout& out) {
  const ConventionRegs* regs = regs_of(sig.call_conv);
  if (regs == nullptr) {
    return Error(ErrorKind::Unsupported, std::string("calling convention ") +
                                             conv_name(sig.call_conv) +
                                             " on x86_64 (it has system_v, fast, tail and preserve_all)");
  }
  std::uint32_t stack = 0;
  HOIST_TRY_VOID(assign(sig.params, regs->int_params, regs->float_params, stack, out.params));
  HOIST_TRY_VOID(assign(sig.returns, regs->int_results, regs->float_results, stack, out.results));
  out.stack_bytes = static_cast<std::uint32_t>(base::align_up(std::uint64_t{stack}, 16));
  return {};
}

RegMask callee_saved(ir::CallConv conv) {
  const RegMask saved = mask_of(kCalleeSaved);
  if (conv != ir::CallConv::PreserveAll) return saved;
  return saved | call_clobbers(ir::CallConv::SystemV);
}

RegMask allocatable_registers() {
  RegMask mask = mask_of(kCallerSaved) | mask_of(kCalleeSaved);
  for (unsigned n = 0; n < kFloatScratch.number(); ++n) mask.add(PReg::fpr(n));
  return mask;
}

RegMask call_clobbers(ir::CallConv conv) {
  if (conv == ir::CallConv::PreserveAll) return {};
  RegMask mask = mask_of(kCallerSaved);
  for (unsigned n = 0; n < 16; ++n) mask.add(PReg::fpr(n));
  return mask;
}

const codegen::RegisterFile& register_file(ir::CallConv conv) {
  // Never destroyed: threads may still compile while the process exits.
  static const auto* const common =
      new codegen::RegisterFile(make_register_file(callee_saved(ir::CallConv::SystemV)));
  static const auto* const preserving =
      new codegen::RegisterFile(make_register_file(callee_saved(ir::CallConv::PreserveAll)));
  return conv == ir::CallConv::PreserveAll ? *preserving : *common;
}

}  // namespace hoist::isa::x64
