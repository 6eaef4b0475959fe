// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/sockets.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

namespace hoist::platform {

namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

bool parse_address(std::string_view text, Address& out) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view digits = text.substr(colon + 1);
  std::string host(text.substr(0, colon));
  std::uint16_t port = 0;
  const char* const end = digits.data() + digits.size();
  if (const auto [at, code] = std::from_chars(digits.data(), end, port);
      code != std::errc() || at != end || digits.empty())
    return false;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    host = host.substr(1, host.size() - 2);
    if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) return false;
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.size = sizeof v6;
    return true;
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  if (!host.empty() && ::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1) return false;
  std::memcpy(&out.storage, &v4, sizeof v4);
  out.size = sizeof v4;
  return true;
}

msghdr message(std::span<const IoSlice> slices, iovec (&vecs)[1024]) {
  msghdr out{};
  out.msg_iov = vecs;
  out.msg_iovlen = std::min(slices.size(), std::size(vecs));
  for (std::size_t i = 0; i < out.msg_iovlen; ++i) vecs[i] = {slices[i].data, slices[i].size};
  return out;
}

}  // namespace

Result<Fd> listen_tcp(std::string_view address) {
  Address where;
  if (!parse_address(address, where)) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("'{}' is not an address to listen on: ADDR:PORT with a numeric address "
                    "(127.0.0.1:8080, [::1]:8080)",
                    address));
  }
  Fd fd(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int one = 1;
  sockaddr_storage storage = where.storage;
  if (!fd.is_open() || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&storage), where.size) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return Error(ErrorKind::Io,
                 fmt::format("cannot listen on '{}': {}", address, std::strerror(errno)));
  }
  return fd;
}

std::string address_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    if (::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text) == nullptr) return {};
    return fmt::format("{}:{}", text, ntohs(v4.sin_port));
  }
  if (storage.ss_family != AF_INET6) return {};
  sockaddr_in6 v6{};
  std::memcpy(&v6, &storage, sizeof v6);
  if (::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text) == nullptr) return {};
  return fmt::format("[{}]:{}", text, ntohs(v6.sin6_port));
}

bool is_listening(int fd) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0;
}

int accept_socket(int fd, Fd& out) {
  const int accepted = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (accepted < 0) return errno;
  out = Fd(accepted);
  return 0;
}

int receive(int fd, std::span<const IoSlice> slices, bool peek, Received& out) {
  iovec vecs[1024];
  msghdr header = message(slices, vecs);
  const ssize_t got =
      ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | (peek ? MSG_PEEK : 0));
  if (got < 0) return errno;
  out.count = static_cast<std::size_t>(got);
  out.truncated = (header.msg_flags & MSG_TRUNC) != 0;
  return 0;
}

int send(int fd, std::span<const IoSlice> slices, std::size_t& count) {
  iovec vecs[1024];
  const msghdr header = message(slices, vecs);
  const ssize_t put = ::sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (put < 0) return errno;
  count = static_cast<std::size_t>(put);
  return 0;
}

int shutdown_socket(int fd, bool read, bool write) {
  if (!read && !write) return EINVAL;
  return ::shutdown(fd, read && write ? SHUT_RDWR : read ? SHUT_RD : SHUT_WR) == 0 ? 0 : errno;
}

}  // namespace hoist::platform
