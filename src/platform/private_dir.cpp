// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/private_dir.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/random.hpp"

namespace hoist::platform {

namespace {

Error io_error(const char* what, std::string_view path, int error) {
  return {ErrorKind::Io, fmt::format("cannot {} '{}': {}", what, path, std::strerror(error))};
}

bool is_private(const struct stat& info) {
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// 0 or an errno value.
int write_all(int fd, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::size_t piece = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    const ssize_t count = ::write(fd, bytes.data(), piece);
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

std::string temporary_name() {
  std::uint8_t random[12];
  random_bytes(random);
  std::string name(PrivateDir::kTemporary);
  for (const std::uint8_t byte : random) name += fmt::format("{:02x}", byte);
  return name;
}

/// A new file in `dir`: without a name where the system can do that, so that a kill leaves nothing.
Fd new_file(int dir, const std::string& name, mode_t mode, bool& has_name) {
  has_name = false;
  Fd file(::openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
  if (file.is_open()) return file;
  has_name = true;
  return Fd(
      ::openat(dir, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
}

/// Writes a new file in `dir` and renames it to `name`. 0 or an errno value.
int write_renamed(int dir, const char* name, std::span<const std::uint8_t> bytes, mode_t mode,
                  bool sync) {
  const std::string temporary = temporary_name();
  bool has_name = false;
  Fd file = new_file(dir, temporary, mode, has_name);
  if (!file.is_open()) return errno;
  int error = write_all(file.get(), bytes);
  if (error == 0 && sync && ::fsync(file.get()) != 0) error = errno;
  if (error == 0 && !has_name) {
    const std::string open_file = fmt::format("/proc/self/fd/{}", file.get());
    has_name =
        ::linkat(AT_FDCWD, open_file.c_str(), dir, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0;
    if (!has_name) error = errno;
  }
  if (::close(file.release()) != 0 && error == 0) error = errno;
  if (error == 0 && ::renameat(dir, temporary.c_str(), dir, name) != 0) error = errno;
  if (error != 0 && has_name) ::unlinkat(dir, temporary.c_str(), 0);
  return error;
}

/// mkdir -p for the user alone; what exists is left as it is.
void make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    ::mkdir(path.substr(0, at).c_str(), 0700);
  }
  ::mkdir(path.c_str(), 0700);
}

}  // namespace

Result<PrivateDir> PrivateDir::open(const std::string& path, bool create) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  PrivateDir out;
  out.dir_ = Fd(::open(path.c_str(), kFlags));
  if (!out.dir_.is_open() && errno == ENOENT && create) {
    make_directories(path);
    out.dir_ = Fd(::open(path.c_str(), kFlags));
  }
  if (!out.dir_.is_open() && errno == ENOENT && !create) return out;
  if (!out.dir_.is_open()) return io_error("open directory", path, errno);
  struct stat info = {};
  if (::fstat(out.dir_.get(), &info) != 0) return io_error("open directory", path, errno);
  if (!is_private(info)) {
    return Error(ErrorKind::Io,
                 fmt::format("cannot use directory '{}': it belongs to another user, or others may "
                             "write to it",
                             path));
  }
  return out;
}

Result<MappedFile> PrivateDir::map(const char* name) const {
  const Fd file(
      ::openat(dir_.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) return io_error("read", name, errno);
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return io_error("read", name, errno);
  if (!is_private(info)) return io_error("read", name, EPERM);
  return MappedFile::map(file.get());
}

void PrivateDir::touch(const char* name) const {
  static_cast<void>(::utimensat(dir_.get(), name, nullptr, AT_SYMLINK_NOFOLLOW));
}

Result<void> PrivateDir::write(const char* name, std::span<const std::uint8_t> bytes) const {
  int error = write_renamed(dir_.get(), name, bytes, 0600, false);
  if (error == EISDIR && remove_directory_at(dir_.get(), name) == 0) {
    error = write_renamed(dir_.get(), name, bytes, 0600, false);
  }
  if (error != 0) return io_error("write", name, error);
  return {};
}

void PrivateDir::remove(const char* name) const {
  if (unlink_at(dir_.get(), name) != 0) {
    static_cast<void>(remove_directory_at(dir_.get(), name));
  }
}

Result<std::vector<PrivateDir::Entry>> PrivateDir::list() const {
  std::vector<DirEntry> names;
  // A descriptor of its own, whose position nobody else moves.
  const Fd own(::openat(dir_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own.is_open()) return io_error("read directory", ".", errno);
  if (const int error = list_directory(own.get(), names); error != 0) {
    return io_error("read directory", ".", error);
  }
  std::vector<Entry> out;
  for (const DirEntry& from : names) {
    struct stat info = {};
    if (::fstatat(dir_.get(), from.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (info.st_uid != ::geteuid()) continue;
    const bool is_file = S_ISREG(info.st_mode);
    const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(info.st_mtim.tv_sec, 0));
    out.push_back({from.name, is_file, is_file ? static_cast<std::uint64_t>(info.st_size) : 0,
                   seconds * 1'000'000'000 + static_cast<std::uint64_t>(info.st_mtim.tv_nsec)});
  }
  std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return out;
}

bool begins_like(const std::string& path, bool (*test)(std::span<const std::uint8_t> bytes)) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info = {};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  std::uint8_t bytes[16];
  const ssize_t count = ::read(file.get(), bytes, sizeof(bytes));
  return count > 0 && test({bytes, static_cast<std::size_t>(count)});
}

bool is_executable(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

namespace {

/// Where a file is to be written.
struct Target {
  std::string path;  ///< links are followed
  bool exists = false;
  bool is_stream = false;  ///< written to as it is
  mode_t mode = 0666;
  std::string directory;
  std::string name;
};

Result<Target> find_target(const std::string& path) {
  Target out;
  out.path = path;
  // What the shell opened for us is written to, whatever it is.
  const bool is_open =
      path.starts_with("/dev/std") || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
  if (char* resolved = ::realpath(path.c_str(), nullptr)) {
    out.path = resolved;
    ::free(resolved);
  }
  struct stat info = {};
  out.exists = ::stat(out.path.c_str(), &info) == 0;
  // A pipe or socket behind /dev/stdout has no path to resolve.
  if (!out.exists && is_open && ::stat(path.c_str(), &info) == 0) {
    out.path = path;
    out.exists = true;
  }
  if (!out.exists && errno != ENOENT) return io_error("write", path, errno);
  if (out.exists && S_ISDIR(info.st_mode)) return io_error("write", path, EISDIR);
  if (out.exists && (S_ISBLK(info.st_mode) || (S_ISSOCK(info.st_mode) && !is_open))) {
    return Error(ErrorKind::Io,
                 fmt::format("cannot write '{}': it is no file, pipe or character device", path));
  }
  // A file that may not be written is not replaced either.
  if (out.exists && ::access(out.path.c_str(), W_OK) != 0) return io_error("write", path, errno);
  out.is_stream = out.exists && (is_open || !S_ISREG(info.st_mode));
  if (out.exists) out.mode = info.st_mode & 0777;
  const std::size_t slash = out.path.rfind('/');
  out.directory = slash == std::string::npos ? "." : out.path.substr(0, slash + 1);
  out.name = slash == std::string::npos ? out.path : out.path.substr(slash + 1);
  if (out.name.empty()) return io_error("write", path, EISDIR);
  return out;
}

Result<void> write_to_stream(const std::string& path, std::span<const std::uint8_t> bytes) {
  // Not waiting: a pipe that nobody has opened for reading would be waited for.
  Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.is_open() && errno == ENXIO) {
    return Error(ErrorKind::Io, fmt::format("cannot write '{}': nobody reads it", path));
  }
  if (!file.is_open()) return io_error("write", path, errno);
  const int flags = ::fcntl(file.get(), F_GETFL);
  ::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK);
  while (!bytes.empty()) {
    const IoSlice slice{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    std::size_t count = 0;
    const int error = write_stream(file.get(), {&slice, 1}, count);
    if (error != 0) return io_error("write", path, error);
    bytes = bytes.subspan(count);
  }
  return {};
}

}  // namespace

Result<void> check_replaceable(const std::string& path) {
  HOIST_TRY(const Target target, find_target(path));
  if (target.is_stream) return {};
  const Fd dir(::open(target.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir.is_open()) return io_error("write", path, errno);
  if (::faccessat(dir.get(), ".", W_OK | X_OK, 0) != 0) return io_error("write", path, errno);
  return {};
}

Result<void> replace_file(const std::string& path, std::span<const std::uint8_t> bytes,
                          bool executable) {
  HOIST_TRY(const Target target, find_target(path));
  if (target.is_stream) return write_to_stream(path, bytes);
  const Fd dir(::open(target.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir.is_open()) return io_error("write", path, errno);
  mode_t mode = target.mode;
  if (executable) mode |= (mode & 0444) >> 2;
  const int error = write_renamed(dir.get(), target.name.c_str(), bytes, mode, true);
  if (error != 0) return io_error("write", path, error);
  static_cast<void>(::fsync(dir.get()));  // the name, too; some file systems cannot
  return {};
}

std::string environment_variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace hoist::platform
