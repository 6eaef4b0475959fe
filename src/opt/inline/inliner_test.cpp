// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs with calls, tail calls, try_calls and exceptions before and after inlining, in
// the interpreter; chains of source locations; limits.
#include "opt/inline/inliner.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ir/interp/interpreter.hpp"
#include "ir/text/printer.hpp"
#include "ir/text/reader.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"

namespace hoist::opt {
namespace {

/// Bodies by name; how decisions are made is up to `choose`.
class ByName final : public InlinePolicy {
 public:
  void add(const ir::Function& func) { bodies_[func.name.text] = &func; }
  InlineDecision decide(const InlineSite& site) override {
    ++asked;
    const auto found = bodies_.find(site.caller.ext_funcs[site.callee].name.text);
    if (found == bodies_.end() || (random != nullptr && (*random)() % 4 == 0)) return {};
    return {found->second, random == nullptr || (*random)() % 2 == 0};
  }
  std::mt19937* random = nullptr;
  unsigned asked = 0;

 private:
  std::map<std::string, const ir::Function*> bodies_;
};

constexpr const char* kThrow = R"(
function %throw(i64, i32, i64, i64) tail {
    sig0 = (i64, i64, i64, i32, i64, i64) system_v
    fn0 = %__cranelift_throw(i64, i64, i64, i32, i64, i64) system_v
block0(v0: i64, v1: i32, v2: i64, v3: i64):
    v4 = get_frame_pointer.i64
    v5 = iconst.i64 0
    v6 = func_addr.i64 fn0
    call_indirect sig0, v6(v0, v4, v5, v1, v2, v3)
    return
}
)";

/// Functions %f0, %f1, … (i64, i32, i32) -> i32, i32, each calling those before it, and %entry. The
/// first parameter is the frame pointer of the entry.
class Program {
 public:
  explicit Program(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string out = kThrow;
    const unsigned count = 2 + pick(4);
    for (unsigned i = 0; i < count; ++i) out += function(i);
    out +=
        "function %entry(i32, i32) -> i32, i32 tail {\n"
        "  sig0 = (i64, i32, i32) -> i32, i32 tail\n  fn0 = %f" +
        std::to_string(count - 1) +
        "(i64, i32, i32) -> i32, i32 tail\n"
        "block0(v0: i32, v1: i32):\n  v2 = get_frame_pointer.i64\n"
        "  try_call fn0(v2, v0, v1), sig0, block1(ret0, ret1), [ default: block1(v0, v0) ]\n"
        "block1(v3: i32, v4: i32):\n  return v3, v4\n}\n";
    return out;
  }

 private:
  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  std::string fresh() { return "v" + std::to_string(++last_value_); }
  std::string any() { return values_[pick(static_cast<unsigned>(values_.size()))]; }
  /// A block after `block`, with two arguments.
  std::string target(unsigned block) {
    const unsigned to = block + 1 + pick(blocks_ - block);
    return "block" + std::to_string(to) + "(" + any() + ", " + any() + ")";
  }

  std::string function(unsigned number) {
    blocks_ = 2 + pick(5);
    last_value_ = 2;
    std::string out = "function %f" + std::to_string(number) +
                      "(i64, i32, i32) -> i32, i32 tail {\n  ss0 = explicit_slot 16\n"
                      "  sig0 = (i64, i32, i32) -> i32, i32 tail\n"
                      "  sig1 = (i64, i32, i64, i64) tail\n"
                      "  fn0 = %throw(i64, i32, i64, i64) tail\n";
    for (unsigned i = 0; i < number; ++i) {
      out += "  fn" + std::to_string(i + 1) + " = %f" + std::to_string(i) +
             "(i64, i32, i32) -> i32, i32 tail\n";
    }
    for (unsigned block = 0; block <= blocks_; ++block) {
      if (block == 0) {
        out += "block0(v0: i64, v1: i32, v2: i32):\n";
        values_ = {"v1", "v2"};
        out += "  v3 = stack_addr.i64 ss0\n  store notrap v1, v3\n";
        last_value_ = 3;
      } else {
        values_ = {fresh(), fresh()};
        out += "block" + std::to_string(block) + "(" + values_[0] + ": i32, " + values_[1] +
               ": i32):\n";
      }
      out += body(number) +
             (block == blocks_ ? "  return " + any() + ", " + any() + "\n" : end(number, block));
    }
    for (unsigned block = 0; block < blocks_; ++block) {
      out += "block" + std::to_string(20 + block) + "(v" + std::to_string(500 + 4 * block) +
             ": i64, v" + std::to_string(501 + 4 * block) + ": i32):\n  v" +
             std::to_string(502 + 4 * block) + " = ireduce.i32 v" +
             std::to_string(500 + 4 * block) + "\n  jump block" + std::to_string(block + 1) + "(v" +
             std::to_string(501 + 4 * block) + ", v" + std::to_string(502 + 4 * block) + ")\n";
    }
    return out + "}\n";
  }

