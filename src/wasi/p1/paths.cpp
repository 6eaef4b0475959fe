// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The path_* functions. Every path is resolved below the directory it is relative to
// (platform/beneath.hpp); what remains is one name without '/'. The errno of each shape of path is
// the one that Linux gives for the same call; comments name the rule where it is not obvious.
#include <algorithm>
#include <cerrno>

#include "platform/beneath.hpp"
#include "platform/poll.hpp"
#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

namespace {

constexpr std::uint32_t kSymlinkFollow = 1;                                          // lookupflags
constexpr std::uint32_t kCreate = 1, kDirectory = 2, kExclusive = 4, kTruncate = 8;  // oflags

/// A directory of the guest and a path relative to it.
struct PathArg {
  Descriptor* dir = nullptr;
  std::string path;
  int root() const { return dir->fd.get(); }
};

Errno read_path_arg(Context& ctx, GuestMemory memory, std::uint64_t fd, std::uint64_t at,
                    std::uint64_t size, std::uint64_t wanted, PathArg& out) {
  HOIST_WASI_TRY(find_directory(ctx, fd, wanted, out.dir));
  return read_path(memory, at, size, out.path);
}

using platform::Place;
using Last = Place::Last;

Errno resolve(const PathArg& arg, Place& out) {
  return from_host(platform::resolve_place(arg.root(), arg.path, out));
}

/// Type of what a place names, itself if it is a symbolic link. An errno value.
int type_of(const Place& place, platform::FileType& out) {
  platform::FileStat stat;
  const int error = platform::stat_at(place.parent.get(), place.name.c_str(), stat);
  out = stat.type;
  return error;
}
bool is_directory(const Place& place) {
  platform::FileType type;
  return type_of(place, type) == 0 && type == platform::FileType::Directory;
}

/// A handle without access to contents. `follow`: of what a link leads to.
Errno open_handle(const PathArg& arg, bool follow, platform::Fd& out, bool directory = false) {
  platform::OpenRequest request;
  request.path_only = true;
  request.follow = follow;
  request.directory = directory;
  return from_host(platform::open_beneath(arg.root(), arg.path, request, out));
}

bool follows(std::uint64_t lookup_flags) {
  return (u32(lookup_flags) & kSymlinkFollow) != 0;
}

/// Why nothing can be made at `place`, whatever it would be but a directory: something is there, or
/// the name is that of a directory. An errno value.
int cannot_make(const Place& place) {
  if (place.last != Last::Name) return EEXIST;
  platform::FileType type;
  const int error = type_of(place, type);
  if (error == 0) return EEXIST;
  if (error != ENOENT) return error;
  return place.trailing_slash ? ENOENT : 0;
}

}  // namespace

#define HOIST_WASI_PATH(arg, fd, at, size, wanted) \
  PathArg arg;                                     \
  HOIST_WASI_TRY(read_path_arg(ctx, memory, fd, at, size, wanted, arg))
#define HOIST_WASI_PLACE(place, arg) \
  Place place;                       \
  HOIST_WASI_TRY(resolve(arg, place))

Errno path_create_directory(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_PATH(arg, args[0], args[1], args[2], rights::kPathCreateDirectory);
  HOIST_WASI_PLACE(place, arg);
  if (place.last != Last::Name) return Errno::Exist;
  return from_host(platform::make_directory_at(place.parent.get(), place.name.c_str()));
}

Errno path_remove_directory(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_PATH(arg, args[0], args[1], args[2], rights::kPathRemoveDirectory);
  HOIST_WASI_PLACE(place, arg);
  if (place.last == Last::Dot) return Errno::Inval;
  if (place.last == Last::DotDot) return Errno::Notempty;
  return from_host(platform::remove_directory_at(place.parent.get(), place.name.c_str()));
}

Errno path_unlink_file(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_PATH(arg, args[0], args[1], args[2], rights::kPathUnlinkFile);
  HOIST_WASI_PLACE(place, arg);
  if (place.last != Last::Name) return Errno::Isdir;
  if (place.trailing_slash) {
    platform::FileType type;
    if (const int error = type_of(place, type); error != 0) return from_host(error);
    return type == platform::FileType::Directory ? Errno::Isdir : Errno::Notdir;
  }
  const int error = platform::unlink_at(place.parent.get(), place.name.c_str());
  return error == EPERM && is_directory(place) ? Errno::Isdir : from_host(error);
}

