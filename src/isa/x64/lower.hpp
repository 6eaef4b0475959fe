// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Instruction selection for x86-64: the rules, one .cpp file per family (lower_*.cpp), driven by
/// codegen/lower/lower_inl.hpp.
///
/// Narrow integers are computed in 32-bit registers with unspecified upper bits; what looks at
/// upper bits (right shifts, division, comparison, conversion) extends first or works at the narrow
/// width.

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "codegen/lower/lower_base.hpp"
#include "isa/x64/abi.hpp"
#include "isa/x64/pseudo.hpp"

namespace hoist::isa::x64 {

using codegen::Address;
using codegen::MachInst;
using codegen::Operand;
using codegen::VReg;
using masm::x64::Cc;
using masm::x64::Feature;
using masm::x64::FeatureSet;
using masm::x64::Op;

class Lowering;
}  // namespace hoist::isa::x64

namespace hoist::codegen {
template <typename Rules>
Result<void> lower_function(Rules& rules, const ir::Function& func, MachFunction& out);
}

namespace hoist::isa::x64 {

/// What the flags say after a comparison.
struct Condition {
  enum class Kind : std::uint8_t {
    One,  ///< `cc` holds
    Fne,  ///< ZF = 0 or PF = 1: floats not equal or unordered
    Feq,  ///< ZF = 1 and PF = 0: floats equal
  };
  Kind kind = Kind::One;
  Cc cc = Cc::E;
  Condition inverted() const {
    switch (kind) {
      case Kind::One: return {kind, masm::x64::invert(cc)};
      case Kind::Fne: return {Kind::Feq, cc};
      case Kind::Feq: return {Kind::Fne, cc};
    }
    return *this;
  }
};

/// What a call with handlers needs besides.
struct TryPart {
  std::span<const VReg> contexts;
  std::uint32_t first_context = 0;  ///< out: number of the first one's operand
};

class Lowering final : public codegen::LowerBase {
 public:
  explicit Lowering(FeatureSet features, bool pins_register = false)
      : features_(features), pins_register_(pins_register) {}

 private:
  template <typename Rules>
  friend Result<void> codegen::lower_function(Rules& rules, const ir::Function& func,
                                              codegen::MachFunction& out);

  // ---- The driver's interface.
  Result<void> lower_signature();
  void lower_entry(bool jump);
  void lower_inst(ir::Inst inst);
  void lower_operation(ir::Inst inst);
  void lower_end(ir::Inst inst);
  void lower_edge(const codegen::BlockOrder::Edge& edge);

  // ---- Registers (lower.cpp).
  bool has(Feature feature) const { return (features_ & masm::x64::feature_bit(feature)) != 0; }
  /// The register that holds `v` (see abi.hpp on upper bits). Makes constants and addresses.
  VReg reg(ir::Value v);
  /// A register whose low `bits` bits are those of `v`; the others may be anything.
  VReg low(ir::Value v, unsigned bits);
  VReg make_int(std::uint64_t bits);
  VReg make_float(unsigned bytes, std::uint64_t bits);
  VReg make_symbol(const ir::ExternalName& name, bool colocated, std::int64_t offset);
  /// `v` (8 to 64 bits) sign- or zero-extended to at least 32 bits.
  VReg extended(ir::Value v, bool is_signed);
  /// Copies into `to` what is a register already; a hint to coalesce.
  void move(VReg to, VReg from, codegen::RegClass cls = codegen::RegClass::Int);
  static bool fits_imm32(std::int64_t value) { return value == static_cast<std::int32_t>(value); }
  static unsigned op_width(ir::Type type) { return type.bits() <= 32 ? 4 : 8; }
  /// Imm of an operation of `width` bytes for constant `v`, if it can be encoded.
  std::optional<std::int64_t> immediate(ir::Value v, unsigned width) const;
  /// The value of one use may be taken over by `root`: its only use, or cheap and in the same
  /// block.
  bool can_fuse(ir::Inst inst, ir::Inst root) const {
    return is_single_use(func().result(inst)) || same_block(inst, root);
  }

