// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A directory that belongs to the user alone, and files that appear in it complete or not at all.
/// Nothing in it is followed as a symbolic link, and what belongs to others is not read.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "platform/file_ops.hpp"
#include "platform/pages.hpp"

namespace hoist::platform {

class PrivateDir {
 public:
  PrivateDir() = default;
  /// Creates it, and the directories above, if asked for and missing, for the user alone (0700);
  /// one that is missing otherwise is not open.
  /// @error Io: no directory, of another user, or others may write to it
  static Result<PrivateDir> open(const std::string& path, bool create);

  bool is_open() const { return dir_.is_open(); }
  /// A regular file of this user that others cannot write. @error Io
  Result<MappedFile> map(const char* name) const;
  /// Sets the file's modification time to now; whether that works does not matter.
  void touch(const char* name) const;
  /// Replaces or creates file `name` at once: whatever happens, there is the old file or the new
  /// one. Kills may leave a file whose name begins with kTemporary. An empty directory of that
  /// name is replaced, too. @error Io
  Result<void> write(const char* name, std::span<const std::uint8_t> bytes) const;
  /// A directory only if it is empty.
  void remove(const char* name) const;

  struct Entry {
    std::string name;
    bool is_file = false;           ///< a regular one
    std::uint64_t bytes = 0;        ///< of a file
    std::uint64_t modified_ns = 0;  ///< since 1970
  };
  /// What belongs to this user, ordered by name. @error Io
  Result<std::vector<Entry>> list() const;
  static constexpr std::string_view kTemporary = ".new-";

 private:
  Fd dir_;
};

/// Writes a file for the user: a regular file, or none yet, is replaced at once (a temporary file
/// in the same directory, synced, renamed; a link is followed, the mode is kept); a character
/// device, or a pipe that somebody reads, is written to. `executable`: whoever may read the file
/// may execute it.
/// @error Io: names the path and the reason; the old file is as it was
Result<void> replace_file(const std::string& path, std::span<const std::uint8_t> bytes,
                          bool executable);
/// Whether `replace_file` would find a place to write, so far as that can be told without writing.
/// @error Io
Result<void> check_replaceable(const std::string& path);
/// What `test` says of the first bytes (up to 16) of a regular file; false for anything else.
bool begins_like(const std::string& path, bool (*test)(std::span<const std::uint8_t> bytes));
/// Whether this process may execute the file.
bool is_executable(const std::string& path);

/// Value of an environment variable, unless the process runs with privileges of others; or empty.
std::string environment_variable(const char* name);

}  // namespace hoist::platform
