// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry trampolines: from the host into compiled code. The contract is at
// codegen::Target::entry_trampoline.
//
// Frame of a trampoline, offsets from rbp:
//     0  caller's rbp
//    -8  rbx, r12, r13, r14, r15: the host's callee-saved registers
//   -48  the outer values of the store context, in the order of kKept
//   -96  store context
//  -104  slots
//  -112  padding
//        argument area of the call; rsp is 16-byte aligned
#include <cstddef>

#include "image/layout/vm_layout.hpp"
#include "isa/x64/abi.hpp"
#include "isa/x64/emit.hpp"
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using codegen::CompiledCode;
using image::StoreContext;
using masm::x64::Op;

namespace {

constexpr Gpr kSaved[] = {Gpr::Rbx, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15};
constexpr std::size_t kKept[] = {
    offsetof(StoreContext, resume_sp), offsetof(StoreContext, resume_fp),
    offsetof(StoreContext, resume_pc), offsetof(StoreContext, exit_fp),
    offsetof(StoreContext, exit_pc),   offsetof(StoreContext, entry_fp)};
constexpr std::int32_t kKeptAt = -48;
constexpr std::int32_t kStoreAt = -96;
constexpr std::int32_t kSlotsAt = -104;
constexpr std::int32_t kSlotBytes = sizeof(image::VmGlobal);

// Registers that hold no argument: the first four are saved by the trampoline, r11 is free at
// entry.
constexpr Gpr kCode = Gpr::Rbx;
constexpr Gpr kSlots = Gpr::R12;
constexpr Gpr kStore = Gpr::R13;
constexpr Gpr kTemp = Gpr::R11;

constexpr Mem field(Gpr base, std::size_t offset) {
  return Mem::at(base, static_cast<std::int32_t>(offset));
}

class TrampolineWriter {
 public:
  TrampolineWriter(const ir::Signature& sig, bool has_ctx) : sig_(sig), has_ctx_(has_ctx) {}

  Result<void> run(CompiledCode& out) {
    HOIST_TRY_VOID(assign_signature(sig_, layout_));
    const masm::Label resume = buffer_.new_label();
    enter(resume);
    if (layout_.stack_bytes != 0) enc_.ri(Op::SubRI, 8, Gpr::Rsp, layout_.stack_bytes);
    pass_arguments();
    enc_.r(Op::CallR, 8, kCode);
    buffer_.add_call(0);
    if (layout_.popped_bytes != 0) enc_.ri(Op::SubRI, 8, Gpr::Rsp, layout_.popped_bytes);
    store_results();
    enc_.rr(Op::XorRR, 4, Gpr::Rax, Gpr::Rax);
    const masm::Label leave = buffer_.new_label();
    buffer_.bind(leave);
    restore_and_return();
    // A trap or host error comes here with rsp and rbp as `enter` left them.
    buffer_.bind(resume);
    enc_.ri(Op::MovRI, 4, Gpr::Rax, 1);
    enc_.jmp(leave);
    HOIST_TRY_VOID(buffer_.finish());
    fill(out);
    return {};
  }

 private:
  /// rdi = code, rsi = context, rdx = store context, rcx = slots.
  void enter(masm::Label resume) {
    enc_.r(Op::PushR, 8, Gpr::Rbp);
    enc_.rr(Op::MovRR, 8, Gpr::Rbp, Gpr::Rsp);
    for (const Gpr reg : kSaved) enc_.r(Op::PushR, 8, reg);
    for (const std::size_t offset : kKept) enc_.m(Op::PushM, 8, field(Gpr::Rdx, offset));
    enc_.r(Op::PushR, 8, Gpr::Rdx);
    enc_.r(Op::PushR, 8, Gpr::Rcx);
    enc_.r(Op::PushR, 8, Gpr::Rcx);  // padding
    prologue_end_ = buffer_.new_label();
    buffer_.bind(prologue_end_);
    enc_.rr(Op::MovRR, 8, kCode, Gpr::Rdi);
    enc_.rr(Op::MovRR, 8, kStore, Gpr::Rdx);
    enc_.rr(Op::MovRR, 8, kSlots, Gpr::Rcx);
    enc_.mr(Op::MovMR, 8, field(kStore, offsetof(StoreContext, resume_sp)), Gpr::Rsp);
    enc_.mr(Op::MovMR, 8, field(kStore, offsetof(StoreContext, resume_fp)), Gpr::Rbp);
    enc_.mr(Op::MovMR, 8, field(kStore, offsetof(StoreContext, entry_fp)), Gpr::Rbp);
    enc_.rm(Op::LeaRM, 8, kTemp, Mem::label(resume));
    enc_.mr(Op::MovMR, 8, field(kStore, offsetof(StoreContext, resume_pc)), kTemp);
  }

