// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Signals that ask a program to end (Ctrl-C, kill, a closed terminal), for a command that has
/// something to finish first. The first one is told on a thread of its own; from then on they end
/// the process at once, as without this. Those that were ignored stay so. One object at a time.

#include "base/worker_thread.hpp"

namespace hoist::cli {

class EndSignals {
 public:
  using OnSignal = void (*)(void* context, int signal);

  EndSignals() = default;
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals() { stop(); }

  /// False: the system has no thread or pipe for it; signals do what they did.
  bool start(OnSignal on_signal, void* context);
  /// Signals do again what they did. Not from `on_signal`.
  void stop();

 private:
  void work();

  OnSignal on_signal_ = nullptr;
  void* context_ = nullptr;
  int pipe_[2] = {-1, -1};
  base::WorkerThread worker_;
};

/// Ends the process as the signal would have, so that whoever waits for it sees that.
[[noreturn]] void end_by_signal(int signal);

}  // namespace hoist::cli
