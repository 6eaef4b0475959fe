// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments, environment, clocks, random numbers, waiting, the end of the program, sockets.
#include <algorithm>
#include <cerrno>

#include "platform/clocks.hpp"
#include "platform/random.hpp"
#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

static Errno string_sizes(const std::vector<std::string>& strings, GuestMemory memory,
                          const std::uint64_t* args) {
  std::uint64_t bytes = 0;
  for (const std::string& s : strings) bytes += s.size() + 1;
  if (bytes > UINT32_MAX) return Errno::Overflow;
  return memory.write<std::uint32_t>(u32(args[0]), static_cast<std::uint32_t>(strings.size())) &&
                 memory.write<std::uint32_t>(u32(args[1]), static_cast<std::uint32_t>(bytes))
             ? Errno::Success
             : Errno::Fault;
}

static Errno string_list(const std::vector<std::string>& strings, GuestMemory memory,
                         const std::uint64_t* args) {
  std::uint64_t pointers = u32(args[0]), text = u32(args[1]);
  for (const std::string& s : strings) {
    if (!memory.write<std::uint32_t>(pointers, static_cast<std::uint32_t>(text)))
      return Errno::Fault;
    if (text > UINT32_MAX || !memory.contains(static_cast<std::uint32_t>(text), s.size() + 1))
      return Errno::Fault;
    std::copy_n(s.c_str(), s.size() + 1, memory.at(static_cast<std::uint32_t>(text)));
    pointers += 4;
    text += s.size() + 1;
  }
  return Errno::Success;
}

Errno args_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return string_list(ctx.args, memory, args);
}
Errno args_sizes_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return string_sizes(ctx.args, memory, args);
}
Errno environ_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return string_list(ctx.env, memory, args);
}
Errno environ_sizes_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return string_sizes(ctx.env, memory, args);
}

/// WASI's clock numbers.
static bool find_clock(std::uint32_t id, platform::Clock& out) {
  switch (id) {
    case 0: out = platform::Clock::Realtime; return true;
    case 1: out = platform::Clock::Monotonic; return true;
    case 2: out = platform::Clock::ProcessCpu; return true;
    case 3: out = platform::Clock::ThreadCpu; return true;
    default: return false;
  }
}

Errno clock_res_get(Context&, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  platform::Clock clock;
  if (!find_clock(u32(args[0]), clock)) return Errno::Inval;
  return memory.write<std::uint64_t>(u32(args[1]), platform::resolution_ns(clock)) ? Errno::Success
                                                                                   : Errno::Fault;
}
Errno clock_time_get(Context&, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  platform::Clock clock;
  if (!find_clock(u32(args[0]), clock)) return Errno::Inval;
  return memory.write<std::uint64_t>(u32(args[2]), platform::now_ns(clock)) ? Errno::Success
                                                                            : Errno::Fault;
}

Errno random_get(Context&, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  const std::uint32_t at = u32(args[0]), size = u32(args[1]);
  if (!memory.contains(at, size)) return Errno::Fault;
  platform::random_bytes(memory.range(at, size));
  return Errno::Success;
}

Errno sched_yield(Context&, GuestMemory, const std::uint64_t*, Outcome&) {
  platform::yield_processor();
  return Errno::Success;
}

Errno proc_exit(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome& outcome) {
  ctx.exit_status = u32(args[0]);
  outcome = Outcome::Exit;
  return Errno::Success;
}

Errno proc_raise(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome& outcome) {
  // A signal that a program raises on itself ends it with the shell's status for that signal;
  // signal 0 only asks whether it could be raised.
  const std::uint32_t signal = u32(args[0]);
  if (signal > 30) return Errno::Inval;
  if (signal == 0) return Errno::Success;
  ctx.exit_status = 128 + signal;
  outcome = Outcome::Exit;
  return Errno::Success;
}