  /// Loads an integer so that the register is as the conventions want it.
  void load_int(Reg dst, const Mem& from, const ir::AbiParam& param) {
    const unsigned bytes = param.type.bytes();
    const bool sign = param.extension == ir::ArgExtension::Sext;
    switch (bytes) {
      case 1: return enc_.rm(sign ? Op::Movsx8RM : Op::Movzx8RM, sign ? 8 : 4, dst, from);
      case 2: return enc_.rm(sign ? Op::Movsx16RM : Op::Movzx16RM, sign ? 8 : 4, dst, from);
      case 4:
        // The conventions of this program never sign-extend an i32; the system's may ask for it.
        if (sign && sig_.call_conv == ir::CallConv::SystemV) {
          return enc_.rm(Op::MovsxdRM, 8, dst, from);
        }
        return enc_.rm(Op::MovRM, 4, dst, from);
      default: return enc_.rm(Op::MovRM, 8, dst, from);
    }
  }

  Mem slot_of(std::size_t number) const {
    return Mem::at(kSlots, kSlotBytes * static_cast<std::int32_t>(number));
  }

  Mem upper(std::size_t number) const {
    return Mem::at(kSlots, kSlotBytes * static_cast<std::int32_t>(number) + 8);
  }

  /// Copies what the slot points to; all units of 8 bytes but the last are whole. Changes rax, rcx,
  /// r11, which hold no argument yet.
  void pass_structure(std::uint32_t bytes, const Mem& slot, std::uint32_t offset) {
    enc_.rm(Op::MovRM, 8, kTemp, slot);
    const auto copy = [&](std::uint32_t at, unsigned size, Op load) {
      enc_.rm(load, size < 4 ? 4 : size, Gpr::Rax, Mem::at(kTemp, static_cast<std::int32_t>(at)));
      enc_.mr(Op::MovMR, size, Mem::at(Gpr::Rsp, static_cast<std::int32_t>(offset + at)), Gpr::Rax);
    };
    constexpr std::uint32_t kUnrolledBytes = 128;
    std::uint32_t at = 0;
    if (bytes > kUnrolledBytes) {
      at = bytes & ~std::uint32_t{7};
      const masm::Label again = buffer_.new_label();
      enc_.ri(Op::MovRI, 4, Gpr::Rcx, at);
      buffer_.bind(again);
      enc_.rm(Op::MovRM, 8, Gpr::Rax, Mem::at(kTemp, Gpr::Rcx, 0, -8));
      enc_.mr(Op::MovMR, 8, Mem::at(Gpr::Rsp, Gpr::Rcx, 0, static_cast<std::int32_t>(offset) - 8),
              Gpr::Rax);
      enc_.ri(Op::SubRI, 4, Gpr::Rcx, 8);
      enc_.jcc(Cc::Ne, again);
    }
    for (; at + 8 <= bytes; at += 8) copy(at, 8, Op::MovRM);
    if (at + 4 <= bytes) {
      copy(at, 4, Op::MovRM);
      at += 4;
    }
    if (at + 2 <= bytes) {
      copy(at, 2, Op::Movzx16RM);
      at += 2;
    }
    if (at < bytes) copy(at, 1, Op::Movzx8RM);
  }

  void pass_arguments() {
    const std::size_t first = has_ctx_ ? 1 : 0;
    // The ones on the stack before registers are given away.
    for (std::size_t i = first; i < sig_.params.size(); ++i) {
      const ArgLocation& loc = layout_.params[i];
      if (loc.in_reg()) continue;
      if (sig_.params[i].purpose == ir::ArgPurpose::StructArgument) {
        pass_structure(sig_.params[i].struct_bytes, slot_of(i - first), loc.offset);
        continue;
      }
      if (sig_.params[i].type.bytes() > 8) {
        enc_.rm(Op::MovupsRM, 0, Xmm::Xmm0, slot_of(i - first));
        enc_.mr(Op::MovupsMR, 0, Mem::at(Gpr::Rsp, static_cast<std::int32_t>(loc.offset)),
                Xmm::Xmm0);
        continue;
      }
      load_int(kTemp, slot_of(i - first), sig_.params[i]);
      enc_.mr(Op::MovMR, 8, Mem::at(Gpr::Rsp, static_cast<std::int32_t>(loc.offset)), kTemp);
    }
    if (has_ctx_) enc_.rr(Op::MovRR, 8, Reg(layout_.params[0].reg.number()), Gpr::Rsi);
    for (std::size_t i = first; i < sig_.params.size(); ++i) {
      const ArgLocation& loc = layout_.params[i];
      if (!loc.in_reg()) continue;
      const Reg dst(loc.reg.number());
      if (loc.reg.cls() == codegen::RegClass::Int) {
        if (!loc.high.is_none()) enc_.rm(Op::MovRM, 8, Reg(loc.high.number()), upper(i - first));
        load_int(dst, slot_of(i - first), sig_.params[i]);
      } else {
        const unsigned bytes = sig_.params[i].type.bytes();
        const Op load = bytes > 8 ? Op::MovupsRM : bytes == 8 ? Op::MovsdRM : Op::MovssRM;
        enc_.rm(load, 0, dst, slot_of(i - first));
      }
    }
  }

