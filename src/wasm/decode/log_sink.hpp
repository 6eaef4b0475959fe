// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For tests: a sink that writes down what it is told. Values have numbers in the order in which
/// the sink gives them.

#include <string>
#include <string_view>

#include "base/text/printer.hpp"
#include "wasm/decode/null_sink.hpp"

namespace hoist::wasm::test {

struct LogValue {
  int id = -1;  // -1: none was given
};
struct LogFrame {
  int id = -1;
};

struct LogSink : IgnoringSink<LogValue, LogFrame> {
  base::Printer log;
  int next_value = 0;
  int next_frame = 0;

  Value fresh() {
    log << " -> v" << next_value << '\n';
    return {next_value++};
  }
  LogSink& line(std::string_view text) {
    log << text;
    return *this;
  }
  LogSink& arg(Value value) {
    if (value.id < 0) {
      log << " none";
    } else {
      log << " v" << value.id;
    }
    return *this;
  }
  LogSink& num(std::int64_t value) {
    log << ' ' << value;
    return *this;
  }
  LogSink& args(In in) {
    log << " [";
    for (const Operand<Value>& operand : in) arg(operand.value);
    log << " ]";
    return *this;
  }
  void give(Out out) {
    for (Operand<Value>& operand : out) operand.value = {next_value++};
    args(out).line("\n");
  }
  LogSink& to(const Label<Frame>& label) {
    log << " frame" << label.frame.id << " depth" << label.depth;
    return *this;
  }
  void open(std::string_view name, Frame& frame) {
    frame.id = next_frame++;
    log << name << " frame" << frame.id;
  }

