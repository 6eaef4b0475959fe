// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Opening and naming files below a directory that the path can not leave: not by "..", absolute
/// paths, symbolic links, magic links or a race with another process. The kernel's openat2 with
/// RESOLVE_BENEATH does it where it exists; elsewhere a walk that holds a descriptor for every
/// directory on the way and follows links itself, which is as strict. Both return errno values;
/// leaving is EPERM.

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
  FdFlags flags;
};

/// Opens `path` (relative, no NUL) below `root`.
int open_beneath(int root, std::string_view path, const OpenRequest& request, Fd& out);

/// Splits off the last component and opens the directory that contains it: `parent` and `name` are
/// then ready for the *_at operations. A path that ends in "." or ".." gives name ".".
/// `trailing_slash` tells that the path ended in '/'.
int resolve_parent(int root, std::string_view path, Fd& parent, std::string& name,
                   bool& trailing_slash);

/// For tests: behave as if openat2 did not exist.
void set_openat2_allowed(bool allowed);

/// Opens a host directory to be handed to a guest.
int open_directory(const char* path, Fd& out);

}  // namespace hoist::platform
