// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Numbers of WASI preview 1 and checked access to guest memory.

#include <cstdint>
#include <span>

#include "base/bits.hpp"

namespace hoist::wasi {

enum class Errno : std::uint16_t {
#define HOIST_WASI_ERRNO(name, number, host, meaning) name = number,
#include "wasi/p1/errnos.def"
};
/// From a host errno; 0 gives Success, one that WASI has no number for Io.
Errno from_host(int error);
/// "NOENT".
const char* name_of(Errno error);

/// Bits of a descriptor's flags (fdflags).
namespace fdflags {
inline constexpr std::uint32_t kAppend = 1, kDsync = 2, kNonblock = 4, kRsync = 8, kSync = 16,
                               kAll = 31;
}

/// Rights of a descriptor (bits).
namespace rights {
#define HOIST_WASI_RIGHT(name, bit, allows) \
  inline constexpr std::uint64_t k##name = std::uint64_t{1} << (bit);
#include "wasi/p1/rights.def"
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
inline constexpr std::uint64_t kSocket =
    kFdRead | kFdWrite | kFdstatSetFlags | kFdFilestatGet | kPollFdReadwrite | kSockShutdown;
inline constexpr std::uint64_t kListener =
    kFdstatSetFlags | kFdFilestatGet | kPollFdReadwrite | kSockAccept;
/// What a read-only directory takes away, from itself and from all that is opened through it.
inline constexpr std::uint64_t kChanges =
    kFdWrite | kFdAllocate | kPathCreateDirectory | kPathCreateFile | kPathLinkSource |
    kPathLinkTarget | kPathRenameSource | kPathRenameTarget | kPathFilestatSetSize |
    kPathFilestatSetTimes | kFdFilestatSetSize | kFdFilestatSetTimes | kPathSymlink |
    kPathRemoveDirectory | kPathUnlinkFile;
}  // namespace rights

/// The guest's linear memory, all of it; every access is checked. Bytes may change under the hands
/// of whoever reads them (memory can be shared): what is checked is copied first.
class GuestMemory {
 public:
  /// Where a memory lies now: code of the embedder that runs during a call may make it grow.
  struct Source {
    std::span<std::uint8_t> (*look)(const void* owner);
    const void* owner;
  };
  explicit GuestMemory(std::span<std::uint8_t> bytes, const Source* source = nullptr)
      : bytes_(bytes), source_(source) {}
  /// After code of the embedder has run.
  void refresh() {
    if (source_ != nullptr) bytes_ = source_->look(source_->owner);
  }

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
  const Source* source_;
};

}  // namespace hoist::wasi
