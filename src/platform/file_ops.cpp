// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/file_ops.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

namespace hoist::platform {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

static int result_of(long rc) {
  return rc < 0 ? errno : 0;
}

template <typename F>
static auto retry(F&& call) {
  for (;;) {
    const auto rc = call();
    if (rc >= 0 || errno != EINTR) return rc;
  }
}

static std::size_t to_iovecs(std::span<const IoSlice> slices, iovec (&out)[1024]) {
  const std::size_t count = std::min<std::size_t>(slices.size(), 1024);
  for (std::size_t i = 0; i < count; ++i) out[i] = {slices[i].data, slices[i].size};
  return count;
}

int read_slices(int fd, std::span<const IoSlice> slices, std::int64_t offset, std::size_t& count) {
  iovec vecs[1024];
  const int n = static_cast<int>(to_iovecs(slices, vecs));
  const ssize_t got =
      retry([&] { return offset < 0 ? ::readv(fd, vecs, n) : ::preadv(fd, vecs, n, offset); });
  if (got < 0) return errno;
  count = static_cast<std::size_t>(got);
  return 0;
}

int write_slices(int fd, std::span<const IoSlice> slices, std::int64_t offset, std::size_t& count) {
  iovec vecs[1024];
  const int n = static_cast<int>(to_iovecs(slices, vecs));
  const ssize_t put =
      retry([&] { return offset < 0 ? ::writev(fd, vecs, n) : ::pwritev(fd, vecs, n, offset); });
  if (put < 0) return errno;
  count = static_cast<std::size_t>(put);
  return 0;
}

int write_stream(int fd, std::span<const IoSlice> slices, std::size_t& count) {
  // A pipe that can be written has room for this much.
  std::size_t room = PIPE_BUF;
  iovec vecs[64];
  int n = 0;
  for (const IoSlice& slice : slices) {
    const std::size_t size = std::min(slice.size, room);
    if (size == 0) continue;
    vecs[n++] = {slice.data, size};
    room -= size;
    if (room == 0 || n == 64) break;
  }
  sigset_t pipe_signal, old, pending;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
  ::sigpending(&pending);
  const bool was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  const ssize_t put = retry([&] { return ::writev(fd, vecs, n); });
  const int error = put < 0 ? errno : 0;
  if (error == EPIPE && !was_pending) {
    const timespec at_once{};
    static_cast<void>(retry([&] { return ::sigtimedwait(&pipe_signal, nullptr, &at_once); }));
  }
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error != 0) return error;
  count = static_cast<std::size_t>(put);
  return 0;
}

int seek(int fd, std::int64_t offset, Whence whence, std::uint64_t& position) {
  const int how = whence == Whence::Set       ? SEEK_SET
                  : whence == Whence::Current ? SEEK_CUR
                                              : SEEK_END;
  const off_t at = ::lseek(fd, offset, how);
  if (at < 0) return errno;
  position = static_cast<std::uint64_t>(at);
  return 0;
}

static FileType type_of_mode(mode_t mode, int fd) {
  if (S_ISREG(mode)) return FileType::Regular;
  if (S_ISDIR(mode)) return FileType::Directory;
  if (S_ISCHR(mode)) return FileType::Character;
  if (S_ISBLK(mode)) return FileType::Block;
  if (S_ISLNK(mode)) return FileType::Symlink;
  if (S_ISSOCK(mode)) {
    int type = SOCK_STREAM;
    socklen_t size = sizeof type;
    if (fd >= 0 && ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM) {
      return FileType::SocketDgram;
    }
    return FileType::SocketStream;
  }
  return FileType::Unknown;
}

