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
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "image/layout/builtin.hpp"
#include "ir/builder.hpp"
#include "translate/translator.hpp"
#include "wasm/decode/sink.hpp"

namespace hoist::translate {

struct LegacyTries;

class IrSink {
 public:
  using Value = ir::Value;
  static constexpr std::uint32_t kNoScope = 0xffff'ffff;
  struct Frame {
    ir::Block target;                ///< where branches to the label go; a loop's header
    ir::Block other;                 ///< of an if: its else part
    std::uint32_t scope = kNoScope;  ///< of a try block
    Value caught;                    ///< in a legacy catch: the exception
  };
  using Label = wasm::Label<Frame>;
  using In = std::span<const wasm::Operand<Value>>;
  using Out = std::span<wasm::Operand<Value>>;

  explicit IrSink(const ModuleEnv& env);

  /// The next function goes to `func`, which is clear.
  /// `assignments`: where the function assigns its locals, or null.
  /// `legacy`: its legacy try blocks, needed if it has any.
  void reset(ir::Function& func, ir::SimplifyFn simplify, ir::Assignments* assignments,
             const LegacyTries* legacy = nullptr);
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

  void return_call(std::uint32_t func, const wasm::FuncType& type, In args);
  void return_call_indirect(std::uint32_t type, std::uint32_t table,
                            const wasm::FuncType& func_type, Value callee, In args);
  void return_call_ref(std::uint32_t type, const wasm::FuncType& func_type, Value callee, In args);

  // ---- body/exceptions.cpp
  void try_table(const wasm::BlockType& block, Frame& frame,
                 std::span<const wasm::CatchClause> clauses, const wasm::Labels<Frame>& labels);
  void throw_(std::uint32_t tag, In args);
  void throw_ref(Value exception);
  void try_(const wasm::BlockType& block, Frame& frame);
  void catch_(const wasm::BlockType& block, Frame& frame, std::uint32_t tag, bool reachable,
              In results, Out caught);
  void catch_all(const wasm::BlockType& block, Frame& frame, bool reachable, In results);
  void rethrow(const Label& label);
  void delegate(const wasm::BlockType& block, Frame& frame, const Label& to, bool falls_through,
                bool continues, Out results);

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

  // ---- body/later.cpp
  const wasm::Refusal* refused() const { return refusal_ ? &*refusal_ : nullptr; }
  void call_ref(std::uint32_t type, const wasm::FuncType& func_type, Value callee, In args,
                Out results);
  Value ref_as_non_null(Value value);
  Value ref_eq(Value x, Value y);
  Value br_on_null(const Label& label, Value value, In values);
  void br_on_non_null(const Label& label, Value value, In values);
  Value atomic_load(wasm::Op op, const wasm::MemArg& mem, Value address);
  void atomic_store(wasm::Op op, const wasm::MemArg& mem, Value address, Value value);
  Value atomic_rmw(wasm::Op op, const wasm::MemArg& mem, Value address, Value value);
  Value atomic_cmpxchg(wasm::Op op, const wasm::MemArg& mem, Value address, Value expected,
                       Value replacement);
  Value atomic_notify(const wasm::MemArg& mem, Value address, Value count);
  Value atomic_wait(wasm::Op op, const wasm::MemArg& mem, Value address, Value expected,
                    Value timeout);
  void atomic_fence();
  void heap(wasm::Op op, const wasm::HeapImm& imm, In in, Out out);

  // ---- body/vector.cpp. The values are i8x16.
  Value const_v128(std::span<const std::uint8_t, 16> bytes);
  Value vector(wasm::Op op, In in, std::uint8_t lane);
  Value shuffle(std::span<const std::uint8_t, 16> lanes, Value x, Value y);
  void wide(wasm::Op op, In in, Out out);

  // ---- memory/vector_access.cpp
  Value load_lane(wasm::Op op, const wasm::MemArg& mem, std::uint8_t lane, Value address,
                  Value vector);
  void store_lane(wasm::Op op, const wasm::MemArg& mem, std::uint8_t lane, Value address,
                  Value vector);

 private:
  // ---- body/later.cpp
  /// The function will be refused by the instruction's name. Returns no value.
  Value unsupported(wasm::Op op);
  Value unsupported(std::string_view what);

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

