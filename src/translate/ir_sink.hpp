// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// IrSink: the body decoder's sink that builds IR. One object per thread, reused for each function.
/// Members are defined by opcode family under body/, memory/ and calls/.
///
/// Blocks: a label gets its IR block with the first branch to it, so that a wasm block which
/// nothing branches to costs nothing. Values of labels are explicit block parameters; locals are
/// variables of the builder. Dead code is not reported by the decoder and not translated.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "image/layout/builtin.hpp"
#include "ir/builder.hpp"
#include "translate/translator.hpp"
#include "wasm/decode/sink.hpp"

namespace hoist::translate {

class IrSink {
 public:
  using Value = ir::Value;
  struct Frame {
    ir::Block target;  ///< where branches to the label go; a loop's header
    ir::Block other;   ///< of an if: its else part
  };
  using Label = wasm::Label<Frame>;
  using In = std::span<const wasm::Operand<Value>>;
  using Out = std::span<wasm::Operand<Value>>;

  explicit IrSink(const ModuleEnv& env);

  /// The next function goes to `func`, which is clear.
  /// `assignments`: where the function assigns its locals, or null.
  void reset(ir::Function& func, ir::SimplifyFn simplify, ir::Assignments* assignments);
  /// Completes SSA form. False: the function needs more block parameters than any sensible one.
  bool finish();

  // ---- body/control.cpp
  void begin(const wasm::BodyInfo& info, Frame& frame);
  void declare_locals(std::uint32_t count, wasm::ValType type);
  void at(std::uint32_t offset) {
    builder_.set_loc({offset});
    if (!started_) [[unlikely]]
      start_limits();
    ++fuel_used_;
    if (builder_.variable_param_count() > kMaxVariableParams) [[unlikely]]
      too_complex_ = true;
  }
  void block(const wasm::BlockType& block, Frame& frame);
  void loop(const wasm::BlockType& block, Frame& frame, Out params);
  void if_(const wasm::BlockType& block, Frame& frame, Value condition, In params);
  void else_(const wasm::BlockType& block, Frame& frame, bool reachable, In results, bool implicit);
  void end(wasm::FrameKind kind, const wasm::BlockType& block, Frame& frame, bool falls_through,
           bool continues, Out results);
  void br(const Label& label, In values);
  void br_if(const Label& label, Value condition, In values);
  void br_table(const wasm::Labels<Frame>& labels, Value index,
                std::span<const std::uint32_t> depths, In values);
  void return_(In values);
  void unreachable();

  // ---- calls/calls.cpp
  void call(std::uint32_t func, const wasm::FuncType& type, In args, Out results);
  void call_indirect(std::uint32_t type, std::uint32_t table, const wasm::FuncType& func_type,
                     Value callee, In args, Out results);

  // ---- body/variables.cpp
  void drop(wasm::ValType, Value) {}
  Value select(wasm::ValType type, Value if_nonzero, Value if_zero, Value condition);
  Value local_get(std::uint32_t local, wasm::ValType type);
  void local_set(std::uint32_t local, wasm::ValType type, Value value);
  Value local_tee(std::uint32_t local, wasm::ValType type, Value value);
  Value global_get(std::uint32_t global, const wasm::GlobalType& type);
  void global_set(std::uint32_t global, const wasm::GlobalType& type, Value value);

  // ---- body/numeric.cpp
  Value const_i32(std::int32_t value);
  Value const_i64(std::int64_t value);
  Value const_f32(std::uint32_t bits);
  Value const_f64(std::uint64_t bits);
  Value test(wasm::Op op, Value x);
  Value compare(wasm::Op op, Value x, Value y);
  Value unary(wasm::Op op, Value x);
  Value binary(wasm::Op op, Value x, Value y);
  Value convert(wasm::Op op, Value x);

