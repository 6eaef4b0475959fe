// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Image: a read-only view of a compiled module, the same bytes in memory and on disk: an ELF file
/// with position-independent text and side tables that are used in place (docs/images.md). Made by
/// ImageBuilder (image_builder.hpp) or opened from a file (image_open.hpp). Knows nothing of
/// WebAssembly.
///
/// Immutable and shared between threads. Nothing outside of its bytes is ever read, whatever they
/// are; that its machine code does what its tables say is trusted.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "image/address_map.hpp"
#include "image/header.hpp"
#include "image/layout/func_key.hpp"
#include "image/layout/trap_code.hpp"
#include "image/settings.hpp"
#include "image/tables/table_set.hpp"

namespace hoist::image {

/// As it lies in the section of functions.
struct FunctionEntry {
  FuncKey key;
  std::uint32_t offset = 0;        ///< in the text
  std::uint32_t size = 0;          ///< bytes, without padding
  std::uint32_t prologue_end = 0;  ///< from `offset`; from here the frame pointer is this frame's
  std::uint32_t has_frame = 1;     ///< keeps a frame pointer (a leaf may not): 0 or not
  std::uint32_t code_size = 0;     ///< bytes of instructions: its constants follow them
};
static_assert(sizeof(FunctionEntry) == 28 && sizeof(FuncKey) == 8);

struct TrapEntry {
  std::uint32_t offset = 0;  ///< of the instruction that traps
  TrapCode code = TrapCode::None;
};

/// Traps by offset: the offsets, then a byte for each.
class TrapTable {
 public:
  TrapTable() = default;
  explicit TrapTable(std::span<const std::uint8_t> bytes);
  std::size_t size() const { return offsets_.size(); }
  TrapEntry operator[](std::size_t i) const {
    return {offsets_[i], static_cast<TrapCode>(codes_[i])};
  }
  std::span<const std::uint32_t> offsets() const { return offsets_; }

 private:
  std::span<const std::uint32_t> offsets_;
  std::span<const std::uint8_t> codes_;
};

class Image {
 public:
  std::span<const std::uint8_t> text() const { return text_; }
  std::span<const FunctionEntry> functions() const { return functions_; }  ///< sorted by offset
  const TrapTable& traps() const { return traps_; }                        ///< sorted by offset
  const AddressMap& addresses() const { return addresses_; }               ///< sorted by offset

  /// The function whose code covers text offset `at`, or null.
  const FunctionEntry* find_function(std::uint32_t at) const;
  /// The function of this key, or null.
  const FunctionEntry* function(FuncKey key) const;
  /// Trap code of the instruction at exactly text offset `at`, None if it cannot trap.
  TrapCode trap_at(std::uint32_t at) const;
  /// Source location of the instruction at text offset `at`; 0xffffffff if there is none.
  std::uint32_t source_at(std::uint32_t at) const;

  /// Exceptions, stack maps, patchable calls, debug tags, inlining chains.
  const TableViews& tables() const { return tables_; }

  CodeSettings settings() const;
  /// What ImageFileParts::language_features said; 0 for an image that never was a file.
  std::uint64_t language_features() const;
  std::string_view target() const;
  /// Contents of the section of that name, 8-aligned; empty if there is none. Walks the section
  /// headers: keep what it says.
  std::span<const std::uint8_t> section(std::string_view name) const;

  /// All of it, and what keeps it. A default Image has none.
  std::span<const std::uint8_t> bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// Whether `bytes` are pages of their own (a mapped file) whose access may be changed.
  bool is_mapped() const { return is_mapped_; }
  /// The same image at another place: `bytes` are equal to bytes().
  Image moved_to(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner) const;

 private:
  friend class ImageBuilder;
  friend class ImageOpener;
  void set_bytes(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner);

  std::shared_ptr<const void> owner_;
  std::span<const std::uint8_t> bytes_;
  std::span<const std::uint8_t> text_;
  std::span<const FunctionEntry> functions_;
  std::span<const std::uint32_t> by_key_;  // numbers of functions_, sorted by key
  TrapTable traps_;
  AddressMap addresses_;
  TableViews tables_;
  bool is_mapped_ = false;
};

}  // namespace hoist::image
