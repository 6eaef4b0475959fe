// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// CLIF text: literals, round trips, errors with their place, robustness.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "ir/text/literals.hpp"
#include "ir/text/printer.hpp"
#include "ir/text/reader.hpp"
#include "ir/verify/verifier.hpp"

namespace hoist::ir {
namespace {

using namespace text_detail;  // NOLINT: the unit under test

std::string float_text(std::uint64_t bits, FloatFormat format) {
  base::Printer out;
  print_float(out, bits, format);
  return out.take();
}

TEST(Literals, Floats) {
  const std::pair<std::uint64_t, const char*> f32[] = {{0x00000000, "0.0"},
                                                       {0x80000000, "-0.0"},
                                                       {0x3f800000, "0x1.000000p0"},
                                                       {0xbfc00000, "-0x1.800000p0"},
                                                       {0x00000001, "0x0.000002p-126"},
                                                       {0x7f7fffff, "0x1.fffffep127"},
                                                       {0x7f800000, "+Inf"},
                                                       {0xff800000, "-Inf"},
                                                       {0x7fc00000, "+NaN"},
                                                       {0xffc00001, "-NaN:0x1"},
                                                       {0x7f800001, "+sNaN:0x1"}};
  for (const auto& [bits, text] : f32) {
    EXPECT_EQ(float_text(bits, kF32), text);
    EXPECT_EQ(parse_float(text, kF32), bits) << text;
  }
  EXPECT_EQ(float_text(0x4010000000000000, kF64), "0x1.0000000000000p2");
  EXPECT_EQ(parse_float("0x4.0p0", kF64), 0x4010000000000000u);
  EXPECT_EQ(parse_float("0x34.0p0", kF32), 0x42500000u);
  EXPECT_EQ(parse_float("0xf.f", kF32), 0x417f0000u);
  EXPECT_EQ(parse_float("0x1.0p-149", kF32), 1u);
  EXPECT_EQ(parse_float("0x0.00000000000000000000000000000000000008p0", kF32), 0x00000001u);
  for (const char* bad :
       {"", "1.5", "0x", "0x1.0000001p0", "0x1p128", "0x1p-150", "0x1.p", "NaN:0x400000",
        "sNaN:0x0", "0x1..0", "0x1p99999999999999999999", "-", "+"}) {
    EXPECT_FALSE(parse_float(bad, kF32)) << bad;
  }
}

TEST(Literals, RandomFloatsReadBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t bits = random();
    ASSERT_EQ(parse_float(float_text(bits, kF64), kF64), bits);
    const std::uint64_t narrow = bits & 0xffff'ffff;
    ASSERT_EQ(parse_float(float_text(narrow, kF32), kF32), narrow);
    ASSERT_EQ(parse_float(float_text(bits & 0xffff, kF16), kF16), bits & 0xffff);
  }
}

TEST(Literals, Integers) {
  const auto text = [](std::int64_t value) {
    base::Printer out;
    print_imm64(out, value);
    return out.take();
  };
  EXPECT_EQ(text(9999), "9999");
  EXPECT_EQ(text(10000), "0x2710");
  EXPECT_EQ(text(-10001), "-10001");
  EXPECT_EQ(text(65536), "0x0001_0000");
  EXPECT_EQ(text(INT64_MAX), "0x7fff_ffff_ffff_ffff");
  EXPECT_EQ(parse_int("0x7fff_ffff_ffff_ffff")->in_bits(64), 0x7fffffffffffffffu);
  EXPECT_EQ(parse_int("-128")->in_bits(8), 0x80u);
  EXPECT_EQ(parse_int("255")->in_bits(8), 0xffu);
  EXPECT_FALSE(parse_int("256")->in_bits(8));
  EXPECT_FALSE(parse_int("-129")->in_bits(8));
  EXPECT_FALSE(parse_int("18446744073709551616"));
  EXPECT_FALSE(parse_int("0x"));
  EXPECT_FALSE(parse_int("12a"));
}

constexpr std::string_view kSample =
    R"(function u1:2(i64 vmctx, i32 sext, f32) -> i32 uext, f64 system_v {
    ss0 = explicit_slot 16, align = 8
    ss3 = explicit_slot 4, key = 99
    region0 = 7 "heap"
    gv0 = vmctx
    gv1 = load.i64 notrap aligned readonly region0 gv0+16
    gv2 = iadd_imm.i64 gv1, -32
    sig0 = (i64, i32) -> i32 fast
    sig1 = () tail
    fn0 = colocated u1:3 sig0
    fn2 = %CeilF32 sig1
    stack_limit = gv1

