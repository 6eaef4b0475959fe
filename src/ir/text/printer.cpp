// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/text/printer.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "ir/text/literals.hpp"

namespace hoist::ir {

using text_detail::print_float;
using text_detail::print_imm64;
using text_detail::print_offset;

std::string_view text(CallConv conv) {
  switch (conv) {
    case CallConv::Fast: return "fast";
    case CallConv::Tail: return "tail";
    case CallConv::SystemV: return "system_v";
    case CallConv::WindowsFastcall: return "windows_fastcall";
    case CallConv::AppleAarch64: return "apple_aarch64";
    case CallConv::Probestack: return "probestack";
    case CallConv::Winch: return "winch";
    case CallConv::PreserveAll: return "preserve_all";
  }
  HOIST_UNREACHABLE("calling convention");
}

void print(base::Printer& out, TrapCode code) {
  if (const char* name = image::trap_clif_name(code)) {
    out << name;
  } else {
    out << "user" << static_cast<unsigned>(code);
  }
}

base::Printer& operator<<(base::Printer& out, const ExternalName& name) {
  if (name.kind == ExternalName::Kind::Testcase) return out << '%' << name.text;
  return out << 'u' << name.name_space << ':' << name.index;
}

namespace {

void print_params(base::Printer& out, const std::vector<AbiParam>& params) {
  std::string_view separator = "";
  for (const AbiParam& param : params) {
    out << separator << param.type;
    separator = ", ";
    switch (param.extension) {
      case ArgExtension::None: break;
      case ArgExtension::Uext: out << " uext"; break;
      case ArgExtension::Sext: out << " sext"; break;
    }
    switch (param.purpose) {
      case ArgPurpose::Normal: break;
      case ArgPurpose::StructReturn: out << " sret"; break;
      case ArgPurpose::VmCtx: out << " vmctx"; break;
      case ArgPurpose::StructArgument: out << " sarg(" << param.struct_bytes << ')'; break;
    }
  }
}

/// Number of a user name among the distinct ones of the preamble, in the order of printing.
std::size_t user_name_number(const Function& func, const ExternalName& name) {
  std::vector<const ExternalName*> seen;
  const auto find = [&](const ExternalName& other) {
    if (other.kind != ExternalName::Kind::User) return;
    if (std::ranges::none_of(seen, [&](const ExternalName* known) { return *known == other; })) {
      seen.push_back(&other);
    }
  };
  for (const GlobalValueData& data : func.global_values) {
    if (data.kind == GlobalValueData::Kind::Symbol) find(data.name);
  }
  for (const ExtFunc& ext : func.ext_funcs) find(ext.name);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (*seen[i] == name) return i;
  }
  return seen.size();
}

void print_flags(base::Printer& out, const MemFlags& flags) {
  if (flags.notrap()) {
    out << " notrap";
  } else if (flags.trap != TrapCode::HeapOutOfBounds) {
    out << ' ';
    print(out, flags.trap);
  }
  if (flags.aligned) out << " aligned";
  if (flags.readonly) out << " readonly";
  if (flags.can_move) out << " can_move";
  if (flags.endian == 1) out << " little";
  if (flags.endian == 2) out << " big";
  if (flags.region.is_some()) out << ' ' << flags.region;
}

void print_global_value(base::Printer& out, const Function& func, const GlobalValueData& data) {
  switch (data.kind) {
    case GlobalValueData::Kind::VmContext: out << "vmctx"; break;
    case GlobalValueData::Kind::Load:
      out << "load." << data.type;
      print_flags(out, func.mem_flags(data.flags));
      out << ' ' << data.base;
      print_offset(out, data.offset);
      break;
    case GlobalValueData::Kind::IaddImm:
      out << "iadd_imm." << data.type << ' ' << data.base << ", ";
      print_imm64(out, data.offset);
      break;
    case GlobalValueData::Kind::DynScale: out << "dyn_scale_target_const." << data.type; break;
    case GlobalValueData::Kind::Symbol:
      out << "symbol ";
      if (data.colocated) out << "colocated ";
      if (data.tls) out << "tls ";
      if (data.name.kind == ExternalName::Kind::User) {
        out << "userextname" << user_name_number(func, data.name);
      } else {
        out << data.name;
      }
      print_offset(out, data.offset);
      break;
  }
}

/// Bytes, lowest first, as one number.
void print_wide_hex(base::Printer& out, std::span<const std::uint8_t> bytes) {
  out << "0x";
  for (std::size_t b = bytes.size(); b-- > 0;) {
    out << "0123456789abcdef"[bytes[b] >> 4] << "0123456789abcdef"[bytes[b] & 15];
  }
}

/// Entities that a sparsely numbered text left out exist as placeholders.
bool is_placeholder(const StackSlotData& slot) {
  return !slot.has_key && slot.key != 0;
}
bool is_placeholder(const GlobalValueData& data) {
  return data.kind == GlobalValueData::Kind::IaddImm && data.base.is_none();
}
bool is_placeholder(const ExtFunc& ext) {
  return ext.signature.is_none();
}
bool is_placeholder(const DynamicTypeData& data) {
  return data.scale.is_none();
}
bool is_placeholder(const DynamicStackSlotData& slot) {
  return slot.type.is_none();
}
bool is_placeholder(const std::vector<std::uint8_t>& constant) {
  return constant.empty();
}

bool print_preamble(base::Printer& out, const Function& func) {
  bool any = false;
  const auto line = [&](auto entity) -> base::Printer& {
    any = true;
    return out << "    " << entity << " = ";
  };
  for (std::size_t i = 0; i < func.dynamic_types.size(); ++i) {
    const DynamicTypeData& data = func.dynamic_types[DynamicType(i)];
    if (is_placeholder(data)) continue;
    line(DynamicType(i)) << data.base << "*" << data.scale << '\n';
  }
  for (std::size_t i = 0; i < func.dynamic_stack_slots.size(); ++i) {
    const DynamicStackSlotData& slot = func.dynamic_stack_slots[DynamicStackSlot(i)];
    if (is_placeholder(slot)) continue;
    line(DynamicStackSlot(i)) << "explicit_dynamic_slot " << slot.type << '\n';
  }
  for (std::size_t i = 0; i < func.stack_slots.size(); ++i) {
    const StackSlotData& slot = func.stack_slots[StackSlot(i)];
    if (is_placeholder(slot)) continue;
    line(StackSlot(i)) << "explicit_slot " << slot.bytes;
    if (slot.align_log2 != 0) out << ", align = " << (std::uint64_t{1} << slot.align_log2);
    if (slot.has_key) out << ", key = " << slot.key;
    out << '\n';
  }
  for (std::size_t i = 0; i < func.alias_regions.size(); ++i) {
    const AliasRegionData& region = func.alias_regions[AliasRegion(i)];
    line(AliasRegion(i)) << region.user_id << " \"" << region.description << "\"\n";
  }
  for (std::size_t i = 0; i < func.global_values.size(); ++i) {
    const GlobalValueData& data = func.global_values[GlobalValue(i)];
    if (is_placeholder(data)) continue;
    line(GlobalValue(i));
    print_global_value(out, func, data);
    out << '\n';
  }
  for (std::size_t i = 0; i < func.signatures.size(); ++i) {
    line(SigRef(i)) << func.signatures[SigRef(i)] << '\n';
  }
  for (std::size_t i = 0; i < func.ext_funcs.size(); ++i) {
    const ExtFunc& ext = func.ext_funcs[FuncRef(i)];
    if (is_placeholder(ext)) continue;
    line(FuncRef(i)) << (ext.colocated ? "colocated " : "") << (ext.patchable ? "patchable " : "")
                     << ext.name << ' ' << ext.signature << '\n';
  }
  for (std::size_t i = 0; i < func.constants.size(); ++i) {
    if (is_placeholder(func.constants[Constant(i)])) continue;
    line(Constant(i));
    print_wide_hex(out, func.constants[Constant(i)]);
    out << '\n';
  }
  if (func.stack_limit.is_some()) {
    any = true;
    out << "    stack_limit = " << func.stack_limit << '\n';
  }
  return any;
}

// ---- Instructions.

/// Is the first of the operands in the list the address that is called, which types the suffix?
bool has_callee_operand(Op op) {
  return format(op) == Format::CallIndirect || format(op) == Format::TryCallIndirect;
}

/// The type that the suffix names, or invalid where the opcode takes none.
Type control_type(const Function& func, Inst inst) {
  const InstData& data = func.data(inst);
  if (has_callee_operand(data.op)) return func.type(func.arg_list(inst).front());
  switch (info(data.op).control) {
    case Control::None: return Type();
    case Control::Arg0: return func.type(Value(data.a));
    case Control::Arg1: return func.type(Value(data.b));
    case Control::Suffix:
      return func.result_count(inst) == 0 ? Type() : func.type(func.result(inst));
  }
  HOIST_UNREACHABLE("control");
}

Block defining_block(const Function& func, Value v) {
  const ValueData& data = func.value(func.resolve(v));
  switch (data.kind) {
    case ValueKind::Param: return Block(data.source);
    case ValueKind::Result:
      return data.source == Inst::kNoneIndex ? Block::none() : func.inst_block(Inst(data.source));
    case ValueKind::TryReturn:
    case ValueKind::TryException:
    case ValueKind::Alias: break;
  }
  return Block::none();
}

/// Values printed so far, by number; not used for a single instruction.
using Printed = std::vector<bool>;

/// A reader can infer the type from an operand that it has seen: in the same block it surely has,
/// if the function is valid.
bool needs_suffix(const Function& func, Inst inst, const Printed* printed) {
  const InstData& data = func.data(inst);
  const auto defined_elsewhere = [&](Value operand) {
    const Block block = defining_block(func, operand);
    if (block.is_none() || block != func.inst_block(inst)) return true;
    return printed != nullptr && !(*printed)[func.resolve(operand).index()];
  };
  if (has_callee_operand(data.op)) {
    return defined_elsewhere(func.arg_list(inst).front());
  }
  switch (info(data.op).control) {
    case Control::None: return false;
    case Control::Suffix: return true;
    case Control::Arg0: return defined_elsewhere(Value(data.a));
    case Control::Arg1: return defined_elsewhere(Value(data.b));
  }
  HOIST_UNREACHABLE("control");
}

void print_values(base::Printer& out, std::span<const Value> values) {
  std::string_view separator = "";
  for (const Value v : values) {
    out << separator << v;
    separator = ", ";
  }
}

void print_block_call(base::Printer& out, const Function& func, BlockCall call) {
  out << func.call_target(call);
  std::string_view separator = "(";
  for (const Value v : func.call_args(call)) {
    out << separator;
    separator = ", ";
    const ValueData& data = func.value(v);
    if (data.kind == ValueKind::TryReturn) {
      out << "ret" << data.number;
    } else if (data.kind == ValueKind::TryException) {
      out << "exn" << data.number;
    } else {
      out << v;
    }
  }
  if (!func.call_args(call).empty()) out << ')';
}

/// `, sig0, block1(ret0), [ context v1, tag1: block2(exn0), default: block3 ]`
void print_exception_table(base::Printer& out, const Function& func, Inst inst) {
  const ExceptionTableData& table = func.exception_table(inst);
  out << ", " << table.signature << ", ";
  print_block_call(out, func, table.normal);
  out << ", [";
  std::string_view separator = " ";
  for (const ExceptionItem& item : func.exception_items(table)) {
    out << separator;
    separator = ", ";
    switch (item.kind) {
      case ExceptionItem::Kind::Tag:
        out << "tag" << item.tag << ": ";
        print_block_call(out, func, item.target);
        break;
      case ExceptionItem::Kind::Default:
        out << "default: ";
        print_block_call(out, func, item.target);
        break;
      case ExceptionItem::Kind::Context: out << "context " << item.context; break;
    }
  }
  out << (table.item_count == 0 ? "]" : " ]");
}

void print_operands(base::Printer& out, const Function& func, Inst inst) {
  const InstData& data = func.data(inst);
  const Value a(data.a), b(data.b), c(data.c);
  switch (format(data.op)) {
    case Format::Nullary: break;
    case Format::Unary: out << ' ' << a; break;
    case Format::UnaryImm: {
      const unsigned bits = func.type(func.result(inst)).bits();
      out << ' ';
      print_imm64(out, base::sign_extend(data.imm64(), bits >= 1 && bits <= 64 ? bits : 64));
      break;
    }
    case Format::UnaryF16:
      out << ' ';
      print_float(out, data.b, text_detail::kF16);
      break;
    case Format::UnaryF128:
      out << ' ';
      print_float(out, text_detail::from_bytes(func.immediates[Immediate(data.a)]),
                  text_detail::kF128);
      break;
    case Format::UnaryConst: out << ' ' << Constant(data.a); break;
    case Format::UnaryF32:
      out << ' ';
      print_float(out, data.b, text_detail::kF32);
      break;
    case Format::UnaryF64:
      out << ' ';
      print_float(out, data.imm64(), text_detail::kF64);
      break;
    case Format::UnaryGlobalValue: out << ' ' << GlobalValue(data.a); break;
    case Format::Binary: out << ' ' << a << ", " << b; break;
    case Format::Ternary: out << ' ' << a << ", " << b << ", " << c; break;
    case Format::BinaryImm8: out << ' ' << a << ", " << static_cast<unsigned>(data.aux); break;
    case Format::TernaryImm8:
      out << ' ' << a << ", " << b << ", " << static_cast<unsigned>(data.aux);
      break;
    case Format::Shuffle: {
      out << ' ' << a << ", " << b << ", ";
      print_wide_hex(out, func.shuffle_mask(inst));
      break;
    }
    case Format::MultiAry:
      if (!func.arg_list(inst).empty()) out << ' ';
      print_values(out, func.arg_list(inst));
      break;
    case Format::IntCompare: out << ' ' << text(func.int_cc(inst)) << ' ' << a << ", " << b; break;
    case Format::FloatCompare:
      out << ' ' << text(func.float_cc(inst)) << ' ' << a << ", " << b;
      break;
    case Format::IntAddTrap:
      out << ' ' << a << ", " << b << ", ";
      print(out, func.trap_code(inst));
      break;
    case Format::Jump:
      out << ' ';
      print_block_call(out, func, BlockCall(data.a));
      break;
    case Format::Brif:
      out << ' ' << a << ", ";
      print_block_call(out, func, BlockCall(data.b));
      out << ", ";
      print_block_call(out, func, BlockCall(data.c));
      break;
    case Format::BrTable: {
      const JumpTableData& table = func.jump_tables[JumpTable(data.b)];
      out << ' ' << a << ", ";
      print_block_call(out, func, table.default_call);
      out << ", [";
      std::string_view separator = "";
      for (const BlockCall call : func.call_list(table.targets)) {
        out << separator;
        print_block_call(out, func, call);
        separator = ", ";
      }
      out << ']';
      break;
    }
    case Format::Trap:
      out << ' ';
      print(out, func.trap_code(inst));
      break;
    case Format::CondTrap:
      out << ' ' << a << ", ";
      print(out, func.trap_code(inst));
      break;
    case Format::Call:
      out << ' ' << FuncRef(data.a) << '(';
      print_values(out, func.arg_list(inst));
      out << ')';
      break;
    case Format::CallIndirect: {
      const std::span<const Value> args = func.arg_list(inst);
      out << ' ' << SigRef(data.a) << ", " << args.front() << '(';
      print_values(out, args.subspan(1));
      out << ')';
      break;
    }
    case Format::TryCall:
      out << ' ' << FuncRef(data.a) << '(';
      print_values(out, func.arg_list(inst));
      out << ')';
      print_exception_table(out, func, inst);
      break;
    case Format::TryCallIndirect: {
      const std::span<const Value> args = func.arg_list(inst);
      out << ' ' << args.front() << '(';
      print_values(out, args.subspan(1));
      out << ')';
      print_exception_table(out, func, inst);
      break;
    }
    case Format::ExceptionHandlerAddress:
      out << ' ' << Block(data.a) << ", " << static_cast<std::int32_t>(data.b);
      break;
    case Format::DynamicStackAddr: out << ' ' << DynamicStackSlot(data.a); break;
    case Format::FuncAddr: out << ' ' << FuncRef(data.a); break;
    case Format::StackAddr:
      out << ' ' << StackSlot(data.a);
      print_offset(out, static_cast<std::int32_t>(data.b));
      break;
    case Format::Load:
      print_flags(out, func.mem_flags(inst));
      out << ' ' << a;
      print_offset(out, func.load_offset(inst));
      break;
    case Format::LoadNoOffset:
      print_flags(out, func.mem_flags(inst));
      out << ' ' << a;
      break;
    case Format::AtomicRmw:
      print_flags(out, func.mem_flags(inst));
      out << ' ' << text(func.atomic_op(inst)) << ' ' << a << ", " << b;
      break;
    case Format::AtomicCas:
      print_flags(out, func.mem_flags(inst));
      out << ' ' << a << ", " << b << ", " << c;
      break;
    case Format::StoreNoOffset:
      print_flags(out, func.mem_flags(inst));
      out << ' ' << a << ", " << b;
      break;
    case Format::Store:
      print_flags(out, func.mem_flags(inst));
      out << ' ' << a << ", " << b;
      print_offset(out, func.store_offset(inst));
      break;
  }
}

/// `  ; v3 = 42, v4 = 0x1.0p0`: operands that are constants.
void print_constant_comment(base::Printer& out, const Function& func, Inst inst) {
  std::string_view separator = "  ; ";
  func.for_each_arg(inst, [&](Value v) {
    const Value source = func.resolve(v);
    const ValueData& data = func.value(source);
    if (data.kind != ValueKind::Result || data.source == Inst::kNoneIndex) return;
    const Inst def(data.source);
    const Format form = format(func.op(def));
    if (form != Format::UnaryImm && form != Format::UnaryF32 && form != Format::UnaryF64) return;
    out << separator << v << " =";
    print_operands(out, func, def);
    separator = ", ";
  });
}

/// Aliases by their (resolved) target, in ascending order.
class AliasLists {
 public:
  explicit AliasLists(const Function& func) {
    for (std::size_t i = func.value_count(); i-- > 0;) {
      const Value v(i);
      if (func.value(v).kind != ValueKind::Alias) continue;
      const Value target = func.resolve(v);
      next_[v] = first_[target];
      first_[target] = v;
    }
  }
  void print(base::Printer& out, Value target, std::size_t indent) const {
    for (Value v = first_[target]; v.is_some(); v = next_[v]) {
      out.spaces(indent) << v << " -> " << target << '\n';
    }
  }

