// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The reference interpreter: runs verified functions of scalars and vectors up to 128 bits, one
/// instruction at a time. A dynamic vector is its fixed part.
///
/// Deterministic: stack slots and frames live at made-up addresses, the same in every run. A memory
/// access is checked against the slots that are alive and the memory that the caller mapped:
/// outside of them it traps with the access's trap code, and is an error where the flags say
/// `notrap`. Guest calls do not use the host's stack.
///
/// Assumes: each function passed the verifier.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "ir/data_value.hpp"
#include "ir/function.hpp"
#include "ir/interp/scalar.hpp"

namespace hoist::ir {

class Interpreter {
 public:
  struct Limits {
    std::uint64_t fuel = 100'000'000;  ///< instructions
    std::uint32_t call_depth = 10'000;
    std::size_t value_bytes = std::size_t{256} << 20;  ///< of all frames together
    std::size_t stack_bytes = std::size_t{16} << 20;   ///< of stack slots together
    std::uint64_t stack_address = 0x1000'0000;         ///< where they lie; a multiple of 4096
  };
  struct Outcome {
    enum class Kind : std::uint8_t { Returned, Trapped, OutOfFuel };
    Kind kind = Kind::Returned;
    TrapCode trap = TrapCode::None;
    std::vector<DataValue> values;
  };

  Interpreter() = default;
  explicit Interpreter(const Limits& limits) : limits_(limits) {}

  /// Makes `func` callable by its name. It must stay alive and unchanged.
  void add_function(const Function& func);
  /// Lets the guest access host memory at `address`.
  void map_memory(std::uint64_t address, std::span<std::uint8_t> memory);

  /// Runs `func`; errors name what cannot be interpreted. Call stack overflow is a trap.
  Result<Outcome> run(const Function& func, std::span<const DataValue> args);

 private:
  using U128 = interp::U128;
  /// A function with its callees looked up.
  struct Code {
    const Function* func = nullptr;
    std::vector<std::uint32_t> callees;  // by FuncRef: index of the code, or kLibcall
  };
  static constexpr std::uint32_t kLibcall = 0xffff'ffff, kNotLookedUp = 0xffff'fffe;
  /// What get_frame_pointer points to: 16 bytes that hold the outer frame pointer and 0.
  struct FrameCell {
    std::uint64_t outer = 0;
    std::uint64_t return_address = 0;
  };
  struct Frame {
    std::uint32_t code = 0;
    std::size_t values = 0;   // first of its values in values_
    std::size_t regions = 0;  // count of regions_ before its slots
    std::size_t stack = 0;    // used bytes of the stack before its slots
    std::uint32_t first_slot = 0;
    Inst at;
  };
  struct Region {
    std::uint64_t address;
    std::uint64_t size;
    std::uint8_t* memory;
  };
  /// What one step leads to.
  enum class Step : std::uint8_t { Continue, Finished };

  /// An access of memory: where it is in the host, or what to do instead.
  struct Access {
    std::uint8_t* memory = nullptr;  ///< null: `step` says how to go on
    Step step = Step::Continue;
  };

  std::uint32_t code_of(const Function& func);
  const Function& func() const { return *codes_[frames_.back().code].func; }
  U128& value(Value v) { return values_[frames_.back().values + func().resolve(v).index()]; }
  Error unsupported(Inst inst) const;

  Result<void> check_types(const Function& func) const;
  Result<Step> step();
  Result<Step> compute(Inst inst);
  Result<Step> branch(Inst inst);
  Step go_to(BlockCall call);
  Result<Step> nullary(Inst inst);
  Result<Access> access(Inst inst, Value address, std::int32_t offset, unsigned bytes);
  Result<Step> load(Inst inst);
  Result<Step> store(Inst inst);
  Result<Step> atomic(Inst inst);
  Result<Step> call(Inst inst);
  Step return_to(Inst call, std::span<const U128> values);
  Result<Step> throw_exception(Inst inst, std::span<const U128> args);
  Result<Step> libcall(Inst inst, std::string_view name, std::span<const U128> args);
  Result<Step> memory_libcall(Inst inst, std::string_view name, std::span<const U128> args);
  Result<std::uint32_t> callee(Inst inst);
  Result<U128> address_of_callee(Inst inst);
  Result<Step> enter(std::uint32_t code, std::span<const U128> args);
  Step leave(std::span<const U128> values);
  void pop_frame();
  void push_region(std::uint32_t bytes, unsigned align_log2);
  std::uint64_t frame_pointer(std::size_t frame) const;
  Step trap(TrapCode code);
  Result<U128> global_value(GlobalValue global);
  std::uint8_t* find(std::uint64_t address, std::uint64_t size);
  U128 function_address(std::uint32_t code) const;

  Limits limits_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::unordered_map<const Function*, std::uint32_t> by_func_;
  std::vector<Code> codes_;
  std::vector<Region> mapped_;

  std::vector<Frame> frames_;
  std::vector<U128> values_;
  std::vector<Region> regions_;         // stack slots, ascending
  std::vector<FrameCell> frame_cells_;  // one for each frame
  std::vector<std::uint8_t> stack_;
  std::size_t stack_used_ = 0;
  U128 pinned_ = 0;
  std::uint64_t fuel_ = 0;
  Outcome outcome_;
  std::vector<U128> scratch_;
};

}  // namespace hoist::ir