                                block0(v0: i64, v1: i32, v2: f32):
                                    v90 -> v1
@0010                               v3 = iconst.i32 -5
@0011                               v4, v5 = sadd_overflow v1, v3  ; v3 = -5
                                    v6 = load.i64 notrap aligned readonly can_move region0 v0+16
@1_0000                             store user3 little v4, v0-4
                                    brif v5, block1(v4, v2), block2

                                block1(v7: i32, v8: f32) cold:
                                    v9 = fcmp uge v8, v2
                                    trapnz v9, int_ovf
                                    v10 = f64const 0x1.8000000000000p1
                                    return v7, v10  ; v10 = 0x1.8000000000000p1

                                block2:
                                    v11 = func_addr.i64 fn0
                                    v12 = call_indirect sig0, v11(v6, v90)
                                    br_table v12, block2, [block2, block1(v12, v2)]
}
)";

TEST(Text, SampleReadsBackAsItself) {
  std::string sample(kSample);
  sample.replace(sample.find("@1_0000"), 7, "@10000 ");
  const Result<Function> func = parse_function(sample);
  ASSERT_TRUE(func) << func.error().message() << " at " << func.error().line() << ":"
                    << func.error().column();
  // Aliases print as what they stand for only once resolved; here they stay.
  EXPECT_EQ(to_string(*func), sample);
}

TEST(Text, Errors) {
  struct Case {
    const char* text;
    std::uint32_t line, column;
    const char* message;
  };
  const Case cases[] = {
      {"function %f() {\nblock0:\n  v0 = iadd v1, v1\n}", 3, 8, "the type of the operand"},
      {"function %f() {\nblock0:\n  v0 = iadd.i32 v1, v1\n}", 3, 17, "undefined value v1"},
      {"function %f() {\nblock0:\n  v0 = iconst.i8 256\n}", 3, 18, "expected an integer of 8 bits"},
      {"function %f() {\nblock0:\n  v0 = iconst 1\n}", 3, 8, "needs a type suffix"},
      {"function %f() {\nblock0:\n  jump.i32 block0\n}", 3, 3, "takes no type suffix"},
      {"function %f() {\nblock0:\n  foo v1\n}", 3, 3, "expected an opcode, found \"foo\""},
      {"function %f() {\nblock0:\nblock0:\n}", 3, 1, "duplicate block"},
      {"function %f(i32) {\nblock0(v0: i32):\n  v0 = iconst.i32 1\n}", 3, 3,
       "duplicate definition"},
      {"function %f() {\nblock100000:\n}", 2, 1, "below 100000"},
      {"function %f() {\nblock01:\n}", 2, 1, "expected a declaration or a block"},
      {"function %f() {\nblock0:\n  call fn0()\n}", 3, 8, "undeclared function fn0"},
      {"function %f() {\n  ss0 = explicit_slot 4, align = 3\n}", 2, 34, "power of two"},
      {"function %f() {\n  region1 = 1 \"x\"\n}", 2, 3, "declared in order"},
      {"function %f() {\nblock0:\n  v1 -> v2\n}", 3, 9, "defined before"},
      {"function %f() {\nblock0:\n  v1, v2 = iconst.i32 1\n}", 3, 12, "has 1 results, found 2"},
      {"function %f() {\nblock0:\n  store little big v0, v1\n}", 3, 16, "not both"},
      {"function %f", 1, 12, "expected \"(\""},
      {"function %f() {\nblock0:", 2, 8, "expected"},
      {"tests run", 1, 1, "expected a test"},
      {"test", 1, 1, "names its command"},
  };
  for (const Case& c : cases) {
    const Result<ParsedFile> file = parse_file(c.text);
    ASSERT_FALSE(file) << c.text;
    EXPECT_EQ(file.error().kind(), ErrorKind::Malformed) << c.text;
    EXPECT_NE(file.error().message().find(c.message), std::string::npos) << c.text << "\n"
                                                                         << file.error().message();
    EXPECT_EQ(file.error().line(), c.line) << c.text;
    EXPECT_EQ(file.error().column(), c.column) << c.text;
  }
}

