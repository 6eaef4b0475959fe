// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// ImageBuilder: collects functions in the order of their final addresses, links, and writes the
/// tables behind the text.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/image.hpp"
#include "image/tables/table_set.hpp"

namespace hoist::image {

class ImageBuilder {
 public:
  enum class RelocKind : std::uint8_t { PcRel32 };  ///< S + A - P, 4 bytes
  struct Reloc {
    std::uint32_t offset = 0;  ///< of the field, relative to the function
    RelocKind kind = RelocKind::PcRel32;
    FuncKey target;
    std::int32_t addend = 0;
  };

  ImageBuilder();
  /// Places code at the next multiple of `align` (power of two); `entry` need not say where nor how
  /// large it is, and without a `code_size` all of it is instructions. Offsets in `traps` and
  /// `addresses` are relative to the function and ascend. Returns where in the text the function
  /// begins.
  std::uint32_t add_function(FunctionEntry entry, std::uint32_t align,
                             std::span<const std::uint8_t> code, std::span<const Reloc> relocs,
                             std::span<const TrapEntry> traps,
                             std::span<const AddressEntry> addresses);
  /// Side tables of the function added last, which begins at `start`; `tables` may be null.
  void add_tables(std::uint32_t start, std::span<const UnwindOp> unwind,
                  const FunctionTables* tables);
  void reserve(std::size_t text_bytes, std::size_t functions);
  /// What the code was made for: "x86_64".
  void set_target(std::string_view target, const CodeSettings& settings);
  /// A table of another part, found again as Image::section(name). Its name begins with ".hoist."
  /// and is unique; its contents will lie 8-aligned. Empty ones are left out. There is room for
  /// some 20 of them.
  void add_section(std::string_view name, std::vector<std::uint8_t> contents);

  /// Whether the text is within 2 GiB - 1.
  bool fits() const;
  /// Applies the relocations. A relocation against a missing key, or a text that does not fit, is
  /// a bug of the caller.
  Image finish();

 private:
  struct PendingReloc {
    std::uint32_t at;
    std::int32_t addend;
    FuncKey target;
  };
  struct Extra {
    std::string name;
    std::vector<std::uint8_t> contents;
  };
  std::uint8_t* text() { return bytes_.data() + kTextAt; }
  std::size_t text_bytes() const { return bytes_.size() - kTextAt; }
  std::size_t table_bytes() const;
  std::vector<std::uint32_t> sorted_by_key() const;
  void link(std::span<const std::uint32_t> by_key);

  std::vector<std::uint8_t> bytes_;  // the first page, then text
  std::vector<FunctionEntry> functions_;
  std::vector<std::uint32_t> trap_offsets_;
  std::vector<std::uint8_t> trap_codes_;
  AddressMapWriter addresses_;
  std::vector<PendingReloc> relocs_;
  std::vector<Extra> extras_;
  TableSetWriter tables_;
  std::string target_ = "x86_64";
  CodeSettings settings_;
};

}  // namespace hoist::image
