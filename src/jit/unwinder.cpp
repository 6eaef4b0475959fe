// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/unwinder.hpp"

#include "base/bits.hpp"
#include "jit/code_registry.hpp"

namespace hoist::jit {

namespace {

/// The handler of one frame.
std::optional<Handler> handler_in_frame(const LoadedCode& loaded, std::uintptr_t pc,
                                        std::uintptr_t fp, MatchTag matches) {
  const image::ExceptionTable& table = loaded.image->tables().exceptions;
  const auto site = table.find(loaded.offset_of(pc));
  if (!site) return std::nullopt;
  const std::uintptr_t sp = fp - site->frame_bytes;
  for (std::uint32_t i = site->handlers.begin; i < site->handlers.end; ++i) {
    const image::HandlerEntry entry = table.handler(i);
    if (!entry.catches_all) {
      std::optional<std::uint64_t> context;
      if (entry.context != image::kAbsent) {
        context = base::load_le<std::uint64_t>(reinterpret_cast<const void*>(sp + entry.context));
      }
      if (!matches(entry.tag, context)) continue;
    }
    return Handler{reinterpret_cast<std::uintptr_t>(loaded.code.base()) + entry.landing, sp, fp};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Handler> find_handler(std::uintptr_t pc, std::uintptr_t fp, std::uintptr_t end_fp,
                                    MatchTag matches) {
  while (fp < end_fp && fp % 8 == 0 && fp != 0) {
    {
      const CodeLookup lookup;
      // The call is in front of its return address, which may lie in no code or in another image.
      const LoadedCode* loaded = lookup.find(pc - 1);
      if (loaded != nullptr) {
        if (const auto found = handler_in_frame(*loaded, pc, fp, matches)) return found;
      }
    }
    const auto* frame = reinterpret_cast<const std::uintptr_t*>(fp);
    const std::uintptr_t next = frame[0];
    pc = frame[1];
    if (next <= fp) return std::nullopt;
    fp = next;
  }
  return std::nullopt;
}

void visit_references(std::uintptr_t pc, std::uintptr_t fp, std::uintptr_t end_fp,
                      base::FunctionRef<void(std::uint64_t word)> visit) {
  while (fp < end_fp && fp % 8 == 0 && fp != 0) {
    {
      const CodeLookup lookup;
      if (const LoadedCode* loaded = lookup.find(pc - 1)) {
        const image::StackMaps& maps = loaded->image->tables().stack_maps;
        if (const auto point = maps.find(loaded->offset_of(pc))) {
          const std::uintptr_t sp = fp - point->frame_bytes;
          for (std::uint32_t i = point->slots.begin; i < point->slots.end; ++i) {
            const void* slot = reinterpret_cast<const void*>(sp + maps.slot(i).sp_offset);
            visit(base::load_le<std::uint64_t>(slot));
          }
        }
      }
    }
    const auto* frame = reinterpret_cast<const std::uintptr_t*>(fp);
    const std::uintptr_t next = frame[0];
    pc = frame[1];
    if (next <= fp) return;
    fp = next;
  }
}

}  // namespace hoist::jit
