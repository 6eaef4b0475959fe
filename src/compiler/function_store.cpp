// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/function_store.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "image/layout/builtin.hpp"

namespace hoist::compiler {

using image::FuncKey;
using image::FuncKind;

static_assert(image::kBuiltinCount <= 64, "builtins fit a mask");

Result<StoredFunction> FunctionStore::add(FuncKey key, const codegen::CompiledCode& code) {
  StoredFunction out;
  out.entry.key = key;
  out.entry.prologue_end = code.prologue_end;
  out.entry.has_frame = code.has_frame ? 1 : 0;
  out.entry.code_size = code.code_size;
  out.align = code.align;

  const auto bytes = code_.allocate(code.bytes.size());
  std::copy(code.bytes.begin(), code.bytes.end(), bytes.begin());
  out.code = bytes;

  const auto relocs = relocs_.allocate(code.relocs.size());
  for (std::size_t i = 0; i < relocs.size(); ++i) {
    const codegen::CompiledCode::Reloc& from = code.relocs[i];
    const ir::ExternalName& name = code.symbols[from.symbol];
    if (from.kind != codegen::CompiledCode::RelocKind::PcRel32 ||
        name.kind != ir::ExternalName::Kind::User || !base::fits_i32(from.addend)) {
      return Error(ErrorKind::Internal, "generated code refers to a symbol outside of its image" +
                                            (name.text.empty() ? "" : ": %" + name.text));
    }
    const FuncKey target = FuncKey::from_name(name.name_space, name.index);
    relocs[i] = {from.offset, image::ImageBuilder::RelocKind::PcRel32, target,
                 static_cast<std::int32_t>(from.addend)};
    if (target.kind() == FuncKind::BuiltinTrampoline) {
      builtins_ |= std::uint64_t{1} << (target.index() & 63);
    }
  }
  out.relocs = relocs;

  const auto traps = traps_.allocate(code.traps.size());
  for (std::size_t i = 0; i < traps.size(); ++i) {
    traps[i] = {code.traps[i].offset, code.traps[i].code};
  }
  out.traps = traps;

  const auto addresses = addresses_.allocate(code.locs.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    addresses[i] = {code.locs[i].offset, code.locs[i].loc};
  }
  out.addresses = addresses;

  const auto unwind = unwind_.allocate(code.tables.unwind.size());
  std::copy(code.tables.unwind.begin(), code.tables.unwind.end(), unwind.begin());
  out.unwind = unwind;
  if (!code.tables.is_plain()) {
    tables_.push_back(std::make_unique<image::FunctionTables>(code.tables));
    out.tables = tables_.back().get();
  }
  return out;
}

void place(image::ImageBuilder& builder, const StoredFunction& function) {
  const std::uint32_t start =
      builder.add_function(function.entry, function.align, function.code, function.relocs,
                           function.traps, function.addresses);
  builder.add_tables(start, function.unwind, function.tables);
}

}  // namespace hoist::compiler