static Errno filestat(Context& ctx, GuestMemory memory, const std::uint64_t* args,
                      Version version) {
  HOIST_WASI_PATH(arg, args[0], args[2], args[3], rights::kPathFilestatGet);
  if (!memory.contains(u32(args[4]), filestat_size(version))) return Errno::Fault;
  platform::Fd fd;
  HOIST_WASI_TRY(open_handle(arg, follows(args[1]), fd));
  platform::FileStat stat;
  HOIST_WASI_TRY(from_host(platform::stat_fd(fd.get(), stat)));
  return write_filestat(memory, args[4], stat, version);
}
Errno path_filestat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return filestat(ctx, memory, args, Version::Preview1);
}
Errno unstable_path_filestat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args,
                                 Outcome&) {
  return filestat(ctx, memory, args, Version::Unstable);
}

Errno path_filestat_set_times(Context& ctx, GuestMemory memory, const std::uint64_t* args,
                              Outcome&) {
  HOIST_WASI_PATH(arg, args[0], args[2], args[3], rights::kPathFilestatSetTimes);
  platform::TimeUpdate accessed, modified;
  HOIST_WASI_TRY(read_times(args[4], args[5], args[6], accessed, modified));
  if (!follows(args[1])) {
    HOIST_WASI_PLACE(place, arg);
    // A slash at the end follows.
    if (!place.trailing_slash) {
      return from_host(
          platform::set_times_at(place.parent.get(), place.name.c_str(), accessed, modified));
    }
  }
  platform::Fd fd;
  HOIST_WASI_TRY(open_handle(arg, true, fd));
  return from_host(platform::set_times_path_fd(fd.get(), accessed, modified));
}

Errno path_link(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_PATH(from, args[0], args[2], args[3], rights::kPathLinkSource);
  HOIST_WASI_PATH(to, args[4], args[5], args[6], rights::kPathLinkTarget);
  // The handle is the very file, or the link itself, that was found below the directory.
  platform::Fd source;
  HOIST_WASI_TRY(open_handle(from, follows(args[1]), source));
  HOIST_WASI_PLACE(target, to);
  if (const int error = cannot_make(target); error != 0) return from_host(error);
  platform::FileStat stat;
  HOIST_WASI_TRY(from_host(platform::stat_fd(source.get(), stat)));
  if (stat.type == platform::FileType::Directory) return Errno::Perm;
  return from_host(platform::link_path_fd(source.get(), target.parent.get(), target.name.c_str()));
}

static bool is_terminal(int fd, const platform::FileStat& stat) {
  return stat.type == platform::FileType::Character && platform::is_terminal(fd);
}

/// Opens, waiting as the guest asked: only a FIFO that nobody reads makes a writer wait. (Who opens
/// one to read waits at the first access.)
static Errno open_file(Context& ctx, const PathArg& arg, platform::OpenRequest request,
                       bool nonblocking, platform::Fd& out, Outcome& outcome) {
  static constexpr std::uint64_t kRetryNs = 20'000'000;
  for (;;) {
    const int error = platform::open_beneath(arg.root(), arg.path, request, out);
    if (error == EISDIR && request.write && !request.create && !request.truncate) {
      // wasi-libc asks for all rights; a directory is then opened for reading.
      request.write = false;
      request.read = true;
      continue;
    }
    if (error != ENXIO || nonblocking || !request.write || request.read) return from_host(error);
    platform::Fd handle;
    platform::FileStat stat;
    HOIST_WASI_TRY(open_handle(arg, request.follow, handle));
    HOIST_WASI_TRY(from_host(platform::stat_fd(handle.get(), stat)));
    if (!stat.pipe) return from_host(error);
    ctx.pin(*arg.dir);
    const int stopped =
        ctx.waiting([&](platform::WakeFlag* wake) { return platform::sleep_ns(kRetryNs, wake); });
    if (stopped != 0) return waited(stopped, outcome);
  }
}

