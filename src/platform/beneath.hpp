// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Opening and naming files below a directory that the path can not leave: not by "..", absolute
/// paths, symbolic links, magic links or a race with another process. The kernel's openat2 with
/// RESOLVE_BENEATH does it where it exists; elsewhere a walk that holds a descriptor for every
/// directory on the way and follows links itself, which is as strict. Both return errno values,
/// those of the kernel for the same path; leaving is EPERM.

#include <string>
#include <string_view>

#include "platform/file_ops.hpp"

namespace hoist::platform {

struct OpenRequest {
  bool read = false, write = false;
  bool create = false, exclusive = false, truncate = false;
  bool directory = false;  ///< fail with ENOTDIR on anything else
  bool path_only = false;  ///< a handle for stat and times, no contents (O_PATH)
  bool follow = true;      ///< follow a symbolic link in the last component
  FdFlags flags;           ///< `nonblock` is not used: opening never waits
};

/// Opens `path` (relative, no NUL) below `root`. Contents are opened with O_NONBLOCK, so that a
/// FIFO cannot hold the caller up (ENXIO: to be written, and nobody reads).
int open_beneath(int root, std::string_view path, const OpenRequest& request, Fd& out);

/// A path up to its last component, which is ready for the *_at operations.
struct Place {
  /// What the path ends in. Dot and DotDot have no name that could be made, removed or renamed.
  enum class Last : std::uint8_t { Name, Dot, DotDot };
  Fd parent;  ///< of a Name; else the directory itself
  std::string name = ".";
  Last last = Last::Name;
  bool trailing_slash = false;
};
int resolve_place(int root, std::string_view path, Place& out);

/// For tests: behave as if openat2 did not exist.
void set_openat2_allowed(bool allowed);

/// Opens a host directory to be handed to a guest.
int open_directory(const char* path, Fd& out);
/// A host file, to be read, or written from the start or at the end.
int open_file(const char* path, bool write, bool append, Fd& out);

}  // namespace hoist::platform
