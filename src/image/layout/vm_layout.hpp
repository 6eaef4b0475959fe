// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The structures that compiled code reads and writes, and where the parts of an instance lie.
/// Compiler and runtime must agree on every byte of this file; its layouts are part of an image's
/// version. All pointers are 8 bytes.

#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"

namespace hoist::image {

/// State of a Store that compiled code and trampolines touch. One per store, one thread at a time.
struct StoreContext {
  std::uint64_t stack_limit = 0;  ///< lowest stack pointer that compiled code may use
  // Where a trap or host error resumes: set by the entry trampoline, which keeps the outer values.
  std::uint64_t resume_sp = 0;
  std::uint64_t resume_fp = 0;
  std::uint64_t resume_pc = 0;
  // Where compiled code was last left towards the host: frame pointer of the calling compiled frame
  // and the return address into it.
  std::uint64_t exit_fp = 0;
  std::uint64_t exit_pc = 0;
  /// The context that what was called there has: a VmHostContext, or that of the instance for
  /// builtins. Both begin with a magic number.
  const std::uint32_t* exit_context = nullptr;
  std::uint64_t entry_fp = 0;  ///< frame pointer of the innermost entry trampoline: ends a walk
  void* store = nullptr;       ///< the runtime's Store
  // Limits, for code that was compiled to look at them (docs/limits.md).
  const std::uint64_t* epoch = nullptr;  ///< the engine's counter
  /// Code calls the runtime when the counter has reached it; other threads lower it to 0.
  std::uint64_t epoch_deadline = ~std::uint64_t{0};
  std::int64_t fuel = 0;            ///< units left
  void* const* builtins = nullptr;  ///< as in the instances; for traps that are calls
};

/// Code whose traps are calls of the builtin `trap` keeps its context this far from the frame
/// pointer.
inline constexpr std::int32_t kTrapContextOffset = -8;

/// A linear memory as compiled code sees it. Whether `base` changes: memory_may_move. Of a shared
/// memory other threads raise `length` at any time.
struct VmMemory {
  std::uint8_t* base = nullptr;
  std::uint64_t length = 0;  ///< bytes
};

/// A table: 8-byte elements (VmFuncRef pointer or a word as at kHostWord, 0 is null).
/// The elements of a table that cannot grow (minimum equals maximum) never move: compiled code
/// relies on it.
struct VmTable {
  std::uint64_t* elements = nullptr;
  std::uint64_t length = 0;
};

/// A global's cell; wide enough for v128.
struct alignas(16) VmGlobal {
  std::uint64_t bits[2] = {0, 0};
};

/// What a function reference points to.
struct VmFuncRef {
  const void* code = nullptr;    ///< internal convention: (ctx, arguments...)
  void* ctx = nullptr;           ///< first argument: VmContext, or host function context
  const void* entry = nullptr;   ///< EntryTrampoline for the signature
  std::uint32_t type_id = 0;     ///< canonical signature number, engine-wide
  std::uint32_t func_index = 0;  ///< in the defining instance; for names
  /// Of the type: `supertypes[0]` is their number (at least kSupertypesAtLeast, filled up with
  /// kNoType), then the ids by depth from the root on, the type's own among them. Whether the type
  /// is below another one is one comparison at the other's depth.
  const std::uint32_t* supertypes = nullptr;
};
inline constexpr std::uint32_t kSupertypesAtLeast = 8;
inline constexpr std::uint32_t kNoType = 0xffff'ffff;

/// A reference that is no function's is a word: 0 is null; with bit 63 (kHostWord), the rest is a
/// pointer of the host that nobody keeps; with bit 62 (kHostObject) as its highest, the rest is the
/// address of a VmObject; without both it is the address of a VmException.
inline constexpr std::uint64_t kHostWord = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kHostObject = std::uint64_t{1} << 62;

/// A pointer of the host with a finaliser, owned by the store's collector (docs/gc.md).
struct VmObject {
  std::uint64_t serial = 0;  ///< never given twice in a process; 0: free
  void* host = nullptr;
  void (*finalize)(void* host) = nullptr;  ///< may be null
  std::uint64_t mark = 0;                  ///< number of the collection that found it last
  std::uint64_t root = 0;                  ///< where it may be among the scoped roots
  VmObject* next = nullptr;                ///< the next free one
};

struct VmFuncImport {
  const void* code = nullptr;
  void* ctx = nullptr;
};

/// Head of an exception, which an exnref is the address of; 0 is null. The payload follows: `count`
/// VmGlobals. The store owns it.
struct alignas(16) VmException {
  const void* tag = nullptr;    ///< the runtime's TagObject: the same exactly for the same tag
  VmException* next = nullptr;  ///< in the store's list of those that references may exist of
  std::uint32_t count = 0;
  std::uint32_t capacity = 0;  ///< VmGlobals that there is room for
  std::uint32_t pins = 0;      ///< holders in the host
  bool is_listed = false;
  bool is_marked = false;  ///< for the collector
  VmGlobal* payload() { return reinterpret_cast<VmGlobal*>(this + 1); }
  const VmGlobal* payload() const { return reinterpret_cast<const VmGlobal*>(this + 1); }
};
inline constexpr std::int32_t kPayloadOffset = sizeof(VmException);

/// What the exception tables call a handler: of tag `index` of the dynamic context's instance, or
/// of everything (kAnyTag). `with_reference`: the handler keeps the exception, not only its
/// payload.
constexpr std::uint32_t handler_tag(std::uint32_t index, bool with_reference) {
  return index << 1 | (with_reference ? 1 : 0);
}
inline constexpr std::uint32_t kAnyTag = 0x7fff'ffff;

/// Context of a host function as compiled code passes it (the `ctx` of an ExitTrampoline):
/// `call(this, args_and_results)`: 16-byte slots, arguments in, results out in the same slots;
/// returns 0, or 1 to leave compiled code with the error in the store context's Store.
struct VmHostContext {
  std::uint32_t magic = kMagic;
  std::uint32_t pad = 0;
  StoreContext* store = nullptr;  ///< same offset as VmContextHeader::store
  std::uint32_t (*call)(VmHostContext* ctx, VmGlobal* slots) = nullptr;
  void* const* builtins = nullptr;
  void* host = nullptr;    ///< the runtime's host function object
  void* caller = nullptr;  ///< runtime::Instance that imported it, or null
  static constexpr std::uint32_t kMagic = 0x74736f68;  // "host"
};

/// Fixed head of an instance.
struct VmContextHeader {
  std::uint32_t magic = kMagic;
  std::uint32_t pad = 0;
  StoreContext* store = nullptr;
  void* const* builtins = nullptr;                     ///< kBuiltinCount function pointers
  void* instance = nullptr;                            ///< the runtime's Instance
  static constexpr std::uint32_t kMagic = 0x6e776f68;  // "hown"
};
inline constexpr std::uint32_t kStoreOffset = offsetof(VmContextHeader, store);
inline constexpr std::uint32_t kBuiltinsOffset = offsetof(VmContextHeader, builtins);
static_assert(offsetof(VmHostContext, store) == kStoreOffset);

/// Offsets of the variable parts of an instance, from the counts of its module. Order: header,
/// defined globals (16-byte cells), memory bases, memory pointers, table pointers, imported global
/// pointers, tag pointers, function imports, function references, type ids.
class VmLayout {
 public:
  struct Counts {
    std::uint32_t types = 0;
    std::uint32_t imported_funcs = 0;
    std::uint32_t func_refs = 0;  ///< functions that escape (and all exported), numbered densely
    std::uint32_t tables = 0;     ///< imported ones included
    std::uint32_t memories = 0;   ///< imported ones included
    std::uint32_t imported_globals = 0;
    std::uint32_t defined_globals = 0;
    std::uint32_t tags = 0;  ///< imported ones included
  };
  explicit constexpr VmLayout(const Counts& n) {
    globals_ = base::align_up(std::uint64_t{sizeof(VmContextHeader)}, 16);
    memory_bases_ = globals_ + std::uint64_t{16} * n.defined_globals;
    memories_ = memory_bases_ + std::uint64_t{8} * n.memories;
    tables_ = memories_ + std::uint64_t{8} * n.memories;
    imported_globals_ = tables_ + std::uint64_t{8} * n.tables;
    tags_ = imported_globals_ + std::uint64_t{8} * n.imported_globals;
    func_imports_ = tags_ + std::uint64_t{8} * n.tags;
    func_refs_ = func_imports_ + sizeof(VmFuncImport) * std::uint64_t{n.imported_funcs};
    type_ids_ = func_refs_ + sizeof(VmFuncRef) * std::uint64_t{n.func_refs};
    size_ = base::align_up(type_ids_ + std::uint64_t{4} * n.types, 16);
  }
  /// All fit 31 bits for modules within the documented limits.
  constexpr std::int32_t global(std::uint32_t defined_index) const {
    return at(globals_, 16, defined_index);
  }
  constexpr std::int32_t memory_base(std::uint32_t memory) const {
    return at(memory_bases_, 8, memory);
  }
  constexpr std::int32_t memory(std::uint32_t memory) const { return at(memories_, 8, memory); }
  constexpr std::int32_t table(std::uint32_t table) const { return at(tables_, 8, table); }
  constexpr std::int32_t imported_global(std::uint32_t global) const {
    return at(imported_globals_, 8, global);
  }
  constexpr std::int32_t tag(std::uint32_t tag) const { return at(tags_, 8, tag); }
  constexpr std::int32_t func_import(std::uint32_t func) const {
    return at(func_imports_, sizeof(VmFuncImport), func);
  }
  constexpr std::int32_t func_ref(std::uint32_t number) const {
    return at(func_refs_, sizeof(VmFuncRef), number);
  }
  constexpr std::int32_t type_id(std::uint32_t type) const { return at(type_ids_, 4, type); }
  constexpr std::uint64_t size() const { return size_; }

 private:
  static constexpr std::int32_t at(std::uint64_t base, std::uint64_t stride, std::uint32_t index) {
    return static_cast<std::int32_t>(base + stride * index);
  }
  std::uint64_t globals_ = 0, memory_bases_ = 0, memories_ = 0, tables_ = 0, imported_globals_ = 0,
                tags_ = 0, func_imports_ = 0, func_refs_ = 0, type_ids_ = 0, size_ = 0;
};

/// 32-bit memories reserve this much address space, then a guard; a static offset up to
/// kMemoryGuard - 16 needs no check of its own.
inline constexpr std::uint64_t kMemoryReservation = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kMemoryGuard = std::uint64_t{1} << 31;
inline constexpr std::uint64_t kWasmPageBytes = 65536;
/// Inaccessible bytes behind the length of a 64-bit memory (MemoryCheck::Guarded).
inline constexpr std::uint64_t kOffsetGuard = std::uint64_t{16} << 20;
/// More than any memory can have: the address space of a process.
inline constexpr std::uint64_t kMostMemoryBytes = std::uint64_t{1} << 47;

}  // namespace hoist::image