 private:
  base::EntityMap<Value, Value> first_, next_;
};

/// `<ss0, 1> @0012 `, then spaces up to the column of the instructions.
void print_prefix(base::Printer& out, const Function& func, Inst inst, std::size_t indent) {
  const std::size_t start = out.size();
  std::string_view separator = "<";
  for (const DebugTag tag : func.debug_tags(inst)) {
    out << separator;
    separator = ", ";
    if (tag.kind == DebugTag::Kind::StackSlot) {
      out << StackSlot(tag.value);
    } else {
      out << tag.value;
    }
  }
  if (!func.debug_tags(inst).empty()) out << "> ";
  const SourceLoc loc = func.position(func.loc(inst)).loc;
  if (!loc.is_none()) {
    base::Printer digits;
    digits.hex(loc.bits, 4);
    out << '@' << digits.view().substr(2) << ' ';
  }
  const std::size_t written = out.size() - start;
  out.spaces(indent > written ? indent - written : 0);
}

}  // namespace

base::Printer& operator<<(base::Printer& out, const Signature& signature) {
  out << '(';
  print_params(out, signature.params);
  out << ')';
  if (!signature.returns.empty()) {
    out << " -> ";
    print_params(out, signature.returns);
  }
  return out << ' ' << text(signature.call_conv);
}