namespace {

/// One subscription of poll_oneoff: 48 bytes in guest memory.
struct Subscription {
  std::uint64_t user_data = 0;
  std::uint8_t tag = 0;           // 0 clock, 1 fd_read, 2 fd_write
  std::uint64_t deadline_ns = 0;  // monotonic; clocks only
  Errno error = Errno::Success;
  bool ready = false;
  int poll_item = -1;
  std::uint64_t available = 0;
};

bool read_subscription(Context& ctx, GuestMemory memory, std::uint64_t at, Subscription& out,
                       std::vector<platform::PollItem>& items) {
  std::uint32_t id = 0;
  std::uint64_t timeout = 0;
  std::uint16_t flags = 0;
  if (!memory.read(at, out.user_data) || !memory.read(at + 8, out.tag) ||
      !memory.read(at + 16, id) || !memory.read(at + 24, timeout) || !memory.read(at + 40, flags)) {
    return false;
  }
  if (out.tag == 0) {
    platform::Clock clock;
    if (!find_clock(id, clock)) {
      out.error = Errno::Inval;
      out.ready = true;
      return true;
    }
    const std::uint64_t now = platform::now_ns(clock);
    const std::uint64_t wait = (flags & 1) == 0 ? timeout : timeout > now ? timeout - now : 0;
    const std::uint64_t start = platform::now_ns(platform::Clock::Monotonic);
    out.deadline_ns = wait > UINT64_MAX - start ? UINT64_MAX : start + wait;
    return true;
  }
  Descriptor* d = nullptr;
  out.error = out.tag > 2 ? Errno::Inval : find(ctx, id, rights::kPollFdReadwrite, d);
  if (out.error != Errno::Success || d->kind == Descriptor::Kind::Input ||
      d->kind == Descriptor::Kind::Output) {
    out.ready = true;
    if (d != nullptr && d->kind == Descriptor::Kind::Input)
      out.available = d->input.size() - d->input_at;
    return true;
  }
  out.poll_item = static_cast<int>(items.size());
  items.push_back({d->fd.get(), out.tag == 2});
  return true;
}

}  // namespace

Errno poll_oneoff(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  const std::uint32_t in = u32(args[0]), out = u32(args[1]), count = u32(args[2]);
  if (count == 0) return Errno::Inval;
  if (!memory.contains(in, std::uint64_t{count} * 48) ||
      !memory.contains(out, std::uint64_t{count} * 32)) {
    return Errno::Fault;
  }
  std::vector<Subscription> subscriptions(count);
  std::vector<platform::PollItem> items;
  std::uint64_t deadline = UINT64_MAX;
  bool any_clock = false, any_ready = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!read_subscription(ctx, memory, in + std::uint64_t{i} * 48, subscriptions[i], items))
      return Errno::Fault;
    const Subscription& s = subscriptions[i];
    any_ready |= s.ready;
    if (s.tag == 0 && !s.ready) {
      any_clock = true;
      deadline = std::min(deadline, s.deadline_ns);
    }
  }
  for (;;) {
    const std::uint64_t now = platform::now_ns(platform::Clock::Monotonic);
    std::int64_t timeout = -1;
    if (any_ready) {
      timeout = 0;
    } else if (any_clock) {
      timeout = deadline <= now
                    ? 0
                    : static_cast<std::int64_t>(std::min<std::uint64_t>(deadline - now, INT64_MAX));
    }
    if (const int error = platform::poll_fds(items, timeout); error != 0 && error != EINTR)
      return from_host(error);
    bool done = any_ready;
    const std::uint64_t after = platform::now_ns(platform::Clock::Monotonic);
    for (Subscription& s : subscriptions) {
      if (s.poll_item >= 0 && items[static_cast<std::size_t>(s.poll_item)].ready) s.ready = true;
      if (s.tag == 0 && s.deadline_ns <= after) s.ready = true;
      done |= s.ready;
    }
    if (done) break;
  }
  std::uint32_t events = 0;
  for (const Subscription& s : subscriptions) {
    if (!s.ready) continue;
    std::uint8_t* event = memory.at(out + events * 32);
    std::fill_n(event, 32, std::uint8_t{0});
    base::store_le(event, s.user_data);
    base::store_le(event + 8, static_cast<std::uint16_t>(s.error));
    event[10] = s.tag;
    if (s.poll_item >= 0) {
      const platform::PollItem& item = items[static_cast<std::size_t>(s.poll_item)];
      base::store_le<std::uint64_t>(event + 16, item.write ? 1 : item.available);
      base::store_le<std::uint16_t>(event + 24, item.hangup ? 1 : 0);
    } else if (s.tag != 0) {
      base::store_le<std::uint64_t>(event + 16, s.available);
    }
    ++events;
  }
  return memory.write<std::uint32_t>(u32(args[3]), events) ? Errno::Success : Errno::Fault;
}

/// No descriptor of this version is a socket.
static Errno not_a_socket(Context& ctx, std::uint64_t number) {
  return ctx.find(u32(number)) == nullptr ? Errno::Badf : Errno::Notsock;
}
Errno sock_accept(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return not_a_socket(ctx, args[0]);
}
Errno sock_recv(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return not_a_socket(ctx, args[0]);
}
Errno sock_send(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return not_a_socket(ctx, args[0]);
}
Errno sock_shutdown(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return not_a_socket(ctx, args[0]);
}

}  // namespace hoist::wasi