  // ---- body/vector.cpp
  ir::MemFlagsRef little_endian();
  /// The same bits as lanes of another type.
  Value as_lanes(ir::Type type, Value v);
  Value splat_constant(ir::Type type, std::uint64_t lane);
  /// `v`, a result of float arithmetic, with the canonical NaN where it is any, if that is wanted.
  Value canonical_nan(Value v);
  Value plain_vector(wasm::Op op, In in, std::uint8_t lane);
  Value relaxed_vector(wasm::Op op, In in);
  Value choose_less(Value x, Value y, Value if_so, Value if_not);
  Value dot(ir::Op widen, ir::Type wide, Value x, Value y);
  Value saturating_dot(Value x, Value y);
  Value add_pairs(ir::Op widen, ir::Type wide, Value x);
  Value truncate_zero(ir::Op convert, Value x);
  Value multiply_add(Value x, Value y, Value z, bool negate);

  // ---- memory/vector_access.cpp
  Value load_vector(wasm::Op op, const wasm::MemArg& mem, Value address);

  // ---- body/bulk.cpp
  /// An index or length as i64; `is64`: it is one already.
  Value widen(Value x, bool is64 = false);
  /// A result of the runtime as the address type has it.
  Value narrow(Value x, bool is64);
  Value index_constant(std::uint32_t index);

