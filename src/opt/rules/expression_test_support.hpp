// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For tests of the rules: expressions as text. `iadd(v0, 3)`, `uextend.i64(icmp_eq(v0, 0))`,
/// `select(v1, v0, 7)`, `0x1.8p1f`; v0, v1, v2 are the function's parameters. A constant has the
/// type of the operands around it.

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/printer.hpp"
#include "ir/builder.hpp"
#include "ir/interp/interpreter.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/rules/rules.hpp"

namespace hoist::opt::testing {

inline Type type_named(std::string_view name) {
  if (name == "i8") return ir::I8;
  if (name == "i16") return ir::I16;
  if (name == "i32") return ir::I32;
  if (name == "i64") return ir::I64;
  if (name == "f32") return ir::F32;
  if (name == "f64") return ir::F64;
  if (name == "i32x4") return ir::I32x4;
  if (name == "f32x4") return ir::F32x4;
  ADD_FAILURE() << "no type " << name;
  return ir::I32;
}

inline Op op_named(std::string_view name) {
  for (unsigned i = 0; i < ir::kOpCount; ++i) {
    if (name == ir::info(static_cast<Op>(i)).text) return static_cast<Op>(i);
  }
  ADD_FAILURE() << "no operation " << name;
  return Op::Nop;
}

/// Builds the expression in `builder` and returns its value.
class ExpressionParser {
 public:
  ExpressionParser(ir::FunctionBuilder& builder, std::string_view text)
      : builder_(builder), text_(text) {}
  Value parse(Type wanted) {
    skip();
    const std::string word = take_word();
    if (word.size() == 2 && word[0] == 'v') {
      return builder_.func().block_params(
          builder_.func().entry_block())[static_cast<std::size_t>(word[1] - '0')];
    }
    if (peek() != '(') return constant(word, wanted);
    ++at_;
    return operation(word, wanted);
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (peek() == ' ' || peek() == ',') ++at_;
  }
  std::string take_word() {
    const std::size_t start = at_;
    while (peek() != '\0' && peek() != '(' && peek() != ')' && peek() != ',' && peek() != ' ')
      ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  Value constant(const std::string& word, Type type) {
    if (type == ir::F32) {
      return builder_.f32const(std::bit_cast<std::uint32_t>(std::strtof(word.c_str(), nullptr)));
    }
    if (type == ir::F64) {
      return builder_.f64const(std::bit_cast<std::uint64_t>(std::strtod(word.c_str(), nullptr)));
    }
    const std::uint64_t bits =
        word[0] == '-' ? static_cast<std::uint64_t>(std::strtoll(word.c_str(), nullptr, 0))
                       : std::strtoull(word.c_str(), nullptr, 0);
    return builder_.iconst(type, bits);
  }
  bool next_is_number() {
    skip();
    return peek() == '-' || (peek() >= '0' && peek() <= '9');
  }
  Value operation(const std::string& word, Type wanted) {
    const std::size_t dot = word.find('.');
    std::string name = word.substr(0, dot);
    const Type suffix = dot == std::string::npos ? Type() : type_named(word.substr(dot + 1));
    std::string cc;
    if (name.starts_with("icmp_") || name.starts_with("fcmp_")) {
      cc = name.substr(5);
      name.resize(4);
    }
    // Constants are made last: the other operands say their type.
    Type operand = suffix.is_valid() || !cc.empty() ? Type() : wanted;
    std::vector<Value> args;
    std::vector<std::string> numbers;
    bool known = false;
    for (skip(); peek() != ')'; skip()) {
      if (next_is_number()) {
        numbers.push_back(take_word());
        args.push_back(Value());
        continue;
      }
      const bool is_condition = name == "select" && args.empty();
      args.push_back(parse(is_condition ? ir::I8 : operand));
      numbers.push_back("");
      if (!is_condition && !known) operand = builder_.func().type(args.back());
      known |= !is_condition;
    }
    ++at_;  // ')'
    if (!operand.is_valid()) operand = builder_.func().signature.params[0].type;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (args[i].is_some()) continue;
      args[i] = constant(numbers[i], name == "select" && i == 0 ? ir::I8 : operand);
    }
    return make(name, cc, suffix, args);
  }

