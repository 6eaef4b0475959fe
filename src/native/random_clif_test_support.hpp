// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Random CLIF programs that are valid, end, and whose results are determined: the interpreter and
/// native code must agree on every bit (and on the trap). A choice is a number from the stream
/// given, so the same stream gives the same program; a libFuzzer input works as well as a seed.
///
/// A program is a few functions; the last one, `%main`, calls the others. Control flow is
/// structured (if, loop with a bounded count, br_table, early return); memory is one stack slot
/// accessed in bounds. Float values are made canonical wherever the payload of a NaN could be seen.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hoist::native {

template <typename Stream>
class RandomClif {
 public:
  explicit RandomClif(Stream& stream) : stream_(stream) {}

  std::string program() {
    const unsigned helpers = pick(3);
    for (unsigned i = 0; i < helpers; ++i) function("f" + std::to_string(i));
    function("main");
    return std::move(text_);
  }

 private:
  enum Ty : unsigned { I8, I16, I32, I64, F32, F64, kTypes };
  static constexpr const char* kNames[] = {"i8", "i16", "i32", "i64", "f32", "f64"};
  static constexpr unsigned kBits[] = {8, 16, 32, 64, 32, 64};
  struct Val {
    unsigned number;
    Ty type;
  };
  struct Sig {
    std::string name, text;
    std::vector<Ty> params, results;
  };

