// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The part of body decoding that does not depend on the sink: immediates, locals, index checks and
/// error texts. A function that returns false has recorded the error.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wasm/decode/byte_reader.hpp"
#include "wasm/decode/sink.hpp"

namespace hoist::wasm {

/// What the hot loop needs to know of an opcode, in 8 bytes. Types as TypeKind; `in` is the type of
/// every operand of an operator of the numeric groups, of the value of a store.
struct OpMeta {
  Group group = Group::Illegal;
  TypeKind in = TypeKind::Bottom;
  TypeKind out = TypeKind::Bottom;
  std::uint8_t align_log2 = 0;
};
extern const std::array<OpMeta, kOpNumbers> kOpMeta;

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
  bool read_block_type(BlockType& out);
  /// `align_log2` is the natural alignment, which the argument's must not exceed.
  bool read_mem_arg(std::uint8_t align_log2, MemArg& out);
  bool read_select_type(ValType& out);
  bool read_null_type(ValType& out);
  bool read_label_table(std::size_t num_labels);
  bool read_u32(std::uint32_t& out) { return reader_.u32(out) || fail_read(); }

  // Index immediates: read, then checked against the module.
  bool read_local(std::uint32_t& out);
  bool read_global(std::uint32_t& out);
  bool read_function(std::uint32_t& out);
  bool read_type(std::uint32_t& out);
  bool read_table(std::uint32_t& out);
  bool read_memory(std::uint32_t& out);
  bool check_data(std::uint32_t data);
  bool check_elem(std::uint32_t elem);
  bool read_label(std::size_t num_labels, std::uint32_t& out);
  bool check_declared(std::uint32_t func);
  bool check_mutable(std::uint32_t global);
  /// Element types of a copy or init must agree.
  bool check_elements(ValType found, ValType expected);

  // Errors; each returns false. `at_` is the offset of the instruction.
  bool fail(ErrorKind kind, std::string message, std::uint32_t offset);
  bool invalid(std::string message) { return fail(ErrorKind::Invalid, std::move(message), at_); }
  bool fail_read();
  bool fail_opcode(std::uint16_t number);
  bool fail_feature(Feature feature, std::string_view what, std::uint32_t offset);
  bool fail_unknown(std::string_view what, std::uint32_t index, std::size_t count);
  bool fail_type(ValType expected, ValType found);
  bool fail_empty(ValType expected);
  bool fail_height(std::size_t extra);
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

 private:
  ValType run_local_type(std::uint32_t index) const;

  // Types of the first locals, one by one: what almost every function has. A body of five bytes can
  // declare 50,000 locals, so they are not all written out.
  std::vector<ValType> dense_locals_;
  std::optional<Error> error_;
};

}  // namespace hoist::wasm
