// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasi/p1/context.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/beneath.hpp"
#include "platform/sockets.hpp"

namespace hoist::wasi {

Errno HostStream::read(std::span<std::uint8_t>, std::size_t&) {
  return Errno::Badf;
}
Errno HostStream::write(std::span<const std::uint8_t>, std::size_t&) {
  return Errno::Badf;
}

Errno TextInput::read(std::span<std::uint8_t> into, std::size_t& count) {
  count = std::min(into.size(), text_.size() - at_);
  std::copy_n(text_.data() + at_, count, into.data());
  at_ += count;
  return Errno::Success;
}

Errno TextOutput::write(std::span<const std::uint8_t> from, std::size_t& count) {
  if (text_ != nullptr) text_->append(reinterpret_cast<const char*>(from.data()), from.size());
  count = from.size();
  return Errno::Success;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    this->~Descriptor();
    new (this) Descriptor(std::move(other));
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (!owned) static_cast<void>(fd.release());
}

Errno Context::add(Descriptor descriptor, std::uint32_t& number) {
  if (is_full()) return Errno::Mfile;
  while (lowest_free_ < table_.size() && table_[lowest_free_] != nullptr) ++lowest_free_;
  if (lowest_free_ == table_.size()) table_.emplace_back();
  number = lowest_free_++;
  table_[number] = std::make_shared<Descriptor>(std::move(descriptor));
  ++open_;
  return Errno::Success;
}

void Context::set(std::uint32_t number, Descriptor descriptor) {
  if (number >= table_.size()) table_.resize(std::size_t{number} + 1);
  if (table_[number] == nullptr) ++open_;
  table_[number] = std::make_shared<Descriptor>(std::move(descriptor));
}

Descriptor* Context::find(std::uint32_t number) {
  return number < table_.size() ? table_[number].get() : nullptr;
}

bool Context::close(std::uint32_t number) {
  if (find(number) == nullptr) return false;
  table_[number] = nullptr;
  --open_;
  lowest_free_ = std::min(lowest_free_, number);
  return true;
}

bool Context::renumber(std::uint32_t from, std::uint32_t to) {
  if (find(from) == nullptr || find(to) == nullptr) return false;
  if (from == to) return true;
  table_[to] = std::move(table_[from]);
  --open_;
  lowest_free_ = std::min(lowest_free_, from);
  return true;
}

bool describe_host_fd(Descriptor& d) {
  const int fd = d.fd.get();
  platform::FileStat stat;
  platform::FdFlags flags;
  if (platform::stat_fd(fd, stat) != 0 || platform::get_flags(fd, flags) != 0 || flags.name_only)
    return false;
  d.flags = (flags.append ? fdflags::kAppend : 0) | (flags.dsync ? fdflags::kDsync : 0) |
            (flags.sync ? fdflags::kSync : 0) | (flags.nonblock ? fdflags::kNonblock : 0);
  using platform::FileType;
  switch (stat.type) {
    case FileType::SocketDgram:
    case FileType::SocketStream:
      d.kind = Descriptor::Kind::Socket;
      if (platform::is_listening(fd)) {
        d.rights_base = rights::kListener;
        d.rights_inheriting = rights::kSocket;
      } else {
        d.rights_base = rights::kSocket;
      }
      return true;
    case FileType::Directory:
      d.kind = Descriptor::Kind::Directory;
      d.rights_base = rights::kDirectory;
      return true;
    case FileType::Regular:
    case FileType::Block:
      d.kind = Descriptor::Kind::File;
      d.rights_base = rights::kFile;
      return true;
    case FileType::Character:
      // C libraries take a character device without seek and tell for a terminal.
      if (!platform::is_terminal(fd)) {
        d.kind = Descriptor::Kind::File;
        d.rights_base = rights::kStream | rights::kFdSeek | rights::kFdTell;
        return true;
      }
      break;
    case FileType::Unknown:
    case FileType::Symlink: break;
  }
  d.kind = Descriptor::Kind::Stream;
  d.rights_base = rights::kStream;
  return true;
}

void Context::set_host_fd(std::uint32_t number, int fd) {
  Descriptor d;
  d.fd = platform::Fd(fd);
  d.owned = false;
  if (!describe_host_fd(d)) return;
  // A directory given as a stream is no capability for what is below it.
  if (d.kind == Descriptor::Kind::Directory) d.rights_base = rights::kFdFilestatGet;
  set(number, std::move(d));
}

void Context::set_stream(std::uint32_t number, std::shared_ptr<HostStream> stream) {
  Descriptor d;
  d.kind = Descriptor::Kind::Hosted;
  d.stream = std::move(stream);
  d.rights_base = rights::kStream & ~(number == 0 ? rights::kFdWrite : rights::kFdRead);
  set(number, std::move(d));
}

Result<void> Context::set_file(std::uint32_t number, const std::string& path, bool append) {
  Descriptor d;
  const int error = platform::open_file(path.c_str(), number != 0, append, d.fd);
  if (error != 0 || !describe_host_fd(d) || d.kind == Descriptor::Kind::Directory) {
    return Error(ErrorKind::Io, fmt::format("cannot open '{}': {}", path,
                                            std::strerror(error != 0 ? error : EISDIR)));
  }
  d.rights_base &= ~(number == 0 ? rights::kFdWrite : rights::kFdRead);
  set(number, std::move(d));
  return {};
}

// What is given at the start follows the three standard streams, which keep their numbers even when
// closed.
void Context::reserve_standard_streams() {
  while (table_.size() < 3) table_.emplace_back();
}

Result<void> Context::preopen(const std::string& host, const std::string& guest, bool read_only) {
  Descriptor d;
  if (const int error = platform::open_directory(host.c_str(), d.fd); error != 0) {
    return Error(ErrorKind::Io,
                 fmt::format("cannot open the directory '{}': {}", host, std::strerror(error)));
  }
  d.kind = Descriptor::Kind::Directory;
  d.preopen = true;
  d.guest_path = guest;
  d.rights_base = rights::kDirectory & ~(read_only ? rights::kChanges : 0);
  d.rights_inheriting = (rights::kDirectory | rights::kFile) & ~(read_only ? rights::kChanges : 0);
  reserve_standard_streams();
  set(static_cast<std::uint32_t>(table_.size()), std::move(d));
  return {};
}

Result<void> Context::preopen_fd(platform::Fd fd, bool owned) {
  Descriptor d;
  const int number = fd.get();
  d.fd = std::move(fd);
  d.owned = owned;
  d.preopen = true;
  if (!describe_host_fd(d))
    return Error(ErrorKind::BadArgument, fmt::format("{} is not an open descriptor", number));
  if (d.kind == Descriptor::Kind::Directory) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("descriptor {} is a directory; directories are given by path", number));
  }
  // Our own sockets never wait by themselves; whether the guest waits is another matter.
  if (owned) d.flags &= ~fdflags::kNonblock;
  reserve_standard_streams();
  set(static_cast<std::uint32_t>(table_.size()), std::move(d));
  return {};
}

}  // namespace hoist::wasi