Errno path_open(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  HOIST_WASI_PATH(arg, args[0], args[2], args[3], rights::kPathOpen);
  const std::uint32_t lookup = u32(args[1]), open = u32(args[4]), fd_flags = u32(args[7]);
  if (open > 15 || fd_flags > fdflags::kAll) return Errno::Inval;
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
  request.flags.append = (fd_flags & fdflags::kAppend) != 0;
  request.flags.dsync = (fd_flags & fdflags::kDsync) != 0;
  request.flags.sync = (fd_flags & (fdflags::kRsync | fdflags::kSync)) != 0;
  if (request.directory && (request.create || request.exclusive || request.truncate))
    return Errno::Inval;

  // Nothing is created that there is no number for.
  if (ctx.is_full()) return Errno::Mfile;

  Descriptor d;
  HOIST_WASI_TRY(open_file(ctx, arg, request, (fd_flags & fdflags::kNonblock) != 0, d.fd, outcome));
  platform::FileStat stat;
  HOIST_WASI_TRY(from_host(platform::stat_fd(d.fd.get(), stat)));
  const bool directory = stat.type == platform::FileType::Directory;
  d.kind = directory                                    ? Descriptor::Kind::Directory
           : stat.pipe || is_terminal(d.fd.get(), stat) ? Descriptor::Kind::Stream
                                                        : Descriptor::Kind::File;
  d.flags = fd_flags;
  d.rights_base = base_rights & (directory                            ? rights::kDirectory
                                 : d.kind == Descriptor::Kind::Stream ? rights::kStream
                                                                      : rights::kFile);
  d.rights_inheriting = inheriting;
  std::uint32_t number = 0;
  HOIST_WASI_TRY(ctx.add(std::move(d), number));
  static_cast<void>(memory.write(u32(args[8]), number));
  return Errno::Success;
}

Errno path_readlink(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_PATH(arg, args[0], args[1], args[2], rights::kPathReadlink);
  const std::uint32_t buffer = u32(args[3]), size = u32(args[4]);
  if (!memory.contains(buffer, size) || !memory.contains(u32(args[5]), 4)) return Errno::Fault;
  HOIST_WASI_PLACE(place, arg);
  if (place.last != Last::Name) return Errno::Inval;
  if (place.trailing_slash) {
    // A slash at the end follows; what it leads to is then no link.
    platform::Fd fd;
    HOIST_WASI_TRY(open_handle(arg, true, fd, true));
    return Errno::Inval;
  }
  std::string target;
  HOIST_WASI_TRY(from_host(platform::read_link_at(place.parent.get(), place.name.c_str(), target)));
  const std::size_t n = std::min<std::size_t>(size, target.size());
  std::copy_n(target.data(), n, reinterpret_cast<char*>(memory.at(buffer)));
  static_cast<void>(memory.write<std::uint32_t>(u32(args[5]), static_cast<std::uint32_t>(n)));
  return Errno::Success;
}

Errno path_rename(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_PATH(from, args[0], args[1], args[2], rights::kPathRenameSource);
  HOIST_WASI_PATH(to, args[3], args[4], args[5], rights::kPathRenameTarget);
  HOIST_WASI_PLACE(source, from);
  HOIST_WASI_PLACE(target, to);
  if (source.last != Last::Name || target.last != Last::Name) return Errno::Busy;
  if (source.trailing_slash || target.trailing_slash) {
    platform::FileType type;
    if (const int error = type_of(source, type); error != 0) return from_host(error);
    if (type != platform::FileType::Directory) return Errno::Notdir;
  }
  return from_host(platform::rename_at(source.parent.get(), source.name.c_str(),
                                       target.parent.get(), target.name.c_str()));
}

Errno path_symlink(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_PATH(arg, args[2], args[3], args[4], rights::kPathSymlink);
  std::string target;
  HOIST_WASI_TRY(read_path(memory, args[0], args[1], target));
  if (target.empty()) return Errno::Noent;
  // An absolute target leads out of every directory of the guest, and would mean something to other
  // programs of the host.
  if (target.front() == '/') return Errno::Perm;
  HOIST_WASI_PLACE(place, arg);
  if (const int error = cannot_make(place); error != 0) return from_host(error);
  return from_host(platform::symlink_at(target.c_str(), place.parent.get(), place.name.c_str()));
}

}  // namespace hoist::wasi
