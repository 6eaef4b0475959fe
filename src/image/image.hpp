// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Image: what a compiled module is, for the JIT and (later) on disk: position-independent text and
/// read-only side tables, all sorted, searched by binary search. Knows nothing of WebAssembly.
///
/// Immutable once built (ImageBuilder) and shared between threads.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "image/layout/func_key.hpp"
#include "image/layout/trap_code.hpp"

namespace hoist::image {

struct FunctionEntry {
  FuncKey key;
  std::uint32_t offset = 0;  ///< in the text
  std::uint32_t size = 0;    ///< bytes, without padding
  std::uint32_t prologue_end =
      0;                  ///< relative to offset: from here the frame pointer is this frame's
  bool has_frame = true;  ///< keeps a frame pointer (a leaf may not)
};

/// From `offset` on (to the next entry), code belongs to source location `source` (wasm byte
/// offset).
struct AddressEntry {
  std::uint32_t offset = 0;
  std::uint32_t source = 0xffff'ffff;
};

struct TrapEntry {
  std::uint32_t offset = 0;  ///< of the instruction that traps
  TrapCode code = TrapCode::None;
};

class Image {
 public:
  std::span<const std::uint8_t> text() const { return text_; }
  std::span<const FunctionEntry> functions() const { return functions_; }  ///< sorted by offset
  std::span<const TrapEntry> traps() const { return traps_; }              ///< sorted by offset
  std::span<const AddressEntry> addresses() const { return addresses_; }   ///< sorted by offset

  /// The function whose code covers text offset `at`, or null.
  const FunctionEntry* find_function(std::uint32_t at) const;
  /// The function of this key, or null.
  const FunctionEntry* function(FuncKey key) const;
  /// Trap code of the instruction at exactly text offset `at`, None if it cannot trap.
  TrapCode trap_at(std::uint32_t at) const;
  /// Source location of the instruction at text offset `at`; 0xffffffff if there is none.
  std::uint32_t source_at(std::uint32_t at) const;

 private:
  friend class ImageBuilder;
  std::vector<std::uint8_t> text_;
  std::vector<FunctionEntry> functions_;
  std::vector<std::uint32_t> by_key_;  // numbers of functions_, sorted by key
  std::vector<TrapEntry> traps_;
  std::vector<AddressEntry> addresses_;
};

/// Collects functions in the order of their final addresses, then links.
class ImageBuilder {
 public:
  enum class RelocKind : std::uint8_t { PcRel32 };  ///< S + A - P, 4 bytes
  struct Reloc {
    std::uint32_t offset = 0;  ///< of the field, relative to the function
    RelocKind kind = RelocKind::PcRel32;
    FuncKey target;
    std::int32_t addend = 0;
  };
  /// Places code at the next multiple of `align` (power of two). Offsets in `traps` and `addresses`
  /// are relative to the function and ascend.
  void add_function(FunctionEntry entry, std::uint32_t align, std::span<const std::uint8_t> code,
                    std::span<const Reloc> relocs, std::span<const TrapEntry> traps,
                    std::span<const AddressEntry> addresses);
  void reserve(std::size_t text_bytes, std::size_t functions);
  /// Applies the relocations. A relocation against a missing key is a bug of the caller; text over
  /// 2 GiB - 1 is reported by `fits` beforehand.
  bool fits() const;
  Image finish();

 private:
  struct PendingReloc {
    std::uint32_t at;
    std::int32_t addend;
    FuncKey target;
  };
  Image image_;
  std::vector<PendingReloc> relocs_;
};

}  // namespace hoist::image
