// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/build_id.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace hoist::platform {

namespace {

constexpr std::size_t kMaxPieces = 8;

struct Search {
  std::uintptr_t inside;  // an address in the object that is looked for
  std::span<const std::uint8_t> pieces[kMaxPieces];
  std::size_t count = 0;
};

const std::uint8_t* at(const dl_phdr_info& info, const ElfW(Phdr) & header) {
  return reinterpret_cast<const std::uint8_t*>(info.dlpi_addr + header.p_vaddr);
}

/// The build id in a note segment, or nothing.
std::span<const std::uint8_t> build_id(std::span<const std::uint8_t> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof(note));
    const std::size_t name = (std::size_t{note.n_namesz} + 3) & ~std::size_t{3};
    const std::size_t content = (std::size_t{note.n_descsz} + 3) & ~std::size_t{3};
    if (name + content > notes.size() - sizeof(note)) return {};
    if (note.n_type == NT_GNU_BUILD_ID) return notes.subspan(sizeof(note) + name, note.n_descsz);
    notes = notes.subspan(sizeof(note) + name + content);
  }
  return {};
}

int visit_object(dl_phdr_info* info, std::size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  bool is_it = false;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    is_it |= header.p_type == PT_LOAD &&
             search.inside - (info->dlpi_addr + header.p_vaddr) < header.p_memsz;
  }
  if (!is_it) return 0;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto id = build_id({at(*info, header), header.p_memsz});
    if (id.empty()) continue;
    search.pieces[0] = id;
    search.count = 1;
    return 1;
  }
  for (unsigned i = 0; i < info->dlpi_phnum && search.count < kMaxPieces; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) != 0) continue;
    search.pieces[search.count++] = {at(*info, header), header.p_filesz};
  }
  return 1;
}

}  // namespace

void visit_build(void (*visit)(void* context, BuildPieces pieces), void* context) {
  Search search;
  search.inside = reinterpret_cast<std::uintptr_t>(&visit_build);
  ::dl_iterate_phdr(visit_object, &search);
  visit(context, {search.pieces, search.count});
}

}  // namespace hoist::platform