  void begin(const BodyInfo& info, Frame& frame) {
    open("begin", frame);
    log << " func" << info.func << " locals " << info.num_locals << '\n';
  }
  void declare_locals(std::uint32_t count, ValType type) {
    log << "locals " << count << ' ' << to_string(type) << '\n';
  }
  void at(std::uint32_t) {}
  void block(const BlockType&, Frame& frame) {
    open("block", frame);
    log << '\n';
  }
  void loop(const BlockType&, Frame& frame, Out params) {
    open("loop", frame);
    args(params).line(" ->").give(params);
  }
  void if_(const BlockType&, Frame& frame, Value condition, In params) {
    open("if", frame);
    arg(condition).args(params).line("\n");
  }
  void else_(const BlockType&, Frame& frame, bool reachable, In results, bool implicit) {
    log << "else frame" << frame.id << (reachable ? " reachable" : " dead")
        << (implicit ? " implicit" : "");
    args(results).line("\n");
  }
  void end(FrameKind, const BlockType&, Frame& frame, bool falls, bool continues, Out results) {
    log << "end frame" << frame.id << (falls ? " falls" : "") << (continues ? " continues" : "");
    args(results).line(" ->").give(results);
  }
  void br(const Label<Frame>& label, In in) { line("br").to(label).args(in).line("\n"); }
  void br_if(const Label<Frame>& label, Value condition, In in) {
    line("br_if").to(label).arg(condition).args(in).line("\n");
  }
  void br_table(const Labels<Frame>& labels, Value index, std::span<const std::uint32_t> depths,
                In in) {
    line("br_table").arg(index);
    for (const std::uint32_t depth : depths) to(labels[depth]);
    args(in).line("\n");
  }
  void return_(In in) { line("return").args(in).line("\n"); }
  void unreachable() { line("unreachable\n"); }
  void call(std::uint32_t func, const FuncType&, In in, Out out) {
    line("call").num(func).args(in).line(" ->").give(out);
  }
  void call_indirect(std::uint32_t type, std::uint32_t table, const FuncType&, Value callee, In in,
                     Out out) {
    line("call_indirect").num(type).num(table).arg(callee).args(in).line(" ->").give(out);
  }
  void drop(ValType, Value value) { line("drop").arg(value).line("\n"); }
  Value select(ValType type, Value a, Value b, Value c) {
    return line("select ").line(to_string(type)).arg(a).arg(b).arg(c).fresh();
  }
  Value local_get(std::uint32_t index, ValType) { return line("local.get").num(index).fresh(); }
  void local_set(std::uint32_t index, ValType, Value value) {
    line("local.set").num(index).arg(value).line("\n");
  }
  Value local_tee(std::uint32_t index, ValType, Value value) {
    line("local.tee").num(index).arg(value).line("\n");
    return value;
  }
  Value global_get(std::uint32_t index, const GlobalType&) {
    return line("global.get").num(index).fresh();
  }
  void global_set(std::uint32_t index, const GlobalType&, Value value) {
    line("global.set").num(index).arg(value).line("\n");
  }
  Value const_i32(std::int32_t value) { return line("i32").num(value).fresh(); }
  Value const_i64(std::int64_t value) { return line("i64").num(value).fresh(); }
  Value const_f32(std::uint32_t bits) { return line("f32").num(bits).fresh(); }
  Value const_f64(std::uint64_t bits) {
    return line("f64").num(static_cast<std::int64_t>(bits)).fresh();
  }
  Value one(Op op, Value a) { return line(text(op)).arg(a).fresh(); }
  Value two(Op op, Value a, Value b) { return line(text(op)).arg(a).arg(b).fresh(); }
  Value test(Op op, Value a) { return one(op, a); }
  Value compare(Op op, Value a, Value b) { return two(op, a, b); }
  Value unary(Op op, Value a) { return one(op, a); }
  Value binary(Op op, Value a, Value b) { return two(op, a, b); }
  Value convert(Op op, Value a) { return one(op, a); }
  Value load(Op op, const MemArg& mem, Value a) {
    return line(text(op))
        .num(static_cast<std::int64_t>(mem.offset))
        .num(mem.align_log2)
        .arg(a)
        .fresh();
  }
  void store(Op op, const MemArg& mem, Value a, Value b) {
    line(text(op))
        .num(static_cast<std::int64_t>(mem.offset))
        .num(mem.align_log2)
        .arg(a)
        .arg(b)
        .line("\n");
  }
  LogSink& three(std::string_view name, std::initializer_list<std::uint32_t> indexes, Value a,
                 Value b, Value c) {
    line(name);
    for (const std::uint32_t index : indexes) num(index);
    return arg(a).arg(b).arg(c).line("\n");
  }
  Value memory_size(std::uint32_t m) { return line("memory.size").num(m).fresh(); }
  Value memory_grow(std::uint32_t m, Value a) { return line("memory.grow").num(m).arg(a).fresh(); }
  void memory_fill(std::uint32_t m, Value a, Value b, Value c) {
    three("memory.fill", {m}, a, b, c);
  }
  void memory_copy(std::uint32_t m, std::uint32_t n, Value a, Value b, Value c) {
    three("memory.copy", {m, n}, a, b, c);
  }
  void memory_init(std::uint32_t s, std::uint32_t m, Value a, Value b, Value c) {
    three("memory.init", {s, m}, a, b, c);
  }
  void data_drop(std::uint32_t s) { line("data.drop").num(s).line("\n"); }
  Value table_get(std::uint32_t t, Value a) { return line("table.get").num(t).arg(a).fresh(); }
  void table_set(std::uint32_t t, Value a, Value b) {
    line("table.set").num(t).arg(a).arg(b).line("\n");
  }
  Value table_size(std::uint32_t t) { return line("table.size").num(t).fresh(); }
  Value table_grow(std::uint32_t t, Value a, Value b) {
    return line("table.grow").num(t).arg(a).arg(b).fresh();
  }
  void table_fill(std::uint32_t t, Value a, Value b, Value c) { three("table.fill", {t}, a, b, c); }
  void table_copy(std::uint32_t t, std::uint32_t u, Value a, Value b, Value c) {
    three("table.copy", {t, u}, a, b, c);
  }
  void table_init(std::uint32_t s, std::uint32_t t, Value a, Value b, Value c) {
    three("table.init", {s, t}, a, b, c);
  }
  void elem_drop(std::uint32_t s) { line("elem.drop").num(s).line("\n"); }
  Value ref_null(ValType type) { return line("ref.null ").line(to_string(type)).fresh(); }
  Value ref_is_null(ValType, Value a) { return line("ref.is_null").arg(a).fresh(); }
  Value ref_func(std::uint32_t f) { return line("ref.func").num(f).fresh(); }

