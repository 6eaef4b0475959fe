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

constexpr std::array kWindowsInts = {Gpr::Rcx, Gpr::Rdx, Gpr::R8, Gpr::R9};
constexpr std::array kWindowsFloats = {Xmm::Xmm0, Xmm::Xmm1, Xmm::Xmm2, Xmm::Xmm3};

struct ConventionRegs {
  std::span<const Gpr> int_params;
  std::span<const Xmm> float_params;
  std::span<const Gpr> int_results;
  std::span<const Xmm> float_results;
  /// The n-th parameter has the n-th register of its class, and there is room for those in
  /// registers below the others.
  bool positional = false;
  /// Only the last result is in a register.
  bool last_result_only = false;
  bool callee_pops = false;
};

constexpr ConventionRegs kSysV = {kSysVIntParams, kFastFloats, kSysVIntResults, kSysVFloatResults};
constexpr ConventionRegs kFast = {kFastIntParams, kFastFloats, kFastIntResults, kFastFloats};
constexpr ConventionRegs kTail = {kFastIntParams, kFastFloats, kFastIntResults, kFastFloats, false,
                                  false,          true};
constexpr ConventionRegs kWinch = {
    kSysVIntParams, kFastFloats, kSysVIntResults, kSysVFloatResults, false, true, false};
constexpr ConventionRegs kWindows = {
    kWindowsInts, kWindowsFloats, kSysVIntResults, kSysVFloatResults, true, false, false};