  MachInst mi(Op op, unsigned width, std::int64_t imm = 0) const {
    MachInst i;
    i.op = raw(op);
    i.width = static_cast<std::uint8_t>(width);
    i.imm = imm;
    return i;
  }
  MachInst mi(Pseudo op, unsigned width = 0, std::int64_t imm = 0) const {
    MachInst i;
    i.op = raw(op);
    i.width = static_cast<std::uint8_t>(width);
    i.imm = imm;
    return i;
  }
  static Op next(Op op, unsigned steps = 1) {
    return static_cast<Op>(static_cast<unsigned>(op) + steps);
  }
  // Shapes: d = op(a, b), two-address.
  void rr(Op op, unsigned width, VReg d, VReg a, VReg b) {
    emit(mi(op, width), {codegen::def_same(d, 1), codegen::use(a), codegen::use_any(b)});
  }
  void ri(Op op, unsigned width, VReg d, VReg a, std::int64_t imm) {
    emit(mi(op, width, imm), {codegen::def_same(d, 1), codegen::use(a)});
  }
  void rm(Op op, unsigned width, VReg d, VReg a, const Address& address) {
    emit(mi(op, width), {codegen::def_same(d, 1), codegen::use(a)}, address);
  }
  void r(Op op, unsigned width, VReg d, VReg a) {
    emit(mi(op, width), {codegen::def_same(d, 1), codegen::use(a)});
  }
  /// d = op(a), three-address.
  void mov(Op op, unsigned width, VReg d, VReg a) {
    emit(mi(op, width), {codegen::def(d), codegen::use_any(a)});
  }
  // Into a new register.
  VReg rr(Op op, unsigned width, VReg a, VReg b) {
    const VReg d = new_int();
    rr(op, width, d, a, b);
    return d;
  }
  VReg ri(Op op, unsigned width, VReg a, std::int64_t imm) {
    const VReg d = new_int();
    ri(op, width, d, a, imm);
    return d;
  }
  VReg mov(Op op, unsigned width, VReg a) {
    const VReg d = new_int();
    mov(op, width, d, a);
    return d;
  }
  void cmov(Cc cc, unsigned width, VReg d, VReg otherwise, VReg then);
  void setcc(Cc cc, VReg d, bool zero_extend);
  void trap_if(Cc cc, image::TrapCode code);
  void unsupported(ir::Inst inst);

  // ---- Memory (lower_memory.cpp).
  Address address(ir::Value pointer, std::int64_t offset, image::TrapCode trap);
  std::uint64_t largest_i32(ir::Value v, unsigned depth) const;
  unsigned strip_narrow_index(ir::Value& index, std::int64_t& offset) const;
  Address constant_address(unsigned bytes, std::uint64_t low, std::uint64_t high = 0);
  /// If `v` is a plain load of all of its type that may move to `root`: takes it over.
  bool fold_load(ir::Value v, ir::Inst root, Address& out);
  bool fold_load(ir::Value v, ir::Op op, ir::Inst root, Address& out);
  void load_into(Op op, unsigned width, VReg d, const Address& address) {
    emit(mi(op, width), {codegen::def(d)}, address);
  }
  void lower_load(ir::Inst inst);
  void lower_big_endian_load(ir::Inst inst, VReg d, const Address& address);
  void lower_store(ir::Inst inst);
  void lower_big_endian_store(ir::Inst inst, ir::Value v, unsigned bytes, const Address& address);
  bool lower_read_modify_write(ir::Inst store, ir::Value v, unsigned bytes);
  bool store_constant(ir::Value v, unsigned bytes, const Address& address);
  bool store_of_lane(ir::Inst store, ir::Value v, unsigned bytes, const Address& to);

