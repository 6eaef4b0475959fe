// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasi/p1/context.hpp"

#include <fmt/core.h>

#include <cstring>

#include "platform/beneath.hpp"

namespace hoist::wasi {

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
  for (std::size_t i = 0;; ++i) {
    if (i == kMaxDescriptors) return Errno::Mfile;
    if (i == table_.size()) table_.emplace_back();
    if (table_[i] == nullptr) {
      table_[i] = std::make_unique<Descriptor>(std::move(descriptor));
      number = static_cast<std::uint32_t>(i);
      return Errno::Success;
    }
  }
}

void Context::set(std::uint32_t number, Descriptor descriptor) {
  if (number >= table_.size()) table_.resize(std::size_t{number} + 1);
  table_[number] = std::make_unique<Descriptor>(std::move(descriptor));
}

Descriptor* Context::find(std::uint32_t number) {
  return number < table_.size() ? table_[number].get() : nullptr;
}

bool Context::close(std::uint32_t number) {
  if (find(number) == nullptr) return false;
  table_[number] = nullptr;
  return true;
}

bool Context::renumber(std::uint32_t from, std::uint32_t to) {
  if (find(from) == nullptr || find(to) == nullptr) return false;
  if (from != to) table_[to] = std::move(table_[from]);
  return true;
}

void Context::set_host_fd(std::uint32_t number, int fd) {
  Descriptor d;
  d.fd = platform::Fd(fd);
  d.owned = false;
  platform::FileStat stat;
  const bool known = platform::stat_fd(fd, stat) == 0;
  d.rights_base =
      known && stat.type == platform::FileType::Regular ? rights::kFile : rights::kStream;
  // C libraries take a character device without seek and tell for a terminal: /dev/null is none.
  if (known && stat.type == platform::FileType::Character && !platform::is_terminal(fd)) {
    d.rights_base |= rights::kFdSeek | rights::kFdTell;
  }
  set(number, std::move(d));
}

void Context::set_input(std::string content) {
  Descriptor d;
  d.kind = Descriptor::Kind::Input;
  d.input = std::move(content);
  d.rights_base = rights::kStream & ~rights::kFdWrite;
  set(0, std::move(d));
}

void Context::set_output(std::uint32_t number, OutputSink sink) {
  Descriptor d;
  d.kind = Descriptor::Kind::Output;
  d.output = sink;
  d.rights_base = rights::kStream & ~rights::kFdRead;
  set(number, std::move(d));
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
  // Preopened directories follow the three standard streams, which exist even when closed.
  while (table_.size() < 3) table_.emplace_back();
  table_.push_back(std::make_unique<Descriptor>(std::move(d)));
  return {};
}

}  // namespace hoist::wasi