  Value make(const std::string& name, const std::string& cc, Type suffix,
             const std::vector<Value>& args) {
    if (name == "icmp") {
      for (unsigned c = 0; c <= static_cast<unsigned>(IntCC::Ule); ++c) {
        if (ir::text(static_cast<IntCC>(c)) == cc) {
          return builder_.icmp(static_cast<IntCC>(c), args[0], args[1]);
        }
      }
    }
    if (name == "fcmp") {
      for (unsigned c = 0; c <= static_cast<unsigned>(FloatCC::Uge); ++c) {
        if (ir::text(static_cast<FloatCC>(c)) == cc) {
          return builder_.fcmp(static_cast<FloatCC>(c), args[0], args[1]);
        }
      }
    }
    const Op op = op_named(name);
    if (op == Op::Bitcast) return builder_.bitcast(suffix, args[0]);
    if (args.size() == 1) {
      return builder_.unary(op, suffix.is_valid() ? suffix : builder_.func().type(args[0]),
                            args[0]);
    }
    if (args.size() == 2) return builder_.binary(op, args[0], args[1]);
    return builder_.ternary(op, args[0], args[1], args[2]);
  }

  ir::FunctionBuilder& builder_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// The same notation, of a value.
inline void print_expression(base::Printer& out, const ir::Function& func, Value v) {
  v = func.resolve(v);
  const ir::Inst inst = func.def_inst(v);
  if (inst.is_none()) {
    out << 'v' << func.value(v).number;
    return;
  }
  const InstData& data = func.data(inst);
  const Type type = func.type(v);
  if (data.op == Op::Iconst) {
    out << base::sign_extend(data.imm64(), type.bits());
    return;
  }
  if (data.op == Op::F32const || data.op == Op::F64const) {
    const double value = data.op == Op::F32const ? static_cast<double>(std::bit_cast<float>(data.b))
                                                 : std::bit_cast<double>(data.imm64());
    out << std::to_string(value);
    return;
  }
  out << ir::info(data.op).text;
  if (data.op == Op::Icmp) out << '_' << ir::text(static_cast<IntCC>(data.aux));
  if (data.op == Op::Fcmp) out << '_' << ir::text(static_cast<FloatCC>(data.aux));
  if (ir::info(data.op).result == ir::ResultRule::Suffix) out << '.' << type;
  out << '(';
  bool first = true;
  func.for_each_arg(inst, [&](Value arg) {
    if (!first) out << ", ";
    first = false;
    print_expression(out, func, arg);
  });
  out << ')';
}

/// A function of three parameters that returns one expression.
inline void build(ir::Function& func, ir::SimplifyFn simplify, std::string_view text,
                  const std::vector<Type>& params, Type result) {
  func.clear();
  for (const Type param : params) func.signature.params.push_back({param});
  func.signature.returns.push_back({result});
  ir::FunctionBuilder builder(func);
  builder.set_simplifier(simplify);
  const ir::Block entry = builder.make_block();
  builder.append_params_for_signature(entry);
  builder.switch_to(entry);
  const Value value = ExpressionParser(builder, text).parse(result);
  EXPECT_EQ(func.type(value), result) << text;
  builder.ret({&value, 1});
  builder.seal_all();
}

inline std::string returned_expression(const ir::Function& func) {
  base::Printer out;
  const ir::Inst ret = func.last_inst(func.last_block());
  if (func.op(ret) != Op::Return) return ir::to_string(func, ret);
  print_expression(out, func, func.arg_list(ret)[0]);
  return out.take();
}

}  // namespace hoist::opt::testing
