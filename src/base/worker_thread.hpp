// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WorkerThread: a thread whose start may be refused (limits on processes or memory), which
/// std::thread would report by an exception. Whoever starts one goes on without it then.

#include <pthread.h>

namespace hoist::base {

class WorkerThread {
 public:
  WorkerThread() = default;
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;
  ~WorkerThread() { join(); }

  /// Runs run(argument) on a new thread; false if the system refuses one. Once per object.
  bool start(void (*run)(void*), void* argument) {
    run_ = run;
    argument_ = argument;
    started_ = ::pthread_create(
                   &thread_, nullptr,
                   [](void* self) -> void* {
                     auto* worker = static_cast<WorkerThread*>(self);
                     worker->run_(worker->argument_);
                     return nullptr;
                   },
                   this) == 0;
    return started_;
  }
  /// Waits for its end; does nothing if it was not started.
  void join() {
    if (started_) ::pthread_join(thread_, nullptr);
    started_ = false;
  }

 private:
  pthread_t thread_{};
  void (*run_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool started_ = false;
};

}  // namespace hoist::base
