// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trampolines out of compiled code. Each is a Tail function, so that compiled code calls it like
// any other; its frame keeps a frame pointer because it calls, and the caller's place is what the
// frame pointer leads to: [fp] is the caller's frame pointer, and the return address leads into its
// code.
#include "translate/calls/trampolines.hpp"

#include <vector>

#include "base/check.hpp"
#include "image/layout/func_key.hpp"
#include "image/layout/vm_layout.hpp"
#include "translate/translator.hpp"

namespace hoist::translate {

using image::Builtin;
using image::FuncKey;
using image::FuncKind;
using ir::FunctionBuilder;
using ir::I32;
using ir::I64;
using ir::Op;
using ir::Value;

namespace {

constexpr std::uint32_t kSlotBytes = sizeof(image::VmGlobal);
/// A trampoline with a larger area than this checks the stack like a WebAssembly function does.
constexpr std::size_t kSlotsWithoutStackCheck = 64;

class Trampoline {
 public:
  Trampoline(FunctionBuilder& builder, ir::Function& out, FuncKey key, ir::Signature signature)
      : builder_(builder), func_(out) {
    out.clear();
    out.name = ir::ExternalName::user(key.name_space(), key.index());
    out.signature = std::move(signature);
    builder.set_simplifier(nullptr);
    builder.begin(out);
    const ir::Block entry = builder.make_block();
    builder.append_params_for_signature(entry);
    builder.switch_to(entry);
    builder.seal(entry);
    params_.assign(out.block_params(entry).begin(), out.block_params(entry).end());
    trusted_ = out.intern(ir::MemFlags::trusted());
    if (!params_.empty()) ctx_ = params_[0];
  }

  Value ctx() const { return ctx_; }
  void set_ctx(Value ctx) { ctx_ = ctx; }
  std::span<const Value> args() const { return std::span(params_).subspan(1); }

  void check_stack() {
    using Kind = ir::GlobalValueData::Kind;
    ir::GlobalValueData load;
    load.kind = Kind::Load;
    load.type = I64;
    load.flags = trusted_;
    load.base = func_.global_values.push({});
    load.offset = image::kStoreOffset;
    load.base = func_.global_values.push(load);
    load.offset = offsetof(image::StoreContext, stack_limit);
    func_.stack_limit = func_.global_values.push(load);
  }

  Value load(ir::Type type, Value base, std::size_t offset) {
    return builder_.load(Op::Load, type, trusted_, base, static_cast<std::int32_t>(offset));
  }
  void store(Value value, Value base, std::size_t offset) {
    builder_.store(Op::Store, trusted_, value, base, static_cast<std::int32_t>(offset));
  }

  /// Tells the store where compiled code was left, and towards whom.
  void record_exit() {
    const Value store_context = load(I64, ctx(), image::kStoreOffset);
    const Value frame = builder_.nullary(Op::GetFramePointer, I64);
    const Value return_address = builder_.nullary(Op::GetReturnAddress, I64);
    store(load(I64, frame, 0), store_context, offsetof(image::StoreContext, exit_fp));
    store(return_address, store_context, offsetof(image::StoreContext, exit_pc));
    store(ctx(), store_context, offsetof(image::StoreContext, exit_context));
  }

  /// Leaves compiled code for good where `status` is not 0; goes on elsewhere.
  void leave_on_failure(Value status, Value builtins) {
    const ir::Block failed = builder_.make_block();
    const ir::Block fine = builder_.make_block();
    builder_.brif(status, failed, {}, fine, {});
    builder_.switch_to(failed);
    func_.set_cold(failed);
    ir::Signature raise;
    raise.call_conv = ir::CallConv::SystemV;
    raise.params.push_back({I64});
    const Value code = load(I64, builtins, builtin_offset(Builtin::raise));
    const Value arg = ctx();
    builder_.call_indirect(func_.signatures.push(std::move(raise)), code, {&arg, 1});
    // Never reached: `raise` resumes elsewhere.
    builder_.trap(ir::TrapCode::Unreachable);
    builder_.switch_to(fine);
  }

  void finish(std::span<const Value> results) {
    builder_.ret(results);
    builder_.seal_all();
  }

  static std::size_t builtin_offset(Builtin builtin) {
    return sizeof(void*) * static_cast<std::size_t>(builtin);
  }