  // ---- Integers (lower_int.cpp, lower_bits.cpp, lower_divide.cpp).
  void lower_alu(ir::Inst inst, Op rr_form, bool commutes);
  void lower_logic(ir::Inst inst, Op int_rr, Op float_rr);
  void lower_add(ir::Inst inst);
  bool lower_scaled_add(ir::Inst inst, ir::Value base, ir::Value scaled);
  void lower_sub(ir::Inst inst);
  void lower_mul(ir::Inst inst);
  void lower_mul_high(ir::Inst inst, bool is_signed);
  void lower_and(ir::Inst inst);
  void lower_bnot(ir::Inst inst);
  void lower_abs(ir::Inst inst);
  void lower_min_max(ir::Inst inst, Cc cc, bool is_signed);
  void lower_overflow(ir::Inst inst, Op rr_form, Cc cc);
  void lower_mul_overflow(ir::Inst inst, bool is_signed);
  void lower_add_trap(ir::Inst inst);
  void lower_shift(ir::Inst inst);
  void shift_by_register(Op by_cl, Op bmi2, unsigned width, VReg d, VReg x, VReg amount);
  void lower_rotate(ir::Inst inst, Op by_imm);
  void lower_bitselect(ir::Inst inst);
  void count_trailing_zeros(unsigned width, VReg d, VReg x);
  void count_ones(unsigned width, VReg d, VReg x);
  void reverse_bits(unsigned bits, VReg d, VReg x);
  void lower_clz(ir::Inst inst);
  void count_leading_zeros(unsigned width, VReg d, VReg x);
  void lower_cls(ir::Inst inst);
  void lower_ctz(ir::Inst inst);
  void lower_popcnt(ir::Inst inst);
  void lower_bitrev(ir::Inst inst);
  void lower_bswap(ir::Inst inst);
  VReg mask_with(unsigned width, VReg x, std::uint64_t mask);
  void lower_divide(ir::Inst inst);
  bool lower_unsigned_divide_by(ir::Inst inst, std::uint64_t divisor);
  bool lower_signed_divide_by(ir::Inst inst, std::int64_t divisor);
  VReg unsigned_quotient(unsigned bits, VReg x, std::uint64_t divisor);
  VReg signed_quotient(unsigned bits, VReg x, std::int64_t divisor);
  VReg signed_quotient_by_power(unsigned bits, VReg x, unsigned log2);
  VReg times(unsigned width, VReg x, std::uint64_t factor);
  VReg multiply_high(VReg x, std::uint64_t factor, bool is_signed);

  // ---- Comparison and selection (lower_compare.cpp).
  Condition condition(ir::Value c, ir::Inst root);
  bool take_flags_of(ir::Value v, ir::Inst branch);
  Condition compare_ints(ir::Inst icmp, ir::Inst root, bool only_user);
  Condition compare_floats(ir::Inst fcmp, ir::Inst root, bool only_user);
  /// Of f16 and f128 there is no comparison; whoever looks through one must ask.
  static bool is_comparable_float(ir::Type type) { return type == ir::F32 || type == ir::F64; }
  std::optional<Cc> compare_narrow_load(ir::IntCC cc, ir::Value x, ir::Value y, ir::Inst root);
  bool test_bits(ir::Value masked, ir::Inst root, bool only_user);
  void emit_compare(unsigned width, ir::Value x, ir::Value y, ir::Inst root, bool only_user);
  void materialize(Condition condition, VReg d, bool zero_extend);
  void trap_on(Condition condition, image::TrapCode code);
  void lower_select(ir::Inst inst);

  // ---- Floats (lower_float.cpp) and conversions (lower_convert.cpp).
  void lower_float_binary(ir::Inst inst, Op f32_rr, Op f64_rr, bool commutes);
  void lower_float_unary(ir::Inst inst, Op f32_rr, Op f64_rr, std::int64_t imm);
  bool float_operand(ir::Value v, ir::Inst root, Address& out);
  void lower_float_sign(ir::Inst inst, Op packed_rm, bool set_mask);
  void lower_float_min_max(ir::Inst inst, bool maximum);
  void lower_copysign(ir::Inst inst);
  void lower_fma(ir::Inst inst);
  void lower_extend(ir::Inst inst, bool is_signed);
  void lower_bitcast(ir::Inst inst);
  void lower_to_float(ir::Inst inst, bool is_signed);
  void lower_to_int(ir::Inst inst, bool is_signed, bool saturate);
  void lower_bmask(ir::Inst inst);

