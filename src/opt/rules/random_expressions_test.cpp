// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random straight-line functions, plain against simplified, in the interpreter. Constants and
// operands are chosen so that rules meet: few values, amounts near the width, masks, corner
// constants.
#include <random>

#include "opt/pipeline.hpp"
#include "opt/rules/expression_test_support.hpp"

namespace hoist::opt::testing {
namespace {

constexpr Type kIntTypes[] = {ir::I8, ir::I16, ir::I32, ir::I64};
constexpr Op kBinary[] = {Op::Iadd, Op::Isub, Op::Imul, Op::Band, Op::Bor,  Op::Bxor,   Op::Ishl,
                          Op::Ushr, Op::Sshr, Op::Rotl, Op::Rotr, Op::Udiv, Op::Sdiv,   Op::Urem,
                          Op::Srem, Op::Smin, Op::Smax, Op::Umin, Op::Umax, Op::Umulhi, Op::Smulhi};
constexpr Op kUnary[] = {Op::Ineg,   Op::Iabs, Op::Bnot,  Op::Clz,   Op::Ctz,
                         Op::Popcnt, Op::Cls,  Op::Bswap, Op::Bitrev};
constexpr Op kFloatBinary[] = {Op::Fadd, Op::Fsub, Op::Fmul,     Op::Fdiv,
                               Op::Fmin, Op::Fmax, Op::Fcopysign};
constexpr Op kFloatUnary[] = {Op::Fneg,  Op::Fabs,  Op::Sqrt,   Op::Ceil,
                              Op::Floor, Op::Trunc, Op::Nearest};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  /// The same function for the same seed, whatever the simplifier.
  void generate(ir::Function& func, ir::SimplifyFn simplify) {
    func.clear();
    for (const Type type : kParams) func.signature.params.push_back({type});
    ir::FunctionBuilder builder(func);
    builder_ = &builder;
    builder.set_simplifier(simplify);
    const ir::Block entry = builder.make_block();
    builder.append_params_for_signature(entry);
    builder.switch_to(entry);
    values_.clear();
    for (const Value param : func.block_params(entry)) add(param);
    const unsigned count = 5 + pick(30);
    for (unsigned i = 0; i < count; ++i) step();
    std::vector<Value> results;
    for (std::size_t i = 0; i < 6; ++i) results.push_back(values_[values_.size() - 1 - i]);
    for (const Value result : results) func.signature.returns.push_back({func.type(result)});
    builder.ret(results);
    builder.seal_all();
  }

  std::vector<ir::DataValue> arguments() {
    std::vector<ir::DataValue> out;
    for (const Type type : kParams) out.push_back({type, bits(type), 0});
    return out;
  }

 private:
  static constexpr Type kParams[] = {ir::I32, ir::I32, ir::I64, ir::I64, ir::I8, ir::F32, ir::F64};

  unsigned pick(std::size_t below) { return static_cast<unsigned>(random_() % below); }
  template <typename T, std::size_t N>
  T any(const T (&items)[N]) {
    return items[pick(N)];
  }
  Type type(Value v) const { return builder_->func().type(v); }
  void add(Value v) { values_.push_back(v); }

