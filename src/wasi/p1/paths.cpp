// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The path_* functions. Every path is resolved below the directory it is relative to
// (platform/beneath.hpp); what remains is one name without '/'.
#include <algorithm>
#include <cerrno>

#include "platform/beneath.hpp"
#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

namespace {

constexpr std::uint32_t kSymlinkFollow = 1;                                          // lookupflags
constexpr std::uint32_t kCreate = 1, kDirectory = 2, kExclusive = 4, kTruncate = 8;  // oflags

/// A directory of the guest and a path relative to it.
struct PathArg {
  Descriptor* dir = nullptr;
  std::string_view path;
};

Errno read_path_arg(Context& ctx, GuestMemory memory, std::uint64_t fd, std::uint64_t at,
                    std::uint64_t size, std::uint64_t wanted, PathArg& out) {
  if (const Errno error = find_directory(ctx, fd, wanted, out.dir); error != Errno::Success)
    return error;
  return read_path(memory, at, size, out.path);
}

/// The resolved parent directory and last name of a path.
struct Place {
  platform::Fd parent;
  std::string name;
  bool trailing_slash = false;
  bool is_directory() const {
    platform::FileStat stat;
    return platform::stat_at(parent.get(), name.c_str(), stat) == 0 &&
           stat.type == platform::FileType::Directory;
  }
};

Errno resolve(const PathArg& arg, Place& out) {
  return from_host(platform::resolve_parent(arg.dir->fd.get(), arg.path, out.parent, out.name,
                                            out.trailing_slash));
}

}  // namespace