  unsigned pick(unsigned below) { return static_cast<unsigned>(stream_.next() % below); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  static std::string v(unsigned n) { return "v" + std::to_string(n); }
  static bool is_int(Ty t) { return t <= I64; }
  Ty any_type() {
    static constexpr Ty kWeighted[] = {I8, I16, I32, I32, I32, I64, I64, I64, F32, F64};
    return kWeighted[pick(10)];
  }
  Ty int_type() {
    static constexpr Ty kWeighted[] = {I8, I16, I32, I32, I32, I64, I64};
    return kWeighted[pick(7)];
  }

  void line(const std::string& s) { body_ += "    " + s + "\n"; }
  unsigned def(Ty t, const std::string& rhs) {
    line(v(next_) + " = " + rhs);
    values_.push_back({next_, t});
    return next_++;
  }

  std::string int_constant(Ty t) {
    const unsigned bits = kBits[t];
    std::uint64_t c = 0;
    switch (pick(8)) {
      case 0: c = pick(4); break;
      case 1: c = ~std::uint64_t{pick(3)}; break;
      case 2: c = std::uint64_t{1} << pick(bits); break;
      case 3: c = (std::uint64_t{1} << (bits - 1)) - pick(2); break;
      case 4: c = pick(100); break;
      case 5: c = ~(std::uint64_t{1} << pick(bits)); break;
      case 6: c = (std::uint64_t{1} << pick(bits)) - 1; break;
      default: c = stream_.next(); break;
    }
    const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    c &= mask;
    // As a signed number of its type.
    if (bits == 64) return std::to_string(static_cast<std::int64_t>(c));
    const auto limit = std::uint64_t{1} << (bits - 1);
    return c >= limit
               ? std::to_string(static_cast<std::int64_t>(c) - static_cast<std::int64_t>(mask) - 1)
               : std::to_string(c);
  }
  std::string float_constant(Ty t) {
    static constexpr const char* kBoth[] = {
        "0.0",       "-0.0",     "0x1.0",    "-0x1.8p1",  "+Inf",     "-Inf",
        "+NaN",      "0x1.0p31", "0x1.0p32", "-0x1.0p31", "0x1.0p63", "0x1.0p64",
        "-0x1.0p63", "0x1.8p-1", "-0x1.0p7", "0x1.0p15",  "0x1.fp7",  "-0x1.0p-3"};
    static constexpr const char* kF64[] = {"0x1.fffffffep30", "0x1.ffffffffep31",
                                           "-0x1.00000002p31", "0x1.fffffffffffffp62"};
    if (t == F64 && chance(20)) return kF64[pick(4)];
    return kBoth[pick(18)];
  }

  unsigned constant(Ty t) {
    if (t == F32) return def(t, "f32const " + float_constant(t));
    if (t == F64) return def(t, "f64const " + float_constant(t));
    return def(t, std::string("iconst.") + kNames[t] + " " + int_constant(t));
  }
  /// A value of the type: an old one, mostly a recent one, or a constant.
  unsigned value(Ty t) {
    if (!chance(15)) {
      for (unsigned tries = 0; tries < 12 && !values_.empty(); ++tries) {
        const std::size_t n = values_.size();
        const std::size_t at = chance(60) && n > 8 ? n - 1 - pick(8) : stream_.next() % n;
        if (values_[at].type == t) return values_[at].number;
      }
      for (std::size_t i = values_.size(); i-- > 0;) {
        if (values_[i].type == t && chance(70)) return values_[i].number;
      }
    }
    return constant(t);
  }
  /// A float that is no NaN, whose payload could differ.
  unsigned float_no_nan(Ty t) {
    const unsigned x = value(t);
    const unsigned one = def(t, std::string(kNames[t]) + "const 0x1.0");
    const unsigned ordered = def(I8, "fcmp ord " + v(x) + ", " + v(x));
    return def(t, "select " + v(ordered) + ", " + v(x) + ", " + v(one));
  }

  void function(const std::string& name) {
    body_.clear();
    values_.clear();
    next_ = 0;
    next_block_ = 1;
    results_.clear();
    std::vector<Ty> params;
    const unsigned param_count = chance(15) ? 8 + pick(16) : 1 + pick(6);
    for (unsigned i = 0; i < param_count; ++i) params.push_back(any_type());
    const unsigned result_count = chance(10) ? 6 + pick(14) : 1 + pick(4);
    for (unsigned i = 0; i < result_count; ++i) results_.push_back(any_type());
    static constexpr const char* kConvs[] = {"fast", "fast", "tail", "system_v"};
    const char* conv = kConvs[pick(4)];
    std::string sig = "(" + list(params) + ") -> " + list(results_) + " " + conv;
    std::string header;
    for (unsigned i = 0; i < params.size(); ++i) {
      header += (i == 0 ? "" : ", ") + v(next_) + ": " + kNames[params[i]];
      values_.push_back({next_++, params[i]});
    }
    const unsigned address = next_++;
    line(v(address) + " = stack_addr.i64 ss0");
    slot_ = address;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned x = value(I64);
      line("store notrap " + v(x) + ", " + v(address) + "+" + std::to_string(8 * i));
    }
    budget_ = 20 + pick(80);
    statements(3);
    ret();
    std::string preamble = "    ss0 = explicit_slot 64\n";
    std::string decls;
    for (std::size_t i = 0; i < sigs_.size(); ++i) {
      decls += "    sig" + std::to_string(i) + " = " + sigs_[i].text + "\n";
      const bool colocated = chance(50);
      decls += "    fn" + std::to_string(i) + " = " + (colocated ? "colocated " : "") + "%" +
               sigs_[i].name + " sig" + std::to_string(i) + "\n";
    }
    text_ += "function %" + name + sig + " {\n" + preamble + decls + "\nblock0(" + header + "):\n" +
             body_ + "}\n\n";
    sigs_.push_back({name, sig, params, results_});
  }
  static std::string list(const std::vector<Ty>& types) {
    std::string out;
    for (std::size_t i = 0; i < types.size(); ++i)
      out += (i == 0 ? "" : ", ") + std::string(kNames[types[i]]);
    return out;
  }

  void ret() {
    std::string args;
    std::vector<unsigned> chosen;
    for (const Ty t : results_) chosen.push_back(is_int(t) ? value(t) : float_no_nan(t));
    for (std::size_t i = 0; i < chosen.size(); ++i) args += (i == 0 ? "" : ", ") + v(chosen[i]);
    line("return " + args);
  }

