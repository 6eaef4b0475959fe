// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/thread_locals.hpp"

#include <link.h>

extern "C" void* __tls_get_addr(hoist::platform::ThreadLocalIndex* index);

namespace hoist::platform {

namespace {

struct Search {
  std::uintptr_t address;
  std::optional<ThreadLocalIndex> found;
};

int look_in(dl_phdr_info* info, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const auto block = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
  if (block == 0 || search.address < block) return 0;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uintptr_t offset = search.address - block;
    if (header.p_type != PT_TLS || offset >= header.p_memsz) continue;
    search.found = ThreadLocalIndex{info->dlpi_tls_modid, offset};
    return 1;
  }
  return 0;
}

}  // namespace

std::optional<ThreadLocalIndex> thread_local_index(const void* address) {
  Search search{reinterpret_cast<std::uintptr_t>(address), std::nullopt};
  dl_iterate_phdr(look_in, &search);
  return search.found;
}

const void* thread_local_lookup() {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(&__tls_get_addr));
}

}  // namespace hoist::platform
