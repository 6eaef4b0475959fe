// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/file_ops.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
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

static std::uint64_t to_ns(const timespec& t) {
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
  return ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size));
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

int set_times_path_fd(int path_fd, TimeUpdate accessed, TimeUpdate modified) {
  // An O_PATH descriptor allows no futimens; its name under /proc leads to exactly this file.
  char name[32];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", path_fd);
  const timespec times[2] = {to_timespec(accessed), to_timespec(modified)};
  return result_of(::utimensat(AT_FDCWD, name, times, 0));
}

int get_flags(int fd, FdFlags& out) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return errno;
  out.append = (flags & O_APPEND) != 0;
  out.nonblock = (flags & O_NONBLOCK) != 0;
  out.sync = (flags & O_SYNC) == O_SYNC;
  out.dsync = (flags & O_DSYNC) != 0;
  return 0;
}

int set_flags(int fd, FdFlags flags) {
  const int old = ::fcntl(fd, F_GETFL);
  if (old < 0) return errno;
  const int wanted = (old & ~(O_APPEND | O_NONBLOCK)) | (flags.append ? O_APPEND : 0) |
                     (flags.nonblock ? O_NONBLOCK : 0);
  return result_of(::fcntl(fd, F_SETFL, wanted));
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

int list_directory(int fd, std::vector<DirEntry>& out) {
  // A descriptor of its own: the position of `fd` is not shared with what the guest does.
  const int copy = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return errno;
  DIR* dir = ::fdopendir(copy);
  if (dir == nullptr) {
    const int error = errno;
    ::close(copy);
    return error;
  }
  out.clear();
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir);
    if (entry == nullptr) break;
    out.push_back({entry->d_name, entry->d_ino, type_of_dirent(entry->d_type)});
  }
  const int error = errno;
  ::closedir(dir);
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

int poll_fds(std::span<PollItem> items, std::int64_t timeout_ns) {
  std::vector<pollfd> fds;
  fds.reserve(items.size());
  for (const PollItem& item : items) {
    fds.push_back({item.fd, static_cast<short>(item.write ? POLLOUT : POLLIN), 0});
  }
  timespec timeout{};
  if (timeout_ns >= 0) timeout = {timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  const int rc = ::ppoll(fds.data(), fds.size(), timeout_ns < 0 ? nullptr : &timeout, nullptr);
  if (rc < 0) return errno;
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].ready = fds[i].revents != 0;
    items[i].hangup = (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
    int available = 0;
    if (items[i].ready && !items[i].write && ::ioctl(items[i].fd, FIONREAD, &available) == 0 &&
        available > 0) {
      items[i].available = static_cast<std::uint64_t>(available);
    }
  }
  return 0;
}

void yield_processor() {
  static_cast<void>(::sched_yield());
}

}  // namespace hoist::platform