  std::string body(unsigned number) {
    constexpr const char* kOps[] = {"iadd", "isub", "imul", "bxor", "band"};
    std::string out;
    for (unsigned i = pick(4); i > 0; --i) {
      const unsigned kind = pick(8);
      if (kind < 3) {
        const std::string x = any(), y = any(), v = fresh();
        out += "  " + v + " = " + kOps[pick(5)] + " " + x + ", " + y + "\n";
        values_.push_back(v);
      } else if (kind == 3) {
        const std::string v = fresh();
        out += "  " + v + " = iconst.i32 " + std::to_string(pick(9)) + "\n";
        values_.push_back(v);
      } else if (kind == 4) {
        const std::string v = fresh();
        out += "  store notrap " + any() + ", v3+" + std::to_string(4 * pick(3)) + "\n  " + v +
               " = load.i32 notrap v3+4\n";
        values_.push_back(v);
      } else if (kind == 5 && pick(3) == 0) {
        out += "  trapz " + any() + ", user1\n";
      } else if (kind == 6 && pick(4) == 0) {
        const std::string tag = fresh(), wide = fresh();
        out += "  " + tag + " = iconst.i32 " + std::to_string(pick(3)) + "\n  " + wide +
               " = uextend.i64 " + any() + "\n  call fn0(v0, " + tag + ", " + wide + ", v0)\n";
      } else if (number != 0) {
        const std::string x = any(), y = any(), v = fresh(), w = fresh();
        out += "  " + v + ", " + w + " = call fn" + std::to_string(1 + pick(number)) + "(v0, " + x +
               ", " + y + ")\n";
        values_.push_back(v);
        values_.push_back(w);
      }
    }
    return out;
  }

  std::string handlers(unsigned block) {
    std::string out;
    for (unsigned i = pick(4); i > 0; --i) {
      const std::string to = "block" + std::to_string(20 + block) + "(exn" +
                             std::to_string(pick(1)) + ", " + any() + ")";
      const unsigned kind = pick(4);
      out += kind == 0   ? "context v0, "
             : kind == 1 ? "default: " + to + ", "
                         : "tag" + std::to_string(pick(3)) + ": " + to + ", ";
    }
    if (!out.empty()) out.resize(out.size() - 2);
    return "[ " + out + " ]";
  }

  std::string end(unsigned number, unsigned block) {
    const unsigned kind = pick(8);
    const std::string callee = "fn" + std::to_string(1 + pick(std::max(number, 1u)));
    if (kind < 2 && number != 0) {
      const std::string args = "(v0, " + any() + ", " + any() + ")";
      const unsigned to = block + 1 + pick(blocks_ - block);
      constexpr const char* kArgs[] = {"(ret0, ret1)", "(ret1, ret0)", "(ret1, ret1)"};
      return "  try_call " + callee + args + ", sig0, block" + std::to_string(to) + kArgs[pick(3)] +
             ", " + handlers(block) + "\n";
    }
    if (kind == 2 && number != 0 && pick(2) == 0) {
      return "  return_call " + callee + "(v0, " + any() + ", " + any() + ")\n";
    }
    if (kind == 3) return "  return " + any() + ", " + any() + "\n";
    if (kind == 4) return "  jump " + target(block) + "\n";
    if (kind == 5) {
      const std::string x = any(), a = target(block), b = target(block);
      return "  br_table " + x + ", " + target(block) + ", [" + a + ", " + b + "]\n";
    }
    const std::string c = any(), a = target(block);
    return "  brif " + c + ", " + a + ", " + target(block) + "\n";
  }