/// Null for a convention that this target does not have.
const ConventionRegs* regs_of(ir::CallConv conv) {
  switch (conv) {
    case ir::CallConv::Fast: return &kFast;
    case ir::CallConv::Tail: return &kTail;
    case ir::CallConv::SystemV:
    case ir::CallConv::PreserveAll: return &kSysV;
    case ir::CallConv::Winch: return &kWinch;
    case ir::CallConv::WindowsFastcall: return &kWindows;
    case ir::CallConv::AppleAarch64:
    case ir::CallConv::Probestack: return nullptr;
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
  const ir::Type type = param.type;
  if (param.purpose == ir::ArgPurpose::StructArgument) {
    return type == ir::I64 && param.struct_bytes <= kMaxStructBytes;
  }
  return type.is_int() || in_float_register(type);
}

/// Assigns one list; stack places start at `stack` and move it.
class Assignment {
 public:
  Assignment(std::span<const Gpr> ints, std::span<const Xmm> floats, bool positional,
             std::uint32_t& stack)
      : ints_(ints), floats_(floats), positional_(positional), stack_(stack) {}

  ArgLocation place(const ir::AbiParam& param) {
    ArgLocation loc;
    if (param.purpose == ir::ArgPurpose::StructArgument) {
      loc.offset = stack_;
      stack_ += static_cast<std::uint32_t>(base::align_up(std::uint64_t{param.struct_bytes}, 8));
      return loc;
    }
    const bool is_wide = param.type == ir::I128;
    const std::size_t needed = is_wide ? 2 : 1;
    if (param.type.is_int() && next_int_ + needed <= ints_.size()) {
      loc.reg = preg(ints_[next_int_]);
      if (is_wide) loc.high = preg(ints_[next_int_ + 1]);
      next_int_ += needed;
      if (positional_) next_float_ = next_int_;
    } else if (in_float_register(param.type) && next_float_ < floats_.size()) {
      loc.reg = preg(floats_[next_float_++]);
      if (positional_) next_int_ = next_float_;
    } else {
      const std::uint32_t bytes = param.type.bytes() > 8 ? 16 : 8;
      loc.offset = static_cast<std::uint32_t>(base::align_up(std::uint64_t{stack_}, bytes));
      stack_ = loc.offset + bytes;
      // No later one goes before it where places follow positions.
      if (positional_) next_int_ = next_float_ = ints_.size();
    }
    return loc;
  }

 private:
  std::span<const Gpr> ints_;
  std::span<const Xmm> floats_;
  bool positional_;
  std::uint32_t& stack_;
  std::size_t next_int_ = 0;
  std::size_t next_float_ = 0;
};

Result<void> check_passable(std::span<const ir::AbiParam> list) {
  for (const ir::AbiParam& param : list) {
    if (is_passable(param)) continue;
    base::Printer text;
    text << "parameter or result of type " << param.type;
    if (param.purpose == ir::ArgPurpose::StructArgument) {
      text << " passed as a structure of " << param.struct_bytes << " bytes (at most "
           << kMaxStructBytes << ")";
    }
    text << " on x86_64";
    return Error(ErrorKind::Unsupported, text.take());
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

codegen::RegisterFile make_register_file(ir::CallConv conv, bool pins_register) {
  codegen::RegisterFile file;
  for (const Gpr reg : kCallerSaved) file.int_order.push_back(preg(reg));
  for (const Gpr reg : kCalleeSaved) {
    if (!pins_register || preg(reg) != kPinnedReg) file.int_order.push_back(preg(reg));
  }
  for (unsigned n = 0; n < kFloatScratch.number(); ++n) file.float_order.push_back(PReg::fpr(n));
  file.callee_saved = callee_saved(conv);
  if (pins_register) file.callee_saved.remove(kPinnedReg);
  file.float_scratch = kFloatScratch;
  return file;
}

/// One of each kind of convention, without or with a pinned register.
struct RegisterFiles {
  explicit RegisterFiles(bool pins_register)
      : common(make_register_file(ir::CallConv::SystemV, pins_register)),
        preserving(make_register_file(ir::CallConv::PreserveAll, pins_register)),
        windows(make_register_file(ir::CallConv::WindowsFastcall, pins_register)),
        unsaved(make_register_file(ir::CallConv::Winch, pins_register)) {}
  codegen::RegisterFile common, preserving, windows, unsaved;
};

}  // namespace

Result<void> assign_signature(const ir::Signature& sig, SignatureLayout& out) {
  const ConventionRegs* regs = regs_of(sig.call_conv);
  if (regs == nullptr) {
    return Error(ErrorKind::Unsupported,
                 std::string("calling convention ") + conv_name(sig.call_conv) + " on x86_64");
  }
  HOIST_TRY_VOID(check_passable(sig.params));
  HOIST_TRY_VOID(check_passable(sig.returns));
  std::uint32_t stack = regs->positional ? 8 * static_cast<std::uint32_t>(kWindowsInts.size()) : 0;
  Assignment params(regs->int_params, regs->float_params, regs->positional, stack);
  out.params.clear();
  for (const ir::AbiParam& param : sig.params) {
    out.params.push_back(params.place(param));
    if (stack > kMaxArgumentBytes) {
      return Error(ErrorKind::Limit, "arguments on the stack are larger than the limit of " +
                                         std::to_string(kMaxArgumentBytes) + " bytes");
    }
  }
  out.popped_bytes = 0;
  if (regs->callee_pops) {
    stack = static_cast<std::uint32_t>(base::align_up(std::uint64_t{stack}, 16));
    out.popped_bytes = stack;
  }
  Assignment in_registers(regs->int_results, regs->float_results, false, stack);
  Assignment in_memory({}, {}, false, stack);
  out.results.clear();
  for (std::size_t i = 0; i < sig.returns.size(); ++i) {
    const bool is_last = i + 1 == sig.returns.size();
    Assignment& place = regs->last_result_only && !is_last ? in_memory : in_registers;
    out.results.push_back(place.place(sig.returns[i]));
  }
  out.stack_bytes = static_cast<std::uint32_t>(base::align_up(std::uint64_t{stack}, 16));
  return {};
}

RegMask callee_saved(ir::CallConv conv) {
  RegMask saved = mask_of(kCalleeSaved);
  switch (conv) {
    case ir::CallConv::PreserveAll: return saved | call_clobbers(ir::CallConv::SystemV);
    case ir::CallConv::Winch: return {};
    case ir::CallConv::WindowsFastcall:
      saved.add(preg(Gpr::Rsi));
      saved.add(preg(Gpr::Rdi));
      for (unsigned n = 6; n < 16; ++n) saved.add(PReg::fpr(n));
      return saved;
    case ir::CallConv::Fast:
    case ir::CallConv::Tail:
    case ir::CallConv::SystemV:
    case ir::CallConv::AppleAarch64:
    case ir::CallConv::Probestack: break;
  }
  return saved;
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
  if (conv == ir::CallConv::Winch) return mask | mask_of(kCalleeSaved);
  if (conv != ir::CallConv::WindowsFastcall) return mask;
  const RegMask kept = callee_saved(conv);
  for (unsigned n = 0; n < 16; ++n) {
    if (kept.contains(PReg::gpr(n))) mask.remove(PReg::gpr(n));
    if (kept.contains(PReg::fpr(n))) mask.remove(PReg::fpr(n));
  }
  return mask;
}

const codegen::RegisterFile& register_file(ir::CallConv conv, bool pins_register) {
  // Never destroyed: threads may still compile while the process exits.
  static const auto* const all = new RegisterFiles(false);
  static const auto* const but_pinned = new RegisterFiles(true);
  const RegisterFiles& files = pins_register ? *but_pinned : *all;
  switch (conv) {
    case ir::CallConv::PreserveAll: return files.preserving;
    case ir::CallConv::WindowsFastcall: return files.windows;
    case ir::CallConv::Winch: return files.unsaved;
    case ir::CallConv::Fast:
    case ir::CallConv::Tail:
    case ir::CallConv::SystemV:
    case ir::CallConv::AppleAarch64:
    case ir::CallConv::Probestack: break;
  }
  return files.common;
}

}  // namespace hoist::isa::x64