  void statements(unsigned depth) {
    const unsigned count = 2 + pick(8);
    for (unsigned i = 0; i < count && budget_ > 0; ++i) {
      --budget_;
      const unsigned kind = pick(100);
      if (depth > 0 && kind < 8) {
        if_else(depth);
      } else if (depth > 0 && kind < 14) {
        loop(depth);
      } else if (depth > 0 && kind < 17) {
        table(depth);
      } else if (kind < 22 && !sigs_.empty()) {
        call();
      } else if (kind < 35) {
        memory();
      } else {
        operation();
      }
    }
  }

  struct Join {
    unsigned block;
    std::vector<Ty> types;
  };
  Join join() {
    Join j{next_block_++, {}};
    const unsigned count = pick(4);
    for (unsigned i = 0; i < count; ++i) j.types.push_back(any_type());
    return j;
  }
  std::string args_for(const Join& j) {
    if (j.types.empty()) return "block" + std::to_string(j.block);
    std::vector<unsigned> chosen;
    for (const Ty t : j.types) chosen.push_back(value(t));
    std::string out = "block" + std::to_string(j.block) + "(";
    for (std::size_t i = 0; i < chosen.size(); ++i) out += (i == 0 ? "" : ", ") + v(chosen[i]);
    return out + ")";
  }
  void open_join(const Join& j, std::size_t scope) {
    values_.resize(scope);
    std::string header = "\nblock" + std::to_string(j.block);
    if (!j.types.empty()) header += "(";
    for (std::size_t i = 0; i < j.types.size(); ++i) {
      header += (i == 0 ? "" : ", ") + v(next_) + ": " + kNames[j.types[i]];
      values_.push_back({next_++, j.types[i]});
    }
    if (!j.types.empty()) header += ")";
    body_ += header + ":\n";
  }
  unsigned condition() {
    if (chance(70)) {
      comparison();
      return values_.back().number;
    }
    return value(int_type());
  }
  void if_else(unsigned depth) {
    const unsigned c = condition();
    Join after = join();
    const std::string skip = chance(40) ? args_for(after) : "";
    const unsigned then_block = next_block_++;
    const unsigned else_block = next_block_++;
    const std::size_t scope = values_.size();
    const std::string first = "block" + std::to_string(then_block);
    const std::string second = skip.empty() ? "block" + std::to_string(else_block) : skip;
    line("brif " + v(c) + ", " +
         (chance(50) || !skip.empty() ? first + ", " + second : second + ", " + first));
    body_ += "\nblock" + std::to_string(then_block) + (chance(10) ? " cold" : "") + ":\n";
    statements(depth - 1);
    if (chance(8)) {
      if (chance(50)) {
        ret();
      } else {
        line("trap user" + std::to_string(1 + pick(9)));
      }
    } else {
      line("jump " + args_for(after));
    }
    if (skip.empty()) {
      values_.resize(scope);
      body_ += "\nblock" + std::to_string(else_block) + ":\n";
      statements(depth - 1);
      line("jump " + args_for(after));
    }
    open_join(after, scope);
  }
  void loop(unsigned depth) {
    Join head = join();
    head.types.insert(head.types.begin(), I32);
    Join after = join();
    const unsigned count = def(I32, "iconst.i32 " + std::to_string(1 + pick(6)));
    values_.pop_back();
    std::string entry = args_for(head);
    // The counter comes first.
    const std::size_t open = entry.find('(');
    const std::size_t end = entry.find_first_of(",)", open);
    entry.replace(open + 1, end - open - 1, v(count));
    line("jump " + entry);
    open_join(head, values_.size());
    const std::size_t scope = values_.size();
    const unsigned counter = values_[scope - head.types.size()].number;
    if (chance(30)) {
      const unsigned c = condition();
      const unsigned stay = next_block_++;
      const std::string leave = args_for(after);
      line("brif " + v(c) + ", block" + std::to_string(stay) + ", " + leave);
      body_ += "\nblock" + std::to_string(stay) + ":\n";
    }
    statements(depth - 1);
    const unsigned one = def(I32, "iconst.i32 1");
    const unsigned less = def(I32, "isub " + v(counter) + ", " + v(one));
    const unsigned zero = def(I32, "iconst.i32 0");
    const unsigned more = def(I8, "icmp ugt " + v(less) + ", " + v(zero));
    std::string back = args_for(head);
    const std::size_t back_open = back.find('(');
    const std::size_t back_end = back.find_first_of(",)", back_open);
    back.replace(back_open + 1, back_end - back_open - 1, v(less));
    line("brif " + v(more) + ", " + back + ", " + args_for(after));
    // Only what the header dominates is visible behind the loop; keep it simple: its parameters.
    open_join(after, scope);
  }
  void table(unsigned depth) {
    const unsigned x = value(I32);
    const unsigned seven = def(I32, "iconst.i32 7");
    const unsigned index = chance(80) ? def(I32, "band " + v(x) + ", " + v(seven)) : x;
    Join after = join();
    const unsigned arms = 1 + pick(4);
    const std::size_t scope = values_.size();
    std::vector<unsigned> blocks;
    for (unsigned i = 0; i < arms; ++i) blocks.push_back(next_block_++);
    const auto target = [&]() {
      return chance(25) ? args_for(after) : "block" + std::to_string(blocks[pick(arms)]);
    };
    std::string otherwise = "block" + std::to_string(blocks[0]);
    std::string entries;
    const unsigned count = pick(9);
    std::vector<std::string> parts;
    for (unsigned i = 0; i < count; ++i) parts.push_back(target());
    for (unsigned i = 1; i < arms; ++i) parts.push_back("block" + std::to_string(blocks[i]));
    for (std::size_t i = 0; i < parts.size(); ++i) entries += (i == 0 ? "" : ", ") + parts[i];
    line("br_table " + v(index) + ", " + otherwise + ", [" + entries + "]");
    for (const unsigned block : blocks) {
      values_.resize(scope);
      body_ += "\nblock" + std::to_string(block) + ":\n";
      statements(depth - 1);
      line("jump " + args_for(after));
    }
    open_join(after, scope);
  }

