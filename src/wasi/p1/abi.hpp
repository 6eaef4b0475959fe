// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Numbers of WASI preview 1 and checked access to guest memory.

#include <cstdint>
#include <span>

#include "base/bits.hpp"

namespace hoist::wasi {

/// The errno values that this implementation returns.
enum class Errno : std::uint16_t {
  Success = 0,
  TooBig = 1,
  Acces = 2,
  Again = 6,
  Badf = 8,
  Busy = 10,
  Dquot = 19,
  Exist = 20,
  Fault = 21,
  Fbig = 22,
  Ilseq = 25,
  Inprogress = 26,
  Intr = 27,
  Inval = 28,
  Io = 29,
  Isdir = 31,
  Loop = 32,
  Mfile = 33,
  Mlink = 34,
  Nametoolong = 37,
  Nfile = 41,
  Nodev = 43,
  Noent = 44,
  Nomem = 48,
  Nospc = 51,
  Nosys = 52,
  Notdir = 54,
  Notempty = 55,
  Notsock = 57,
  Notsup = 58,
  Notty = 59,
  Nxio = 60,
  Overflow = 61,
  Perm = 63,
  Pipe = 64,
  Range = 68,
  Rofs = 69,
  Spipe = 70,
  Stale = 72,
  Txtbsy = 74,
  Xdev = 75,
  Notcapable = 76
};
/// From a host errno; 0 gives Success, an unknown one Io.
Errno from_host(int error);

/// Rights of a descriptor (bits).
namespace rights {
inline constexpr std::uint64_t kFdDatasync = 1 << 0, kFdRead = 1 << 1, kFdSeek = 1 << 2,
                               kFdstatSetFlags = 1 << 3, kFdSync = 1 << 4, kFdTell = 1 << 5,
                               kFdWrite = 1 << 6, kFdAdvise = 1 << 7, kFdAllocate = 1 << 8,
                               kPathCreateDirectory = 1 << 9, kPathCreateFile = 1 << 10,
                               kPathLinkSource = 1 << 11, kPathLinkTarget = 1 << 12,
                               kPathOpen = 1 << 13, kFdReaddir = 1 << 14, kPathReadlink = 1 << 15,
                               kPathRenameSource = 1 << 16, kPathRenameTarget = 1 << 17,
                               kPathFilestatGet = 1 << 18, kPathFilestatSetSize = 1 << 19,
                               kPathFilestatSetTimes = 1 << 20, kFdFilestatGet = 1 << 21,
                               kFdFilestatSetSize = 1 << 22, kFdFilestatSetTimes = 1 << 23,
                               kPathSymlink = 1 << 24, kPathRemoveDirectory = 1 << 25,
                               kPathUnlinkFile = 1 << 26, kPollFdReadwrite = 1 << 27;
inline constexpr std::uint64_t kFile =
    kFdDatasync | kFdRead | kFdSeek | kFdstatSetFlags | kFdSync | kFdTell | kFdWrite | kFdAdvise |
    kFdAllocate | kFdFilestatGet | kFdFilestatSetSize | kFdFilestatSetTimes | kPollFdReadwrite;
inline constexpr std::uint64_t kDirectory =
    kFdstatSetFlags | kFdSync | kFdAdvise | kPathCreateDirectory | kPathCreateFile |
    kPathLinkSource | kPathLinkTarget | kPathOpen | kFdReaddir | kPathReadlink | kPathRenameSource |
    kPathRenameTarget | kPathFilestatGet | kPathFilestatSetSize | kPathFilestatSetTimes |
    kFdFilestatGet | kFdFilestatSetTimes | kPathSymlink | kPathRemoveDirectory | kPathUnlinkFile |
    kPollFdReadwrite;
inline constexpr std::uint64_t kStream = kFdRead | kFdWrite | kFdstatSetFlags | kFdFilestatGet |
                                         kPollFdReadwrite | kFdSync | kFdDatasync;
/// What a read-only directory takes away, from itself and from all that is opened through it.
inline constexpr std::uint64_t kChanges =
    kFdWrite | kFdAllocate | kPathCreateDirectory | kPathCreateFile | kPathLinkSource |
    kPathLinkTarget | kPathRenameSource | kPathRenameTarget | kPathFilestatSetSize |
    kPathFilestatSetTimes | kFdFilestatSetSize | kFdFilestatSetTimes | kPathSymlink |
    kPathRemoveDirectory | kPathUnlinkFile;
}  // namespace rights

/// The guest's linear memory, all of it; every access is checked.
class GuestMemory {
 public:
  explicit GuestMemory(std::span<std::uint8_t> bytes) : bytes_(bytes) {}
  bool contains(std::uint32_t at, std::uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  /// Only after `contains`.
  std::uint8_t* at(std::uint32_t offset) { return bytes_.data() + offset; }
  std::span<std::uint8_t> range(std::uint32_t offset, std::uint32_t size) {
    return bytes_.subspan(offset, size);
  }
  template <typename T>
  bool read(std::uint64_t offset, T& out) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    out = base::load_le<T>(bytes_.data() + offset);
    return true;
  }
  template <typename T>
  bool write(std::uint64_t offset, T value) {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    base::store_le(bytes_.data() + offset, value);
    return true;
  }

 private:
  std::span<std::uint8_t> bytes_;
};

}  // namespace hoist::wasi
