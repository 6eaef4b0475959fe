// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Declares one function per row of functions.def, and what their bodies share. The order of checks
/// in a body: is there such a descriptor (Badf), is it of a kind that the call makes sense on (the
/// errno that POSIX has for it), has it the rights (Notcapable), are flags known (Inval), do all
/// guest pointers lie in memory (Fault); only then does anything happen.

#include <string>

#include "wasi/p1/context.hpp"

namespace hoist::wasi {

#define HOIST_WASI_P1(name, params, meaning) \
  Errno name(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome);
#include "wasi/p1/functions.def"
#define HOIST_WASI_P0_DIFFERS(name)                                                  \
  Errno unstable_##name(Context& ctx, GuestMemory memory, const std::uint64_t* args, \
                        Outcome& outcome);
#include "wasi/p1/functions.def"

inline std::uint32_t u32(std::uint64_t slot) {
  return static_cast<std::uint32_t>(slot);
}

/// The errno of a call that may have waited: ECANCELED becomes Outcome::Interrupted.
Errno waited(int error, Outcome& outcome);

/// Finds a descriptor with the given rights: Badf, Notcapable.
Errno find(Context& ctx, std::uint64_t number, std::uint64_t wanted, Descriptor*& out);
/// The same for a directory: also Notdir.
Errno find_directory(Context& ctx, std::uint64_t number, std::uint64_t wanted, Descriptor*& out);
inline Errno need(const Descriptor& d, std::uint64_t wanted) {
  return (d.rights_base & wanted) == wanted ? Errno::Success : Errno::Notcapable;
}

#define HOIST_WASI_TRY(expression) \
  if (const Errno tried = (expression); tried != Errno::Success) return tried
/// `d`: the descriptor `number`, which must have the rights `wanted`.
#define HOIST_WASI_FIND(d, number, wanted) \
  Descriptor* d = nullptr;                 \
  HOIST_WASI_TRY(find(ctx, number, wanted, d))

/// A path in guest memory, copied: Fault; Nametoolong for one that no system call takes; Ilseq
/// unless it is UTF-8; Inval with a NUL in it.
Errno read_path(GuestMemory memory, std::uint64_t at, std::uint64_t size, std::string& out);
/// Times as fd_filestat_set_times and path_filestat_set_times take them; Inval for bad flags.
Errno read_times(std::uint64_t accessed, std::uint64_t modified, std::uint64_t flags,
                 platform::TimeUpdate& accessed_out, platform::TimeUpdate& modified_out);
/// Writes the 64 bytes of a filestat, or 56 of an older one.
Errno write_filestat(GuestMemory memory, std::uint64_t at, const platform::FileStat& stat,
                     Version version);
constexpr std::uint64_t filestat_size(Version version) {
  return version == Version::Preview1 ? 64 : 56;
}
/// The time of WASI's clock `id`. False: there is none.
bool read_clock(const Context& ctx, std::uint32_t id, std::uint64_t& out);

/// The guest's list of (pointer, size) pairs, copied and checked.
struct SliceList {
  struct Slice {
    std::uint32_t at, size;
  };
  static constexpr std::size_t kMax = 1024;                ///< what one system call takes
  static constexpr std::uint64_t kMaxBytes = 0x7fff'f000;  ///< what one system call moves
  static constexpr std::uint32_t kMaxEntries = 1 << 20;
  Slice items[kMax];
  std::size_t count = 0;
  std::uint64_t bytes = 0;

  /// Empty slices are left out; what is more than one system call takes is cut off, as fewer bytes
  /// than asked for are a legal answer. Fault; Inval for a list of more than kMaxEntries.
  Errno read(GuestMemory memory, std::uint64_t list, std::uint64_t entries);
  /// As pointers, without the first `skip` bytes.
  std::span<const platform::IoSlice> pointers(GuestMemory memory, platform::IoSlice (&out)[kMax],
                                              std::uint64_t skip = 0) const;
};

}  // namespace hoist::wasi
