// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <vector>

namespace hoist::platform {

namespace {

constexpr int kMaxLinks = 40;  // as the kernel
/// Directories that a walk may be deep in, each with a descriptor. The kernel has no such limit.
constexpr std::size_t kMaxLevels = 256;
std::atomic<bool> g_openat2_allowed{true};

/// A walk from `root`: one descriptor per directory level, so that ".." pops instead of asking the
/// file system, which another process may be rearranging.
class Walk {
 public:
  explicit Walk(int root) : root_(root) {}

  int top() const { return levels_.empty() ? root_ : levels_.back().get(); }
  /// The path, or the link that it ended in, ended in '/'.
  bool must_be_directory() const { return must_be_directory_; }

  /// Walks all components of `path` but the last, which is left in `name` ("." if the path leads to
  /// a directory by itself). With `follow`, a symbolic link there is walked too.
  int to_last(std::string_view path, bool follow, std::string& name) {
    if (const int error = push_components(path); error != 0) return error;
    int links = 0;
    name = ".";
    while (!todo_.empty()) {
      const std::string part = std::move(todo_.back());
      todo_.pop_back();
      if (part == ".") continue;
      if (part == "..") {
        if (levels_.empty()) return EPERM;
        levels_.pop_back();
        continue;
      }
      const bool last = todo_.empty();
      if (last && !follow) {
        name = part;
        return 0;
      }
      struct stat s;
      if (::fstatat(top(), part.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT && last) {
          name = part;  // may be about to be created
          return 0;
        }
        return errno;
      }
      if (S_ISLNK(s.st_mode)) {
        if (const int error = expand_link(part, ++links); error != 0) return error;
        continue;
      }
      if (last) {
        name = part;
        return 0;
      }
      if (levels_.size() == kMaxLevels) return ENAMETOOLONG;
      const int fd = ::openat(top(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0) return errno;
      levels_.emplace_back(fd);
    }
    return 0;
  }

 private:
  int push_components(std::string_view path) {
    if (todo_.empty()) must_be_directory_ = path.back() == '/';
    std::vector<std::string> parts;
    std::size_t at = 0;
    while (at < path.size()) {
      const std::size_t end = std::min(path.find('/', at), path.size());
      if (end > at) parts.emplace_back(path.substr(at, end - at));
      at = end + 1;
    }
    if (parts.size() + todo_.size() > PATH_MAX) return ENAMETOOLONG;
    for (std::size_t i = parts.size(); i > 0; --i) todo_.push_back(std::move(parts[i - 1]));
    return 0;
  }
  int expand_link(const std::string& part, int links) {
    if (links > kMaxLinks) return ELOOP;
    const bool was_directory = must_be_directory_;
    std::string target;
    if (const int error = read_link_at(top(), part.c_str(), target); error != 0) return error;
    if (target.empty()) return ENOENT;
    if (target.front() == '/') return EPERM;
    const int error = push_components(target);
    must_be_directory_ |= was_directory;
    return error;
  }

  int root_;
  bool must_be_directory_ = false;
  std::vector<Fd> levels_;
  std::vector<std::string> todo_;  // last component first
};

int open_flags(const OpenRequest& r) {
  if (r.path_only)
    return O_PATH | O_CLOEXEC | (r.follow ? 0 : O_NOFOLLOW) | (r.directory ? O_DIRECTORY : 0);
  int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  flags |= r.write ? (r.read ? O_RDWR : O_WRONLY) : O_RDONLY;
  if (r.create) flags |= O_CREAT;
  if (r.exclusive) flags |= O_EXCL;
  if (r.truncate) flags |= O_TRUNC;
  if (r.directory) flags |= O_DIRECTORY;
  if (!r.follow) flags |= O_NOFOLLOW;
  if (r.flags.append) flags |= O_APPEND;
  if (r.flags.dsync) flags |= O_DSYNC;
  if (r.flags.sync) flags |= O_SYNC;
  return flags;
}

/// ENOSYS when the kernel (or a filter) has no openat2.
int try_openat2(int root, const char* path, int flags, Fd& out) {
  if (!g_openat2_allowed.load(std::memory_order_relaxed)) return ENOSYS;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags));
  how.mode = (flags & O_CREAT) != 0 ? 0666 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < 16; ++attempt) {
    const long fd = ::syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd >= 0) {
      out = Fd(static_cast<int>(fd));
      return 0;
    }
    // EAGAIN: a rename raced with the walk. A filter may refuse with EPERM, which is also what
    // leaving some file systems gives: the walk decides then.
    if (errno == EPERM) return ENOSYS;
    if (errno == EXDEV) return EPERM;  // the kernel's word for leaving the directory
    if (errno != EAGAIN && errno != EINTR) return errno;
  }
  return ENOSYS;
}

int check_path(std::string_view path) {
  if (path.empty()) return ENOENT;
  if (path.size() >= PATH_MAX) return ENAMETOOLONG;
  if (path.find('\0') != std::string_view::npos) return EINVAL;
  if (path.front() == '/') return EPERM;
  return 0;
}

}  // namespace

void set_openat2_allowed(bool allowed) {
  g_openat2_allowed.store(allowed, std::memory_order_relaxed);
}

int open_beneath(int root, std::string_view path, const OpenRequest& request, Fd& out) {
  if (const int error = check_path(path); error != 0) return error;
  const std::string name(path);
  const int flags = open_flags(request);
  if (const int error = try_openat2(root, name.c_str(), flags, out); error != ENOSYS) return error;

  Walk walk(root);
  std::string last;
  const bool slash = path.back() == '/';
  // What is to be created is a file, which no name with a slash at its end can be; and O_EXCL never
  // follows a link in the last place.
  const bool follow =
      request.create ? request.follow && !request.exclusive && !slash : request.follow || slash;
  if (const int error = walk.to_last(path, follow, last); error != 0) return error;
  if (walk.must_be_directory() && request.create && !request.path_only && last != ".")
    return EISDIR;
  const int must_be_directory = walk.must_be_directory() && !request.create ? O_DIRECTORY : 0;
  const int fd = ::openat(walk.top(), last.c_str(), flags | O_NOFOLLOW | must_be_directory, 0666);
  if (fd < 0) return errno;
  out = Fd(fd);
  return 0;
}

int resolve_place(int root, std::string_view path, Place& out) {
  if (const int error = check_path(path); error != 0) return error;
  out.trailing_slash = path.back() == '/';
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t cut = path.rfind('/');
  const std::string_view last = cut == std::string_view::npos ? path : path.substr(cut + 1);
  std::string_view directory =
      cut == std::string_view::npos ? std::string_view(".") : path.substr(0, cut + 1);
  if (last == "." || last == "..") {
    out.last = last == "." ? Place::Last::Dot : Place::Last::DotDot;
    directory = path;
  } else {
    out.name = last;
  }
  OpenRequest request;
  request.path_only = true;
  request.directory = true;
  return open_beneath(root, directory, request, out.parent);
}

int open_directory(const char* path, Fd& out) {
  const int fd = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  out = Fd(fd);
  return 0;
}

int open_file(const char* path, bool write, bool append, Fd& out) {
  const int flags = write ? O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC) : O_RDONLY;
  const int fd = ::open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd < 0) return errno;
  out = Fd(fd);
  return 0;
}

}  // namespace hoist::platform