  void call() {
    const std::size_t callee = stream_.next() % sigs_.size();
    const Sig& sig = sigs_[callee];
    std::vector<unsigned> chosen;
    for (const Ty t : sig.params) chosen.push_back(is_int(t) ? value(t) : float_no_nan(t));
    std::string args;
    for (std::size_t i = 0; i < chosen.size(); ++i) args += (i == 0 ? "" : ", ") + v(chosen[i]);
    const std::string fn = "fn" + std::to_string(callee);
    std::string how = "call " + fn + "(" + args + ")";
    if (chance(25)) {
      const unsigned address = next_++;
      line(v(address) + " = func_addr.i64 " + fn);
      how = "call_indirect sig" + std::to_string(callee) + ", " + v(address) + "(" + args + ")";
    }
    std::string results;
    for (std::size_t i = 0; i < sig.results.size(); ++i) {
      results += (i == 0 ? "" : ", ") + v(next_);
      values_.push_back({next_++, sig.results[i]});
    }
    line(results + " = " + how);
  }

  /// An address in the slot with room for `bytes`, and the rest of the offset.
  std::pair<std::string, std::string> place(unsigned bytes) {
    const unsigned room = 64 - bytes;
    if (chance(50)) return {v(slot_), "+" + std::to_string(pick(room + 1))};
    const unsigned x = value(chance(50) ? I32 : I64);
    Ty t = I64;
    for (const Val& val : values_) {
      if (val.number == x) t = val.type;
    }
    const unsigned scale = pick(4);
    const unsigned mask = t == I64 ? def(I64, "iconst.i64 " + std::to_string(room >> 3))
                                   : def(I32, "iconst.i32 " + std::to_string(room >> 3));
    // room >> 3 is at most 7; anding with it keeps the index small for every scale.
    unsigned index = def(t, "band " + v(x) + ", " + v(mask));
    if (t == I32) index = def(I64, "uextend.i64 " + v(index));
    if (scale != 0) {
      const unsigned amount = def(I8, "iconst.i8 " + std::to_string(scale));
      index = def(I64, "ishl " + v(index) + ", " + v(amount));
    }
    const unsigned address = next_++;
    line(v(address) + (chance(50) ? " = iadd " + v(slot_) + ", " + v(index)
                                  : " = iadd " + v(index) + ", " + v(slot_)));
    const unsigned limit = room - ((room >> 3) << scale);
    return {v(address), limit == 0 || chance(50) ? "" : "+" + std::to_string(pick(limit + 1))};
  }
  void memory() {
    const char* flags = chance(50) ? "notrap " : "";
    if (chance(12)) {  // read, modify, write
      const Ty t = int_type();
      const auto [base, offset] = place(kBits[t] / 8);
      const unsigned x = def(t, std::string("load.") + kNames[t] + " " + flags + base + offset);
      values_.pop_back();
      static constexpr const char* kOps[] = {"iadd", "isub", "band", "bor", "bxor"};
      const unsigned other = value(t);
      const bool first = chance(70);
      const unsigned y = def(
          t, std::string(kOps[pick(5)]) + " " + v(first ? x : other) + ", " + v(first ? other : x));
      values_.pop_back();
      line(std::string("store ") + flags + v(y) + ", " + base + offset);
      return;
    }
    if (chance(45)) {
      const Ty t = any_type();
      if (t >= I32 && t <= I64 && chance(40)) {
        const char* op = chance(50) ? "istore8" : "istore16";
        const unsigned x = value(t);
        const auto [base, offset] = place(2);
        line(std::string(op) + " " + flags + v(x) + ", " + base + offset);
        return;
      }
      const unsigned x = is_int(t) ? value(t) : float_no_nan(t);
      const auto [base, offset] = place(kBits[t] / 8);
      line(std::string("store ") + flags + v(x) + ", " + base + offset);
      return;
    }
    if (chance(40)) {
      static constexpr const char* kOps[] = {"uload8",  "sload8",  "uload16",
                                             "sload16", "uload32", "sload32"};
      const unsigned op = pick(6);
      const Ty t = op >= 4 ? I64 : chance(50) ? I32 : I64;
      const auto [base, offset] = place(4);
      // The 32-bit ones have one type only.
      def(t, std::string(kOps[op]) + (op >= 4 ? "" : std::string(".") + kNames[t]) + " " + flags +
                 base + offset);
      return;
    }
    const Ty t = any_type();
    const auto [base, offset] = place(kBits[t] / 8);
    // What is in memory may be any bits: a float from there could be a signalling NaN, which is
    // fine, since a load moves bits.
    const unsigned x = def(t, std::string("load.") + kNames[t] + " " + flags + base + offset);
    static_cast<void>(x);
  }

