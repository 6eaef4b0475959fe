// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The generator of one function of a random program: internal to fuzz/gen. Scalars and control
/// flow are here; vectors, 128-bit integers, atomics and exceptions in ir_generator_wide.cpp.

#include <algorithm>
#include <string>

#include "fuzz/gen/ir_program.hpp"

namespace hoist::fuzz {

using ir::Block;
using ir::Op;
using ir::Type;
using ir::Value;

inline constexpr Type kTypes[] = {ir::I32,   ir::I64,   ir::F64,   ir::F32,   ir::I8,
                                  ir::I16,   ir::I128,  ir::I8x16, ir::I16x8, ir::I32x4,
                                  ir::I64x2, ir::F32x4, ir::F64x2};
inline constexpr std::size_t kScalarTypes = 6,
                             kWideTypes = 7;  // the first ones, without and with i128
inline constexpr Type kInts[] = {ir::I32, ir::I64, ir::I8, ir::I16};
inline constexpr Type kFloats[] = {ir::F64, ir::F32};
inline constexpr unsigned kSlotBytes = 64;
inline constexpr int kMainBudget = 400, kHelperBudget = 80;
inline constexpr int kMaxLoopDepth = 3, kMaxDepth = 4;

/// Generates one function. Variables carry values through control flow; they start defined, as does
/// the stack slot.
class Generator {
 public:
  Generator(ByteSource& source, ir::SimplifyFn simplify, std::vector<ir::Function>& functions,
            std::size_t index, unsigned families)
      : in_(source),
        functions_(functions),
        func_(functions[index]),
        b_(func_),
        index_(index),
        families_(families) {
    b_.set_simplifier(simplify);
    for (std::size_t i = 0; i < std::size(kTypes); ++i) {
      if (i < kScalarTypes || (i < kWideTypes ? has(kWideInts) : has(kVectors))) {
        types_.push_back(kTypes[i]);
      }
    }
    budget_ = index + 1 == functions.size() ? kMainBudget : kHelperBudget;
  }

  void run() {
    declare();
    const Block entry = b_.make_block();
    b_.append_params_for_signature(entry);
    b_.switch_to(entry);
    b_.seal(entry);
    const unsigned per_type = 2 + in_.below(6);
    for (const Type type : types_) {
      for (unsigned k = 0; k < per_type; ++k) {
        vars_.push_back({b_.declare_variable(type), type});
        b_.define(vars_.back().var, constant(type));
      }
    }
    if (has(kExceptions)) {
      entry_frame_ = b_.declare_variable(ir::I64);
      b_.define(entry_frame_, func_.block_params(entry)[0]);
    }
    const auto params = func_.block_params(entry);
    // The entry's frame is no number to compute with.
    const auto first = params.begin() + (has(kExceptions) ? 1 : 0);
    for (const Value v : std::vector<Value>(first, params.end())) define_some(func_.type(v), v);
    const Value zero = b_.iconst(ir::I64, 0);
    for (unsigned at = 0; at < kSlotBytes; at += 8) {
      const Value to = b_.stack_addr(ir::I64, slot_, static_cast<std::int32_t>(at));
      b_.store(Op::Store, flags_[0], zero, to, 0);
    }
    // What the register holds before is the caller's affair.
    if (has(kPinned) && is_last()) set_pinned(zero);
    statements(0);
    if (b_.is_open()) finish();
    b_.seal_all();
  }

 private:
  struct Var {
    ir::Variable var;
    Type type;
  };

  // ---- The preamble.