  std::mt19937 random_;
  unsigned blocks_ = 0, last_value_ = 0;
  std::vector<std::string> values_;
};

TEST(Inliner, RandomProgramsKeepTheirMeaning) {
  Inliner inliner;
  OptContext optimiser;
  unsigned inlined = 0, returned = 0;
  for (std::uint32_t seed = 1; seed <= 80; ++seed) {
    const std::string text = Program(seed).text();
    const auto file = ir::parse_file(text);
    ASSERT_TRUE(file.has_value()) << file.error().line() << file.error().message() << text;
    std::vector<ir::Function> changed;
    changed.reserve(file->functions.size());
    std::mt19937 random(seed);
    ByName policy;
    policy.random = &random;
    for (const ir::ParsedFunction& f : file->functions) {
      const auto valid = ir::verify(f.func);
      ASSERT_TRUE(valid.has_value()) << valid.error().message() << text;
      changed.push_back(f.func);
      const auto report = inliner.run(changed.back(), policy);
      ASSERT_TRUE(report.has_value()) << report.error().message();
      inlined += report->inlined;
      const auto fine = ir::verify(changed.back());
      ASSERT_TRUE(fine.has_value()) << "seed " << seed << ' ' << fine.error().message() << text
                                    << ir::to_string(changed.back());
      // Bodies as they were, or with what was inlined into them.
      policy.add(seed % 2 == 0 ? f.func : changed.back());
    }
    std::vector<ir::Function> optimised = changed;
    for (ir::Function& func : optimised) optimise(func, optimiser);
    ir::Interpreter before, after, last;
    for (std::size_t i = 0; i < changed.size(); ++i) {
      before.add_function(file->functions[i].func);
      after.add_function(changed[i]);
      last.add_function(optimised[i]);
    }
    for (std::uint32_t run = 0; run < 5; ++run) {
      const std::vector<ir::DataValue> args = {{ir::I32, run, 0}, {ir::I32, 3 * run - 2, 0}};
      const std::vector<ir::DataValue> narrow = {{ir::I32, run, 0}, {ir::I32, (7 * run) & 3, 0}};
      const auto& chosen = run % 2 == 0 ? narrow : args;
      if (chosen[1].lo > 0xffff'ffff) continue;
      const auto x = before.run(file->functions.back().func, chosen);
      ASSERT_TRUE(x.has_value()) << x.error().message() << text;
      if (x->kind == ir::Interpreter::Outcome::Kind::Returned) ++returned;
      const auto y = after.run(changed.back(), chosen);
      const auto z = last.run(optimised.back(), chosen);
      for (const auto* other : {&y, &z}) {
        ASSERT_TRUE(other->has_value())
            << "seed " << seed << ' ' << other->error().message() << text;
        ASSERT_TRUE((*other)->kind == x->kind && (*other)->trap == x->trap &&
                    (*other)->values == x->values)
            << "seed " << seed << " run " << run << text << ir::to_string(changed.back());
      }
    }
  }
  EXPECT_GT(inlined, 150u);
  EXPECT_GT(returned, 100u);
}

ir::Function parse(const char* text) {
  auto func = ir::parse_function(text);
  EXPECT_TRUE(func.has_value()) << func.error().message();
  return *std::move(func);
}

std::vector<std::uint32_t> chain(const ir::Function& func, ir::SourceLoc loc) {
  std::vector<std::uint32_t> out;
  for (ir::SourcePosition at = func.position(loc);;
       at = func.position(func.inline_frames[at.frame].call_site)) {
    out.push_back(at.loc.bits);
    if (at.frame.is_none()) return out;
  }
}

TEST(Inliner, LocationsTellTheChainOfCalls) {
  const ir::Function inner = parse(
      "function %inner(i32) fast {\nblock0(v0: i32):\n@0001 trapz v0, user1\n@0002 return\n}");
  const ir::Function middle = parse(
      "function %middle(i32) fast {\n fn0 = %inner(i32) fast\nblock0(v0: i32):\n"
      "@0010 call fn0(v0)\n@0011 call fn0(v0)\n@0012 return\n}");
  const char* text =
      "function %outer(i32) fast {\n fn0 = %middle(i32) fast\nblock0(v0: i32):\n"
      "@0100 call fn0(v0)\n@0101 trapz v0, user2\n@0102 return\n}";
  for (const bool bottom_up : {false, true}) {
    Inliner inliner;
    ir::Function body = middle;
    ByName policy;
    policy.add(inner);
    if (bottom_up) {
      ASSERT_TRUE(inliner.run(body, policy).has_value());
    }
    policy.add(body);
    ir::Function outer = parse(text);
    const auto report = inliner.run(outer, policy);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->inlined, bottom_up ? 1u : 3u);
    std::vector<std::vector<std::uint32_t>> traps;
    for (ir::Block b = outer.first_block(); b.is_some(); b = outer.next_block(b)) {
      for (ir::Inst i = outer.first_inst(b); i.is_some(); i = outer.next_inst(i)) {
        if (outer.op(i) == ir::Op::Trapz) traps.push_back(chain(outer, outer.loc(i)));
      }
    }
    const std::vector<std::vector<std::uint32_t>> expected = {
        {0x1, 0x10, 0x100}, {0x1, 0x11, 0x100}, {0x101}};
    EXPECT_EQ(traps, expected);
  }
}

TEST(Inliner, LimitsBoundRecursion) {
  // The policy unrolls without end; each copy offers two more calls.
  const ir::Function body = parse(
      "function %f(i32) -> i32 fast {\n fn0 = %f(i32) -> i32 fast\nblock0(v0: i32):\n"
      "v1 = call fn0(v0)\nv2 = call fn0(v1)\nreturn v2\n}");
  ByName policy;
  policy.add(body);
  Inliner inliner;
  for (const InlineLimits limits : {InlineLimits{4, 1'000'000}, InlineLimits{1'000, 500}}) {
    ir::Function caller = body;
    const auto report = inliner.run(caller, policy, limits);
    ASSERT_TRUE(report.has_value());
    EXPECT_GT(report->inlined, 20u);
    EXPECT_GT(report->kept_by_limits, 0u);
    EXPECT_LT(caller.inst_count(), 1'000u);
    EXPECT_TRUE(ir::verify(caller).has_value());
  }
}

TEST(Inliner, RefusesTheWrongSignature) {
  const ir::Function body = parse("function %f(i64) fast {\nblock0(v0: i64):\nreturn\n}");
  ByName policy;
  policy.add(body);
  ir::Function caller = parse(
      "function %g(i32) fast {\n fn0 = %f(i32) fast\nblock0(v0: i32):\ncall fn0(v0)\nreturn\n}");
  Inliner inliner;
  EXPECT_FALSE(inliner.run(caller, policy).has_value());
}

TEST(Inliner, ManyCallsInOneBlockCostLinearly) {
  const ir::Function body =
      parse("function %f(i32) -> i32 fast {\nblock0(v0: i32):\nv1 = iadd v0, v0\nreturn v1\n}");
  std::string text =
      "function %g(i32) -> i32 fast {\n fn0 = %f(i32) -> i32 fast\nblock0(v0: i32):\n";
  for (int i = 0; i < 20'000; ++i) {
    text += "v" + std::to_string(i + 1) + " = call fn0(v" + std::to_string(i) + ")\n";
  }
  ir::Function caller = parse((text + "return v20000\n}").c_str());
  ByName policy;
  policy.add(body);
  Inliner inliner;
  const auto report = inliner.run(caller, policy, {16, 1'000'000});
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->inlined, 20'000u);
  EXPECT_EQ(caller.ext_funcs.size(), 1u);
  EXPECT_TRUE(ir::verify(caller).has_value());
}

}  // namespace
}  // namespace hoist::opt