/// Whatever the text, reading ends, and what reads also verifies or not, prints and reads again.
void survive(std::string_view text) {
  const Result<ParsedFile> file = parse_file(text);
  if (!file) return;
  Verifier verifier;
  for (const ParsedFunction& function : file->functions) {
    verifier.run(function.func);
    const std::string printed = to_string(function.func);
    const Result<Function> again = parse_function(printed);
    ASSERT_TRUE(again) << again.error().message() << "\n" << printed;
    ASSERT_EQ(to_string(*again), printed);
  }
}

TEST(Text, PrefixesAndMutations) {
  for (std::size_t length = 0; length <= kSample.size(); ++length)
    survive(kSample.substr(0, length));
  std::mt19937 random(4);
  constexpr std::string_view kBytes = "v0123456789,.()[]{}:=->+@;% \n\"abfinsx_";
  for (int round = 0; round < 3000; ++round) {
    std::string text(kSample);
    for (auto flips = 1 + random() % 3; flips-- > 0;) {
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    survive(text);
    if (HasFatalFailure()) return;
  }
}

// ---- Random functions: every operation, not necessarily valid, printed, read and printed again.

class RandomFunction {
 public:
  explicit RandomFunction(std::uint64_t seed) : random_(seed) {}

  Function make() {
    sig_ = func_.signatures.push({{{I64}, {I32}}, {{I32}, {F64}}, CallConv::Tail});
    callee_ = func_.ext_funcs.push({ExternalName::testcase("callee"), sig_, true, false});
    slot_ = func_.stack_slots.push({16, 3, true, 7});
    global_ = func_.global_values.push({});
    for (int i = 0; i < 4; ++i) func_.append_block(func_.make_block());
    for (Block block = func_.first_block(); block.is_some(); block = func_.next_block(block)) {
      values_.clear();
      for (const Type type :
           {I8, I32, I64, I128, F16, F32, F64, F128, I8x16, I16x8, F32x4, F64x2}) {
        values_.push_back(func_.append_block_param(block, type));
      }
      for (int i = 0; i < 40; ++i) add(block);
      end(block);
    }
    return std::move(func_);
  }

 private:
  std::uint32_t below(std::size_t count) { return static_cast<std::uint32_t>(random_() % count); }
  Value any() { return values_[below(values_.size())]; }
  /// Types are checked by the reader only where it needs them.
  void add(Block block) {
    const Op op = static_cast<Op>(below(kOpCount));
    if (is_terminator(op) || op == Op::GlobalValue || op == Op::DynamicStackAddr) return;
    InstData data{op, 0, any().index(), any().index(), any().index()};
    Type control = info(op).control == Control::Arg0   ? func_.type(Value(data.a))
                   : info(op).control == Control::Arg1 ? func_.type(Value(data.b))
                                                       : func_.type(any());
    MemFlags flags;
    flags.aligned = below(2) == 0;
    flags.trap = static_cast<TrapCode>(below(256));
    flags.endian = static_cast<std::uint8_t>(below(3));
    std::array<std::uint8_t, 16> bytes;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    switch (format(op)) {
      case Format::Nullary: data.a = data.b = data.c = 0; break;
      case Format::UnaryImm:
        control = Type::int_of_bits(8u << below(4));
        data = InstData::imm(op, random_() & (~std::uint64_t{0} >> (64 - control.bits())));
        break;
      case Format::UnaryF16: data = InstData::imm(op, random_() & 0xffff); break;
      case Format::UnaryF32: data = InstData::imm(op, random_() & 0xffff'ffff); break;
      case Format::UnaryF64: data = InstData::imm(op, random_()); break;
      case Format::UnaryF128: data.a = func_.intern_immediate(bytes).index(); break;
      case Format::UnaryConst:
        control = below(2) == 0 ? I32x4 : F64x2;
        data.a = func_.intern_constant(bytes).index();
        break;
      case Format::UnaryGlobalValue: data.a = global_.index(); break;
      case Format::BinaryImm8:
      case Format::TernaryImm8: data.aux = static_cast<std::uint16_t>(below(256)); break;
      case Format::Shuffle: data.c = func_.intern_immediate(bytes).index(); break;
      case Format::IntCompare: data.aux = static_cast<std::uint16_t>(below(10)); break;
      case Format::FloatCompare: data.aux = static_cast<std::uint16_t>(below(14)); break;
      case Format::IntAddTrap:
      case Format::CondTrap: data.aux = static_cast<std::uint16_t>(1 + below(255)); break;
      case Format::Call:
      case Format::CallIndirect: {
        const Value args[] = {any(), any(), any()};
        data.a = format(op) == Format::Call ? callee_.index() : sig_.index();
        data.b = func_.make_value_list(args).index;
        break;
      }
      case Format::FuncAddr: data.a = callee_.index(); break;
      case Format::StackAddr: data.a = slot_.index(); break;
      case Format::ExceptionHandlerAddress: data.a = block.index(); break;
      case Format::Load:
      case Format::LoadNoOffset:
      case Format::Store:
      case Format::StoreNoOffset:
      case Format::AtomicCas:
        data.aux = static_cast<std::uint16_t>(func_.intern(flags).index());
        break;
      case Format::AtomicRmw:
        data.aux = static_cast<std::uint16_t>(func_.intern(flags).index());
        data.c = below(11);
        break;
      case Format::Unary:
      case Format::Binary:
      case Format::Ternary:
      case Format::MultiAry:
      case Format::Jump:
      case Format::Brif:
      case Format::BrTable:
      case Format::Trap:
      case Format::TryCall:
      case Format::TryCallIndirect:
      case Format::DynamicStackAddr: break;
    }
    const ResultRule rule = info(op).result;
    for (unsigned i = 0; i < result_count(rule); ++i) {
      if (!result_type(op, control, i).is_valid()) return;
    }
    const Inst inst = func_.make_inst(data, {below(4) == 0 ? below(1000) : 0xffff'ffff});
    func_.append_inst(inst, block);
    if (rule == ResultRule::Sig) {
      values_.push_back(func_.append_result(inst, I32));
      values_.push_back(func_.append_result(inst, F64));
    }
    for (unsigned i = 0; i < result_count(rule); ++i) {
      values_.push_back(func_.append_result(inst, result_type(op, control, i)));
    }
    const DebugTag tags[] = {{DebugTag::Kind::StackSlot, 0}, {DebugTag::Kind::User, below(9)}};
    const StackMapEntry entry[] = {{I64, slot_, below(9)}};
    if (may_have_debug_tags(op) && below(2) == 0) func_.set_debug_tags(inst, tags);
    if (is_call(op) && below(2) == 0) func_.set_stack_map(inst, entry);
  }

  void end(Block block) {
    const Block target(below(4));
    const Value args[] = {any(), any()};
    InstData data{.op = Op::Jump};
    if (below(2) == 0) {
      const Value normal[] = {func_.make_try_value(ValueKind::TryReturn, 1, F64), any(),
                              func_.make_try_value(ValueKind::TryReturn, 1, F64)};
      const Value caught[] = {func_.make_try_value(ValueKind::TryException, below(2), I64)};
      const ExceptionItem items[] = {
          {ExceptionItem::Kind::Tag, below(99), func_.make_block_call(target, caught), {}},
          {ExceptionItem::Kind::Context, 0, {}, any()},
          {ExceptionItem::Kind::Default, 0, func_.make_block_call(block, {}), {}}};
      const BlockCall normal_call = func_.make_block_call(target, normal);
      data = {.op = Op::TryCall, .a = callee_.index(), .b = func_.make_value_list(args).index};
      data.c = func_.make_exception_table(sig_, normal_call, items).index();
    } else {
      data.a = func_.make_block_call(target, args).index();
    }
    const Inst inst = func_.make_inst(data);
    func_.append_inst(inst, block);
    func_.attach_try_values(inst);
  }

  Function func_;
  std::mt19937_64 random_;
  std::vector<Value> values_;
  SigRef sig_;
  FuncRef callee_;
  StackSlot slot_;
  GlobalValue global_;
};

TEST(Text, RandomFunctionsReadBack) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Function func = RandomFunction(seed).make();
    const std::string first = to_string(func);
    const Result<Function> again = parse_function(first);
    ASSERT_TRUE(again) << again.error().line() << ":" << again.error().column() << ": "
                       << again.error().message() << "\n"
                       << first;
    ASSERT_EQ(to_string(*again), first);
  }
}

TEST(Literals, WideFloats) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 10'000; ++i) {
    const Bits128 bits = Bits128{random()} << 64 | random();
    base::Printer out;
    print_float(out, bits, kF128);
    const std::optional<Bits128> again = parse_wide_float(out.view(), kF128);
    ASSERT_TRUE(again && *again == bits) << out.view();
  }
}

