// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz/gen/ir_program.hpp"

#include <array>
#include <vector>

#include "ir/builder.hpp"

namespace hoist::fuzz {

using ir::Op;
using ir::Type;
using ir::Value;

namespace {

constexpr std::array<Type, 6> kTypes = {ir::I32, ir::I64, ir::F64, ir::F32, ir::I8, ir::I16};
constexpr std::size_t kSlotBytes = 64;

class Generator {
 public:
  Generator(ByteSource& source, ir::Function& func) : in_(source), b_(func), func_(func) {}

  void run() {
    func_.name = ir::ExternalName::testcase("fuzz");
    func_.signature.call_conv = ir::CallConv::SystemV;
    const unsigned params = in_.below(9), results = 1 + in_.below(4);
    for (unsigned i = 0; i < params; ++i) func_.signature.params.push_back({any_type()});
    for (unsigned i = 0; i < results; ++i) func_.signature.returns.push_back({any_type()});
    slot_ = func_.stack_slots.push({kSlotBytes, 4});
    flags_ = func_.intern(ir::MemFlags::trusted());

    const ir::Block entry = b_.make_block();
    b_.append_params_for_signature(entry);
    b_.switch_to(entry);
    b_.seal(entry);
    // Variables carry values through control flow; they start defined, as does memory.
    for (const Type type : kTypes) {
      for (int k = 0; k < 3; ++k) {
        vars_.push_back({b_.declare_variable(type), type});
        b_.define(vars_.back().var, constant(type));
      }
    }
    for (const Value v : std::vector<Value>(func_.block_params(entry).begin(), func_.block_params(entry).end())) {
      define_some(func_.type(v), v);
    }
    const Value zero = b_.iconst(ir::I64, 0);
    for (std::size_t at = 0; at < kSlotBytes; at += 8) {
      b_.store(Op::Store, flags_, zero, b_.stack_addr(ir::I64, slot_, static_cast<std::int32_t>(at)), 0);
    }
    statements(0);
    if (b_.is_open()) finish();
    b_.seal_all();
  }

 private:
  struct Var {
    ir::Variable var;
    Type type;
  };

  Type any_type() { return kTypes[in_.below(kTypes.size())]; }
  Type any_int() {
    constexpr std::array<Type, 4> kInts = {ir::I32, ir::I64, ir::I8, ir::I16};
    return kInts[in_.below(4)];
  }
  Type any_float() { return in_.below(2) == 0 ? ir::F64 : ir::F32; }

  Value constant(Type type) {
    const std::uint64_t bits = interesting_value(in_, type);
    if (type == ir::F32) return b_.f32const(static_cast<std::uint32_t>(bits));
    if (type == ir::F64) return b_.f64const(bits);
    return b_.iconst(type, bits);
  }
  /// Some value of the type: a constant or what a variable holds.
  Value any(Type type) {
    const unsigned pick = in_.below(5);
    if (pick == 4) return constant(type);
    unsigned n = 0;
    for (const Var& var : vars_) {
      if (var.type == type && n++ == pick % 3) return b_.use(var.var);
    }
    return constant(type);
  }
  void define_some(Type type, Value value) {
    const unsigned pick = in_.below(3);
    unsigned n = 0;
    for (const Var& var : vars_) {
      if (var.type == type && n++ == pick) b_.define(var.var, value);
    }
  }
  /// The float with one bit pattern for every NaN.
  Value canonical(Value x) {
    const Value is_nan = b_.fcmp(ir::FloatCC::Uno, x, x);
    const Value nan = func_.type(x) == ir::F32 ? b_.f32const(0x7fc00000) : b_.f64const(0x7ff8000000000000);
    return b_.ternary(Op::Select, is_nan, nan, x);
  }
  Value condition() {
    switch (in_.below(4)) {
      case 0: return any(any_int());
      case 1: {
        const Type type = any_float();
        return b_.fcmp(static_cast<ir::FloatCC>(in_.below(14)), any(type), any(type));
      }
      default: {
        const Type type = any_int();
        return b_.icmp(static_cast<ir::IntCC>(in_.below(10)), any(type), any(type));
      }
    }
  }
  /// An address in the stack slot with room for `bytes`.
  Value address(unsigned bytes) {
    const Value base = b_.stack_addr(ir::I64, slot_, 0);
    if (in_.below(2) == 0) return base;
    Value index = in_.below(2) == 0 ? any(ir::I64) : b_.unary(Op::Uextend, ir::I64, any(ir::I32));
    index = b_.binary(Op::Band, index, b_.iconst(ir::I64, kSlotBytes / 2 / bytes - 1));
    index = b_.binary(Op::Ishl, index, b_.iconst(ir::I32, bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0));
    return b_.binary(Op::Iadd, base, index);
  }
  std::int32_t offset(unsigned bytes) { return static_cast<std::int32_t>(in_.below(kSlotBytes / 2 - bytes + 1)); }