#define HOIST_PATH(arg, fd, at, size, wanted)                                          \
  PathArg arg;                                                                         \
  if (const Errno arg##_error = read_path_arg(ctx, memory, fd, at, size, wanted, arg); \
      arg##_error != Errno::Success)                                                   \
  return arg##_error
#define HOIST_PLACE(place, arg)                                                         \
  Place place;                                                                          \
  if (const Errno place##_error = resolve(arg, place); place##_error != Errno::Success) \
  return place##_error

Errno path_create_directory(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_PATH(arg, args[0], args[1], args[2], rights::kPathCreateDirectory);
  HOIST_PLACE(place, arg);
  if (place.name == ".") return Errno::Exist;
  return from_host(platform::make_directory_at(place.parent.get(), place.name.c_str()));
}

Errno path_remove_directory(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_PATH(arg, args[0], args[1], args[2], rights::kPathRemoveDirectory);
  HOIST_PLACE(place, arg);
  if (place.name == ".") return Errno::Inval;
  return from_host(platform::remove_directory_at(place.parent.get(), place.name.c_str()));
}

Errno path_unlink_file(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_PATH(arg, args[0], args[1], args[2], rights::kPathUnlinkFile);
  HOIST_PLACE(place, arg);
  if (place.name == ".") return Errno::Isdir;
  if (place.trailing_slash) return place.is_directory() ? Errno::Isdir : Errno::Notdir;
  const int error = platform::unlink_at(place.parent.get(), place.name.c_str());
  return error == EPERM && place.is_directory() ? Errno::Isdir : from_host(error);
}

Errno path_filestat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_PATH(arg, args[0], args[2], args[3], rights::kPathFilestatGet);
  platform::OpenRequest request;
  request.path_only = true;
  request.follow = (u32(args[1]) & kSymlinkFollow) != 0;
  platform::Fd fd;
  if (const int error = platform::open_beneath(arg.dir->fd.get(), arg.path, request, fd);
      error != 0)
    return from_host(error);
  platform::FileStat stat;
  if (const int error = platform::stat_fd(fd.get(), stat); error != 0) return from_host(error);
  return write_filestat(memory, args[4], stat);
}

Errno path_filestat_set_times(Context& ctx, GuestMemory memory, const std::uint64_t* args,
                              Outcome&) {
  HOIST_PATH(arg, args[0], args[2], args[3], rights::kPathFilestatSetTimes);
  platform::TimeUpdate accessed, modified;
  if (const Errno error = read_times(args[4], args[5], args[6], accessed, modified);
      error != Errno::Success)
    return error;
  if ((u32(args[1]) & kSymlinkFollow) == 0) {
    HOIST_PLACE(place, arg);
    if (place.trailing_slash && !place.is_directory()) return Errno::Notdir;
    return from_host(
        platform::set_times_at(place.parent.get(), place.name.c_str(), accessed, modified));
  }
  platform::OpenRequest request;
  request.path_only = true;
  platform::Fd fd;
  if (const int error = platform::open_beneath(arg.dir->fd.get(), arg.path, request, fd);
      error != 0)
    return from_host(error);
  return from_host(platform::set_times_path_fd(fd.get(), accessed, modified));
}

Errno path_link(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_PATH(from, args[0], args[2], args[3], rights::kPathLinkSource);
  HOIST_PATH(to, args[4], args[5], args[6], rights::kPathLinkTarget);
  // Linux has no race-free way to link what a symbolic link leads to and stay below a directory.
  if ((u32(args[1]) & kSymlinkFollow) != 0) return Errno::Inval;
  HOIST_PLACE(source, from);
  HOIST_PLACE(target, to);
  if (source.trailing_slash || target.trailing_slash)
    return source.is_directory() ? Errno::Perm : Errno::Notdir;
  return from_host(platform::link_at(source.parent.get(), source.name.c_str(), target.parent.get(),
                                     target.name.c_str()));
}

Errno path_open(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_PATH(arg, args[0], args[2], args[3], rights::kPathOpen);
  const std::uint32_t lookup = u32(args[1]), open = u32(args[4]), fd_flags = u32(args[7]);
  if (open > 15 || fd_flags > 31) return Errno::Inval;
  if ((open & kCreate) != 0 && (arg.dir->rights_base & rights::kPathCreateFile) == 0)
    return Errno::Notcapable;
  if ((open & kTruncate) != 0 && (arg.dir->rights_base & rights::kPathFilestatSetSize) == 0)
    return Errno::Notcapable;
  if (!memory.contains(u32(args[8]), 4)) return Errno::Fault;
  const std::uint64_t allowed = arg.dir->rights_inheriting;
  const std::uint64_t base_rights = args[5] & allowed, inheriting = args[6] & allowed;

  platform::OpenRequest request;
  const std::uint64_t write_rights =
      rights::kFdWrite | rights::kFdAllocate | rights::kFdFilestatSetSize;
  request.write = (base_rights & write_rights) != 0 && (open & kDirectory) == 0;
  request.read = !request.write || (base_rights & (rights::kFdRead | rights::kFdReaddir)) != 0;
  request.create = (open & kCreate) != 0;
  request.directory = (open & kDirectory) != 0;
  request.exclusive = (open & kExclusive) != 0;
  request.truncate = (open & kTruncate) != 0;
  request.follow = (lookup & kSymlinkFollow) != 0;
  request.flags.append = (fd_flags & 1) != 0;
  request.flags.dsync = (fd_flags & 2) != 0;
  request.flags.nonblock = (fd_flags & 4) != 0;
  request.flags.sync = (fd_flags & (8 | 16)) != 0;
  if (request.directory && (request.create || request.exclusive || request.truncate))
    return Errno::Inval;

  Descriptor d;
  int error = platform::open_beneath(arg.dir->fd.get(), arg.path, request, d.fd);
  if (error == EISDIR && request.write && !request.create && !request.truncate) {
    // wasi-libc asks for all rights; a directory is then opened for reading.
    request.write = false;
    request.read = true;
    error = platform::open_beneath(arg.dir->fd.get(), arg.path, request, d.fd);
  }
  if (error != 0) return from_host(error);
  platform::FileStat stat;
  if (const int failed = platform::stat_fd(d.fd.get(), stat); failed != 0) return from_host(failed);
  const bool directory = stat.type == platform::FileType::Directory;
  d.kind = directory ? Descriptor::Kind::Directory : Descriptor::Kind::File;
  d.rights_base = base_rights & (directory ? rights::kDirectory : rights::kFile);
  d.rights_inheriting = inheriting;
  std::uint32_t number = 0;
  if (const Errno full = ctx.add(std::move(d), number); full != Errno::Success) return full;
  static_cast<void>(memory.write(u32(args[8]), number));
  return Errno::Success;
}

Errno path_readlink(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_PATH(arg, args[0], args[1], args[2], rights::kPathReadlink);
  const std::uint32_t buffer = u32(args[3]), size = u32(args[4]);
  if (!memory.contains(buffer, size)) return Errno::Fault;
  HOIST_PLACE(place, arg);
  std::string target;
  if (const int error = platform::read_link_at(place.parent.get(), place.name.c_str(), target);
      error != 0)
    return from_host(error);
  const std::size_t n = std::min<std::size_t>(size, target.size());
  std::copy_n(target.data(), n, reinterpret_cast<char*>(memory.at(buffer)));
  return memory.write<std::uint32_t>(u32(args[5]), static_cast<std::uint32_t>(n)) ? Errno::Success
                                                                                  : Errno::Fault;
}

Errno path_rename(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_PATH(from, args[0], args[1], args[2], rights::kPathRenameSource);
  HOIST_PATH(to, args[3], args[4], args[5], rights::kPathRenameTarget);
  HOIST_PLACE(source, from);
  HOIST_PLACE(target, to);
  if (source.name == "." || target.name == ".") return Errno::Busy;
  if ((source.trailing_slash || target.trailing_slash) && !source.is_directory())
    return Errno::Notdir;
  return from_host(platform::rename_at(source.parent.get(), source.name.c_str(),
                                       target.parent.get(), target.name.c_str()));
}

Errno path_symlink(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  std::string_view target;
  if (const Errno error = read_path(memory, args[0], args[1], target); error != Errno::Success)
    return error;
  HOIST_PATH(arg, args[2], args[3], args[4], rights::kPathSymlink);
  // An absolute target would mean something else to other programs of the host.
  if (target.empty()) return Errno::Noent;
  if (target.front() == '/') return Errno::Notcapable;
  HOIST_PLACE(place, arg);
  if (place.name == ".") return Errno::Exist;
  if (place.trailing_slash) return place.is_directory() ? Errno::Exist : Errno::Noent;
  return from_host(
      platform::symlink_at(std::string(target).c_str(), place.parent.get(), place.name.c_str()));
}

}  // namespace hoist::wasi
