// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The bytes of one function while they are being written, with everything that refers to places in
/// them: labels, fixups, constants, relocations, and the records that become side tables.
///
/// Use: emit code with labels and records in ascending order of offset (which emission gives by
/// itself), then `finish` once: it shortens branches, appends jump tables and constants, and
/// resolves labels. `clear` makes the buffer ready for the next function and keeps the memory.
/// Knows no instruction set but for the branch forms listed in FixupKind.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/entity.hpp"
#include "base/result.hpp"

namespace hoist::masm {

HOIST_ENTITY(Label, "L");
HOIST_ENTITY(Constant, "const");
/// Something outside this function; what the number means is the owner's matter.
HOIST_ENTITY(Symbol, "sym");

enum class FixupKind : std::uint8_t {
  Rel32,        ///< 4 bytes at `offset`: target + addend - offset
  X64JmpLong,   ///< instruction E9 rel32 at `offset`
  X64JmpShort,  ///< instruction EB rel8 at `offset`
  X64JccLong,   ///< instruction 0F 8x rel32 at `offset`
  X64JccShort   ///< instruction 7x rel8 at `offset`
};

enum class RelocKind : std::uint8_t {
  PcRel32,    ///< 4 bytes: S + A - P
  Abs64,      ///< 8 bytes: S + A
  TlsIndex32  ///< 4 bytes: address of the index (module, offset) of a thread-local S, + A - P
};

struct Reloc {
  std::uint32_t offset;
  Symbol symbol;
  std::int64_t addend;
  RelocKind kind;
};

/// The instruction at `offset` may trap with `code`.
struct TrapRecord {
  std::uint32_t offset;
  std::uint32_t code;
};

/// Code from `offset` to the next record belongs to source location `loc`.
struct SourceRecord {
  std::uint32_t offset;
  std::uint32_t loc;
};

/// A call returns to `offset`; `data` is the caller's.
struct CallRecord {
  std::uint32_t offset;
  std::uint32_t data;
};

class CodeBuffer {
 public:
  /// Larger functions fail in `finish`.
  static constexpr std::uint32_t kMaxSize = 1u << 30;
  /// The most that one `reserve` may ask for.
  static constexpr std::uint32_t kMaxReserve = 64;

  CodeBuffer() = default;
  CodeBuffer(const CodeBuffer&) = delete;
  CodeBuffer& operator=(const CodeBuffer&) = delete;

  void clear();

  // ---- bytes
  std::uint32_t offset() const { return static_cast<std::uint32_t>(cursor_ - begin_.get()); }
  /// Room for `count` (at most kMaxReserve) bytes; write them and `commit` the end.
  std::uint8_t* reserve(std::uint32_t count = 32) {
    if (static_cast<std::size_t>(limit_ - cursor_) < count) [[unlikely]]
      grow();
    return cursor_;
  }
  void commit(std::uint8_t* end) { cursor_ = end; }
  void put(std::span<const std::uint8_t> bytes);

  // ---- labels
  Label new_label() { return labels_.push(kUnbound); }
  /// Makes labels 0..count-1 at once, for instance one per block; only right after `clear`.
  void make_labels(std::uint32_t count);
  void bind(Label label);
  bool is_bound(Label label) const { return labels_[label] != kUnbound; }
  /// Where a bound label is; final after `finish`.
  std::uint32_t label_offset(Label label) const { return labels_[label]; }
  /// The instruction (branches) or field (Rel32) at `offset` refers to `label`.
  void add_fixup(FixupKind kind, std::uint32_t offset, Label label, std::int32_t addend = 0) {
    fixups_.push_back({offset, label, addend, kind, false});
  }

  // ---- data after the code
  /// A constant of 4, 8 or 16 bytes, aligned to its size; equal ones are shared.
  Constant add_constant(std::span<const std::uint8_t> bytes);
  Constant add_constant32(std::uint32_t bits);
  Constant add_constant64(std::uint64_t bits);
  /// The 4 bytes at `offset`: constant + addend - offset.
  void add_constant_fixup(std::uint32_t offset, Constant constant, std::int32_t addend) {
    constant_fixups_.push_back({offset, constant, addend});
  }
  /// A table of 32-bit distances from the table to each target. The label is where it begins.
  Label add_jump_table(std::span<const Label> targets);