 private:
  FunctionBuilder& builder_;
  ir::Function& func_;
  std::vector<Value> params_;
  Value ctx_;
  ir::MemFlagsRef trusted_;
};

ir::Signature host_signature(std::size_t params, std::initializer_list<ir::Type> results) {
  ir::Signature out;
  out.call_conv = ir::CallConv::SystemV;
  out.params.assign(params, {I64});
  for (const ir::Type type : results) out.returns.push_back({type});
  return out;
}

}  // namespace

void set_trap_handler(ir::Function& func) {
  ir::ExtFunc handler;
  const FuncKey key(FuncKind::BuiltinTrampoline, 0, static_cast<std::uint32_t>(Builtin::trap));
  handler.name = ir::ExternalName::user(key.name_space(), key.index());
  handler.signature = func.signatures.push(builtin_signature(Builtin::trap));
  handler.colocated = true;
  func.trap_handler = func.ext_funcs.push(std::move(handler));
}

void exit_trampoline(const wasm::FuncType& type, std::uint32_t type_index, FunctionBuilder& builder,
                     ir::Function& out, bool signals) {
  Trampoline t(builder, out, {FuncKind::ExitTrampoline, 0, type_index}, ir_signature(type));
  const std::size_t slots = std::max(type.params().size(), type.results().size());
  if (slots > kSlotsWithoutStackCheck) {
    t.check_stack();
    if (!signals) set_trap_handler(out);
  }
  ir::StackSlotData area;
  area.bytes = kSlotBytes * static_cast<std::uint32_t>(std::max<std::size_t>(slots, 1));
  area.align_log2 = 4;
  const ir::StackSlot slot = out.stack_slots.push(area);
  const Value base = builder.stack_addr(I64, slot, 0);
  for (std::size_t i = 0; i < t.args().size(); ++i) {
    Value arg = t.args()[i];
    // The upper half of an i32's slot is zero, as everywhere.
    if (out.type(arg) == I32) arg = builder.unary(Op::Uextend, I64, arg);
    t.store(arg, base, kSlotBytes * i);
  }
  t.record_exit();
  const Value code = t.load(I64, t.ctx(), offsetof(image::VmHostContext, call));
  const Value call_args[] = {t.ctx(), base};
  const ir::SigRef sig = out.signatures.push(host_signature(2, {I32}));
  const Value status = out.result(builder.call_indirect(sig, code, call_args));
  t.leave_on_failure(status, t.load(I64, t.ctx(), offsetof(image::VmHostContext, builtins)));
  std::vector<Value> results;
  for (std::size_t i = 0; i < type.results().size(); ++i) {
    results.push_back(t.load(ir_type(type.results()[i]), base, kSlotBytes * i));
  }
  t.finish(results);
}

ir::Signature builtin_signature(Builtin builtin) {
  const image::BuiltinInfo& info = image::kBuiltins[static_cast<std::uint32_t>(builtin)];
  ir::Signature out;
  out.call_conv = ir::CallConv::Tail;
  if (builtin == Builtin::trap) return out;
  out.params.push_back({I64, ir::ArgExtension::None, ir::ArgPurpose::VmCtx, 0});
  for (const char* p = info.params; *p != '\0'; ++p) {
    HOIST_CHECK(*p == 'i' || *p == 'l', "parameters of a builtin are i or l");
    out.params.push_back({*p == 'i' ? I32 : I64});
  }
  if (info.result == image::BuiltinResult::I64) out.returns.push_back({I64});
  return out;
}

/// Called in place of a faulting instruction, from any frame: all that is certain is the frame
/// pointer.
static void trap_trampoline(FunctionBuilder& builder, ir::Function& out) {
  constexpr auto kTrap = static_cast<std::uint32_t>(Builtin::trap);
  Trampoline t(builder, out, {FuncKind::BuiltinTrampoline, 0, kTrap},
               builtin_signature(Builtin::trap));
  const Value own_frame = builder.nullary(Op::GetFramePointer, I64);
  const Value return_address = builder.nullary(Op::GetReturnAddress, I64);
  const Value frame = t.load(I64, own_frame, 0);
  const ir::MemFlagsRef flags = out.intern(ir::MemFlags::trusted());
  const Value ctx = builder.load(Op::Load, I64, flags, frame, image::kTrapContextOffset);
  const Value store = t.load(I64, ctx, image::kStoreOffset);
  const Value builtins = t.load(I64, store, offsetof(image::StoreContext, builtins));
  const Value code = t.load(I64, builtins, Trampoline::builtin_offset(Builtin::trap));
  const Value args[] = {ctx, return_address, frame};
  builder.call_indirect(out.signatures.push(host_signature(3, {})), code, args);
  builder.trap(ir::TrapCode::Unreachable);  // it resumes elsewhere
  builder.seal_all();
}

void builtin_trampoline(Builtin builtin, FunctionBuilder& builder, ir::Function& out) {
  if (builtin == Builtin::trap) return trap_trampoline(builder, out);
  const image::BuiltinInfo& info = image::kBuiltins[static_cast<std::uint32_t>(builtin)];
  Trampoline t(builder, out, {FuncKind::BuiltinTrampoline, 0, static_cast<std::uint32_t>(builtin)},
               builtin_signature(builtin));
  t.record_exit();
  ir::Signature host = builtin_signature(builtin);
  host.call_conv = ir::CallConv::SystemV;
  host.params[0].purpose = ir::ArgPurpose::Normal;
  const bool has_status = info.result == image::BuiltinResult::Status;
  if (has_status) host.returns.push_back({I32});
  const Value builtins = t.load(I64, t.ctx(), image::kBuiltinsOffset);
  const Value code = t.load(I64, builtins, Trampoline::builtin_offset(builtin));
  std::vector<Value> args{t.ctx()};
  args.insert(args.end(), t.args().begin(), t.args().end());
  const ir::SigRef sig = out.signatures.push(std::move(host));
  const ir::Inst call = builder.call_indirect(sig, code, args);
  std::vector<Value> results;
  if (info.result == image::BuiltinResult::I64) results.push_back(out.result(call));
  if (has_status) t.leave_on_failure(out.result(call), builtins);
  if (builtin == Builtin::raise) {
    builder.trap(ir::TrapCode::Unreachable);
    builder.seal_all();
    return;
  }
  t.finish(results);
}

}  // namespace hoist::translate
