// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Machine code of an image as text, with what the tables of the image say beside it.

#include <string>

#include "image/image.hpp"
#include "runtime/engine/symbol_names.hpp"

namespace hoist::cli {

class Disassembler {
 public:
  /// Both outlive it.
  Disassembler(const image::Image& image, const runtime::SymbolNames& names, bool raw_names);
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  /// One function: a line with its name, one line per instruction, its constants. Addresses are
  /// those that objdump prints for the file.
  void function(const image::FunctionEntry& entry, std::string& out) const;

 private:
  struct Decoder;
  void instruction(const image::FunctionEntry& entry, std::string& out,
                   std::uint32_t& source) const;
  void constants(const image::FunctionEntry& entry, std::string& out) const;
  std::string place_name(std::uint64_t text_offset, const image::FunctionEntry& from) const;

  const image::Image& image_;
  const runtime::SymbolNames& names_;
  bool raw_names_;
  Decoder* decoder_;
};

}  // namespace hoist::cli