  void int_binary() {
    constexpr std::array kOps = {Op::Iadd, Op::Isub, Op::Imul, Op::Band, Op::Bor, Op::Bxor, Op::Smin, Op::Smax, Op::Umin,
                                 Op::Umax, Op::Umulhi, Op::Smulhi, Op::Udiv, Op::Sdiv, Op::Urem, Op::Srem};
    const Op op = kOps[in_.below(kOps.size())];
    const Type type = any_int();
    define_some(type, b_.binary(op, any(type), any(type)));
  }
  void shift() {
    constexpr std::array kOps = {Op::Ishl, Op::Ushr, Op::Sshr, Op::Rotl, Op::Rotr};
    const Op op = kOps[in_.below(kOps.size())];
    const Type type = any_int();
    define_some(type, b_.binary(op, any(type), any(any_int())));
  }
  void int_unary() {
    constexpr std::array kOps = {Op::Ineg, Op::Bnot, Op::Iabs, Op::Clz, Op::Ctz, Op::Cls, Op::Popcnt, Op::Bitrev, Op::Bswap};
    const Op op = kOps[in_.below(kOps.size())];
    Type type = any_int();
    if (op == Op::Bswap && type == ir::I8) type = ir::I16;
    define_some(type, b_.unary(op, type, any(type)));
  }
  void float_op() {
    constexpr std::array kBinary = {Op::Fadd, Op::Fsub, Op::Fmul, Op::Fdiv, Op::Fmin, Op::Fmax, Op::Fcopysign};
    constexpr std::array kUnary = {Op::Sqrt, Op::Fneg, Op::Fabs, Op::Ceil, Op::Floor, Op::Trunc, Op::Nearest};
    const Type type = any_float();
    if (in_.below(2) == 0) {
      const Op op = kBinary[in_.below(kBinary.size())];
      const Value x = any(type);
      Value y = any(type);
      if (op == Op::Fcopysign) y = canonical(y);
      define_some(type, b_.binary(op, x, y));
    } else {
      define_some(type, b_.unary(kUnary[in_.below(kUnary.size())], type, any(type)));
    }
  }
  void convert() {
    constexpr std::array<Type, 2> kWide = {ir::I32, ir::I64};
    const Type wide = kWide[in_.below(2)], flt = any_float();
    switch (in_.below(12)) {
      case 0: return define_some(ir::I64, b_.unary(Op::Uextend, ir::I64, any(ir::I32)));
      case 1: return define_some(ir::I64, b_.unary(Op::Sextend, ir::I64, any(in_.below(2) == 0 ? ir::I32 : ir::I8)));
      case 2: return define_some(ir::I32, b_.unary(in_.below(2) == 0 ? Op::Uextend : Op::Sextend, ir::I32, any(in_.below(2) == 0 ? ir::I8 : ir::I16)));
      case 3: return define_some(ir::I32, b_.unary(Op::Ireduce, ir::I32, any(ir::I64)));
      case 4: {
        const Type narrow = in_.below(2) == 0 ? ir::I8 : ir::I16;
        return define_some(narrow, b_.unary(Op::Ireduce, narrow, any(wide)));
      }
      case 5: return define_some(flt, b_.unary(in_.below(2) == 0 ? Op::FcvtFromUint : Op::FcvtFromSint, flt, any(wide)));
      case 6: return define_some(wide, b_.unary(in_.below(2) == 0 ? Op::FcvtToUintSat : Op::FcvtToSintSat, wide, any(flt)));
      case 7: return define_some(wide, b_.unary(in_.below(2) == 0 ? Op::FcvtToUint : Op::FcvtToSint, wide, any(flt)));
      case 8: return define_some(ir::F64, b_.unary(Op::Fpromote, ir::F64, any(ir::F32)));
      case 9: return define_some(ir::F32, b_.unary(Op::Fdemote, ir::F32, any(ir::F64)));
      case 10:
        if (flt == ir::F32) return define_some(ir::I32, b_.bitcast(ir::I32, canonical(any(flt))));
        return define_some(ir::I64, b_.bitcast(ir::I64, canonical(any(flt))));
      default:
        if (flt == ir::F32) return define_some(ir::F32, b_.bitcast(ir::F32, any(ir::I32)));
        return define_some(ir::F64, b_.bitcast(ir::F64, any(ir::I64)));
    }
  }
  void select_or_compare() {
    if (in_.below(2) == 0) return define_some(ir::I8, condition());
    const Type type = any_type();
    const Value c = condition();
    const Value x = any(type), y = any(type);
    define_some(type, b_.ternary(Op::Select, c, x, y));
  }
  void memory() {
    const Type type = any_type();
    const unsigned bytes = type.bytes();
    switch (in_.below(6)) {
      case 0:
      case 1: {
        Value x = any(type);
        if (type.is_float()) x = canonical(x);
        const Value at = address(bytes);
        return b_.store(Op::Store, flags_, x, at, offset(bytes));
      }
      case 2:
      case 3: {
        const Value at = address(bytes);
        return define_some(type, b_.load(Op::Load, type, flags_, at, offset(bytes)));
      }
      case 4: {
        constexpr std::array kOps = {Op::Uload8, Op::Sload8, Op::Uload16, Op::Sload16, Op::Uload32, Op::Sload32};
        const unsigned pick = in_.below(kOps.size());
        const unsigned size = 1u << (pick / 2);
        const Type to = size == 4 || in_.below(2) == 0 ? ir::I64 : ir::I32;
        const Value at = address(size);
        return define_some(to, b_.load(kOps[pick], to, flags_, at, offset(size)));
      }
      default: {
        constexpr std::array kOps = {Op::Istore8, Op::Istore16, Op::Istore32};
        const unsigned pick = in_.below(kOps.size());
        const Value x = any(pick == 2 || in_.below(2) == 0 ? ir::I64 : ir::I32);
        const Value at = address(1u << pick);
        return b_.store(kOps[pick], flags_, x, at, offset(1u << pick));
      }
    }
  }
  void trap() {
    const Value c = condition();
    const auto code = static_cast<image::TrapCode>(1 + in_.below(20));
    if (in_.below(2) == 0) {
      b_.trapz(c, code);
    } else {
      b_.trapnz(c, code);
    }
  }

