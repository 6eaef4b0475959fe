// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sock_* functions, on sockets that were given at the start and on those accepted from them.
#include "platform/sockets.hpp"

#include <cerrno>

#include "platform/poll.hpp"
#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

/// Badf, Notsock.
static Errno find_socket(Context& ctx, std::uint64_t number, Descriptor*& out) {
  HOIST_WASI_TRY(find(ctx, number, 0, out));
  return out->kind == Descriptor::Kind::Socket ? Errno::Success : Errno::Notsock;
}

/// Repeats `call` (an errno value, EAGAIN when it would wait) until it need not wait.
template <typename F>
static Errno when_ready(Context& ctx, const Descriptor& d, bool write, Outcome& outcome, F&& call) {
  for (;;) {
    const int error = call();
    if (error != EAGAIN || d.nonblocking()) return from_host(error);
    ctx.pin(d);
    const int stopped = ctx.waiting(
        [&](platform::WakeFlag* wake) { return platform::wait_for(d.fd.get(), write, wake); });
    if (stopped != 0) return waited(stopped, outcome);
  }
}

Errno sock_accept(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  Descriptor* d = nullptr;
  HOIST_WASI_TRY(find_socket(ctx, args[0], d));
  if (!platform::is_listening(d->fd.get())) return Errno::Inval;
  HOIST_WASI_TRY(need(*d, rights::kSockAccept));
  const std::uint32_t flags = u32(args[1]);
  if ((flags & ~fdflags::kNonblock) != 0) return Errno::Inval;
  if (!memory.contains(u32(args[2]), 4)) return Errno::Fault;
  // No connection is taken that there is no number for.
  if (ctx.is_full()) return Errno::Mfile;
  Descriptor accepted;
  HOIST_WASI_TRY(when_ready(ctx, *d, false, outcome, [&] {
    // A listening socket of the host may be one that waits by itself, which nobody could interrupt.
    if (!platform::is_ready(d->fd.get(), false)) return EAGAIN;
    return platform::accept_socket(d->fd.get(), accepted.fd);
  }));
  accepted.kind = Descriptor::Kind::Socket;
  accepted.flags = flags;
  accepted.rights_base = d->rights_inheriting & rights::kSocket;
  std::uint32_t number = 0;
  HOIST_WASI_TRY(ctx.add(std::move(accepted), number));
  static_cast<void>(memory.write(u32(args[2]), number));
  return Errno::Success;
}

Errno sock_recv(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  static constexpr std::uint32_t kPeek = 1, kWaitAll = 2;  // riflags
  Descriptor* d = nullptr;
  HOIST_WASI_TRY(find_socket(ctx, args[0], d));
  HOIST_WASI_TRY(need(*d, rights::kFdRead));
  const std::uint32_t flags = u32(args[3]);
  if (flags > (kPeek | kWaitAll)) return Errno::Inval;
  if (!memory.contains(u32(args[4]), 4) || !memory.contains(u32(args[5]), 2)) return Errno::Fault;
  SliceList slices;
  HOIST_WASI_TRY(slices.read(memory, args[1], args[2]));
  const bool peek = (flags & kPeek) != 0;
  const bool wait_all = (flags & kWaitAll) != 0 && !peek && !d->nonblocking();
  std::uint64_t total = 0;
  bool truncated = false;
  do {
    platform::IoSlice pointers[SliceList::kMax];
    const auto span = slices.pointers(memory, pointers, total);
    platform::Received received;
    const Errno error = when_ready(ctx, *d, false, outcome, [&] {
      return platform::receive(d->fd.get(), span, peek, received);
    });
    if (outcome == Outcome::Interrupted || (error != Errno::Success && total == 0)) return error;
    if (error != Errno::Success || received.count == 0) break;
    total += received.count;
    truncated = received.truncated;
  } while (wait_all && total < slices.bytes);
  static_cast<void>(memory.write(u32(args[4]), static_cast<std::uint32_t>(total)));
  static_cast<void>(memory.write<std::uint16_t>(u32(args[5]), truncated ? 1 : 0));
  return Errno::Success;
}

Errno sock_send(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  Descriptor* d = nullptr;
  HOIST_WASI_TRY(find_socket(ctx, args[0], d));
  HOIST_WASI_TRY(need(*d, rights::kFdWrite));
  if (u32(args[3]) != 0) return Errno::Inval;  // no siflags are defined
  if (!memory.contains(u32(args[4]), 4)) return Errno::Fault;
  SliceList slices;
  HOIST_WASI_TRY(slices.read(memory, args[1], args[2]));
  platform::IoSlice pointers[SliceList::kMax];
  const auto span = slices.pointers(memory, pointers);
  std::size_t count = 0;
  HOIST_WASI_TRY(
      when_ready(ctx, *d, true, outcome, [&] { return platform::send(d->fd.get(), span, count); }));
  static_cast<void>(memory.write(u32(args[4]), static_cast<std::uint32_t>(count)));
  return Errno::Success;
}

Errno sock_shutdown(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  static constexpr std::uint32_t kRead = 1, kWrite = 2;  // sdflags
  Descriptor* d = nullptr;
  HOIST_WASI_TRY(find_socket(ctx, args[0], d));
  HOIST_WASI_TRY(need(*d, rights::kSockShutdown));
  const std::uint32_t how = u32(args[1]);
  if (how == 0 || how > (kRead | kWrite)) return Errno::Inval;
  return from_host(platform::shutdown_socket(d->fd.get(), (how & kRead) != 0, (how & kWrite) != 0));
}

}  // namespace hoist::wasi
