// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Declares one function per row of functions.def, and what their bodies share.

#include <string_view>

#include "wasi/p1/context.hpp"

namespace hoist::wasi {

#define HOIST_WASI_P1(name, params, meaning) \
  Errno name(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome);
#include "wasi/p1/functions.def"

inline std::uint32_t u32(std::uint64_t slot) {
  return static_cast<std::uint32_t>(slot);
}

/// Finds a descriptor with the given rights: Badf, Notcapable.
Errno find(Context& ctx, std::uint64_t number, std::uint64_t wanted, Descriptor*& out);
/// The same for a directory: also Notdir.
Errno find_directory(Context& ctx, std::uint64_t number, std::uint64_t wanted, Descriptor*& out);
/// A path in guest memory: Fault; Ilseq unless it is UTF-8; Inval with a NUL in it.
Errno read_path(GuestMemory memory, std::uint64_t at, std::uint64_t size, std::string_view& out);
/// Times as fd_filestat_set_times and path_filestat_set_times take them; Inval for bad flags.
Errno read_times(std::uint64_t accessed, std::uint64_t modified, std::uint64_t flags,
                 platform::TimeUpdate& accessed_out, platform::TimeUpdate& modified_out);
/// Writes the 64 bytes of a filestat.
Errno write_filestat(GuestMemory memory, std::uint64_t at, const platform::FileStat& stat);

}  // namespace hoist::wasi
