// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The part of body decoding that does not depend on the sink: immediates, locals, index checks and
/// error texts. A function that returns false has recorded the error.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wasm/decode/byte_reader.hpp"
#include "wasm/decode/sink.hpp"

namespace hoist::wasm {

/// What the hot loop needs to know of an opcode, in 4 bytes. Types as TypeKind; `in` is the type of
/// every operand of an operator of the numeric groups, of the value of a store. `align_log2` is the
/// natural alignment of an access; of the group VectorLane it is the number of lanes.
struct OpMeta {
  Group group = Group::Illegal;
  TypeKind in = TypeKind::Bottom;
  TypeKind out = TypeKind::Bottom;
  std::uint8_t align_log2 = 0;
};
extern const std::array<OpMeta, kOpNumbers> kOpMeta;

/// Operand and result types of an operator whose signature is not "-"; Bottom stands for an
/// address.
struct OpShape {
  std::uint8_t num_in = 0;
  std::uint8_t num_out = 0;
  TypeKind in[4] = {};
  TypeKind out[2] = {};
};
extern const std::array<OpShape, kOpNumbers> kOpShapes;

class BodyReader {
 protected:
  BodyReader() : reader_({}) {}
  void reset(const Module& module, std::uint32_t func);

  /// Reads the local declarations, checks their number.
  bool read_locals();
  ValType local_type(std::uint32_t index) const {
    return index < dense_locals_.size() ? dense_locals_[index] : run_local_type(index);
  }
  bool read_prefixed(std::uint32_t prefix, std::uint16_t& number);
  /// Reads a value type that the module's features allow and whose type index exists. `malformed`
  /// is the message if it is none.
  bool read_value_type(std::string_view malformed, ValType& out);
  /// A heap type, as the reference type of that nullability.
  bool read_heap_type_ref(bool nullable, ValType& out);
  bool read_block_type(BlockType& out);
  /// `align_log2` is the natural alignment, which the argument's must not exceed.
  bool read_mem_arg(std::uint8_t align_log2, MemArg& out);
  /// The same with an alignment that must be natural.
  bool read_atomic_arg(std::uint8_t align_log2, MemArg& out);
  /// A lane below `lanes`.
  bool read_lane(std::uint32_t lanes, std::uint8_t& out);
  /// Sixteen bytes, which stay where they are in the module.
  bool read_16_bytes(std::span<const std::uint8_t, 16>& out);
  bool read_fence();
  bool read_select_type(ValType& out);
  bool read_null_type(ValType& out);
  bool read_label_table(std::size_t num_labels);
  bool read_u32(std::uint32_t& out) { return reader_.u32(out) || fail_read(); }

  // Index immediates: read, then checked against the module.
  bool read_local(std::uint32_t& out);
  bool read_global(std::uint32_t& out);
  bool read_function(std::uint32_t& out);
  bool read_type(std::uint32_t& out);
  bool read_func_type(std::uint32_t& out);
  bool read_composite(CompositeKind kind, std::uint32_t& out);
  bool read_tag(std::uint32_t& out);
  /// The clauses of a try_table, into `clauses_`; their tags exist, their labels are below
  /// `num_labels`.
  bool read_clauses(std::size_t num_labels);
  bool read_table(std::uint32_t& out);
  bool read_memory(std::uint32_t& out);
  bool check_data(std::uint32_t data);
  bool check_elem(std::uint32_t elem);
  bool read_label(std::size_t num_labels, std::uint32_t& out);
  bool check_declared(std::uint32_t func);
  bool check_mutable(std::uint32_t global);
  /// Element types of a copy or init must agree.
  bool check_elements(ValType found, ValType expected);
  /// The elements of the table are functions.
  bool check_callee_table(std::uint32_t table);
  bool are_subtypes(std::span<const ValType> a, std::span<const ValType> b) const;
  /// What the clause sends is what the label takes.
  bool check_clause(const CatchClause& clause, std::span<const ValType> label_types);
  /// The label takes a reference as the last of its values.
  bool check_ref_label(std::span<const ValType> label_types);
  bool read_cast_flags(std::uint8_t& out);
  /// The type of references to that type.
  ValType type_ref(std::uint32_t type, bool nullable) const {
    return ValType::ref(HeapType::concrete(module_->canonical_type(type)), nullable);
  }
  /// The results of a tail call are those of the function.
  bool check_tail_call(const FuncType& callee);