  std::uint64_t bits(Type of) {
    if (of == ir::F32) {
      constexpr std::uint32_t kFloats[] = {0,           0x8000'0000, 0x3f80'0000,
                                           0xc120'0000, 0x7f80'0000, 0x4f00'0000,
                                           0x5f00'0000, 0x3f00'0000, 1};
      return any(kFloats);
    }
    if (of == ir::F64) {
      constexpr std::uint64_t kDoubles[] = {0,
                                            0x8000'0000'0000'0000,
                                            0x3ff0'0000'0000'0000,
                                            0xc024'0000'0000'0000,
                                            0x7ff0'0000'0000'0000,
                                            0x41e0'0000'0000'0000,
                                            0x43e0'0000'0000'0000,
                                            0x3fe0'0000'0000'0000};
      return any(kDoubles);
    }
    const unsigned width = of.bits();
    switch (pick(8)) {
      case 0: return 0;
      case 1: return 1;
      case 2: return mask_of(width);
      case 3: return sign_bit(width);
      case 4: return sign_bit(width) - 1;
      case 5: return base::zero_extend(width - 1 + pick(3), width);
      case 6: return base::zero_extend((std::uint64_t{1} << pick(width)) - pick(2), width);
      default: return base::zero_extend(std::uint64_t{random_()} << 32 | random_(), width);
    }
  }
  Value constant(Type of) {
    const std::uint64_t value = bits(of);
    if (of == ir::F32) return builder_->f32const(static_cast<std::uint32_t>(value));
    if (of == ir::F64) return builder_->f64const(value);
    return builder_->iconst(of, value);
  }
  /// A value of the type, a recent one if there is any; a constant now and then.
  Value value(Type of) {
    if (pick(4) == 0) return constant(of);
    for (unsigned tries = 0; tries < 8; ++tries) {
      const std::size_t back = pick(std::min<std::size_t>(values_.size(), 9));
      const Value v = values_[values_.size() - 1 - back];
      if (type(v) == of) return v;
    }
    for (const Value v : values_) {
      if (type(v) == of) return v;
    }
    return constant(of);
  }

  void step() {
    const Type of = any(kIntTypes);
    const Type to = any(kIntTypes);
    const Type real = pick(2) == 0 ? ir::F32 : ir::F64;
    switch (pick(14)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        Op op = any(kBinary);
        // Traps end a run: fewer divisions, more to compare.
        if (ir::has_effect(op, ir::effect::Trap) && pick(4) != 0) op = Op::Iadd;
        const bool shift =
            op == Op::Ishl || op == Op::Ushr || op == Op::Sshr || op == Op::Rotl || op == Op::Rotr;
        const Value x = value(of);
        return add(builder_->binary(op, x, value(shift ? to : of)));
      }
      case 4: return add(builder_->unary(unary(of), of, value(of)));
      case 5:
      case 6: {
        const Value x = value(of);
        return add(builder_->icmp(static_cast<IntCC>(pick(10)), x, value(of)));
      }
      case 7:
      case 8: {
        if (of.bits() < to.bits()) {
          return add(builder_->unary(pick(2) == 0 ? Op::Uextend : Op::Sextend, to, value(of)));
        }
        if (of.bits() > to.bits()) return add(builder_->unary(Op::Ireduce, to, value(of)));
        return;
      }
      case 9: {
        const Value c = value(pick(2) == 0 ? ir::I8 : of);
        const Value x = value(to);
        return add(builder_->ternary(Op::Select, c, x, value(to)));
      }
      case 10: {
        const Value x = value(real);
        return add(builder_->binary(any(kFloatBinary), x, value(real)));
      }
      case 11: return add(builder_->unary(any(kFloatUnary), real, value(real)));
      case 12: {
        const Value x = value(real);
        return add(builder_->fcmp(static_cast<FloatCC>(pick(14)), x, value(real)));
      }
      default: return convert(of, real);
    }
  }
  Op unary(Type of) {
    const Op op = any(kUnary);
    return op == Op::Bswap && of == ir::I8 ? Op::Bnot : op;
  }
  void convert(Type of, Type real) {
    switch (pick(7)) {
      case 0: return add(builder_->unary(Op::FcvtFromSint, real, value(of)));
      case 1: return add(builder_->unary(Op::FcvtFromUint, real, value(of)));
      case 2: return add(builder_->unary(Op::FcvtToSintSat, of, value(real)));
      case 3: return add(builder_->unary(Op::FcvtToUintSat, of, value(real)));
      case 4:
        return add(real == ir::F32 ? builder_->unary(Op::Fdemote, ir::F32, value(ir::F64))
                                   : builder_->unary(Op::Fpromote, ir::F64, value(ir::F32)));
      case 5:
        return add(real == ir::F32 ? builder_->bitcast(ir::F32, value(ir::I32))
                                   : builder_->bitcast(ir::F64, value(ir::I64)));
      default:
        if (pick(3) != 0) return;
        return add(
            builder_->unary(pick(2) == 0 ? Op::FcvtToSint : Op::FcvtToUint, of, value(real)));
    }
  }

  std::mt19937 random_;
  ir::FunctionBuilder* builder_ = nullptr;
  std::vector<Value> values_;
};

bool is_nan(const ir::DataValue& v) {
  if (v.type == ir::F32) return (v.lo & 0x7fff'ffff) > 0x7f80'0000;
  return v.type == ir::F64 && (v.lo & 0x7fff'ffff'ffff'ffff) > 0x7ff0'0000'0000'0000;
}

bool same(const ir::Interpreter::Outcome& x, const ir::Interpreter::Outcome& y) {
  if (x.kind != y.kind || x.trap != y.trap || x.values.size() != y.values.size()) return false;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    if (!(x.values[i] == y.values[i]) && !(is_nan(x.values[i]) && is_nan(y.values[i])))
      return false;
  }
  return true;
}

TEST(Rules, RandomFunctionsKeepTheirMeaning) {
  std::size_t fewer = 0;
  std::size_t returned = 0;
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    ir::Function plain;
    ir::Function built;
    ir::Function walked;
    Generator(seed).generate(plain, nullptr);
    Generator(seed).generate(built, simplify_while_building);
    Generator(seed).generate(walked, nullptr);
    OptContext context;
    optimise(walked, context);
    optimise(built, context);
    ASSERT_TRUE(ir::verify(built).has_value()) << ir::to_string(built);
    ASSERT_TRUE(ir::verify(walked).has_value()) << ir::to_string(walked);
    fewer += context.changes(Pass::Dead) + context.changes(Pass::Simplify);
    Generator arguments(seed * 7919);
    ir::Interpreter interpreter;
    for (int run = 0; run < 8; ++run) {
      const std::vector<ir::DataValue> args = arguments.arguments();
      const auto x = interpreter.run(plain, args);
      const auto y = interpreter.run(built, args);
      const auto z = interpreter.run(walked, args);
      ASSERT_TRUE(x.has_value()) << x.error().message();
      ASSERT_TRUE(y.has_value()) << y.error().message();
      ASSERT_TRUE(z.has_value()) << z.error().message();
      returned += x->kind == ir::Interpreter::Outcome::Kind::Returned ? 1U : 0U;
      ASSERT_TRUE(same(*x, *y)) << "seed " << seed << '\n'
                                << ir::to_string(plain) << ir::to_string(built);
      ASSERT_TRUE(same(*x, *z)) << "seed " << seed << '\n'
                                << ir::to_string(plain) << ir::to_string(walked);
    }
  }
  EXPECT_GT(fewer, 10'000u);
  EXPECT_GT(returned, 6'000u);  // of 24,000; the others trap
}

}  // namespace
}  // namespace hoist::opt::testing