  void comparison() {
    static constexpr const char* kInt[] = {"eq",  "ne",  "slt", "sge", "sgt",
                                           "sle", "ult", "uge", "ugt", "ule"};
    static constexpr const char* kFloat[] = {"ord", "uno", "eq", "ne",  "one", "ueq", "lt",
                                             "le",  "gt",  "ge", "ult", "ule", "ugt", "uge"};
    const Ty t = any_type();
    const unsigned x = value(t);
    const unsigned y = value(t);
    if (is_int(t)) {
      def(I8, std::string("icmp ") + kInt[pick(10)] + " " + v(x) + ", " + v(y));
    } else {
      def(I8, std::string("fcmp ") + kFloat[pick(14)] + " " + v(x) + ", " + v(y));
    }
  }

  void operation() {
    switch (pick(20)) {
      case 0:
      case 1: return comparison();
      case 2: {
        const unsigned c = condition();
        const Ty t = any_type();
        const unsigned x = value(t);
        const unsigned y = value(t);
        def(t, "select " + v(c) + ", " + v(x) + ", " + v(y));
        return;
      }
      case 3: return extension();
      case 4: return float_operation();
      case 5: return conversion();
      case 6: return trapping();
      case 7: {
        static constexpr const char* kOps[] = {"bitrev", "clz",  "cls",  "ctz",
                                               "popcnt", "ineg", "iabs", "bnot"};
        const Ty t = int_type();
        const unsigned x = value(t);
        def(t, std::string(kOps[pick(8)]) + " " + v(x));
        return;
      }
      case 8: {
        static constexpr const char* kOps[] = {"rotl", "rotr", "ishl", "ushr", "sshr"};
        const Ty t = int_type();
        const unsigned x = value(t);
        const Ty amount_type = chance(60) ? t : int_type();
        const unsigned y = value(amount_type);
        def(t, std::string(kOps[pick(5)]) + " " + v(x) + ", " + v(y));
        return;
      }
      case 9: {
        static constexpr const char* kOps[] = {"uadd_overflow", "sadd_overflow", "usub_overflow",
                                               "ssub_overflow", "umul_overflow", "smul_overflow"};
        const Ty t = int_type();
        const unsigned x = value(t);
        const unsigned y = value(t);
        line(v(next_) + ", " + v(next_ + 1) + " = " + kOps[pick(6)] + " " + v(x) + ", " + v(y));
        values_.push_back({next_++, t});
        values_.push_back({next_++, I8});
        return;
      }
      case 10: {
        const Ty t = int_type();
        const unsigned c = value(t);
        const unsigned x = value(t);
        const unsigned y = value(t);
        def(t, "bitselect " + v(c) + ", " + v(x) + ", " + v(y));
        return;
      }
      case 11: {  // division by a constant
        static constexpr const char* kOps[] = {"udiv", "sdiv", "urem", "srem"};
        const Ty t = int_type();
        const unsigned x = value(t);
        const unsigned y = constant(t);
        def(t, std::string(kOps[pick(4)]) + " " + v(x) + ", " + v(y));
        return;
      }
      case 12: {
        const Ty t = chance(50) ? I32 : I64;
        const unsigned x = value(t);
        if (t == I64 || chance(50)) {
          def(t, "bswap " + v(x));
        } else {
          const unsigned f = def(F32, "bitcast.f32 " + v(x));
          static_cast<void>(f);
        }
        return;
      }
      default: break;
    }
    static constexpr const char* kOps[] = {"iadd", "iadd", "iadd",   "isub",  "isub", "imul",
                                           "band", "band", "bor",    "bxor",  "smin", "smax",
                                           "umin", "umax", "umulhi", "smulhi"};
    const Ty t = int_type();
    const unsigned x = value(t);
    const unsigned y = value(t);
    def(t, std::string(kOps[pick(16)]) + " " + v(x) + ", " + v(y));
  }