  // ---- Vectors (lower_vector*.cpp), and f16 and f128, which only move. A vector of less than 16
  // bytes is in the low part of its register; what is above it is unspecified.
  static bool fits_vector_register(ir::Type type) {
    return type.bits() <= 128 && !type.is_dynamic();
  }
  void lower_vector(ir::Inst inst);
  bool lower_vector_int(ir::Inst inst);
  bool lower_vector_lanes(ir::Inst inst);
  bool lower_vector_float(ir::Inst inst);
  bool has_avx512(Feature feature) const { return has(Feature::Avx512vl) && has(feature); }
  VReg new_vec() { return new_vreg(codegen::RegClass::Float, 16); }
  struct Bits128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const Bits128&, const Bits128&) = default;
  };
  static Bits128 repeat(unsigned lane_bits, std::uint64_t lane);
  static Bits128 pack(std::span<const std::uint8_t> bytes);  ///< at most 16, lowest first
  static Bits128 lane_signs(unsigned lane_bits);
  /// 0 for lanes of a byte to 3 for lanes of 8.
  static unsigned lane_number(ir::Type type) {
    return static_cast<unsigned>(std::countr_zero(type.lane_bits() / 8));
  }
  static Op equal_lanes(ir::Type type);
  /// Of a vconst or f128const; the bytes above a narrow one are zero.
  std::optional<Bits128> vector_constant(ir::Value v) const;
  VReg make_vector(Bits128 bits);
  VReg make_vector(unsigned lane_bits, std::uint64_t lane) {
    return make_vector(repeat(lane_bits, lane));
  }
  Address vector_address(Bits128 bits) { return constant_address(16, bits.low, bits.high); }
  /// If `v` fills 16 bytes of memory that `root` may read in its place, at the alignment that its
  /// instruction needs.
  bool vector_operand(ir::Value v, ir::Inst root, Address& out);
  codegen::Operand vex_source(VReg v);
  // d = op(a, b) by SSE forms, which become those with VEX where the target has AVX.
  void vv(Op op, VReg d, VReg a, VReg b);
  void vm(Op op, VReg d, VReg a, const Address& b);
  void vvi(Op op, VReg d, VReg a, VReg b, std::int64_t imm);
  void v1(Op op, VReg d, VReg a, std::int64_t imm = 0);  ///< d = op(a)
  void vi(Op op, VReg d, VReg a, std::int64_t imm);      ///< a shift by an immediate
  VReg vv(Op op, VReg a, VReg b);
  VReg vm(Op op, VReg a, const Address& b);
  VReg vm(Op op, VReg a, Bits128 b) { return vm(op, a, vector_address(b)); }
  VReg vvi(Op op, VReg a, VReg b, std::int64_t imm);
  VReg v1(Op op, VReg a, std::int64_t imm = 0);
  VReg vi(Op op, VReg a, std::int64_t imm);
  /// A row without an SSE form: d = op(a, b), or with `merge` d = op(a, a2, b) in a's register.
  void v512(Op op, VReg d, VReg a, VReg b);
  void ternary_logic(VReg d, VReg a, VReg b, VReg c, std::int64_t table);
  VReg vnot(VReg a);
  void vnot(VReg d, VReg a);
  void vbinary(ir::Inst inst, Op op, bool commutes);
  void vlogic(ir::Inst inst, Op op);
  void blend(unsigned lane_bits, VReg d, VReg if_not, VReg if_so, VReg mask);
  VReg blend(unsigned lane_bits, VReg if_not, VReg if_so, VReg mask);
  // Integers.
  void lower_vector_bitselect(ir::Inst inst);
  void lower_vector_mul(ir::Inst inst);
  bool mul_widened(ir::Inst inst);
  void mul_i8(VReg d, VReg x, VReg y);
  void mul_i64(VReg d, VReg x, VReg y);
  void lower_vector_mul_high(ir::Inst inst, bool is_signed);
  void lower_vector_abs(ir::Inst inst);
  void lower_vector_min_max(ir::Inst inst, bool is_signed, bool maximum);
  VReg min_max_64(VReg x, VReg y, bool is_signed, bool maximum);
  VReg greater_64(VReg x, VReg y);
  void lower_vector_icmp(ir::Inst inst);
  void icmp_lanes(VReg d, ir::Inst inst, ir::IntCC cc);
  bool icmp_constant(VReg d, ir::Inst inst, ir::IntCC cc);
  static std::optional<Bits128> next_lanes(Bits128 bits, unsigned lane_bits, bool up,
                                           std::uint64_t limit);
  bool has_inverse(ir::Inst compare) const;
  bool pseudo_min_max(ir::Inst select, ir::Inst compare);
  void lower_vector_shift(ir::Inst inst);
  void shift_by_constant(ir::Op op, unsigned lane_bits, VReg d, VReg x, unsigned amount);
  void shift_by_count(ir::Op op, unsigned lane_bits, VReg d, VReg x, VReg count);
  void shift_bytes_by_count(ir::Op op, VReg d, VReg x, VReg count);
  VReg shift_count(ir::Value amount, unsigned lane_bits);
  void lower_vector_rotate(ir::Inst inst);
  void lower_vector_popcnt(ir::Inst inst);
  void lower_vector_avg(ir::Inst inst);
  void lower_vector_saturating(ir::Inst inst);
  void lower_vector_sqmul(ir::Inst inst);
  // Lanes.
  void lower_splat(ir::Inst inst);
  void lower_extractlane(ir::Inst inst);
  void lower_insertlane(ir::Inst inst);
  void lower_scalar_to_vector(ir::Inst inst);
  void lower_shuffle(ir::Inst inst);
  bool shuffle_words(const std::uint8_t* mask, VReg d, VReg x, VReg y);
  void lower_swizzle(ir::Inst inst);
  VReg join_narrow(ir::Type t, VReg x, VReg y);
  void lower_narrow(ir::Inst inst);
  bool narrow_conversion(ir::Inst inst);
  void lower_widen(ir::Inst inst, bool is_signed, bool high);
  void lower_pairwise(ir::Inst inst);
  bool pairwise_of_widened(ir::Inst inst);
  std::optional<Cc> test_of_operation(ir::Inst inst, bool all);
  Cc vector_test(ir::Inst inst);
  void lower_vhigh_bits(ir::Inst inst);
  void lower_vector_load(ir::Inst inst);
  void load_vector(ir::Inst inst, VReg d, unsigned bytes, const Address& from);
  void lower_vector_store(ir::Inst inst);
  void lower_extending_load(ir::Inst inst, Op memory_form, Op register_form);
  VReg swap_lane_bytes(VReg x, unsigned lane_bytes);
  VReg in_other_lanes(VReg x, unsigned from_bytes, unsigned to_bytes);
  void lower_vector_bitcast(ir::Inst inst);
  void vector_to_int(VReg d, VReg x, unsigned bytes);
  void int_to_vector(VReg d, VReg x, unsigned bytes);
  // Floats.
  void vfloat(ir::Inst inst, Op ps, Op pd, bool commutes);
  void vround(ir::Inst inst, std::int64_t mode);
  void lower_vector_sign(ir::Inst inst, bool flip);
  void lower_vector_copysign(ir::Inst inst);
  void lower_vector_fcmp(ir::Inst inst);
  void lower_vector_fmin_fmax(ir::Inst inst, bool maximum);
  void lower_vector_fma(ir::Inst inst);
  bool fused_multiply_add(ir::Inst inst);
  void lower_vector_from_int(ir::Inst inst, bool is_signed);
  void lower_vector_to_int(ir::Inst inst, bool is_signed);
  void to_i32x4(VReg d, VReg x, bool is_signed);
  void to_i64x2(VReg d, VReg x, bool is_signed);

  // ---- i128 (lower_wide.cpp) and atomics (lower_atomic.cpp).
  struct Halves {
    VReg lo;
    VReg hi;
  };
  Halves wide(ir::Value v);
  Halves wide_result(ir::Inst inst);
  Halves new_wide();
  /// All registers of any value.
  void push_registers(ir::Value v, std::vector<VReg>& out);
  bool lower_wide(ir::Inst inst);
  void move_wide(Halves d, Halves x);
  void wide_pair(Op low_rr, Op high_rr, Halves d, Halves x, Halves y);
  void wide_select(Cc cc, Halves d, Halves otherwise, Halves then);
  Condition compare_wide(ir::IntCC cc, ir::Value a, ir::Value b);
  Condition wide_condition(ir::Value v);
  void lower_wide_select(ir::Inst inst);
  void lower_wide_min_max(ir::Inst inst, ir::IntCC cc);
  VReg wide_sign(Halves x);
  void lower_wide_abs(ir::Inst inst);
  void lower_wide_mul(ir::Inst inst);
  bool wide_mul_of_extended(ir::Inst inst);
  void lower_wide_overflow(ir::Inst inst, Op low_rr, Op high_rr, Cc cc);
  void lower_carry(ir::Inst inst, Op op, Cc cc);
  void wide_shift_by(ir::Op op, Halves d, Halves x, std::int64_t n);
  void lower_wide_shift(ir::Inst inst);
  void lower_wide_rotate(ir::Inst inst);
  void wide_count(VReg d, VReg first, VReg first_count, VReg second_count);
  void wide_leading_zeros(VReg d, Halves x);
  void lower_wide_bits(ir::Inst inst);
  void lower_wide_extend(ir::Inst inst, bool is_signed);
  void lower_wide_bmask(ir::Inst inst);
  void lower_wide_bitcast(ir::Inst inst);
  VReg joined(Halves x);
  Address upper_half(const Address& address);
  void lower_wide_load(ir::Inst inst);
  void lower_wide_store(ir::Inst inst);
  void settle(VReg d, VReg raw_bits, ir::Type t);
  VReg swap_bytes(VReg x, unsigned bytes);
  Halves swap_bytes(Halves x);
  void lower_atomic_load(ir::Inst inst);
  void lower_atomic_store(ir::Inst inst);
  void lower_atomic_cas(ir::Inst inst);
  void lower_atomic_rmw(ir::Inst inst);
  void compare_exchange_16(Halves d, Halves expected, Halves wanted, VReg base,
                           image::TrapCode trap);
  bool lower_wide_atomic(ir::Inst inst);
  // lower_wide_math.cpp
  std::optional<std::array<std::int64_t, 2>> wide_immediate(ir::Value v) const;
  bool wide_pair_with_immediate(Op low_rr, Op high_rr, Halves d, ir::Value x, ir::Value y);
  Halves full_product(VReg x, VReg y);
  std::array<Halves, 2> wide_product(Halves x, Halves y);
  Halves signed_high_half(Halves x, Halves y, Halves unsigned_high);
  void lower_wide_mul_high(ir::Inst inst, bool is_signed);
  void lower_wide_mul_overflow(ir::Inst inst, bool is_signed);
  void call_helper(const char* name, std::initializer_list<Operand> defs,
                   std::initializer_list<Operand> uses);
  void lower_wide_divide(ir::Inst inst);
  void lower_wide_from_float(ir::Inst inst, bool is_signed, bool saturate);
  void lower_wide_to_float(ir::Inst inst, bool is_signed);

  // ---- Control and calls (lower_control.cpp, lower_call.cpp).
  void terminator(Pseudo op, Cc cc = Cc::O);
  void lower_brif(ir::Inst inst);
  void lower_br_table(ir::Inst inst);
  void lower_return(ir::Inst inst);
  const SignatureLayout* layout_of(ir::SigRef sig);
  void lower_call(ir::Inst inst, std::span<const ir::Value> results, std::int64_t note,
                  TryPart* try_part);
  void lower_tail_call(ir::Inst inst);
  void call_library(VReg target, std::span<const VReg> args, VReg d);
  /// Registers that a call, or whatever leaves this function for a while, changes.
  RegMask not_pinned(RegMask mask) const {
    if (pins_register_) mask.remove(kPinnedReg);
    return mask;
  }
  void lower_stack_switch(ir::Inst inst);
  void emit_call(const ir::Signature& sig, const SignatureLayout& layout,
                 std::span<const ir::Value> args, std::span<const ir::Value> results, MachInst call,
                 Operand target, const Address& target_address, TryPart* try_part = nullptr);
  void store_argument(codegen::AddrKind area, std::uint32_t offset, ir::Value v, ir::Type type);
  void load_argument(codegen::AddrKind area, std::uint32_t offset, VReg d, ir::Type type);
  void copy_structure(std::uint32_t offset, ir::Value pointer, std::uint32_t bytes);
  VReg argument(ir::Value v, const ir::AbiParam& param, ir::CallConv conv);
  std::size_t use_argument(ir::Value v, const ir::AbiParam& param, ir::CallConv conv,
                           const ArgLocation& location, std::span<Operand> uses, std::size_t count);
  // lower_try.cpp
  using PayloadRegs = std::array<VReg, std::size(kPayloadRegs)>;
  std::int64_t call_note(ir::Inst inst);
  VReg context(ir::Value v);
  void lower_try(ir::Inst inst);
  void emit_landing(const PayloadRegs& words);
  void lower_landing_pad(ir::Block block);
  void lower_handler_edge(const codegen::BlockOrder::Edge& edge);
  void lower_handler_address(ir::Inst inst);

  void lower_global_value(ir::Inst inst);
  void lower_tls_value(ir::Inst inst);
  VReg global_value(ir::GlobalValue gv, unsigned depth);
  VReg context_register();
  Result<void> find_stack_limit();

  /// Does the branch behind `inst` read the flags that it leaves? Then it ends in a form that sets
  /// ZF.
  bool must_set_flags(ir::Inst inst) const { return flags_of_ == inst; }

  FeatureSet features_;
  bool pins_register_;
  ir::Inst flags_of_;  ///< lowered next: the branch just lowered reads its flags
  SignatureLayout own_;
  std::vector<SignatureLayout> layouts_;  // by SigRef; valid where layout_known_ is set
  std::vector<std::uint8_t> layout_known_;
  std::vector<VReg> edge_args_;
  std::vector<ir::Value> try_results_;
  std::vector<VReg> try_contexts_;
};

}  // namespace hoist::isa::x64