  void declare() {
    constexpr ir::CallConv kConvs[] = {ir::CallConv::SystemV, ir::CallConv::Fast,
                                       ir::CallConv::Tail};
    func_.name = ir::ExternalName::testcase("f" + std::to_string(index_));
    func_.signature.call_conv = in_.one_of(kConvs);
    // A try_call cannot call the fast convention.
    if (has(kExceptions) && func_.signature.call_conv == ir::CallConv::Fast) {
      func_.signature.call_conv = ir::CallConv::Tail;
    }
    const unsigned params = in_.below(13);
    const unsigned results = 1 + in_.below(in_.below(4) == 0 ? 12 : 4);
    // The frame of the entry, where a search for handlers ends, is passed down.
    if (has(kExceptions)) func_.signature.params.push_back({ir::I64});
    for (unsigned i = 0; i < params; ++i) func_.signature.params.push_back({border_type()});
    for (unsigned i = 0; i < results; ++i) func_.signature.returns.push_back({border_type()});
    sums_up_ = is_last() && in_.below(4) != 0;
    if (sums_up_) func_.signature.returns.front().type = ir::I64;
    slot_ = func_.stack_slots.push({.bytes = kSlotBytes, .align_log2 = 4});
    ir::MemFlags flags;
    flags_[1] = func_.intern(flags);
    flags.trap = image::TrapCode::None;
    flags_[0] = func_.intern(flags);
    for (std::size_t i = 0; i < index_; ++i) {
      const ir::SigRef signature = func_.signatures.push(functions_[i].signature);
      func_.ext_funcs.push({.name = functions_[i].name, .signature = signature});
    }
  }

  // ---- Values.

  bool has(unsigned family) const { return (families_ & family) != 0; }
  bool is_last() const { return index_ + 1 == functions_.size(); }
  Type any_type() { return types_[in_.below(static_cast<unsigned>(types_.size()))]; }
  /// Of a parameter or result: the caller of the last function knows small scalars only.
  Type border_type() {
    return is_last() ? kTypes[in_.below(static_cast<unsigned>(kScalarTypes))] : any_type();
  }
  Type any_int() { return in_.one_of(kInts); }
  Type any_float() { return in_.one_of(kFloats); }

  Value constant(Type type) {
    if (type == ir::I128) return wide_constant();
    if (type.is_vector()) return vector_constant(type);
    const std::uint64_t bits = interesting_value(in_, type);
    if (type == ir::F32) return b_.f32const(static_cast<std::uint32_t>(bits));
    if (type == ir::F64) return b_.f64const(bits);
    return b_.iconst(type, bits);
  }
  Var& some_variable(Type type, unsigned pick) {
    const auto per_type = static_cast<unsigned>(vars_.size() / types_.size());
    const auto group = std::find(types_.begin(), types_.end(), type);
    return vars_[static_cast<std::size_t>(group - types_.begin()) * per_type + pick % per_type];
  }
  /// Some value of the type: a constant or what a variable holds.
  Value any(Type type) {
    const unsigned pick = in_.below(40);
    return pick < 6 ? constant(type) : b_.use(some_variable(type, pick).var);
  }
  void define_some(Type type, Value value) { b_.define(some_variable(type, in_.u8()).var, value); }
  /// The float with one bit pattern for every NaN.
  Value canonical(Value x) {
    if (func_.type(x).is_vector()) return canonical_vector(x);
    const Value is_nan = b_.fcmp(ir::FloatCC::Uno, x, x);
    const Value nan =
        func_.type(x) == ir::F32 ? b_.f32const(0x7fc00000) : b_.f64const(0x7ff8000000000000);
    return b_.ternary(Op::Select, is_nan, nan, x);
  }
  Value integer_comparison() {
    const Type type = any_int();
    const Value x = any(type);
    const Value y = any(type);
    return b_.icmp(static_cast<ir::IntCC>(in_.below(10)), x, y);
  }
  Value float_comparison() {
    const Type type = any_float();
    const Value x = any(type);
    const Value y = any(type);
    return b_.fcmp(static_cast<ir::FloatCC>(in_.below(14)), x, y);
  }
  Value condition() {
    switch (in_.below(6)) {
      case 0: return any(any_int());
      case 1: return float_comparison();
      case 2: {
        const Value x = integer_comparison();
        const Value y = integer_comparison();
        return b_.binary(in_.below(2) == 0 ? Op::Band : Op::Bor, x, y);
      }
      default: return integer_comparison();
    }
  }
  image::TrapCode trap_code() { return static_cast<image::TrapCode>(1 + in_.below(20)); }

