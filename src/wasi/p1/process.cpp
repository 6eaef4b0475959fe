// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments, environment, clocks, random numbers, the end of the program.
#include <algorithm>
#include <cerrno>

#include "platform/clocks.hpp"
#include "platform/embedder_call.hpp"
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
  std::uint64_t pointers = u32(args[0]), text = u32(args[1]), bytes = 0;
  for (const std::string& s : strings) bytes += s.size() + 1;
  if (!memory.contains(u32(args[0]), std::uint64_t{strings.size()} * 4) ||
      !memory.contains(u32(args[1]), bytes)) {
    return Errno::Fault;
  }
  for (const std::string& s : strings) {
    static_cast<void>(memory.write<std::uint32_t>(pointers, static_cast<std::uint32_t>(text)));
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

bool read_clock(const Context& ctx, std::uint32_t id, std::uint64_t& out) {
  platform::Clock clock;
  if (!find_clock(id, clock)) return false;
  out = ctx.clock != nullptr && id < 2
            ? platform::embedder_call([&] { return ctx.clock(ctx.clock_user, id); })
            : platform::now_ns(clock);
  return true;
}

Errno clock_res_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  const std::uint32_t id = u32(args[0]);
  platform::Clock clock;
  if (!find_clock(id, clock)) return Errno::Inval;
  const std::uint64_t ns = ctx.clock != nullptr && id < 2 ? 1 : platform::resolution_ns(clock);
  return memory.write(u32(args[1]), ns) ? Errno::Success : Errno::Fault;
}
Errno clock_time_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  std::uint64_t now = 0;
  if (!read_clock(ctx, u32(args[0]), now)) return Errno::Inval;
  memory.refresh();
  return memory.write(u32(args[2]), now) ? Errno::Success : Errno::Fault;
}

Errno random_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  // In steps, for whoever asks for gigabytes and is to be interrupted.
  static constexpr std::uint32_t kStep = 1 << 16;
  std::uint32_t at = u32(args[0]), size = u32(args[1]);
  if (!memory.contains(at, size)) return Errno::Fault;
  while (size > 0) {
    const std::uint32_t n = std::min(size, kStep);
    if (ctx.random != nullptr) {
      std::uint8_t buffer[1024];
      const std::uint32_t few = std::min<std::uint32_t>(n, sizeof buffer);
      platform::embedder_call([&] { ctx.random(ctx.random_user, buffer, few); });
      memory.refresh();
      if (!memory.contains(at, few)) return Errno::Fault;
      std::copy_n(buffer, few, memory.at(at));
      at += few;
      size -= few;
      continue;
    }
    platform::random_bytes(memory.range(at, n));
    at += n;
    size -= n;
    if (size > 0 && ctx.wake != nullptr && ctx.wake->raised()) return waited(ECANCELED, outcome);
  }
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
  // What a signal does by default: it ends the program with the shell's status for it, or nothing
  // (0 only asks; chld, cont, urg, winch). Stopping (stop, tstp, ttin, ttou) is not for one guest.
  const std::uint32_t signal = u32(args[0]);
  if (signal > 30) return Errno::Inval;
  if (signal == 0 || signal == 16 || signal == 17 || signal == 22 || signal == 27)
    return Errno::Success;
  if (signal >= 18 && signal <= 21) return Errno::Notsup;
  ctx.exit_status = 128 + signal;
  outcome = Outcome::Exit;
  return Errno::Success;
}

}  // namespace hoist::wasi
