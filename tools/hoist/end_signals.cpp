// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/end_signals.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace hoist::cli {

namespace {

constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// Where the handler writes to. It may run at any time, on any thread.
std::atomic<int> write_end{-1};

/// Of those that are not ignored.
void set_handlers(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  // A guest's stack may be nearly full.
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) {
    struct sigaction old;
    if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) continue;
    static_cast<void>(::sigaction(signal, &action, nullptr));
  }
}

void on_signal(int signal) {
  const int saved = errno;
  set_handlers(SIG_DFL);
  const auto byte = static_cast<unsigned char>(signal);
  static_cast<void>(!::write(write_end.load(), &byte, 1));
  errno = saved;
}

}  // namespace

bool EndSignals::start(OnSignal told, void* context) {
  if (::pipe2(pipe_, O_CLOEXEC) != 0) return false;
  on_signal_ = told;
  context_ = context;
  write_end = pipe_[1];
  if (!worker_.start([](void* self) { static_cast<EndSignals*>(self)->work(); }, this)) {
    stop();
    return false;
  }
  set_handlers(on_signal);
  return true;
}

void EndSignals::work() {
  unsigned char byte = 0;
  for (;;) {
    const ssize_t count = ::read(pipe_[0], &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count != 1 || byte == 0) return;
    on_signal_(context_, byte);
  }
}

void EndSignals::stop() {
  if (pipe_[0] == -1) return;
  set_handlers(SIG_DFL);
  const unsigned char end = 0;
  static_cast<void>(!::write(pipe_[1], &end, 1));
  worker_.join();
  write_end = -1;
  for (int& fd : pipe_) {
    ::close(fd);
    fd = -1;
  }
}

void end_by_signal(int signal) {
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace hoist::cli
