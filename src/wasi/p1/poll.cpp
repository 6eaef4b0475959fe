// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// poll_oneoff: waits for the first of many events. Descriptors that are subscribed to more than
// once are asked for once; deadlines are kept on the monotonic clock, but one that names a moment
// of the real-time clock follows that clock when it is set.
#include "platform/poll.hpp"

#include <algorithm>
#include <cerrno>

#include "platform/clocks.hpp"
#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

namespace {

/// More than any program has descriptors and timers for; bounds what one call makes us allocate.
constexpr std::uint32_t kMaxSubscriptions = 16384;
constexpr std::uint32_t kEventSize = 32;
/// How soon a change of the real-time clock is noticed.
constexpr std::uint64_t kLookAtClockNs = 1'000'000'000;

enum class Tag : std::uint8_t { Clock, FdRead, FdWrite };

/// Where the parts of a subscription are. The descriptor's number has the place of the first one.
struct Layout {
  std::uint32_t size, first, clock, timeout, flags;
};
constexpr Layout kLayout = {48, 16, 16, 24, 40};
/// A clock's identifier of 64 bits, which nobody uses, comes first.
constexpr Layout kUnstableLayout = {56, 16, 24, 32, 48};

struct Subscription {
  std::uint64_t user_data = 0;
  std::uint8_t tag = 0;
  bool ready = false;
  bool follows_realtime = false;  // `deadline_ns` is on the real-time clock
  std::uint16_t flags = 0;        // of the event
  Errno error = Errno::Success;
  std::uint32_t fd = 0;
  int poll_item = -1;
  std::uint64_t deadline_ns = UINT64_MAX;
  std::uint64_t available = 0;

  bool is_clock() const { return tag == static_cast<std::uint8_t>(Tag::Clock); }
  void fail(Errno with) {
    error = with;
    ready = true;
  }
};

class Poll {
 public:
  Poll(Context& ctx, const Layout& layout) : ctx_(ctx), layout_(layout) {}
  ~Poll() { forget_descriptors(); }
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  /// Reads a subscription; asks the clock, which may be the embedder's code.
  void subscribe(GuestMemory memory, std::uint64_t at);
  /// After all of them were read: until the end, descriptors stay as they are.
  void subscribe_fds();
  Errno wait(Outcome& outcome);
  std::uint32_t write_events(GuestMemory memory, std::uint32_t out) const;

 private:
  void subscribe_clock(std::uint32_t id, std::uint64_t timeout, bool absolute, Subscription& out);
  void subscribe_fd(Subscription& out);
  std::int64_t next_timeout() const;
  bool take_answers();
  void forget_descriptors() {
    for (Descriptor* d : polled_) d->poll_item = -1;
    polled_.clear();
  }

