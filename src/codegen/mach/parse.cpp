// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reader of the generic text of machine IR; see print.hpp. It checks the shape of the text, not
// the guarantees of lowering.

#include <string>
#include <vector>

#include "codegen/mach/print.hpp"

namespace hoist::codegen {

namespace {

constexpr std::uint32_t kMostNumber = 1'000'000;

class Parser {
 public:
  Parser(std::string_view text, MachFunction& func) : text_(text), func_(func) { func.clear(); }
  Result<void> run();

 private:
  bool line();
  bool block_head();
  bool inst();
  bool operands(MachInst& inst);
  bool operand(std::string_view role);
  bool suffixes(MachInst& inst);
  bool successors();
  bool finish();

  void skip_spaces() {
    while (at_ < end_ && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool accept(std::string_view word);
  bool expect(std::string_view word) {
    return accept(word) || fail("expected '" + std::string(word) + "'");
  }
  bool number(std::uint32_t& out);
  bool vreg(VReg& out);
  bool reg(PReg& out);
  bool reg_class(VReg vreg);
  bool at_register() {
    skip_spaces();
    return at_ + 1 < end_ && (text_[at_] == 'r' || text_[at_] == 'f') && text_[at_ + 1] >= '0' &&
           text_[at_ + 1] <= '9';
  }
  bool fail(std::string message) {
    if (message_.empty()) {
      message_ = std::move(message);
      column_ = static_cast<std::uint32_t>(at_ - line_start_ + 1);
    }
    return false;
  }

  std::string_view text_;
  MachFunction& func_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 0;
  std::uint32_t column_ = 0;
  std::string message_;
};

Result<void> Parser::run() {
  while (at_ < text_.size()) {
    ++line_;
    line_start_ = at_;
    end_ = std::min(text_.find('\n', at_), text_.size());
    if (!line()) break;
    at_ = end_ + 1;
  }
  if (message_.empty()) finish();
  if (message_.empty()) return {};
  Error error(ErrorKind::Malformed, message_);
  error.at_line(line_, column_);
  return error;
}

bool Parser::line() {
  skip_spaces();
  if (at_ == end_ || text_[at_] == ';') return true;
  const bool ok = accept("mb") ? block_head() : inst();
  if (!ok) return false;
  skip_spaces();
  return at_ == end_ || text_[at_] == ';' || fail("expected the end of the line");
}

bool Parser::accept(std::string_view word) {
  skip_spaces();
  if (text_.substr(at_, end_ - at_).substr(0, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool Parser::number(std::uint32_t& out) {
  const std::size_t start = at_;
  std::uint32_t value = 0;
  for (; at_ < end_ && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
    value = value * 10 + static_cast<std::uint32_t>(text_[at_] - '0');
    if (value > kMostNumber) return fail("number above 1000000");
  }
  out = value;
  return at_ != start || fail("expected a number");
}

bool Parser::vreg(VReg& out) {
  std::uint32_t index = 0;
  if (!expect("%v") || !number(index)) return false;
  if (func_.vregs.size() <= index) func_.vregs.resize(std::size_t{index} + 1);
  out = VReg(index);
  return true;
}

bool Parser::reg(PReg& out) {
  const bool is_int = accept("r");
  if (!is_int && !expect("f")) return false;
  std::uint32_t index = 0;
  if (!number(index)) return false;
  if (index > 31) return fail("register number above 31");
  out = is_int ? PReg::gpr(index) : PReg::fpr(index);
  return true;
}

bool Parser::reg_class(VReg vreg) {
  if (!expect(":")) return false;
  VRegData& data = func_.vregs[vreg];
  if (accept("i")) {
    data = {RegClass::Int, 8};
  } else if (accept("f")) {
    data = {RegClass::Float, 8};
  } else if (accept("v")) {
    data = {RegClass::Float, 16};
  } else {
    return fail("expected a register class: i, f or v");
  }
  return true;
}

bool Parser::block_head() {
  std::uint32_t index = 0;
  if (!number(index)) return false;
  if (index != func_.blocks.size()) return fail("blocks are numbered in order");
  MachBlockData data;
  data.first_inst = data.end_inst = static_cast<std::uint32_t>(func_.insts.size());
  data.first_param = static_cast<std::uint32_t>(func_.block_params.size());
  if (accept("(")) {
    do {
      VReg param;
      if (!vreg(param) || !reg_class(param)) return false;
      func_.block_params.push_back(param);
      ++data.param_count;
    } while (accept(","));
    if (!expect(")")) return false;
  }
  if (accept("depth ")) {
    std::uint32_t depth = 0;
    if (!number(depth)) return false;
    data.loop_depth = static_cast<std::uint16_t>(depth);
  }
  data.loop_header = accept("loop");
  data.cold = accept("cold");
  if (!expect(":")) return false;
  func_.blocks.push(data);
  return true;
}

bool Parser::inst() {
  if (func_.blocks.empty()) return fail("expected a block");
  MachInst inst;
  std::uint32_t op = 0;
  if (!expect("op") || !number(op)) return false;
  inst.op = static_cast<std::uint16_t>(op);
  inst.first_operand = static_cast<std::uint32_t>(func_.operands.size());
  if (!operands(inst) || !suffixes(inst)) return false;
  skip_spaces();
  if (accept("->")) {
    inst.flags |= kTerminator;
    if (!successors()) return false;
  }
  func_.insts.push_back(inst);
  func_.locs.push_back({});
  (*(func_.blocks.end() - 1)).end_inst = static_cast<std::uint32_t>(func_.insts.size());
  return true;
}

bool Parser::operands(MachInst& inst) {
  static constexpr std::string_view kRoles[] = {"def ",  "early ", "use ", "lateany ",
                                                "late ", "any ",   "slot "};
  for (;;) {
    bool found = false;
    for (const std::string_view role : kRoles) {
      if (found || !accept(role)) continue;
      found = true;
      if (!operand(role)) return false;
    }
    if (!found) return inst.operand_count == 0 || fail("expected an operand");
    if (++inst.operand_count == 255) return fail("more than 254 operands");
    if (!accept(",")) return true;
  }
}

bool Parser::operand(std::string_view role) {
  Operand op;
  op.role = role == "def "                ? Role::Def
            : role == "early "            ? Role::EarlyDef
            : role.substr(0, 4) == "late" ? Role::LateUse
                                          : Role::Use;
  if (role == "any " || role == "lateany ") op.constraint = Constraint::RegOrSlot;
  if (role == "slot ") op.constraint = Constraint::Slot;
  if (!vreg(op.vreg)) return false;
  const bool is_def = op.role == Role::Def || op.role == Role::EarlyDef;
  if (is_def && !reg_class(op.vreg)) return false;
  if (accept("=")) {
    op.constraint = Constraint::Fixed;
    if (!reg(op.fixed)) return false;
  } else if (accept("~")) {
    op.constraint = Constraint::Same;
    std::uint32_t same = 0;
    if (!number(same)) return false;
    op.same_as = static_cast<std::uint8_t>(same);
  }
  func_.operands.push_back(op);
  return true;
}

bool Parser::suffixes(MachInst& inst) {
  for (;;) {
    if (accept("clobber")) {
      RegMask mask;
      while (at_register()) {
        PReg r;
        if (!reg(r)) return false;
        mask.add(r);
      }
      inst.clobbers = static_cast<std::uint16_t>(func_.clobber_sets.size());
      func_.clobber_sets.push_back(mask);
    } else if (accept("call")) {
      inst.flags |= kCall;
      func_.has_calls = true;
    } else if (accept("move")) {
      inst.flags |= kMove;
    } else if (accept("remat")) {
      inst.flags |= kRemat;
    } else if (accept("try")) {
      inst.flags |= kTry;
    } else if (accept("end")) {
      inst.flags |= kTerminator;
    } else {
      return true;
    }
  }
}

bool Parser::successors() {
  MachBlockData& data = *(func_.blocks.end() - 1);
  data.first_succ = static_cast<std::uint32_t>(func_.succs.size());
  do {
    MachEdge edge;
    std::uint32_t index = 0;
    if (!expect("mb") || !number(index)) return false;
    edge.target = MachBlock(index);
    edge.first_arg = static_cast<std::uint32_t>(func_.edge_args.size());
    if (accept("(")) {
      do {
        VReg arg;
        if (!vreg(arg)) return false;
        func_.edge_args.push_back(arg);
        ++edge.arg_count;
      } while (accept(","));
      if (!expect(")")) return false;
    }
    func_.succs.push_back(edge);
    ++data.succ_count;
  } while (accept(","));
  return true;
}

bool Parser::finish() {
  for (const MachEdge& edge : func_.succs) {
    if (!func_.blocks.contains(edge.target)) return fail("a successor that does not exist");
    if (edge.arg_count != func_.blocks[edge.target].param_count) {
      return fail("an edge with another number of arguments than its target has parameters");
    }
  }
  func_.find_preds();
  return true;
}

}  // namespace

Result<void> parse_function(std::string_view text, MachFunction& out) {
  return Parser(text, out).run();
}

}  // namespace hoist::codegen
