// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/wake.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace hoist::platform {

WakeFlag::~WakeFlag() {
  if (const int fd = fd_.load(std::memory_order_relaxed); fd >= 0) ::close(fd);
}

// The waiting thread stores the descriptor and then looks at the flag; this one stores the flag and
// then looks for the descriptor. One of the two sees the other.
void WakeFlag::raise() {
  const int saved = errno;
  raised_.store(true, std::memory_order_seq_cst);
  if (const int fd = fd_.load(std::memory_order_seq_cst); fd >= 0) {
    const std::uint64_t one = 1;
    static_cast<void>(::write(fd, &one, sizeof one));
  }
  errno = saved;
}

void WakeFlag::lower() {
  raised_.store(false, std::memory_order_seq_cst);
  settle();
}

void WakeFlag::settle() {
  const int fd = fd_.load(std::memory_order_seq_cst);
  if (fd < 0) return;
  std::uint64_t count = 0;
  static_cast<void>(::read(fd, &count, sizeof count));
  // A request that came between must not be lost with the bytes just read.
  if (raised()) raise();
}

int WakeFlag::descriptor() {
  int fd = fd_.load(std::memory_order_relaxed);
  if (fd >= 0) return fd;
  fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return -1;
  fd_.store(fd, std::memory_order_seq_cst);
  if (raised()) raise();
  return fd;
}

}  // namespace hoist::platform