  // ---- Statements of one block.

  void int_binary() {
    constexpr Op kOps[] = {Op::Iadd,   Op::Iadd,   Op::Isub, Op::Isub, Op::Imul, Op::Band,
                           Op::Bor,    Op::Bxor,   Op::Smin, Op::Smax, Op::Umin, Op::Umax,
                           Op::Umulhi, Op::Smulhi, Op::Udiv, Op::Sdiv, Op::Urem, Op::Srem};
    const Op op = in_.one_of(kOps);
    const Type type = any_int();
    const Value x = any(type);
    Value y = any(type);
    const bool divides = op == Op::Udiv || op == Op::Sdiv || op == Op::Urem || op == Op::Srem;
    if (divides && in_.below(4) != 0) y = b_.binary(Op::Bor, y, b_.iconst(type, 1));
    define_some(type, b_.binary(op, x, y));
  }
  void shift() {
    constexpr Op kOps[] = {Op::Ishl, Op::Ushr, Op::Sshr, Op::Rotl, Op::Rotr};
    const Op op = in_.one_of(kOps);
    const Type type = any_int();
    const Value x = any(type);
    const Value amount = any(any_int());
    define_some(type, b_.binary(op, x, amount));
  }
  void int_unary() {
    constexpr Op kOps[] = {Op::Ineg, Op::Bnot,   Op::Iabs,   Op::Clz,  Op::Ctz,
                           Op::Cls,  Op::Popcnt, Op::Bitrev, Op::Bswap};
    const Op op = in_.one_of(kOps);
    Type type = any_int();
    if (op == Op::Bswap && type == ir::I8) type = ir::I16;
    define_some(type, b_.unary(op, type, any(type)));
  }
  void float_op() {
    constexpr Op kBinary[] = {Op::Fadd, Op::Fsub, Op::Fmul,     Op::Fdiv,
                              Op::Fmin, Op::Fmax, Op::Fcopysign};
    constexpr Op kUnary[] = {Op::Sqrt,  Op::Fneg,  Op::Fabs,   Op::Ceil,
                             Op::Floor, Op::Trunc, Op::Nearest};
    const Type type = any_float();
    switch (in_.below(8)) {
      case 0: {
        const Value x = any(type);
        const Value y = any(type);
        return define_some(type, b_.ternary(Op::Fma, x, y, any(type)));
      }
      case 1:
      case 2:
      case 3: {
        const Op op = in_.one_of(kUnary);
        return define_some(type, b_.unary(op, type, any(type)));
      }
      default: {
        const Op op = in_.one_of(kBinary);
        const Value x = any(type);
        Value y = any(type);
        if (op == Op::Fcopysign) y = canonical(y);
        return define_some(type, b_.binary(op, x, y));
      }
    }
  }
  void extend_or_reduce() {
    Type from = any_int();
    Type to = any_int();
    if (from == to) return;
    if (from.bits() > to.bits()) return define_some(to, b_.unary(Op::Ireduce, to, any(from)));
    const Op op = in_.below(2) == 0 ? Op::Uextend : Op::Sextend;
    define_some(to, b_.unary(op, to, any(from)));
  }
  void convert() {
    constexpr Op kFromInt[] = {Op::FcvtFromUint, Op::FcvtFromSint};
    constexpr Op kToInt[] = {Op::FcvtToUintSat, Op::FcvtToSintSat, Op::FcvtToUintSat,
                             Op::FcvtToSintSat, Op::FcvtToUint,    Op::FcvtToSint};
    const Type integer = any_int();
    const Type real = any_float();
    switch (in_.below(8)) {
      case 0: return define_some(real, b_.unary(in_.one_of(kFromInt), real, any(integer)));
      case 1: return define_some(integer, b_.unary(in_.one_of(kToInt), integer, any(real)));
      case 2: return define_some(ir::F64, b_.unary(Op::Fpromote, ir::F64, any(ir::F32)));
      case 3: return define_some(ir::F32, b_.unary(Op::Fdemote, ir::F32, any(ir::F64)));
      case 4: {
        const Type bits = real == ir::F32 ? ir::I32 : ir::I64;
        return define_some(bits, b_.bitcast(bits, canonical(any(real))));
      }
      case 5: return define_some(real, b_.bitcast(real, any(real == ir::F32 ? ir::I32 : ir::I64)));
      default: return extend_or_reduce();
    }
  }
  void select_or_compare() {
    switch (in_.below(5)) {
      case 0:
      case 1: {
        const Value c = condition();
        return define_some(func_.type(c), c);
      }
      case 2: {
        const Type from = any_int();
        const Type to = any_int();
        return define_some(to, b_.unary(Op::Bmask, to, any(from)));
      }
      case 3: {
        const Type type = any_int();
        const Value mask = any(type);
        const Value x = any(type);
        return define_some(type, b_.ternary(Op::Bitselect, mask, x, any(type)));
      }
      default: {
        const Type type = any_type();
        const Value c = condition();
        const Value x = any(type);
        const Value y = any(type);
        return define_some(type, b_.ternary(Op::Select, c, x, y));
      }
    }
  }
  /// An address in the stack slot with room for `bytes` after any `offset(bytes)`.
  Value address(unsigned bytes) {
    const Value base = b_.stack_addr(ir::I64, slot_, 0);
    if (in_.below(2) == 0) return base;
    Value index = in_.below(2) == 0 ? any(ir::I64) : b_.unary(Op::Uextend, ir::I64, any(ir::I32));
    const unsigned scale = bytes == 16 ? 4 : bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    index = b_.binary(Op::Band, index, b_.iconst(ir::I64, (kSlotBytes / 2 >> scale) - 1));
    index = b_.binary(Op::Ishl, index, b_.iconst(ir::I32, scale));
    return in_.below(2) == 0 ? b_.binary(Op::Iadd, base, index) : b_.binary(Op::Iadd, index, base);
  }
  std::int32_t offset(unsigned bytes) {
    return static_cast<std::int32_t>(in_.below(kSlotBytes / 2 - bytes + 1));
  }
  void memory() {
    constexpr Op kLoads[] = {Op::Uload8,  Op::Sload8,  Op::Uload16,
                             Op::Sload16, Op::Uload32, Op::Sload32};
    constexpr Op kStores[] = {Op::Istore8, Op::Istore16, Op::Istore32};
    const Type type = any_type();
    const ir::MemFlagsRef flags = flags_[in_.below(2)];
    switch (in_.below(7)) {
      case 0:
      case 1: {
        const Value x = type.lane_is_float() ? canonical(any(type)) : any(type);
        const Value at = address(type.bytes());
        return b_.store(Op::Store, flags, x, at, offset(type.bytes()));
      }
      case 2:
      case 3: {
        const Value at = address(type.bytes());
        return define_some(type, b_.load(Op::Load, type, flags, at, offset(type.bytes())));
      }
      case 4: {
        const unsigned pick = in_.below(std::size(kLoads));
        const unsigned size = 1u << (pick / 2);
        const Type to = size == 4 || in_.below(2) == 0 ? ir::I64 : ir::I32;
        const Value at = address(size);
        return define_some(to, b_.load(kLoads[pick], to, flags, at, offset(size)));
      }
      case 5: {  // read, modify, write
        constexpr Op kOps[] = {Op::Iadd, Op::Isub, Op::Band, Op::Bor, Op::Bxor};
        const Type whole = any_int();
        const Value at = address(whole.bytes());
        const std::int32_t where = offset(whole.bytes());
        const Value old = b_.load(Op::Load, whole, flags, at, where);
        const Value other = any(whole);
        const Op op = in_.one_of(kOps);
        const Value x = in_.below(3) == 0 ? b_.binary(op, other, old) : b_.binary(op, old, other);
        return b_.store(Op::Store, flags, x, at, where);
      }
      default: {
        const unsigned pick = in_.below(std::size(kStores));
        const Value x = any(pick == 2 || in_.below(2) == 0 ? ir::I64 : ir::I32);
        const Value at = address(1u << pick);
        return b_.store(kStores[pick], flags, x, at, offset(1u << pick));
      }
    }
  }
  void trap() {
    switch (in_.below(3)) {
      case 0: {
        const Value c = condition();
        return b_.trapz(c, trap_code());
      }
      case 1: {
        const Value c = condition();
        return b_.trapnz(c, trap_code());
      }
      default: {
        const Type type = in_.below(2) == 0 ? ir::I32 : ir::I64;
        const Value x = any(type);
        const Value y = any(type);
        return define_some(type, b_.insert({.op = Op::UaddOverflowTrap,
                                            .aux = static_cast<std::uint16_t>(trap_code()),
                                            .a = x.index(),
                                            .b = y.index()},
                                           type));
      }
    }
  }