  void finish() {
    std::vector<Value> values;
    for (const ir::AbiParam& result : func_.signature.returns) {
      Value v = any(result.type);
      if (result.type.is_float()) v = canonical(v);
      values.push_back(v);
    }
    b_.ret(values);
  }

  void if_else(int depth) {
    const ir::Block yes = b_.make_block(), no = b_.make_block(), join = b_.make_block();
    b_.brif(condition(), yes, {}, no, {});
    for (const ir::Block block : {yes, no}) {
      b_.switch_to(block);
      b_.seal(block);
      if (in_.below(4) == 0) func_.set_cold(block);
      statements(depth + 1);
      if (b_.is_open()) b_.jump(join);
    }
    b_.switch_to(join);
    b_.seal(join);
  }
  void loop(int depth) {
    const ir::Variable count = b_.declare_variable(ir::I32);
    b_.define(count, b_.iconst(ir::I32, 1 + in_.below(5)));
    const ir::Block head = b_.make_block(), exit = b_.make_block();
    b_.jump(head);
    b_.switch_to(head);
    statements(depth + 1);
    if (b_.is_open()) {
      const Value left = b_.binary(Op::Isub, b_.use(count), b_.iconst(ir::I32, 1));
      b_.define(count, left);
      if (in_.below(3) == 0) {
        const ir::Block latch = b_.make_block();
        b_.brif(left, latch, {}, exit, {});
        b_.switch_to(latch);
        b_.seal(latch);
        statements(depth + 1);
        if (b_.is_open()) b_.jump(head);
      } else {
        b_.brif(left, head, {}, exit, {});
      }
    }
    b_.seal(head);
    b_.switch_to(exit);
    b_.seal(exit);
  }
  void table(int depth) {
    const unsigned count = 1 + in_.below(5);
    std::vector<ir::Block> blocks;
    std::vector<ir::FunctionBuilder::Target> targets;
    for (unsigned i = 0; i < count; ++i) blocks.push_back(b_.make_block());
    for (unsigned i = 0; i < count + in_.below(4); ++i) targets.push_back({blocks[in_.below(count)], {}});
    const ir::Block join = b_.make_block();
    b_.br_table(any(ir::I32), {blocks[0], {}}, targets);
    for (const ir::Block block : blocks) {
      b_.switch_to(block);
      b_.seal(block);
      statements(depth + 1);
      if (b_.is_open()) b_.jump(join);
    }
    b_.switch_to(join);
    b_.seal(join);
  }

