// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/sample_timer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

namespace hoist::platform {

static constinit std::atomic<SampleHandler> the_handler{nullptr};
static struct sigaction previous;
/// Its address marks our signals.
static constinit int mark;

static void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool timer = info->si_code == SI_TIMER;
  if ((timer || info->si_code == SI_QUEUE) && info->si_value.sival_ptr == &mark) {
    const int overrun = timer && info->si_overrun > 0 ? info->si_overrun : 0;
    if (const SampleHandler handler = the_handler.load(std::memory_order_acquire))
      handler(read_context(context), 1U + static_cast<std::uint32_t>(overrun));
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

Result<void> SampleTimer::start(std::uint32_t thread, std::uint64_t interval_ns) {
  static_assert(sizeof(timer_t) == sizeof(void*));
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event.sigev_value.sival_ptr = &mark;
  event._sigev_un._tid = static_cast<pid_t>(thread);
  timer_t timer = nullptr;
  if (::timer_create(cpu_clock_of(thread), &event, &timer) != 0) {
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

void interrupt_for_sample(std::uint32_t thread) {
  const pid_t process = ::getpid();
  siginfo_t info = {};
  info.si_signo = SIGPROF;
  info.si_code = SI_QUEUE;
  info.si_pid = process;
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = &mark;
  ::syscall(SYS_rt_tgsigqueueinfo, process, static_cast<pid_t>(thread), SIGPROF, &info);
}

void WaitProbe::open(std::uint32_t thread) {
  close();
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/syscall";
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  thread_ = thread;
}

void WaitProbe::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

/// The last field of a line, "0x" and a number, which is taken off.
static bool take_last(std::string_view& line, std::uintptr_t& out) {
  const std::size_t at = line.rfind(" 0x");
  if (at == std::string_view::npos) return false;
  const char* begin = line.data() + at + 3;
  const char* end = line.data() + line.size();
  line.remove_suffix(line.size() - at);
  return std::from_chars(begin, end, out, 16).ptr == end;
}

bool WaitProbe::waits(WaitPlace& out) const {
  // The number of the call, its arguments, stack pointer and program counter; or "running"; or -1
  // for a wait that is no call's.
  char text[256];
  const ssize_t length = fd_ < 0 ? -1 : ::pread(fd_, text, sizeof text, 0);
  if (length <= 0) return false;
  std::string_view line(text, static_cast<std::size_t>(length));
  if (line.front() < '0' || line.front() > '9' || line.back() != '\n') return false;
  line.remove_suffix(1);
  timespec ran = {};
  if (::clock_gettime(cpu_clock_of(thread_), &ran) != 0) return false;
  out.ran_ns = static_cast<std::uint64_t>(ran.tv_sec) * 1'000'000'000U +
               static_cast<std::uint64_t>(ran.tv_nsec);
  return take_last(line, out.pc) && take_last(line, out.sp);
}

}  // namespace hoist::platform