  // ---- Calls and returns.

  std::vector<Value> arguments(const std::vector<ir::AbiParam>& params) {
    std::vector<Value> values;
    for (const ir::AbiParam& param : params) values.push_back(any(param.type));
    return values;
  }
  /// For a function of the program.
  std::vector<Value> call_arguments(ir::SigRef signature) {
    std::vector<Value> values = arguments(func_.signatures[signature].params);
    if (has(kExceptions)) values.front() = b_.use(entry_frame_);
    return values;
  }
  void call() {
    if (index_ == 0) return memory();
    // What the last function calls is always caught: the search must end.
    if (has(kExceptions) && (is_last() || in_.below(2) == 0)) return try_call();
    const ir::FuncRef callee(in_.below(static_cast<unsigned>(index_)));
    const ir::SigRef signature = func_.ext_funcs[callee].signature;
    const std::vector<Value> args = call_arguments(signature);
    const ir::Inst inst = in_.below(4) == 0
                              ? b_.call_indirect(signature, b_.func_addr(ir::I64, callee), args)
                              : b_.call(callee, args);
    take_results(inst);
  }
  /// A function before this one that a tail call may go to, or none.
  ir::FuncRef tail_callee() {
    if (func_.signature.call_conv != ir::CallConv::Tail || in_.below(3) == 0) return {};
    if (has(kExceptions) && is_last()) return {};
    for (std::size_t i = index_; i-- > 0;) {
      const ir::Signature& other = functions_[i].signature;
      // Stack arguments need room in the caller: the few parameters of this one have none.
      if (other.call_conv == ir::CallConv::Tail && other.returns == func_.signature.returns &&
          (other.params.size() <= 8 || other.params == func_.signature.params)) {
        return ir::FuncRef(static_cast<std::uint32_t>(i));
      }
    }
    return {};
  }
  void finish() {
    if (const ir::FuncRef callee = tail_callee(); callee.is_some()) {
      const ir::SigRef signature = func_.ext_funcs[callee].signature;
      const std::vector<Value> args = call_arguments(signature);
      if (in_.below(3) != 0) return b_.return_call(callee, args);
      return b_.return_call_indirect(signature, b_.func_addr(ir::I64, callee), args);
    }
    std::vector<Value> values = arguments(func_.signature.returns);
    if (sums_up_) values.front() = sum();
    for (Value& v : values) {
      if (func_.type(v).lane_is_float()) v = canonical(v);
    }
    b_.ret(values);
  }
  /// A value that depends on all variables and on memory, so that no wrong value goes unseen.
  Value sum() {
    Value total = b_.iconst(ir::I64, 0);
    const auto add = [&](Value x) {
      if (func_.type(x).is_float()) {
        x = b_.bitcast(func_.type(x) == ir::F32 ? ir::I32 : ir::I64, canonical(x));
      }
      if (func_.type(x).bits() == 128) x = fold(x);
      if (func_.type(x) != ir::I64) x = b_.unary(Op::Uextend, ir::I64, x);
      total = b_.binary(Op::Rotl, total, b_.iconst(ir::I32, 7));
      total = b_.binary(Op::Iadd, total, x);
    };
    for (const Var& var : vars_) add(b_.use(var.var));
    for (unsigned at = 0; at < kSlotBytes; at += 8) {
      const Value from = b_.stack_addr(ir::I64, slot_, static_cast<std::int32_t>(at));
      add(b_.load(Op::Load, ir::I64, flags_[0], from, 0));
    }
    return total;
  }
  void leave() {
    if (in_.below(4) == 0) return b_.trap(trap_code());
    finish();
  }

