// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What a consumer of function bodies (validator, translator, baseline compiler) offers to the body
/// decoder. This file is the manual; `body_decoder_inl.hpp` is the caller.
///
/// The decoder reads a body once, checks it, and calls the sink for each instruction with operands
/// already popped and type-checked. Rules:
///  - `at(offset)` comes before the calls of each instruction: the byte offset of its opcode in the
///    module. Errors are found before the sink is called for the instruction, but calls for earlier
///    instructions have been made by then: nothing that a sink made is good before
///    `decode_body` returned success.
///  - Code that cannot be reached (after br, return, unreachable …, up to the next else or end) is
///    checked but not reported. Blocks that begin in dead code are not reported either: no block,
///    else_ or end call. So every call of the sink happens in live code, but for `else_` and `end`
///    of blocks that were entered live.
///  - A span of operands points into the decoder's stack: valid during the call.
///  - The sink may take a branch condition as constant; the decoder does not know and goes on
///    reporting code behind it.
///  - A sink that cannot handle an instruction remembers a Refusal. The decoder asks for it after
///  the
///    calls of the families below that say so and at the end of the body, and ends with an error
///    Unsupported. After calls of other families a sink that refuses must be able to go on.

#include <concepts>
#include <cstdint>
#include <span>

#include "wasm/format/module.hpp"
#include "wasm/format/types.hpp"

namespace hoist::wasm {

/// An entry of the operand stack. `Value` is the sink's handle of the value.
template <typename Value>
struct Operand {
  ValType type;
  [[no_unique_address]] Value value{};
};

/// `offset` is the constant added to the address. A bad alignment is an error of validation; the
/// hint itself does not change the meaning. `access_bytes` is the size of the access.
struct MemArg {
  std::uint64_t offset = 0;
  std::uint32_t memory = 0;
  std::uint8_t align_log2 = 0;
};

/// What a sink cannot do: the name of an instruction, or of what else it is (static text).
struct Refusal {
  std::string_view what;
  std::uint32_t offset = 0;  ///< of the instruction
};

/// A catch clause of try_table. `depth` counts from outside of the try_table. The label gets the
/// values of the tag (Tag, TagRef), then a reference to the exception (TagRef, AllRef).
struct CatchClause {
  enum class Kind : std::uint8_t { Tag = 0, TagRef = 1, All = 2, AllRef = 3 };
  Kind kind = Kind::All;
  std::uint32_t tag = 0;
  std::uint32_t depth = 0;
  bool has_tag() const { return kind == Kind::Tag || kind == Kind::TagRef; }
  bool has_ref() const { return kind == Kind::TagRef || kind == Kind::AllRef; }
};

/// Immediates of an instruction of the groups Heap and BrOnCast: up to two of type, field, count,
/// segment or label, in their order; heap types as reference types.
struct HeapImm {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  ValType from;  ///< BrOnCast
  ValType to;    ///< BrOnCast, ref.test, ref.cast
};

/// Func is the outermost label: a branch to it returns. Try, Catch and CatchAll are the parts of a
/// block of the legacy exceptions; the block has one frame throughout.
enum class FrameKind : std::uint8_t { Func, Block, Loop, If, Else, TryTable, Try, Catch, CatchAll };

/// Type of a block: what it takes from and leaves on the stack.
struct BlockType {
  std::span<const ValType> params;
  std::span<const ValType> results;
};

/// Target of a branch. `types` is what the branch carries: a loop's parameters, the results of
/// others. `frame` is what the sink stored when the block began.
template <typename Frame>
struct Label {
  Frame& frame;
  FrameKind kind;
  std::uint32_t depth;  ///< 0 is the innermost block
  std::span<const ValType> types;
};

/// A block that is open at the place where the decoder stands; the decoder's own record.
template <typename Frame>
struct ControlFrame {
  BlockType type;
  std::uint32_t height = 0;        ///< of the operand stack below the block's parameters
  std::uint32_t saved_params = 0;  ///< If: where the decoder keeps the parameters for the else
  std::uint32_t br_table_mark = 0;
  std::uint32_t init_mark = 0;  ///< locals known to be set when the block began
  FrameKind kind = FrameKind::Block;
  bool reported = false;     ///< began in live code, so the sink knows it
  bool branched_to = false;  ///< by a branch that the sink saw
  bool polymorphic = false;  ///< after an unconditional branch: the stack gives any type
  [[no_unique_address]] Frame frame{};

