// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Stream sockets: what WASI needs of them. Every function returns 0 or an errno value; none waits
/// (EAGAIN tells that it would) and none raises SIGPIPE.

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "platform/file_ops.hpp"

namespace hoist::platform {

/// A listening TCP socket on a numeric address: "127.0.0.1:8080", "[::1]:80", ":8080" (any IPv4
/// address). @error BadArgument: not of that form; Io: the system refuses.
Result<Fd> listen_tcp(std::string_view address);
/// The address that a TCP socket has, in the form that listen_tcp takes; empty if it has none.
std::string address_of(int fd);

bool is_listening(int fd);
int accept_socket(int fd, Fd& out);

struct Received {
  std::size_t count = 0;
  bool truncated = false;  ///< a datagram was longer than the buffers
};
int receive(int fd, std::span<const IoSlice> slices, bool peek, Received& out);
int send(int fd, std::span<const IoSlice> slices, std::size_t& count);
int shutdown_socket(int fd, bool read, bool write);

}  // namespace hoist::platform