  // ---- Control flow.

  void enter(Block block) {
    b_.switch_to(block);
    b_.seal(block);
  }
  /// Statements of a block of its own, then on to `next`.
  void arm(Block block, Block next, int depth) {
    enter(block);
    if (in_.below(6) == 0) func_.set_cold(block);
    statements(depth + 1);
    if (b_.is_open()) b_.jump(next);
  }
  void if_else(int depth) {
    const Block yes = b_.make_block();
    const Block join = b_.make_block();
    const Block no = in_.below(3) == 0 ? join : b_.make_block();
    const Value c = condition();
    if (in_.below(2) == 0) {
      b_.brif(c, yes, {}, no, {});
    } else {
      b_.brif(c, no, {}, yes, {});
    }
    exits_.push_back(join);
    arm(yes, join, depth);
    if (no != join) arm(no, join, depth);
    exits_.pop_back();
    enter(join);
  }
  /// Out of the middle of some construct around this place.
  void break_out() {
    if (exits_.empty()) return;
    const Block exit = exits_[in_.below(static_cast<unsigned>(exits_.size()))];
    const Block on = b_.make_block();
    b_.brif(condition(), exit, {}, on, {});
    enter(on);
  }
  ir::Variable counter() {
    const ir::Variable count = b_.declare_variable(ir::I32);
    b_.define(count, b_.iconst(ir::I32, 1 + in_.below(5)));
    return count;
  }
  Value count_down(ir::Variable count) {
    const Value before = b_.use(count);
    const Value left = b_.binary(Op::Isub, before, b_.iconst(ir::I32, 1));
    b_.define(count, left);
    return left;
  }
  void loop(int depth) {
    const ir::Variable count = counter();
    const Block head = b_.make_block();
    const Block exit = b_.make_block();
    b_.jump(head);
    b_.switch_to(head);
    exits_.push_back(exit);
    statements(depth + 1);
    if (b_.is_open()) {
      const Value left = count_down(count);
      if (in_.below(3) == 0) {
        const Block latch = b_.make_block();
        b_.brif(left, latch, {}, exit, {});
        arm(latch, head, depth);
      } else {
        b_.brif(left, head, {}, exit, {});
      }
    }
    exits_.pop_back();
    b_.seal(head);
    enter(exit);
  }
  /// A cycle of two blocks that is entered at both.
  void irreducible(int depth) {
    const ir::Variable count = counter();
    const Block first = b_.make_block();
    const Block second = b_.make_block();
    const Block exit = b_.make_block();
    b_.brif(condition(), first, {}, second, {});
    exits_.push_back(exit);
    for (const Block block : {first, second}) {
      b_.switch_to(block);
      statements(depth + 1);
      if (b_.is_open()) b_.brif(count_down(count), block == first ? second : first, {}, exit, {});
    }
    exits_.pop_back();
    b_.seal(first);
    b_.seal(second);
    enter(exit);
  }
  void table(int depth) {
    const unsigned count = 1 + in_.below(5);
    std::vector<Block> blocks;
    for (unsigned i = 0; i < count; ++i) blocks.push_back(b_.make_block());
    const Block join = b_.make_block();
    std::vector<ir::FunctionBuilder::Target> targets;
    const unsigned entries = in_.below(count + 4);
    for (unsigned i = 0; i < entries; ++i) {
      const unsigned pick = in_.below(count + 1);
      targets.push_back({pick == count ? join : blocks[pick], {}});
    }
    Value index = any(ir::I32);
    if (in_.below(3) != 0) index = b_.binary(Op::Band, index, b_.iconst(ir::I32, 7));
    b_.br_table(index, {blocks[0], {}}, targets);
    exits_.push_back(join);
    for (const Block block : blocks) arm(block, join, depth);
    exits_.pop_back();
    enter(join);
  }