static void print_operation(base::Printer& out, const Function& func, Inst inst,
                            const Printed* printed) {
  out << info(func.op(inst)).text;
  if (needs_suffix(func, inst, printed)) {
    const Type type = control_type(func, inst);
    if (type.is_valid()) out << '.' << type;
  }
  print_operands(out, func, inst);
  if (func.stack_map(inst).empty()) return;
  std::string_view separator = ", stack_map=[";
  for (const StackMapEntry& entry : func.stack_map(inst)) {
    out << separator << entry.type << " @ " << entry.slot << '+' << entry.offset;
    separator = ", ";
  }
  out << ']';
}

static void print(base::Printer& out, const Function& func, Inst inst, const Printed* printed) {
  print_values(out, func.results(inst));
  if (func.result_count(inst) != 0) out << " = ";
  print_operation(out, func, inst, printed);
}

void print_operation(base::Printer& out, const Function& func, Inst inst) {
  print_operation(out, func, inst, nullptr);
}
void print(base::Printer& out, const Function& func, Inst inst) {
  print(out, func, inst, nullptr);
}

void print_block_header(base::Printer& out, const Function& func, Block block) {
  out << block;
  if (!func.block_params(block).empty()) {
    std::string_view separator = "(";
    for (const Value v : func.block_params(block)) {
      out << separator << v << ": " << func.type(v);
      separator = ", ";
    }
    out << ')';
  }
  if (func.is_cold(block)) out << " cold";
  out << ':';
}

void print(base::Printer& out, const Function& func) {
  out << "function " << func.name << func.signature << " {\n";
  bool any = print_preamble(out, func);
  std::size_t indent = 4;
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
      if (!func.position(func.loc(inst)).loc.is_none() || !func.debug_tags(inst).empty()) {
        indent = 36;
      }
    }
  }
  const AliasLists aliases(func);
  Printed printed(func.value_count());
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    if (any) out << '\n';
    any = true;
    out.spaces(indent - 4);
    print_block_header(out, func, block);
    out << '\n';
    for (const Value v : func.block_params(block)) {
      printed[v.index()] = true;
      aliases.print(out, v, indent);
    }
    for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
      print_prefix(out, func, inst, indent);
      print(out, func, inst, &printed);
      print_constant_comment(out, func, inst);
      out << '\n';
      for (const Value v : func.results(inst)) {
        printed[v.index()] = true;
        aliases.print(out, v, indent);
      }
    }
  }
  out << "}\n";
}

std::string to_string(const Function& func) {
  base::Printer out;
  print(out, func);
  return out.take();
}

std::string to_string(const Function& func, Inst inst) {
  base::Printer out;
  print(out, func, inst);
  return out.take();
}

}  // namespace hoist::ir