/// Nanoseconds since 1970; times before that, and after the year 2554, are cut off there.
static std::uint64_t to_ns(const timespec& t) {
  if (t.tv_sec < 0) return 0;
  if (static_cast<std::uint64_t>(t.tv_sec) >= UINT64_MAX / 1'000'000'000u) return UINT64_MAX;
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

static void fill(const struct stat& s, int fd, FileStat& out) {
  out.device = s.st_dev;
  out.inode = s.st_ino;
  out.links = s.st_nlink;
  out.size = static_cast<std::uint64_t>(s.st_size);
  out.accessed_ns = to_ns(s.st_atim);
  out.modified_ns = to_ns(s.st_mtim);
  out.changed_ns = to_ns(s.st_ctim);
  out.type = type_of_mode(s.st_mode, fd);
  out.pipe = S_ISFIFO(s.st_mode);
}

int stat_fd(int fd, FileStat& out) {
  struct stat s;
  if (::fstat(fd, &s) != 0) return errno;
  fill(s, fd, out);
  return 0;
}

int stat_at(int dir, const char* name, FileStat& out) {
  struct stat s;
  if (::fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  fill(s, -1, out);
  return 0;
}

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

int sync_fd(int fd, bool data_only) {
  return result_of(data_only ? ::fdatasync(fd) : ::fsync(fd));
}

int truncate_fd(int fd, std::uint64_t size) {
  if (size > INT64_MAX) return EINVAL;
  return result_of(retry([&] { return ::ftruncate(fd, static_cast<off_t>(size)); }));
}

int allocate_fd(int fd, std::uint64_t offset, std::uint64_t size) {
  if (offset > INT64_MAX || size > INT64_MAX) return EINVAL;
  // Not posix_fallocate, which writes every block itself where the file system cannot.
  return result_of(retry(
      [&] { return ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(size)); }));
}

int advise_fd(int fd, std::uint64_t offset, std::uint64_t size, unsigned advice) {
  static constexpr int kAdvice[] = {POSIX_FADV_NORMAL,   POSIX_FADV_SEQUENTIAL, POSIX_FADV_RANDOM,
                                    POSIX_FADV_WILLNEED, POSIX_FADV_DONTNEED,   POSIX_FADV_NOREUSE};
  if (advice >= std::size(kAdvice) || offset > INT64_MAX || size > INT64_MAX) return EINVAL;
  return ::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(size), kAdvice[advice]);
}

static timespec to_timespec(TimeUpdate update) {
  switch (update.kind) {
    case TimeUpdate::Kind::Omit: return {0, UTIME_OMIT};
    case TimeUpdate::Kind::Now: return {0, UTIME_NOW};
    case TimeUpdate::Kind::Set: break;
  }
  return {static_cast<time_t>(update.ns / 1'000'000'000u),
          static_cast<long>(update.ns % 1'000'000'000u)};
}

int set_times_fd(int fd, TimeUpdate accessed, TimeUpdate modified) {
  const timespec times[2] = {to_timespec(accessed), to_timespec(modified)};
  return result_of(::futimens(fd, times));
}

int set_times_at(int dir, const char* name, TimeUpdate accessed, TimeUpdate modified) {
  const timespec times[2] = {to_timespec(accessed), to_timespec(modified)};
  return result_of(::utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW));
}

namespace {
/// The name of an open descriptor; it leads to exactly that file, whatever happens to its path.
struct ProcName {
  char text[32];
  explicit ProcName(int fd) { std::snprintf(text, sizeof text, "/proc/self/fd/%d", fd); }
};
}  // namespace

int set_times_path_fd(int path_fd, TimeUpdate accessed, TimeUpdate modified) {
  const timespec times[2] = {to_timespec(accessed), to_timespec(modified)};
  if (::utimensat(path_fd, "", times, AT_EMPTY_PATH) == 0) return 0;
  // Before Linux 5.8 an O_PATH descriptor allows that only by its name.
  if (errno != EINVAL && errno != ENOENT) return errno;
  return result_of(::utimensat(AT_FDCWD, ProcName(path_fd).text, times, 0));
}

int link_path_fd(int path_fd, int dir, const char* name) {
  // AT_EMPTY_PATH needs a privilege here; the descriptor's name does not.
  return result_of(::linkat(AT_FDCWD, ProcName(path_fd).text, dir, name, AT_SYMLINK_FOLLOW));
}

int get_flags(int fd, FdFlags& out) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return errno;
  out.append = (flags & O_APPEND) != 0;
  out.nonblock = (flags & O_NONBLOCK) != 0;
  out.sync = (flags & O_SYNC) == O_SYNC;
  out.dsync = (flags & O_DSYNC) != 0;
  out.name_only = (flags & O_PATH) != 0;
  return 0;
}

int set_append(int fd, bool append) {
  const int old = ::fcntl(fd, F_GETFL);
  if (old < 0) return errno;
  return result_of(::fcntl(fd, F_SETFL, append ? old | O_APPEND : old & ~O_APPEND));
}

static FileType type_of_dirent(unsigned char type) {
  switch (type) {
    case DT_REG: return FileType::Regular;
    case DT_DIR: return FileType::Directory;
    case DT_CHR: return FileType::Character;
    case DT_BLK: return FileType::Block;
    case DT_LNK: return FileType::Symlink;
    case DT_SOCK: return FileType::SocketStream;
    default: return FileType::Unknown;
  }
}

static DirEntry entry_of(int fd, const dirent& entry, std::uint64_t own_inode) {
  DirEntry out{entry.d_name, entry.d_ino, type_of_dirent(entry.d_type)};
  if (out.name == "..") out.inode = own_inode;
  if (entry.d_type == DT_UNKNOWN) {
    FileStat stat;
    if (stat_at(fd, entry.d_name, stat) == 0) out.type = stat.type;
  }
  return out;
}

int list_directory(int fd, std::vector<DirEntry>& out, std::size_t max_bytes) {
  FileStat own;
  if (const int error = stat_fd(fd, own); error != 0) return error;
  // A descriptor of its own: the position of `fd` is not shared with what the guest does.
  Fd copy(::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!copy.is_open()) return errno;
  DIR* dir = ::fdopendir(copy.get());
  if (dir == nullptr) return errno;
  static_cast<void>(copy.release());
  out.clear();
  int error = 0;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir);
    if (entry == nullptr) {
      error = errno;
      break;
    }
    out.push_back(entry_of(fd, *entry, own.inode));
    const std::size_t bytes = sizeof(DirEntry) + out.back().name.size();
    if (bytes > max_bytes) {
      error = ENOMEM;
      break;
    }
    max_bytes -= bytes;
  }
  ::closedir(dir);
  if (error != 0) out.clear();
  return error;
}

int make_directory_at(int dir, const char* name) {
  return result_of(::mkdirat(dir, name, 0777));
}
int remove_directory_at(int dir, const char* name) {
  return result_of(::unlinkat(dir, name, AT_REMOVEDIR));
}
int unlink_at(int dir, const char* name) {
  return result_of(::unlinkat(dir, name, 0));
}
int rename_at(int from_dir, const char* from, int to_dir, const char* to) {
  return result_of(::renameat(from_dir, from, to_dir, to));
}
int link_at(int from_dir, const char* from, int to_dir, const char* to) {
  return result_of(::linkat(from_dir, from, to_dir, to, 0));
}
int symlink_at(const char* target, int dir, const char* name) {
  return result_of(::symlinkat(target, dir, name));
}

int read_link_at(int dir, const char* name, std::string& out) {
  char buffer[PATH_MAX];
  const ssize_t length = ::readlinkat(dir, name, buffer, sizeof buffer);
  if (length < 0) return errno;
  out.assign(buffer, static_cast<std::size_t>(length));
  return 0;
}

void yield_processor() {
  static_cast<void>(::sched_yield());
}

}  // namespace hoist::platform