  // ---- trap/limits.cpp
  Value store_context();
  void call_if(Value condition, image::Builtin builtin);
  /// Before the first instruction: by then the locals are declared.
  void start_limits();
  void check_limits();
  void check_interrupts();
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
  Address reserved_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                           ir::MemFlagsRef flags);
  Address exact_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                        ir::MemFlagsRef flags);
  Address wide_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                       ir::MemFlagsRef flags);
  void check_end(const wasm::MemArg& mem, Value index, std::uint64_t extent);
  Address place_at(std::uint32_t memory, Value index, std::uint64_t offset, ir::MemFlagsRef flags);
  /// The address if the access is inside whatever size the memory has.
  std::optional<Address> constant_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                                          ir::MemFlagsRef flags);
  const wasm::MemoryType& memory_type(std::uint32_t memory) const {
    return env_.module.memories[memory].type;
  }
  bool is_memory64(std::uint32_t memory) const { return memory_type(memory).is64; }
  bool explicit_bounds() const { return env_.settings.explicit_bounds || !env_.settings.signals; }
  Value memory_base(std::uint32_t memory);
  Value memory_length(std::uint32_t memory);
  /// A load of the instance that holds for the whole function, put at its very beginning.
  Value load_at_entry(std::int32_t offset);

  // ---- body/atomic.cpp
  Value atomic_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                       ir::MemFlagsRef& flags);

  // ---- body/table.cpp
  bool is_table64(std::uint32_t table) const { return env_.module.tables[table].type.is64; }
  struct TableFacts {
    bool fixed;  ///< its size never changes: `length` is constant, the elements stay where they are
    std::uint64_t length;
  };
  TableFacts table_facts(std::uint32_t table) const;
  Value table_pointer(std::uint32_t table);
  Value table_length(std::uint32_t table);
  /// Checked address of an element.
  Value table_slot(std::uint32_t table, Value place, ir::TrapCode out_of_bounds);

  // ---- body/references.cpp
  /// Tells the collector about a reference, unless it is one of a function.
  void note_reference(wasm::ValType type, Value v) {
    if (type.is_ref()) [[unlikely]]
      mark_reference(type, v);
  }
  void mark_reference(wasm::ValType type, Value v);
  /// Of loads of what a function reference points to, which is known not to be null.
  ir::MemFlagsRef func_ref_flags();
  /// Traps unless the function behind `ref` is of this type or one below.
  void check_func_type(Value ref, std::uint32_t type);
  /// Whether elements of this type that are not null are known to be of `type`.
  bool is_known_type(wasm::ValType element, std::uint32_t type) const;

  // ---- calls/calls.cpp
  struct Callee {
    Value code;
    Value context;
  };
  Callee imported_callee(std::uint32_t func);
  Callee table_callee(std::uint32_t type, std::uint32_t table, Value place);
  Callee referenced_callee(Value reference);
  Callee callee_of(Value reference);
  void set_args(Value context, In args);
  /// Calls `callee`, or if that is none `code` with that signature, with values_ as the arguments.
  void make_call(ir::FuncRef callee, ir::SigRef sig, Value code, Out results);
  void make_tail_call(Callee callee, std::uint32_t type, In args);
  ir::FuncRef builtin_function(image::Builtin builtin);
  ir::SigRef signature(std::uint32_t type);
  ir::FuncRef function(std::uint32_t func);
  void take_results(ir::Inst call, Out results);
  ir::Inst call_builtin(image::Builtin builtin, std::initializer_list<Value> args);
  Value builtin_result(image::Builtin builtin, std::initializer_list<Value> args);

  // ---- body/exceptions.cpp
  struct Clause {
    std::uint32_t tag = 0;  ///< image::kAnyTag: everything
    bool with_reference = false;
    ir::Block landing;  ///< where the unwinder enters, with the exception; none without calls
    ir::Block target;   ///< gets the payload, then the exception if `with_reference`
  };
  struct Scope {
    std::uint32_t outer = kNoScope;  ///< around it in the code
    std::uint32_t next = kNoScope;   ///< whose clauses come after its own
    std::uint32_t first_clause = 0;
    std::uint32_t clause_count = 0;
    std::uint32_t parts = 0;  ///< of a legacy try: catch parts that have begun
  };
  /// Ways from calls to handlers that a function may have whatever its size, and for each byte of
  /// its body, and at most. Sensible ones have less than one for a byte; each becomes a block of
  /// machine code.
  static constexpr std::uint64_t kHandlerWork = 100'000;
  static constexpr std::uint64_t kHandlerWorkOfByte = 1;
  static constexpr std::uint64_t kMostHandlerWork = 1'000'000;
  static constexpr std::uint64_t kComparisonWork = 4;  // of one tag with another
  void open_scope(Frame& frame, std::uint32_t next);
  void add_clause(std::uint32_t tag, bool with_reference, ir::Block target);
  void close_scope();
  void leave_scope();
  bool has_landings(const Scope& scope) const;
  void translate_landing(const Clause& clause);
  std::span<const std::uint32_t> active_clauses();
  /// Whether exceptions of a call here can be caught in this function.
  bool in_scope();
  bool count_handlers(std::size_t count);
  void call_in_scope(ir::FuncRef callee, ir::SigRef sig, Value code, Out results);
  static bool is_collected(wasm::ValType type);
  Value new_exception(std::uint32_t tag, In args, bool listed);
  void throw_to(std::uint32_t clause_number, std::uint32_t tag, In args);
  bool may_be_same_tag(std::uint32_t a, std::uint32_t b) const;
  Value tag_object(std::uint32_t tag);
  void throw_again(Value exception);
  void end_try(const wasm::BlockType& block, Frame& frame, bool falls_through, Out results);
  void begin_part(const wasm::BlockType& block, Frame& frame, bool reachable, In results);

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
  ir::MemFlagsRef bitcast_flags_;   // none until a vector is looked at as other lanes
  std::optional<wasm::Refusal> refusal_;
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
  std::vector<wasm::Operand<Value>> operands_;
  std::vector<ir::FunctionBuilder::Target> targets_;
  struct TableEdge {
    ir::Block stub;
    ir::Block target;
  };
  std::vector<TableEdge> edges_;
  const LegacyTries* legacy_ = nullptr;
  std::size_t next_legacy_ = 0;
  std::vector<Scope> scopes_;
  std::vector<std::uint32_t> open_scopes_;  // the present one last
  std::vector<Clause> clauses_;
  std::uint32_t scope_ = kNoScope;     // innermost, of the code that is being translated
  std::vector<std::uint32_t> active_;  // the clauses that hold in scope active_of_
  std::uint32_t active_of_ = kNoScope;
  Cache<bool> caught_tags_;  // in epochs of its own
  std::uint32_t caught_epoch_ = 0;
  std::uint64_t handler_work_ = 0;
  std::uint64_t most_handler_work_ = 0;
  std::vector<Value> payload_;
  std::vector<Value> try_results_;
  std::vector<ir::FunctionBuilder::Handler> handlers_;
  Cache<ir::Block> edge_of_depth_;  // in epochs of its own: one per table
  std::uint32_t table_epoch_ = 0;
};

}  // namespace hoist::translate