  void statements(int depth) {
    const unsigned count = 1 + in_.below(depth == 0 ? 60 : 12);
    for (unsigned i = 0; i < count && !in_.done() && budget_ > 0; ++i) {
      --budget_;
      statement(depth);
      if (!b_.is_open()) return;
    }
  }
  void statement(int depth) {
    const bool may_nest = depth < kMaxDepth;
    if (families_ != 0 && in_.below(2) == 0) return wide_statement();
    switch (in_.below(32)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5: return int_binary();
      case 6:
      case 7:
      case 8: return shift();
      case 9:
      case 10: return int_unary();
      case 11:
      case 12:
      case 13: return float_op();
      case 14:
      case 15:
      case 16: return convert();
      case 17:
      case 18:
      case 19: return select_or_compare();
      case 20:
      case 21:
      case 22: return memory();
      case 23: return in_.below(2) == 0 ? trap() : memory();
      case 24:
      case 25: return may_nest ? if_else(depth) : memory();
      case 26: return depth < kMaxLoopDepth ? loop(depth) : int_binary();
      case 27: return depth < kMaxLoopDepth ? irreducible(depth) : int_binary();
      case 28: return may_nest ? table(depth) : shift();
      case 29: return call();
      case 30: return break_out();
      default: return depth > 0 && in_.below(4) == 0 ? leave() : convert();
    }
  }

