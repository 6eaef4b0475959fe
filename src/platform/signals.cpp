// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/signals.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/check.hpp"
#include "platform/pages.hpp"

namespace hoist::platform {

static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
static constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;
/// A smaller alternate stack that somebody else installed is replaced.
static constexpr std::size_t kSmallestSignalStack = std::size_t{16} << 10;

static constinit std::atomic<FaultHandler> the_handler{nullptr};
static struct sigaction previous_actions[4];

static struct sigaction& previous_action(int signal) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (kSignals[i] == signal) return previous_actions[i];
  }
  HOIST_UNREACHABLE("one of our signals");
}

/// What would have happened without us.
static void pass_on(int signal, siginfo_t* info, void* context) {
  struct sigaction& action = previous_action(signal);
  const bool takes_info = (action.sa_flags & SA_SIGINFO) != 0;
  const bool sent = info->si_code <= 0;
  if (!takes_info && action.sa_handler == SIG_IGN && sent) return;
  if (!takes_info && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
    // The fault happens again on return and then ends the process with the right status: the kernel
    // does not let a fault be ignored.
    struct sigaction fallback = {};
    fallback.sa_handler = SIG_DFL;
    ::sigaction(signal, &fallback, nullptr);
    if (sent) ::raise(signal);
    return;
  }
  // As the kernel would call it: with its mask, the signal itself blocked unless it wants
  // otherwise, and once only if it said so.
  sigset_t mask = action.sa_mask;
  if ((action.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  const struct sigaction called = action;
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    action = {};
    action.sa_handler = SIG_DFL;
  }
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &mask, &before);
  if (takes_info) {
    called.sa_sigaction(signal, info, context);
  } else {
    called.sa_handler(signal);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

static void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const FaultHandler handler = the_handler.load(std::memory_order_acquire);
  if (info->si_code > 0 && handler != nullptr) {
    Fault fault;
    fault.kind = signal == SIGILL   ? FaultKind::Instruction
                 : signal == SIGFPE ? FaultKind::Arithmetic
                                    : FaultKind::Memory;
    fault.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    fault.at = read_context(context);
    if (handler(fault)) {
      write_context(context, fault.at);
      errno = saved_errno;
      return;
    }
  }
  pass_on(signal, info, context);
  errno = saved_errno;
}

void install_fault_handler(FaultHandler handler) {
  FaultHandler none = nullptr;
  if (!the_handler.compare_exchange_strong(none, handler)) return;
  for (std::size_t i = 0; i < 4; ++i) {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    // No SA_RESTART question: these are never sent by the kernel during system calls. NODEFER, so
    // that a second fault within the handlers behind ours is not fatal by itself.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    // First, so that a fault of another thread right after the change finds it.
    HOIST_CHECK(::sigaction(kSignals[i], nullptr, &previous_actions[i]) == 0 &&
                    ::sigaction(kSignals[i], &action, nullptr) == 0,
                "fault signals can be handled");
  }
}

// ---- Alternate stacks. A pthread key, not a thread_local with a destructor: the stack must be
// given back at the very end of a thread, and only then.

static pthread_key_t stack_key;
static thread_local bool stack_checked = false;

static void give_back_stack(void* base) {
  stack_t now = {};
  if (::sigaltstack(nullptr, &now) == 0 &&
      now.ss_sp == static_cast<std::uint8_t*>(base) + page_bytes()) {
    stack_t off = {};
    off.ss_flags = SS_DISABLE;
    ::sigaltstack(&off, nullptr);
  }
  ::munmap(base, kSignalStackBytes + page_bytes());
}

static void make_signal_stack() {
  stack_checked = true;
  stack_t now = {};
  if (::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0 &&
      now.ss_size >= kSmallestSignalStack) {
    return;
  }
  static const int made = ::pthread_key_create(&stack_key, give_back_stack);
  if (made != 0) return;
  const std::size_t guard = page_bytes();
  void* base = ::mmap(nullptr, kSignalStackBytes + guard, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Without one, faults are handled on the thread's stack, where guests leave a reserve.
  if (base == MAP_FAILED) return;
  ::mprotect(base, guard, PROT_NONE);
  stack_t stack = {};
  stack.ss_sp = static_cast<std::uint8_t*>(base) + guard;
  stack.ss_size = kSignalStackBytes;
  if (::sigaltstack(&stack, nullptr) != 0) {
    ::munmap(base, kSignalStackBytes + guard);
    return;
  }
  ::pthread_setspecific(stack_key, base);
}

void ensure_signal_stack() {
  if (!stack_checked) make_signal_stack();
}

void write_error_message(const char* text) {
  const std::size_t length = std::strlen(text);
  std::size_t done = 0;
  while (done < length) {
    const ssize_t wrote = ::write(STDERR_FILENO, text + done, length - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace hoist::platform
