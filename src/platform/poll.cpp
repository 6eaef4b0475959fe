// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/poll.hpp"

#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "platform/clocks.hpp"

namespace hoist::platform {

static void take_answer(const pollfd& answer, PollItem& item) {
  const auto has = [&](int bits) { return (answer.revents & bits) != 0; };
  item.invalid = has(POLLNVAL);
  item.hangup = has(POLLHUP | POLLERR | POLLNVAL);
  // After a hang-up neither direction waits any more: it answers at once.
  item.can_read = item.read && (has(POLLIN) || item.hangup);
  item.can_write = item.write && (has(POLLOUT) || item.hangup);
  int bytes = 0;
  item.available = 0;
  if (item.can_read && !item.invalid && ::ioctl(item.fd, FIONREAD, &bytes) == 0 && bytes > 0)
    item.available = static_cast<std::uint64_t>(bytes);
}

int poll_fds(std::span<PollItem> items, std::int64_t timeout_ns, WakeFlag* wake) {
  pollfd few[8];
  std::vector<pollfd> many;
  pollfd* fds = few;
  if (items.size() >= std::size(few)) {
    many.resize(items.size() + 1);
    fds = many.data();
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    fds[i] = {items[i].fd,
              static_cast<short>((items[i].read ? POLLIN : 0) | (items[i].write ? POLLOUT : 0)), 0};
  }
  nfds_t count = items.size();
  fds[count].revents = 0;
  if (wake != nullptr && timeout_ns != 0) {
    const int fd = wake->descriptor();
    if (fd >= 0) {
      fds[count++] = {fd, POLLIN, 0};
    } else {
      timeout_ns = timeout_ns < 0 ? WakeFlag::kSliceNs : std::min(timeout_ns, WakeFlag::kSliceNs);
    }
  }
  timespec timeout{};
  if (timeout_ns >= 0) timeout = {timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  const int rc = ::ppoll(fds, count, timeout_ns < 0 ? nullptr : &timeout, nullptr);
  if (rc < 0 && errno != EINTR) return errno;
  bool ready = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (rc < 0) fds[i].revents = 0;
    take_answer(fds[i], items[i]);
    ready |= items[i].can_read || items[i].can_write;
  }
  if (wake == nullptr) return 0;
  if (rc > 0 && count > items.size() && fds[count - 1].revents != 0 && !wake->raised())
    wake->settle();
  return !ready && wake->raised() ? ECANCELED : 0;
}

int wait_for(int fd, bool write, WakeFlag* wake) {
  PollItem item;
  item.fd = fd;
  item.read = !write;
  item.write = write;
  for (;;) {
    const int error = poll_fds({&item, 1}, -1, wake);
    if (error != 0 || item.can_read || item.can_write) return error;
  }
}

bool is_ready(int fd, bool write) {
  PollItem item;
  item.fd = fd;
  item.read = !write;
  item.write = write;
  return poll_fds({&item, 1}, 0, nullptr) == 0 && (item.can_read || item.can_write);
}

int sleep_ns(std::uint64_t ns, WakeFlag* wake) {
  const std::uint64_t start = now_ns(Clock::Monotonic);
  for (;;) {
    const std::uint64_t gone = now_ns(Clock::Monotonic) - start;
    if (gone >= ns) return 0;
    const auto left = static_cast<std::int64_t>(std::min<std::uint64_t>(ns - gone, INT64_MAX));
    if (const int error = poll_fds({}, left, wake); error != 0) return error;
  }
}

}  // namespace hoist::platform