  // ---- ir_generator_wide.cpp
  void wide_statement();
  Value wide_constant();
  Value vector_constant(Type type);
  Value canonical_vector(Value x);
  /// Both halves of 128 bits in an i64.
  Value fold(Value x);
  Value vector_cast(Type type, Value x);
  Type int_vector();
  void vector_special();
  void pinned();
  void set_pinned(Value x);
  void dynamic_vector();
  void vector_arithmetic();
  void vector_bytes();
  void vector_lanes();
  void vector_floats();
  void vector_widths();
  void vector_compare();
  void vector_memory();
  void wide_int();
  void overflow();
  void atomic();
  void odd_float();
  void try_call();
  void throw_something();
  void take_results(ir::Inst call);

  ByteSource& in_;
  std::vector<ir::Function>& functions_;
  ir::Function& func_;
  ir::FunctionBuilder b_;
  std::size_t index_;
  unsigned families_;
  std::vector<Type> types_;   // of variables
  ir::Variable entry_frame_;  // with exceptions
  ir::FuncRef throw_;         // if something throws
  ir::StackSlot slot_;
  ir::MemFlagsRef flags_[2];  // without and with a trap
  std::vector<Var> vars_;     // grouped by type, in the order of types_
  std::vector<Block> exits_;  // of the constructs around this place
  bool sums_up_ = false;      // the first result is `sum`
  int budget_ = 0;
};

}  // namespace hoist::fuzz