  void statements(int depth) {
    const unsigned count = 1 + in_.below(depth == 0 ? 40 : 12);
    for (unsigned i = 0; i < count && !in_.done() && budget_-- > 0; ++i) {
      switch (in_.below(24)) {
        case 0: case 1: case 2: case 3: case 4: int_binary(); break;
        case 5: case 6: shift(); break;
        case 7: case 8: int_unary(); break;
        case 9: case 10: case 11: float_op(); break;
        case 12: case 13: convert(); break;
        case 14: case 15: select_or_compare(); break;
        case 16: case 17: case 18: memory(); break;
        case 19: trap(); break;
        case 20: if (depth < 4) if_else(depth); break;
        case 21: if (depth < 3) loop(depth); break;
        case 22: if (depth < 4) table(depth); break;
        default:
          if (depth > 0 && in_.below(8) == 0) return finish();
          break;
      }
    }
  }

  ByteSource& in_;
  ir::FunctionBuilder b_;
  ir::Function& func_;
  ir::StackSlot slot_;
  ir::MemFlagsRef flags_;
  std::vector<Var> vars_;
  int budget_ = 400;
};

}  // namespace

std::uint64_t interesting_value(ByteSource& source, Type type) {
  static constexpr std::uint64_t kInts[] = {0, 1, ~0ull, 2, 0x7f, 0x80, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff,
                                            0x7fffffffffffffff, 0x8000000000000000, 31, 32, 63, 64};
  static constexpr std::uint64_t kF32[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x4f000000,
                                           0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x00000001, 0x3f000000, 0x4b000001};
  static constexpr std::uint64_t kF64[] = {0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
                                           0xfff0000000000000, 0x7ff8000000000000, 0x41e0000000000000, 0xc1e0000000200000,
                                           0x41f0000000000000, 0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000, 1,
                                           0x3fe0000000000000, 0xc1e0000000000000};
  const unsigned pick = source.below(3);
  if (pick == 2) {
    const std::uint64_t bits = source.u64();
    // A random NaN is made the canonical one.
    if (type == ir::F32 && (bits & 0x7f800000) == 0x7f800000) return 0x7fc00000;
    if (type == ir::F64 && (bits & 0x7ff0000000000000) == 0x7ff0000000000000) return 0x7ff8000000000000;
    return type == ir::F32 ? bits & 0xffffffff : bits;
  }
  if (type == ir::F32) return kF32[source.below(std::size(kF32))];
  if (type == ir::F64) return kF64[source.below(std::size(kF64))];
  return pick == 0 ? kInts[source.below(std::size(kInts))] : source.u8();
}

void generate_function(ByteSource& source, ir::Function& func) { Generator(source, func).run(); }

}  // namespace hoist::fuzz