  // ---- memory/access.cpp
  Value load(wasm::Op op, const wasm::MemArg& mem, Value address);
  void store(wasm::Op op, const wasm::MemArg& mem, Value address, Value value);
  Value memory_size(std::uint32_t memory);

  // ---- body/bulk.cpp
  Value memory_grow(std::uint32_t memory, Value delta);
  void memory_fill(std::uint32_t memory, Value to, Value byte, Value length);
  void memory_copy(std::uint32_t to_memory, std::uint32_t from_memory, Value to, Value from,
                   Value length);
  void memory_init(std::uint32_t segment, std::uint32_t memory, Value to, Value from, Value length);
  void data_drop(std::uint32_t segment);
  Value table_grow(std::uint32_t table, Value init, Value delta);
  void table_fill(std::uint32_t table, Value place, Value value, Value length);
  void table_copy(std::uint32_t to_table, std::uint32_t from_table, Value to, Value from,
                  Value length);
  void table_init(std::uint32_t segment, std::uint32_t table, Value to, Value from, Value length);
  void elem_drop(std::uint32_t segment);

  // ---- body/table.cpp
  Value table_get(std::uint32_t table, Value place);
  void table_set(std::uint32_t table, Value place, Value value);
  Value table_size(std::uint32_t table);
  Value ref_null(wasm::ValType type);
  Value ref_is_null(wasm::ValType type, Value value);
  Value ref_func(std::uint32_t func);

 private:
  /// Block parameters for locals in one function, beyond which it is refused: no compiler makes
  /// such code, and every later stage would have to live with it.
  static constexpr std::size_t kMaxVariableParams = 8'000'000;

  ir::Function& func() { return builder_.func(); }

  // ---- body/control.cpp
  /// `end` without keeping track of regions.
  void finish_frame(wasm::FrameKind kind, const wasm::BlockType& block, Frame& frame,
                    bool falls_through, bool continues, Out results);
  void finish_regions(wasm::FrameKind kind, ir::Block before);
  ir::Block label_block(const Label& label) { return label_block(label.frame, label.types); }
  ir::Block label_block(Frame& frame, std::span<const wasm::ValType> types);
  ir::Block block_with_params(std::span<const wasm::ValType> types);
  void continue_at(ir::Block block, Out results);
  std::span<const Value> values(In operands);
  /// A condition of any integer type instead of the 0 or 1 in an i32 that wasm makes of it.
  Value condition(Value c);

  // ---- body/variables.cpp
  struct GlobalPlace {
    Value base;
    std::int32_t offset;
  };
  GlobalPlace global_place(std::uint32_t global);
  Value zero(ir::Type type);

  // ---- body/numeric.cpp
  Value to_i32(Value boolean);

  // ---- body/bulk.cpp
  Value widen(Value x);
  Value index_constant(std::uint32_t index);

  // ---- trap/limits.cpp
  Value store_context();
  void call_if(Value condition, image::Builtin builtin);
  /// Before the first instruction: by then the locals are declared.
  void start_limits();
  void check_limits();
  /// One that costs nothing was counted by `at`.
  void free_of_charge() { --fuel_used_; }
  /// Takes off what was counted: before control flow parts or joins.
  void charge_fuel();
  void before_branch() {
    if (env_.settings.fuel) charge_fuel();
  }
  void store_fuel();
  void load_fuel();
  /// Around whatever leaves the function, for good or for a while.
  void before_leaving() {
    if (env_.settings.fuel) store_fuel();
  }
  void after_call() {
    if (env_.settings.fuel) load_fuel();
  }
  void check_division(wasm::Op op, Value x, Value y);

  // ---- memory/access.cpp
  struct Address {
    Value base;
    std::int32_t offset;
    ir::MemFlagsRef flags;
  };
  Address heap_address(const wasm::MemArg& mem, Value address, std::uint32_t bytes);
  Address checked_address(const wasm::MemArg& mem, Value address, std::uint32_t bytes,
                          ir::MemFlagsRef flags);
  bool explicit_bounds() const { return env_.settings.explicit_bounds || !env_.settings.signals; }
  Value memory_base(std::uint32_t memory);
  Value memory_length(std::uint32_t memory);
  /// A load of the instance that holds for the whole function, put at its very beginning.
  Value load_at_entry(std::int32_t offset);