  void extension() {
    const Ty from = int_type();
    const Ty to = int_type();
    const unsigned x = value(from);
    if (from == to) return;
    if (from < to) {
      def(to, std::string(chance(50) ? "uextend." : "sextend.") + kNames[to] + " " + v(x));
    } else {
      def(to, std::string("ireduce.") + kNames[to] + " " + v(x));
    }
  }
  void float_operation() {
    const Ty t = chance(50) ? F32 : F64;
    const unsigned x = value(t);
    static constexpr const char* kUnary[] = {"sqrt",  "fneg",  "fabs",   "ceil",
                                             "floor", "trunc", "nearest"};
    static constexpr const char* kBinary[] = {"fadd", "fsub", "fmul", "fdiv", "fmin", "fmax"};
    switch (pick(6)) {
      case 0: def(t, std::string(kUnary[pick(7)]) + " " + v(x)); return;
      case 1: {
        const unsigned sign = float_no_nan(t);
        def(t, "fcopysign " + v(x) + ", " + v(sign));
        return;
      }
      case 2: {
        const unsigned a = float_no_nan(t);
        const unsigned b = float_no_nan(t);
        static constexpr const char* kBits2[] = {"band", "bor", "bxor"};
        def(t, std::string(kBits2[pick(3)]) + " " + v(a) + ", " + v(b));
        return;
      }
      case 3:
        if (chance(20)) {
          const unsigned a = value(t);
          const unsigned b = value(t);
          def(t, "fma " + v(x) + ", " + v(a) + ", " + v(b));
          return;
        }
        [[fallthrough]];
      default: {
        const unsigned y = value(t);
        def(t, std::string(kBinary[pick(6)]) + " " + v(x) + ", " + v(y));
      }
    }
  }
  void conversion() {
    switch (pick(6)) {
      case 0: {
        const unsigned x = value(F32);
        def(F64, "fpromote.f64 " + v(x));
        return;
      }
      case 1: {
        const unsigned x = value(F64);
        def(F32, "fdemote.f32 " + v(x));
        return;
      }
      case 2: {
        const Ty from = int_type();
        const Ty to = chance(50) ? F32 : F64;
        const unsigned x = value(from);
        def(to, std::string(chance(50) ? "fcvt_from_uint." : "fcvt_from_sint.") + kNames[to] + " " +
                    v(x));
        return;
      }
      case 3: {
        const Ty from = chance(50) ? F32 : F64;
        const Ty to = int_type();
        const unsigned x = value(from);
        def(to, std::string(chance(50) ? "fcvt_to_uint_sat." : "fcvt_to_sint_sat.") + kNames[to] +
                    " " + v(x));
        return;
      }
      case 4: {
        const bool wide = chance(50);
        const unsigned x = float_no_nan(wide ? F64 : F32);
        def(wide ? I64 : I32, std::string("bitcast.") + (wide ? "i64 " : "i32 ") + v(x));
        return;
      }
      default: {
        const Ty from = int_type();
        const Ty to = int_type();
        const unsigned x = value(from);
        def(to, std::string("bmask.") + kNames[to] + " " + v(x));
      }
    }
  }
  void trapping() {
    switch (pick(5)) {
      case 0: {
        const Ty from = chance(50) ? F32 : F64;
        const Ty to = int_type();
        const unsigned x = value(from);
        def(to,
            std::string(chance(50) ? "fcvt_to_uint." : "fcvt_to_sint.") + kNames[to] + " " + v(x));
        return;
      }
      case 1: {
        const unsigned c = condition();
        line(std::string(chance(50) ? "trapz " : "trapnz ") + v(c) + ", user" +
             std::to_string(10 + pick(9)));
        return;
      }
      case 2: {
        const Ty t = chance(50) ? I32 : I64;
        const unsigned x = value(t);
        const unsigned y = value(t);
        def(t, "uadd_overflow_trap " + v(x) + ", " + v(y) + ", user30");
        return;
      }
      default: {
        static constexpr const char* kOps[] = {"udiv", "sdiv", "urem", "srem"};
        const Ty t = int_type();
        const unsigned x = value(t);
        unsigned y = value(t);
        if (chance(70)) {
          const unsigned one = def(t, std::string("iconst.") + kNames[t] + " 1");
          y = def(t, "bor " + v(y) + ", " + v(one));
        }
        def(t, std::string(kOps[pick(4)]) + " " + v(x) + ", " + v(y));
      }
    }
  }

  Stream& stream_;
  std::string text_;
  std::string body_;
  std::vector<Val> values_;
  std::vector<Ty> results_;
  std::vector<Sig> sigs_;
  unsigned next_ = 0;
  unsigned next_block_ = 1;
  unsigned slot_ = 0;
  unsigned budget_ = 0;
};

}  // namespace hoist::native