  std::span<const ValType> label_types() const {
    return kind == FrameKind::Loop ? type.params : type.results;
  }
};

/// The open blocks as labels, by depth.
template <typename Frame>
class Labels {
 public:
  explicit Labels(std::span<ControlFrame<Frame>> frames) : frames_(frames) {}
  Label<Frame> operator[](std::uint32_t depth) const {
    ControlFrame<Frame>& target = frames_[frames_.size() - 1 - depth];
    return {target.frame, target.kind, depth, target.label_types()};
  }
  std::size_t size() const { return frames_.size(); }

 private:
  std::span<ControlFrame<Frame>> frames_;
};

/// What a body is decoded for.
struct BodyInfo {
  const Module& module;
  const FuncType& type;
  std::uint32_t func = 0;    ///< in the index space of functions
  Range body;                ///< locals and code
  std::uint32_t num_locals;  ///< parameters included
};

// clang-format off
/// Value and Frame are default-constructible and cheap to copy. A reference to a frame is good during
/// the call: the decoder may move frames.
template <typename S>
concept Sink = requires(S& sink, typename S::Value value, typename S::Frame& frame,
                        std::span<const Operand<typename S::Value>> in,
                        std::span<Operand<typename S::Value>> out,
                        const Label<typename S::Frame>& label,
                        const Labels<typename S::Frame>& labels,
                        std::span<const std::uint32_t> depths,
                        const BodyInfo& info, const BlockType& block, const MemArg& mem,
                        const FuncType& func_type, const GlobalType& global, ValType type, Op op,
                        std::span<const CatchClause> clauses,
                        std::span<const std::uint8_t, 16> bytes, const HeapImm& heap_imm,
                        std::uint8_t lane, FrameKind kind, std::uint32_t index, std::uint64_t bits, bool flag) {
  requires std::default_initializable<typename S::Value>;
  requires std::default_initializable<typename S::Frame>;

  // ---- Function. `begin` first, with the frame of the outermost label; then declare_locals for
  // each run of declared (zero-initialised) locals, in order, parameters not among them; then the
  // instructions; last is the `end` of the outermost frame.
  sink.begin(info, frame);
  sink.declare_locals(/*count=*/index, type);
  sink.at(/*offset=*/index);

  // ---- Blocks. `out` are the parameters, on the stack, with the values they have outside; a loop
  // replaces them by what they are in its body (values merged over the back edges).
  sink.block(block, frame);
  sink.loop(block, frame, out);
  sink.if_(block, frame, /*condition=*/value, in);
  /// `reachable`: the end of the then-part is, and `results` are its values. Afterwards the stack
  /// holds the values that the parameters had before the `if`. `implicit`: there is no else in the
  /// code; `end` (kind Else) follows at once with the parameters as the results of the else-part.
  sink.else_(block, frame, /*reachable=*/flag, /*results=*/in, /*implicit=*/flag);
  /// `falls_through`: control can reach the end from within, and then `results` holds the values.
  /// `continues`: control goes on behind the end, because of that or of a branch to the label; then
  /// the sink replaces the values of `results` by the merged ones. For kind Func the results are
  /// the function's; `continues` says whether there is any return through the end of the body.
  sink.end(kind, block, frame, /*falls_through=*/flag, /*continues=*/flag, /*results=*/out);

  // ---- Branches; `in` holds exactly the values that go to the label.
  sink.br(label, in);
  sink.br_if(label, /*condition=*/value, in);   // `in` stays on the stack for the fallthrough
  sink.br_table(labels, /*index=*/value, /*depths, the default last=*/depths, in);
  sink.return_(in);
  sink.unreachable();

  // ---- Calls. The sink writes a value into each of the results (typed already).
  sink.call(/*func=*/index, func_type, /*args=*/in, /*results=*/out);
  sink.call_indirect(/*type=*/index, /*table=*/index, func_type, /*callee=*/value, in, out);

  // ---- Values.
  sink.drop(type, value);
  { sink.select(type, /*if nonzero=*/value, /*if zero=*/value, /*condition=*/value) } -> std::same_as<typename S::Value>;
  { sink.local_get(index, type) } -> std::same_as<typename S::Value>;
  sink.local_set(index, type, value);
  { sink.local_tee(index, type, value) } -> std::same_as<typename S::Value>;
  { sink.global_get(index, global) } -> std::same_as<typename S::Value>;
  sink.global_set(index, global, value);
  { sink.const_i32(std::int32_t{}) } -> std::same_as<typename S::Value>;
  { sink.const_i64(std::int64_t{}) } -> std::same_as<typename S::Value>;
  { sink.const_f32(/*bits=*/index) } -> std::same_as<typename S::Value>;
  { sink.const_f64(bits) } -> std::same_as<typename S::Value>;
  // The groups Test, Compare, Unary, Binary, Convert of opcodes.def.
  { sink.test(op, value) } -> std::same_as<typename S::Value>;
  { sink.compare(op, value, value) } -> std::same_as<typename S::Value>;
  { sink.unary(op, value) } -> std::same_as<typename S::Value>;
  { sink.binary(op, value, value) } -> std::same_as<typename S::Value>;
  { sink.convert(op, value) } -> std::same_as<typename S::Value>;

  // ---- Memory.
  { sink.load(op, mem, /*address=*/value) } -> std::same_as<typename S::Value>;
  sink.store(op, mem, /*address=*/value, value);
  { sink.memory_size(/*memory=*/index) } -> std::same_as<typename S::Value>;
  { sink.memory_grow(/*memory=*/index, /*delta=*/value) } -> std::same_as<typename S::Value>;
  sink.memory_fill(/*memory=*/index, /*to=*/value, /*byte=*/value, /*length=*/value);
  sink.memory_copy(/*to memory=*/index, /*from memory=*/index, /*to=*/value, /*from=*/value, /*length=*/value);
  sink.memory_init(/*segment=*/index, /*memory=*/index, /*to=*/value, /*from=*/value, /*length=*/value);
  sink.data_drop(/*segment=*/index);

  // ---- Tables and references.
  { sink.table_get(/*table=*/index, /*place=*/value) } -> std::same_as<typename S::Value>;
  sink.table_set(/*table=*/index, /*place=*/value, value);
  { sink.table_size(/*table=*/index) } -> std::same_as<typename S::Value>;
  { sink.table_grow(/*table=*/index, /*init=*/value, /*delta=*/value) } -> std::same_as<typename S::Value>;
  sink.table_fill(/*table=*/index, /*place=*/value, value, /*length=*/value);
  sink.table_copy(/*to table=*/index, /*from table=*/index, /*to=*/value, /*from=*/value, /*length=*/value);
  sink.table_init(/*segment=*/index, /*table=*/index, /*to=*/value, /*from=*/value, /*length=*/value);
  sink.elem_drop(/*segment=*/index);
  { sink.ref_null(type) } -> std::same_as<typename S::Value>;
  { sink.ref_is_null(type, value) } -> std::same_as<typename S::Value>;
  { sink.ref_func(/*func=*/index) } -> std::same_as<typename S::Value>;

  // ---- The families from here on may be refused.
  /// Null while all is well.
  { sink.refused() } -> std::same_as<const Refusal*>;

  // ---- Typed references. `value` is of a reference type.
  sink.call_ref(/*type=*/index, func_type, /*callee=*/value, /*args=*/in, /*results=*/out);
  { sink.ref_as_non_null(value) } -> std::same_as<typename S::Value>;
  { sink.ref_eq(value, value) } -> std::same_as<typename S::Value>;
  /// To the label with `in` if null; else goes on with the result, the same reference.
  { sink.br_on_null(label, value, in) } -> std::same_as<typename S::Value>;
  /// To the label with `in` and then `value` if not null.
  sink.br_on_non_null(label, value, in);

  // ---- Tail calls: they leave the function as return_ does.
  sink.return_call(/*func=*/index, func_type, /*args=*/in);
  sink.return_call_indirect(/*type=*/index, /*table=*/index, func_type, /*callee=*/value, in);
  sink.return_call_ref(/*type=*/index, func_type, /*callee=*/value, in);

  // ---- Exceptions.
  /// A block (`end` with kind TryTable) whose calls and throws go to the clauses' labels. `labels`
  /// are the blocks outside of it; the sink writes no value anywhere for a clause: the values that
  /// the label gets are the caught exception's.
  sink.try_table(block, frame, clauses, labels);
  sink.throw_(/*tag=*/index, /*args=*/in);
  sink.throw_ref(value);

  // ---- Legacy exceptions. try, any number of catch, perhaps catch_all, then `end` with the kind of
  // the last part; or try, then delegate, which takes the place of the end.
  sink.try_(block, frame);
  /// `reachable` and `results`: of the part that ends here, as in else_. `values`: to be set to the
  /// values of the exception, on the stack at the beginning of the part.
  sink.catch_(block, frame, /*tag=*/index, /*reachable=*/flag, /*results=*/in, /*values=*/out);
  sink.catch_all(block, frame, /*reachable=*/flag, /*results=*/in);
  /// Throws again what the part of that frame, a Catch or CatchAll, caught.
  sink.rethrow(label);
  /// Ends a Try: what is thrown in it is caught where the block of `to` would catch it; the kind Func
  /// hands it to the caller. `falls_through`, `continues` and `results` as in end.
  sink.delegate(block, frame, /*to=*/label, /*falls_through=*/flag, /*continues=*/flag, /*results=*/out);

  // ---- Vectors. `vector` is every operator without memory but shuffle; `lane` 0 where there is none.
  { sink.const_v128(bytes) } -> std::same_as<typename S::Value>;
  { sink.vector(op, in, lane) } -> std::same_as<typename S::Value>;
  { sink.shuffle(/*lanes=*/bytes, value, value) } -> std::same_as<typename S::Value>;
  { sink.load_lane(op, mem, lane, /*address=*/value, /*vector=*/value) } -> std::same_as<typename S::Value>;
  sink.store_lane(op, mem, lane, /*address=*/value, /*vector=*/value);

  // ---- Atomics.
  { sink.atomic_load(op, mem, /*address=*/value) } -> std::same_as<typename S::Value>;
  sink.atomic_store(op, mem, /*address=*/value, value);
  { sink.atomic_rmw(op, mem, /*address=*/value, value) } -> std::same_as<typename S::Value>;
  { sink.atomic_cmpxchg(op, mem, /*address=*/value, /*expected=*/value, /*replacement=*/value) } -> std::same_as<typename S::Value>;
  { sink.atomic_notify(mem, /*address=*/value, /*count=*/value) } -> std::same_as<typename S::Value>;
  { sink.atomic_wait(op, mem, /*address=*/value, /*expected=*/value, /*timeout=*/value) } -> std::same_as<typename S::Value>;
  sink.atomic_fence();

  // ---- Wide arithmetic: low word before high word, in operands and results.
  sink.wide(op, in, out);

  // ---- Heap objects and casts. For BrOnCast and BrOnCastFail `in` holds what the label gets with
  // the reference last, `out` is the reference that stays.
  sink.heap(op, heap_imm, in, out);
};
// clang-format on

}  // namespace hoist::wasm