  Context& ctx_;
  const Layout& layout_;
  std::vector<Subscription> subscriptions_;
  std::vector<platform::PollItem> items_;
  std::vector<Descriptor*> polled_;
  bool any_ready_ = false;
};

std::uint64_t monotonic() {
  return platform::now_ns(platform::Clock::Monotonic);
}

void Poll::subscribe(GuestMemory memory, std::uint64_t at) {
  Subscription s;
  std::uint32_t id = 0;
  std::uint64_t timeout = 0;
  std::uint16_t clock_flags = 0;
  // The caller has checked the range.
  static_cast<void>(memory.read(at, s.user_data) && memory.read(at + 8, s.tag) &&
                    memory.read(at + layout_.first, s.fd) && memory.read(at + layout_.clock, id) &&
                    memory.read(at + layout_.timeout, timeout) &&
                    memory.read(at + layout_.flags, clock_flags));
  if (s.tag > static_cast<std::uint8_t>(Tag::FdWrite)) {
    s.fail(Errno::Inval);
  } else if (!s.is_clock()) {
    // Its descriptor is looked up when all have been read.
  } else if (clock_flags > 1) {
    s.fail(Errno::Inval);
  } else {
    subscribe_clock(id, timeout, clock_flags == 1, s);
  }
  subscriptions_.push_back(s);
}

void Poll::subscribe_fds() {
  for (Subscription& s : subscriptions_) {
    if (!s.ready && !s.is_clock()) subscribe_fd(s);
    any_ready_ |= s.ready;
  }
}

void Poll::subscribe_clock(std::uint32_t id, std::uint64_t timeout, bool absolute,
                           Subscription& out) {
  std::uint64_t now = 0;
  if (!read_clock(ctx_, id, now)) return out.fail(Errno::Inval);
  // Time of a processor does not pass while we wait.
  if (id > 1) return out.fail(Errno::Notsup);
  if (absolute && id == 0 && ctx_.clock == nullptr) {
    out.follows_realtime = true;
    out.deadline_ns = timeout;
    return;
  }
  const std::uint64_t wait = !absolute ? timeout : timeout > now ? timeout - now : 0;
  const std::uint64_t start = monotonic();
  out.deadline_ns = wait > UINT64_MAX - start ? UINT64_MAX : start + wait;
}

void Poll::subscribe_fd(Subscription& out) {
  Descriptor* d = nullptr;
  if (const Errno error = find(ctx_, out.fd, rights::kPollFdReadwrite, d); error != Errno::Success)
    return out.fail(error);
  const bool write = out.tag == static_cast<std::uint8_t>(Tag::FdWrite);
  if (!d->is_host()) {
    out.ready = true;
    out.available = write ? 1 : d->stream->available();
    return;
  }
  if (d->poll_item < 0) {
    d->poll_item = static_cast<int>(items_.size());
    polled_.push_back(d);
    items_.emplace_back();
    items_.back().fd = d->fd.get();
  }
  out.poll_item = d->poll_item;
  platform::PollItem& item = items_[static_cast<std::size_t>(d->poll_item)];
  (write ? item.write : item.read) = true;
}

std::int64_t Poll::next_timeout() const {
  if (any_ready_) return 0;
  std::uint64_t wait = UINT64_MAX;
  const std::uint64_t now = monotonic();
  for (const Subscription& s : subscriptions_) {
    if (!s.is_clock()) continue;
    const std::uint64_t clock =
        s.follows_realtime ? platform::now_ns(platform::Clock::Realtime) : now;
    const std::uint64_t left = s.deadline_ns > clock ? s.deadline_ns - clock : 0;
    wait = std::min(wait, s.follows_realtime ? std::min(left, kLookAtClockNs) : left);
  }
  return wait == UINT64_MAX ? -1
                            : static_cast<std::int64_t>(std::min<std::uint64_t>(wait, INT64_MAX));
}

/// Whether anything is ready.
bool Poll::take_answers() {
  bool any = any_ready_;
  const std::uint64_t now = monotonic();
  for (Subscription& s : subscriptions_) {
    if (s.ready) continue;
    if (s.poll_item >= 0) {
      const platform::PollItem& item = items_[static_cast<std::size_t>(s.poll_item)];
      const bool write = s.tag == static_cast<std::uint8_t>(Tag::FdWrite);
      s.ready = write ? item.can_write : item.can_read;
      s.available = write ? 1 : item.available;
      s.flags = item.hangup ? 1 : 0;
      if (item.invalid) s.error = Errno::Badf;
    } else if (s.is_clock()) {
      s.ready =
          s.deadline_ns <= (s.follows_realtime ? platform::now_ns(platform::Clock::Realtime) : now);
    }
    any |= s.ready;
  }
  return any;
}

Errno Poll::wait(Outcome& outcome) {
  // From here on other threads may poll the same descriptors, or close them.
  for (const Descriptor* d : polled_) ctx_.pin(*d);
  forget_descriptors();
  for (;;) {
    const std::int64_t timeout = next_timeout();
    const int error = ctx_.waiting(
        [&](platform::WakeFlag* wake) { return platform::poll_fds(items_, timeout, wake); });
    if (error != 0 && error != ECANCELED) return from_host(error);
    if (take_answers()) return Errno::Success;
    if (error == ECANCELED) return waited(error, outcome);
  }
}

std::uint32_t Poll::write_events(GuestMemory memory, std::uint32_t out) const {
  std::uint32_t events = 0;
  for (const Subscription& s : subscriptions_) {
    if (!s.ready) continue;
    std::uint8_t* event = memory.at(out + events * kEventSize);
    std::fill_n(event, kEventSize, std::uint8_t{0});
    base::store_le(event, s.user_data);
    base::store_le(event + 8, static_cast<std::uint16_t>(s.error));
    event[10] = s.tag;
    base::store_le(event + 16, s.available);
    base::store_le(event + 24, s.flags);
    ++events;
  }
  return events;
}

}  // namespace

static Errno poll(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome,
                  const Layout& layout) {
  const std::uint32_t in = u32(args[0]), out = u32(args[1]), count = u32(args[2]);
  if (count == 0) return Errno::Inval;
  if (!memory.contains(in, std::uint64_t{count} * layout.size) ||
      !memory.contains(out, std::uint64_t{count} * kEventSize) ||
      !memory.contains(u32(args[3]), 4)) {
    return Errno::Fault;
  }
  if (count > kMaxSubscriptions) return Errno::Inval;
  Poll poll(ctx, layout);
  for (std::uint32_t i = 0; i < count; ++i) {
    poll.subscribe(memory, in + std::uint64_t{i} * layout.size);
    memory.refresh();
  }
  if (!memory.contains(out, std::uint64_t{count} * kEventSize)) return Errno::Fault;
  poll.subscribe_fds();
  HOIST_WASI_TRY(poll.wait(outcome));
  const std::uint32_t events = poll.write_events(memory, out);
  static_cast<void>(memory.write(u32(args[3]), events));
  return Errno::Success;
}

Errno poll_oneoff(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  return poll(ctx, memory, args, outcome, kLayout);
}
Errno unstable_poll_oneoff(Context& ctx, GuestMemory memory, const std::uint64_t* args,
                           Outcome& outcome) {
  return poll(ctx, memory, args, outcome, kUnstableLayout);
}

}  // namespace hoist::wasi