  LogSink& name(Op op) { return line(text(op)); }
  LogSink& mem(const MemArg& mem) {
    return num(mem.memory).num(static_cast<std::int64_t>(mem.offset));
  }
  void call_ref(std::uint32_t type, const FuncType&, Value callee, In in, Out out) {
    line("call_ref").num(type).arg(callee).args(in).line(" ->").give(out);
  }
  Value ref_as_non_null(Value a) { return line("ref.as_non_null").arg(a).fresh(); }
  Value ref_eq(Value a, Value b) { return line("ref.eq").arg(a).arg(b).fresh(); }
  Value br_on_null(const Label<Frame>& label, Value a, In in) {
    return line("br_on_null").to(label).arg(a).args(in).fresh();
  }
  void br_on_non_null(const Label<Frame>& label, Value a, In in) {
    line("br_on_non_null").to(label).arg(a).args(in).line("\n");
  }
  void return_call(std::uint32_t func, const FuncType&, In in) {
    line("return_call").num(func).args(in).line("\n");
  }
  void return_call_indirect(std::uint32_t type, std::uint32_t table, const FuncType&, Value callee,
                            In in) {
    line("return_call_indirect").num(type).num(table).arg(callee).args(in).line("\n");
  }
  void return_call_ref(std::uint32_t type, const FuncType&, Value callee, In in) {
    line("return_call_ref").num(type).arg(callee).args(in).line("\n");
  }
  void try_table(const BlockType&, Frame& frame, std::span<const CatchClause> clauses,
                 const Labels<Frame>& labels) {
    open("try_table", frame);
    for (const CatchClause& clause : clauses) {
      log << (clause.has_tag() ? " catch" : " catch_all") << (clause.has_ref() ? "_ref" : "");
      if (clause.has_tag()) num(clause.tag);
      to(labels[clause.depth]);
    }
    log << '\n';
  }
  void throw_(std::uint32_t tag, In in) { line("throw").num(tag).args(in).line("\n"); }
  void throw_ref(Value a) { line("throw_ref").arg(a).line("\n"); }
  void try_(const BlockType&, Frame& frame) {
    open("try", frame);
    log << '\n';
  }
  void catch_(const BlockType&, Frame& frame, std::uint32_t tag, bool reachable, In results,
              Out values) {
    log << "catch frame" << frame.id << (reachable ? " reachable" : " dead");
    num(tag).args(results).line(" ->").give(values);
  }
  void catch_all(const BlockType&, Frame& frame, bool reachable, In results) {
    log << "catch_all frame" << frame.id << (reachable ? " reachable" : " dead");
    args(results).line("\n");
  }
  void rethrow(const Label<Frame>& label) { line("rethrow").to(label).line("\n"); }
  void delegate(const BlockType&, Frame& frame, const Label<Frame>& label, bool falls,
                bool continues, Out results) {
    log << "delegate frame" << frame.id;
    to(label);
    log << (falls ? " falls" : "") << (continues ? " continues" : "");
    args(results).line(" ->").give(results);
  }
  Value const_v128(std::span<const std::uint8_t, 16> bytes) {
    return line("v128").num(bytes[0]).num(bytes[15]).fresh();
  }
  Value vector(Op op, In in, std::uint8_t lane) { return name(op).num(lane).args(in).fresh(); }
  Value shuffle(std::span<const std::uint8_t, 16> lanes, Value a, Value b) {
    return line("shuffle").num(lanes[0]).num(lanes[15]).arg(a).arg(b).fresh();
  }
  Value load_lane(Op op, const MemArg& m, std::uint8_t lane, Value a, Value v) {
    return name(op).mem(m).num(lane).arg(a).arg(v).fresh();
  }
  void store_lane(Op op, const MemArg& m, std::uint8_t lane, Value a, Value v) {
    name(op).mem(m).num(lane).arg(a).arg(v).line("\n");
  }
  Value atomic_load(Op op, const MemArg& m, Value a) { return name(op).mem(m).arg(a).fresh(); }
  void atomic_store(Op op, const MemArg& m, Value a, Value b) {
    name(op).mem(m).arg(a).arg(b).line("\n");
  }
  Value atomic_rmw(Op op, const MemArg& m, Value a, Value b) {
    return name(op).mem(m).arg(a).arg(b).fresh();
  }
  Value atomic_cmpxchg(Op op, const MemArg& m, Value a, Value b, Value c) {
    return name(op).mem(m).arg(a).arg(b).arg(c).fresh();
  }
  Value atomic_notify(const MemArg& m, Value a, Value b) {
    return line("notify").mem(m).arg(a).arg(b).fresh();
  }
  Value atomic_wait(Op op, const MemArg& m, Value a, Value b, Value c) {
    return name(op).mem(m).arg(a).arg(b).arg(c).fresh();
  }
  void atomic_fence() { line("fence\n"); }
  void wide(Op op, In in, Out out) {
    name(op).args(in).line(" ->").give(out);
    if (refuse_wide) refusal = {text(op), 7};
  }
  void heap(Op op, const HeapImm& imm, In in, Out out) {
    name(op).num(imm.first).num(imm.second).args(in).line(" ->").give(out);
  }

  bool refuse_wide = false;
  Refusal refusal;
  const Refusal* refused() const { return refusal.what.empty() ? nullptr : &refusal; }
};

}  // namespace hoist::wasm::test
