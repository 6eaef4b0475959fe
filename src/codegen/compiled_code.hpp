// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CompiledCode: the machine code of one function with its side tables; the end of the code
/// generator. Offsets are relative to the first byte and ascend.

#include <cstdint>
#include <vector>

#include "image/layout/trap_code.hpp"
#include "image/tables/function_tables.hpp"
#include "ir/signature.hpp"

namespace hoist::codegen {

struct CompiledCode {
  enum class RelocKind : std::uint8_t {
    PcRel32,  ///< S + A - P in 4 bytes; calls and addresses of colocated functions
    Abs64,    ///< S + A in 8 bytes; functions that may be far
    /// In 4 bytes: T + A - P, T being the address of two words, module and offset of the
    /// thread-local variable S, as the ELF function __tls_get_addr takes them (R_X86_64_TLSGD).
    TlsIndex32,
  };
  struct Reloc {
    std::uint32_t offset;
    RelocKind kind;
    std::uint32_t symbol;  ///< in `symbols`
    std::int64_t addend;
  };
  struct TrapSite {
    std::uint32_t offset;  ///< of the faulting instruction
    image::TrapCode code;
  };
  struct LocEntry {
    std::uint32_t offset;  ///< from here to the next entry
    std::uint32_t loc;     ///< SourceLoc bits
  };

  std::vector<std::uint8_t> bytes;  ///< code, then its constant pool
  std::uint32_t code_size = 0;      ///< bytes of instructions, without the pool
  std::uint32_t align = 16;
  std::uint32_t prologue_end = 0;
  std::uint32_t frame_bytes = 0;  ///< below the frame pointer
  bool has_frame = true;
  std::vector<Reloc> relocs;
  std::vector<ir::ExternalName> symbols;
  std::vector<TrapSite> traps;
  std::vector<LocEntry> locs;
  std::vector<std::uint32_t> call_returns;  ///< return address of each call
  /// For the tables of an image. The callees of `tables.inline_frames` that have no FuncKey by
  /// themselves (test case names) are in `inline_callees`, parallel to them.
  image::FunctionTables tables;
  std::vector<ir::ExternalName> inline_callees;

  void clear() {
    bytes.clear();
    code_size = prologue_end = frame_bytes = 0;
    align = 16;
    has_frame = true;
    relocs.clear();
    symbols.clear();
    traps.clear();
    locs.clear();
    call_returns.clear();
    tables.clear();
    inline_callees.clear();
  }
};

}  // namespace hoist::codegen