  /// A heap instruction: its immediates, the types of its operands (`heap_in_`) and of its result
  /// (`heap_out_`, Bottom if there is none). body_heap.cpp.
  bool read_heap(HeapImm& imm);

  // Which locals without default value are known to be set: those on the stack `inits_`.
  bool check_set(std::uint32_t local);
  void mark_set(std::uint32_t local);
  void unset_to(std::uint32_t mark) {
    if (inits_.size() > mark) [[unlikely]]
      unset_down_to(mark);
  }
  std::uint32_t init_mark() const { return static_cast<std::uint32_t>(inits_.size()); }

  /// Refuses the body for the sink.
  bool fail_refused(const Refusal& refusal);

  // Errors; each returns false. `at_` is the offset of the instruction.
  bool fail(ErrorKind kind, std::string message, std::uint32_t offset);
  bool invalid(std::string message) { return fail(ErrorKind::Invalid, std::move(message), at_); }
  bool fail_read();
  bool fail_opcode(std::uint16_t number);
  bool fail_feature(Feature feature, std::string_view what, std::uint32_t offset);
  bool fail_unknown(std::string_view what, std::uint32_t index, std::size_t count);
  bool fail_type(ValType expected, ValType found);
  bool fail_not_ref(ValType found);
  bool fail_empty(ValType expected);
  /// `what` ("instruction", "block") takes other values than there are.
  bool fail_stack(std::string_view what, std::span<const ValType> expected,
                  std::span<const ValType> found);
  /// The recorded error, with the function's index and name added.
  Error take_error();

  const Module* module_ = nullptr;
  ByteReader reader_;
  const FuncType* type_ = nullptr;
  std::uint32_t func_ = 0;
  std::uint32_t at_ = 0;
  Op op_ = Op::Nop;
  std::uint32_t num_locals_ = 0;
  /// Declared runs: end index (exclusive) and type; the parameters are not among them.
  struct LocalRun {
    std::uint32_t end;
    ValType type;
  };
  std::vector<LocalRun> local_runs_;
  std::vector<std::uint32_t> depths_;
  std::vector<CatchClause> clauses_;
  std::vector<ValType> heap_in_;
  ValType heap_out_;
  /// kOpMeta, with the instructions of features that are off as `Later`.
  const OpMeta* meta_ = kOpMeta.data();

 private:
  // body_heap.cpp
  bool read_struct_op(HeapImm& imm);
  bool read_array_op(HeapImm& imm);
  bool read_array_new_fixed(HeapImm& imm);
  bool read_array_copy(HeapImm& imm);
  bool read_array_segment_op(HeapImm& imm);
  bool check_writable_array(std::uint32_t type);
  bool check_packing(const FieldType& field);
  bool check_default(const FieldType& field);

  void select_meta(Features features);
  bool resolve(ValType& type);
  std::span<const ValType> keep(ValType type);
  void unset_down_to(std::uint32_t mark);

  ValType run_local_type(std::uint32_t index) const;

  // Types of the first locals, one by one: what almost every function has. A body of five bytes can
  // declare 50,000 locals, so they are not all written out.
  std::vector<ValType> dense_locals_;
  std::vector<std::uint32_t> inits_;
  std::vector<std::uint32_t> set_in_;  // by local: number of the body in which it is set
  std::uint32_t body_number_ = 0;
  // Result types of blocks that have one of a reference type; stable while a body is decoded.
  std::vector<std::unique_ptr<ValType[]>> kept_;
  std::size_t num_kept_ = 0;
  Features meta_features_;
  std::unique_ptr<std::array<OpMeta, kOpNumbers>> own_meta_;
  std::optional<Error> error_;
};

}  // namespace hoist::wasm