  /// Zero-extends an integer in `reg` to 64 bits.
  void zero_extend(Reg reg, unsigned bytes) {
    if (bytes == 1) enc_.rr(Op::Movzx8RR, 4, reg, reg);
    if (bytes == 2) enc_.rr(Op::Movzx16RR, 4, reg, reg);
    if (bytes == 4) enc_.rr(Op::MovRR, 4, reg, reg);
  }

  void store_results() {
    if (sig_.returns.empty()) return;
    enc_.rm(Op::MovRM, 8, kSlots, Mem::at(Gpr::Rbp, kSlotsAt));
    for (std::size_t i = 0; i < sig_.returns.size(); ++i) {
      const ArgLocation& loc = layout_.results[i];
      const unsigned bytes = sig_.returns[i].type.bytes();
      if (!loc.high.is_none()) {
        enc_.mr(Op::MovMR, 8, slot_of(i), Reg(loc.reg.number()));
        enc_.mr(Op::MovMR, 8, upper(i), Reg(loc.high.number()));
      } else if (bytes > 8) {
        Reg from = Xmm::Xmm15;
        if (loc.in_reg()) {
          from = Reg(loc.reg.number());
        } else {
          enc_.rm(Op::MovupsRM, 0, from, Mem::at(Gpr::Rsp, static_cast<std::int32_t>(loc.offset)));
        }
        enc_.mr(Op::MovupsMR, 0, slot_of(i), from);
      } else if (!loc.in_reg()) {
        enc_.rm(Op::MovRM, 8, kTemp, Mem::at(Gpr::Rsp, static_cast<std::int32_t>(loc.offset)));
        zero_extend(kTemp, bytes);
        enc_.mr(Op::MovMR, 8, slot_of(i), kTemp);
      } else if (loc.reg.cls() == codegen::RegClass::Int) {
        zero_extend(Reg(loc.reg.number()), bytes);
        enc_.mr(Op::MovMR, 8, slot_of(i), Reg(loc.reg.number()));
      } else {
        const Reg from(loc.reg.number());
        if (bytes <= 4) {
          enc_.rr(Op::MovdRX, 4, kTemp, from);
          if (bytes == 2) zero_extend(kTemp, bytes);
        } else {
          enc_.rr(Op::MovqRX, 8, kTemp, from);
        }
        enc_.mr(Op::MovMR, 8, slot_of(i), kTemp);
      }
    }
  }

  void restore_and_return() {
    // The registers that `enter` filled are lost after a trap; only the frame is certain.
    enc_.rm(Op::MovRM, 8, Gpr::Rdx, Mem::at(Gpr::Rbp, kStoreAt));
    for (std::size_t i = 0; i < std::size(kKept); ++i) {
      enc_.rm(Op::MovRM, 8, kTemp, Mem::at(Gpr::Rbp, kKeptAt - 8 * static_cast<std::int32_t>(i)));
      enc_.mr(Op::MovMR, 8, field(Gpr::Rdx, kKept[i]), kTemp);
    }
    enc_.rm(Op::LeaRM, 8, Gpr::Rsp,
            Mem::at(Gpr::Rbp, -8 * static_cast<std::int32_t>(std::size(kSaved))));
    for (std::size_t i = std::size(kSaved); i-- != 0;) enc_.r(Op::PopR, 8, kSaved[i]);
    enc_.r(Op::PopR, 8, Gpr::Rbp);
    epilogue_.begin = mark();
    enc_.none(Op::Ret);
    epilogue_.end = mark();
  }

  /// Names this place; `fill` turns names into offsets.
  std::uint32_t mark() {
    const masm::Label label = buffer_.new_label();
    buffer_.bind(label);
    return label.index();
  }

  void fill(CompiledCode& out) const {
    out.clear();
    const std::span<const std::uint8_t> bytes = buffer_.bytes();
    out.bytes.assign(bytes.begin(), bytes.end());
    out.code_size = buffer_.code_size();
    out.align = buffer_.alignment();
    out.prologue_end = buffer_.label_offset(prologue_end_);
    out.frame_bytes = static_cast<std::uint32_t>(8 - kSlotsAt) + layout_.stack_bytes;
    for (const masm::CallRecord& call : buffer_.calls()) out.call_returns.push_back(call.offset);
    FrameLayout frame;
    frame.saved.assign(std::begin(kSaved), std::end(kSaved));
    const EpilogueRange epilogue = {buffer_.label_offset(masm::Label(epilogue_.begin)),
                                    buffer_.label_offset(masm::Label(epilogue_.end))};
    describe_frame(frame, out.prologue_end, out.code_size, {&epilogue, 1}, out.tables.unwind);
  }

  const ir::Signature& sig_;
  bool has_ctx_;
  SignatureLayout layout_;
  masm::CodeBuffer buffer_;
  masm::x64::Encoder enc_{buffer_};
  masm::Label prologue_end_;
  EpilogueRange epilogue_;  ///< numbers of labels
};

}  // namespace

Result<void> emit_entry_trampoline(const ir::Signature& sig, bool has_ctx, CompiledCode& out) {
  return TrampolineWriter(sig, has_ctx).run(out);
}

}  // namespace hoist::isa::x64
