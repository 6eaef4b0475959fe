// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What a register allocator is told and what it answers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "codegen/mach/machine.hpp"

namespace hoist::codegen {

/// A register, a spill slot (8-byte units from the start of the spill area; a 16-byte value takes
/// two, aligned), or nothing: only the Def of a kRemat instruction whose value is made again
/// wherever it is needed; such an instruction is not emitted.
struct Alloc {
  enum class Kind : std::uint8_t { None, Reg, Slot };
  Kind kind = Kind::None;
  PReg reg;
  std::uint16_t slot = 0;
  static constexpr Alloc of(PReg r) { return {Kind::Reg, r, 0}; }
  static constexpr Alloc of_slot(std::uint16_t slot) { return {Kind::Slot, {}, slot}; }
  constexpr bool is_reg() const { return kind == Kind::Reg; }
  constexpr bool is_slot() const { return kind == Kind::Slot; }
  friend constexpr bool operator==(Alloc, Alloc) = default;
};
static_assert(sizeof(Alloc) == 4);

/// A copy to be made just before instruction `before`. Copies with the same `before` are made in
/// the order of the list, one after another (parallel copies are already resolved; a cycle is
/// broken through the class's scratch register or an Exchange).
struct AllocMove {
  static constexpr std::uint32_t kNoRemat = 0xffff'ffff;
  enum class Kind : std::uint8_t { Copy, Exchange };
  std::uint32_t before = 0;
  Alloc from;
  Alloc to;
  std::uint32_t remat_inst =
      kNoRemat;  ///< instead of copying `from`: execute this instruction into `to`
  RegClass cls = RegClass::Int;
  std::uint8_t bytes = 8;
  Kind kind = Kind::Copy;  ///< Exchange: two integer registers
};

struct Allocation {
  std::vector<Alloc> allocs;     ///< parallel to MachFunction::operands
  std::vector<AllocMove> moves;  ///< ascending by `before`
  std::uint32_t spill_slots = 0;
  RegMask used;  ///< every register written, clobbers of calls not counted
  void clear() {
    allocs.clear();
    moves.clear();
    spill_slots = 0;
    used = {};
  }
};

/// The registers that may be allocated, in order of preference (caller-saved first).
struct RegisterFile {
  std::vector<PReg> int_order;
  std::vector<PReg> float_order;
  RegMask callee_saved;  ///< of the function's own convention: using one costs a save and a restore
  PReg float_scratch;    ///< never allocated; slot-to-slot copies and cycles go through it
};

enum class AllocatorKind : std::uint8_t { LinearScan, Simple };

/// Reused between functions; see linear_scan.hpp and simple.hpp.
class RegAllocator {
 public:
  virtual ~RegAllocator() = default;
  /// Fills `out`. Errors: ErrorKind::Limit when spill slots or registers cannot satisfy the
  /// constraints (a function with more than 65,535 spill slots).
  virtual Result<void> run(const MachFunction& func, const RegisterFile& regs, Allocation& out) = 0;
};

std::unique_ptr<RegAllocator> make_allocator(AllocatorKind kind);

/// Symbolic check that `alloc` preserves the data flow of `func` (every use reads the value that
/// was meant, on every path; constraints and clobbers respected). Empty string: it does; else a
/// message that names block, instruction and operand.
std::string check_allocation(const MachFunction& func, const RegisterFile& regs,
                             const Allocation& alloc);

}  // namespace hoist::codegen