  // ---- records
  void add_reloc(RelocKind kind, std::uint32_t offset, Symbol symbol, std::int64_t addend) {
    relocs_.push_back({offset, symbol, addend, kind});
  }
  void add_trap(std::uint32_t code) { add_trap_at(offset(), code); }
  /// `at` is not before the last record.
  void add_trap_at(std::uint32_t at, std::uint32_t code) { traps_.push_back({at, code}); }
  /// From here on, code belongs to `loc`. Repetitions are dropped.
  void add_source(std::uint32_t loc);
  /// The call that was just emitted.
  void add_call(std::uint32_t data) { calls_.push_back({offset(), data}); }

  // ---- result
  struct FinishOptions {
    bool shrink_branches = true;
  };
  /// Resolves everything. All labels that are referred to must be bound. Error: Limit, too large.
  Result<void> finish(FinishOptions options);
  Result<void> finish() { return finish(FinishOptions{}); }
  /// Valid after `finish`: code, then constants and jump tables.
  std::span<const std::uint8_t> bytes() const { return {begin_.get(), offset()}; }
  /// Bytes of code alone.
  std::uint32_t code_size() const { return code_size_; }
  /// What the place of the first byte must be aligned to.
  std::uint32_t alignment() const { return alignment_; }
  std::span<const Reloc> relocs() const { return {relocs_.data(), relocs_.size()}; }
  std::span<const TrapRecord> traps() const { return {traps_.data(), traps_.size()}; }
  std::span<const SourceRecord> sources() const { return {sources_.data(), sources_.size()}; }
  std::span<const CallRecord> calls() const { return {calls_.data(), calls_.size()}; }

 private:
  static constexpr std::uint32_t kUnbound = 0xffff'ffff;
  struct Fixup {
    std::uint32_t offset;
    Label label;
    std::int32_t addend;
    FixupKind kind;
    bool shrink;
  };
  struct ConstantFixup {
    std::uint32_t offset;
    Constant constant;
    std::int32_t addend;
  };
  struct ConstantData {
    std::uint8_t bytes[16];
    std::uint32_t size;
    std::uint32_t offset;  ///< final, from `finish`
  };
  struct JumpTable {
    Label label;
    std::uint32_t first;  ///< into table_targets_
    std::uint32_t count;
  };
  /// `saved` bytes were removed in all before old offset `end`.
  struct Cut {
    std::uint32_t end;
    std::uint32_t saved;
  };

  void grow();
  void ensure(std::size_t bytes);
  void pad_to(std::uint32_t align);
  void rehash_constants();
  bool mark_short_branches();
  void remove_marked();
  void rewrite_offsets();
  void append_constants(std::uint32_t size);
  void append_jump_tables();
  void resolve();

  std::unique_ptr<std::uint8_t[]> begin_;
  std::uint8_t* cursor_ = nullptr;
  std::uint8_t* limit_ = nullptr;
  std::size_t capacity_ = 0;
  base::EntityTable<Label, std::uint32_t> labels_;
  std::vector<Label> bound_;  ///< in order of offset
  std::vector<Fixup> fixups_;
  base::EntityTable<Constant, ConstantData> constants_;
  std::vector<std::uint32_t> constant_slots_;  ///< open hashing: index + 1; a power of two
  std::vector<ConstantFixup> constant_fixups_;
  std::vector<JumpTable> tables_;
  std::vector<Label> table_targets_;
  std::vector<Reloc> relocs_;
  std::vector<TrapRecord> traps_;
  std::vector<SourceRecord> sources_;
  std::vector<CallRecord> calls_;
  std::vector<Cut> cuts_;
  std::uint32_t code_size_ = 0;
  std::uint32_t alignment_ = 16;
  bool too_large_ = false;
};

}  // namespace hoist::masm