TEST(Text, HostileNumbers) {
  for (const char* text :
       {"function %a() {\nblock99999999:\n return\n}",
        "function %a() {\nblock0:\n v4194304 = iconst.i8 1\n}",
        "function %a() {\n ss70000 = explicit_slot 1\n}",
        "function %a() {\n ss0 = explicit_slot 4294967296\n}",
        "function %a() {\nblock0:\n jump block0(ret70000)\n}",
        "function %a() {\n const0 = i8x512 [1]\n}", "function %a() {\n const0 = 0x_\n}",
        "function %a() {\nblock0(v0: i8x16):\n v1 = extractlane v0, 256\n}",
        "function %a() {\nblock0(v0: i8):\n v1 = isplit v0\n}"}) {
    const Result<ParsedFile> file = parse_file(text);
    ASSERT_FALSE(file) << text;
    EXPECT_NE(file.error().line(), 0u) << text;
    EXPECT_EQ(file.error().kind(), ErrorKind::Malformed);
  }
}

TEST(Text, SuiteFilesReadBack) {
  // Beside the source tree: <root>/src/ir/text/text_test.cpp
  namespace fs = std::filesystem;
  const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  const char* given = std::getenv("HOIST_SUITES");
  const fs::path suites = given != nullptr ? fs::path(given) : root.parent_path() / "shared/suites";
  const fs::path suite = suites / "clif";
  if (!fs::is_directory(suite)) GTEST_SKIP() << "no files under " << suite << ": set HOIST_SUITES";
  std::size_t functions = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(suite)) {
    if (entry.path().extension() != ".clif") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    const Result<ParsedFile> file = parse_file(text.str());
    ASSERT_TRUE(file) << entry.path() << ": " << file.error().line() << ": "
                      << file.error().message();
    functions += file->functions.size();
    survive(text.str());
    ASSERT_FALSE(HasFatalFailure()) << entry.path();
  }
  EXPECT_GT(functions, 1000u);
}

}  // namespace
}  // namespace hoist::ir