  // ---- body/table.cpp
  struct TableFacts {
    bool fixed;  ///< its size never changes: `length` is constant, the elements stay where they are
    std::uint64_t length;
  };
  TableFacts table_facts(std::uint32_t table) const;
  Value table_pointer(std::uint32_t table);
  Value table_length(std::uint32_t table);
  /// Checked address of an element.
  Value table_slot(std::uint32_t table, Value place, ir::TrapCode out_of_bounds);

  // ---- calls/calls.cpp
  ir::SigRef signature(std::uint32_t type);
  ir::FuncRef function(std::uint32_t func);
  void take_results(ir::Inst call, Out results);
  ir::Inst call_builtin(image::Builtin builtin, std::initializer_list<Value> args);
  Value builtin_result(image::Builtin builtin, std::initializer_list<Value> args);

  // ---- Flags and alias regions, made with their first use in a function.
  enum class Region : std::uint32_t { Memory = 1, Global = 2, Table = 3, State = 4, Limits = 5 };
  ir::AliasRegion region(Region kind, std::uint32_t index);
  /// Of accesses that cannot fail: fields of the instance and what it points to.
  ir::MemFlagsRef state_flags(Region kind, std::uint32_t index);

  /// Per-function cache by index, emptied by starting a new epoch.
  template <typename T>
  class Cache {
   public:
    void resize(std::size_t size) { slots_.resize(size); }
    std::size_t size() const { return slots_.size(); }
    T& at(std::uint32_t index, std::uint32_t epoch) {
      Slot& slot = slots_[index];
      if (slot.epoch != epoch) slot = {T(), epoch};
      return slot.value;
    }

   private:
    struct Slot {
      T value;
      std::uint32_t epoch = 0;
    };
    std::vector<Slot> slots_;
  };
  struct MemoryCache {
    Value base;
    ir::MemFlagsRef flags;
  };

  void note_assignment() {
    if (assignments_ != nullptr) [[unlikely]]
      assignments_->reached_assignment(builder_.current_block());
  }

  const ModuleEnv& env_;
  ir::Function scratch_func_;  // what the builder refers to between functions
  ir::FunctionBuilder builder_;
  ir::Assignments* assignments_ = nullptr;  // of the function, if it has been scanned
  ir::Block entry_;
  Value ctx_;
  ir::MemFlagsRef constant_flags_;  // never changing fields of instance and function references
  bool too_complex_ = false;
  bool started_ = false;
  ir::Variable fuel_;
  std::uint32_t fuel_used_ = 0;  // since it was last taken off
  std::uint32_t epoch_ = 0;
  Cache<ir::SigRef> signatures_;           // by canonical type
  Cache<ir::FuncRef> functions_;           // by function
  Cache<ir::AliasRegion> global_regions_;  // by global; all imported ones share the first
  Cache<ir::AliasRegion> table_regions_;   // the same for tables and memories
  Cache<ir::AliasRegion> memory_regions_;
  Cache<MemoryCache> memories_;
  Cache<ir::FuncRef> builtins_;
  Cache<ir::AliasRegion> state_region_;
  Cache<ir::AliasRegion> limits_region_;
  std::vector<Value> values_;
  std::vector<ir::FunctionBuilder::Target> targets_;
  struct TableEdge {
    ir::Block stub;
    ir::Block target;
  };
  std::vector<TableEdge> edges_;
  Cache<ir::Block> edge_of_depth_;  // in epochs of its own: one per table
  std::uint32_t table_epoch_ = 0;
};

}  // namespace hoist::translate
