// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Thin wrappers over the file system calls that WASI needs. Every function returns 0 or an errno
/// value of the host; none throws, none retries beyond EINTR. Times are nanoseconds since 1970.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hoist::platform {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_ = -1;
};

enum class FileType : std::uint8_t {
  Unknown,
  Block,
  Character,
  Directory,
  Regular,
  SocketDgram,
  SocketStream,
  Symlink
};

struct FileStat {
  std::uint64_t device = 0, inode = 0, links = 0, size = 0;
  std::uint64_t accessed_ns = 0, modified_ns = 0, changed_ns = 0;
  FileType type = FileType::Unknown;
  bool pipe = false;  ///< of type Unknown: a pipe or FIFO
};

struct IoSlice {
  void* data;
  std::size_t size;
};

struct DirEntry {
  std::string name;
  std::uint64_t inode;
  FileType type;
};

/// How a time is set: leave, now, or to `ns`.
struct TimeUpdate {
  enum class Kind : std::uint8_t { Omit, Now, Set };
  Kind kind = Kind::Omit;
  std::uint64_t ns = 0;
};

enum class Whence : std::uint8_t { Set, Current, End };

inline constexpr std::int64_t kCurrentPosition = -1;
/// Reads/writes at the current position or, with `offset` >= 0, there. At most 1024 slices are
/// used.
int read_slices(int fd, std::span<const IoSlice> slices, std::int64_t offset, std::size_t& count);
int write_slices(int fd, std::span<const IoSlice> slices, std::int64_t offset, std::size_t& count);
/// To a pipe or terminal: at most as many bytes as fit without waiting once the descriptor can be
/// written, and EPIPE without the signal.
int write_stream(int fd, std::span<const IoSlice> slices, std::size_t& count);
int seek(int fd, std::int64_t offset, Whence whence, std::uint64_t& position);
int stat_fd(int fd, FileStat& out);
bool is_terminal(int fd);
int sync_fd(int fd, bool data_only);
int truncate_fd(int fd, std::uint64_t size);
int allocate_fd(int fd, std::uint64_t offset, std::uint64_t size);
int advise_fd(int fd, std::uint64_t offset, std::uint64_t size, unsigned advice);
int set_times_fd(int fd, TimeUpdate accessed, TimeUpdate modified);
struct FdFlags {
  bool append = false, nonblock = false, dsync = false, sync = false;
  bool name_only = false;  ///< out: O_PATH, allows no access to contents
};
int get_flags(int fd, FdFlags& out);
int set_append(int fd, bool append);
/// All entries, "." and ".." included, in the order of the directory; the inode of ".." is that of
/// the directory itself (what lies above is not the caller's business). ENOMEM for names of more
/// than `max_bytes` together.
int list_directory(int fd, std::vector<DirEntry>& out, std::size_t max_bytes = SIZE_MAX);

// Operations on one name in a directory; `name` has no '/' and is never followed as a symlink.
int make_directory_at(int dir, const char* name);
int remove_directory_at(int dir, const char* name);
int unlink_at(int dir, const char* name);
int rename_at(int from_dir, const char* from, int to_dir, const char* to);
int link_at(int from_dir, const char* from, int to_dir, const char* to);
/// Makes `name` another name of what an O_PATH descriptor stands for.
int link_path_fd(int path_fd, int dir, const char* name);
int symlink_at(const char* target, int dir, const char* name);
int read_link_at(int dir, const char* name, std::string& out);
int stat_at(int dir, const char* name, FileStat& out);
int set_times_at(int dir, const char* name, TimeUpdate accessed, TimeUpdate modified);
/// Sets times through an O_PATH descriptor.
int set_times_path_fd(int path_fd, TimeUpdate accessed, TimeUpdate modified);

/// Lets other threads run.
void yield_processor();

}  // namespace hoist::platform
