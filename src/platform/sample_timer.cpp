// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/sample_timer.hpp"

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

namespace hoist::platform {

static constinit std::atomic<SampleHandler> the_handler{nullptr};
static constinit std::atomic<SampleClock> the_clock{SampleClock::Cpu};
static struct sigaction previous;
/// Its address marks our signals.
static constinit int mark;

static void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &mark) {
    // Time that a thread waits for a core is not its own: with the wall clock a late signal counts
    // once.
    const bool counts = the_clock.load(std::memory_order_relaxed) == SampleClock::Cpu;
    const int overrun = counts && info->si_overrun > 0 ? info->si_overrun : 0;
    if (const SampleHandler handler = the_handler.load(std::memory_order_acquire)) {
      handler(read_context(context), 1U + static_cast<std::uint32_t>(overrun));
    }
  } else if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL) {
    ::sigaction(signal, &previous, nullptr);
    ::raise(signal);
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
  errno = saved_errno;
}

void install_sample_handler(SampleHandler handler) {
  static constinit std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (the_handler.load(std::memory_order_relaxed) != nullptr) return;
  the_handler.store(handler, std::memory_order_release);
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // On the thread's own stack: guests leave a reserve, and a signal stack may belong to somebody
  // else.
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigdelset(&action.sa_mask, fault);
  ::sigaction(SIGPROF, nullptr, &previous);
  ::sigaction(SIGPROF, &action, nullptr);
}

/// The kernel's number for a thread's CPU clock.
static clockid_t cpu_clock_of(std::uint32_t thread) {
  constexpr unsigned kThreadScheduled = 4 | 2;
  return static_cast<clockid_t>(~thread << 3 | kThreadScheduled);
}

Result<void> SampleTimer::start(std::uint32_t thread, SampleClock clock,
                                std::uint64_t interval_ns) {
  static_assert(sizeof(timer_t) == sizeof(void*));
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event.sigev_value.sival_ptr = &mark;
  event._sigev_un._tid = static_cast<pid_t>(thread);
  const clockid_t id = clock == SampleClock::Cpu ? cpu_clock_of(thread) : CLOCK_MONOTONIC;
  the_clock.store(clock, std::memory_order_relaxed);
  timer_t timer = nullptr;
  if (::timer_create(id, &event, &timer) != 0) {
    return Error(ErrorKind::Unsupported,
                 std::string("the system gives no timer for a profile: ") + std::strerror(errno));
  }
  timer_ = timer;
  running_ = true;
  itimerspec times = {};
  times.it_interval.tv_sec = static_cast<time_t>(interval_ns / 1'000'000'000);
  times.it_interval.tv_nsec = static_cast<long>(interval_ns % 1'000'000'000);
  times.it_value = times.it_interval;
  ::timer_settime(timer, 0, &times, nullptr);
  return {};
}

void SampleTimer::stop() {
  if (running_) ::timer_delete(timer_);
  running_ = false;
}

}  // namespace hoist::platform
