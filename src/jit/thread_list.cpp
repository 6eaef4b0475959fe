// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/thread_list.hpp"

#include <pthread.h>

#include <mutex>

#include "platform/threads.hpp"

namespace hoist::jit {
namespace {

constinit std::mutex mutex;
constinit ThreadEntry* first = nullptr;
constinit ThreadWatcher current;
// A pthread key, not a thread_local with a destructor: the entry must go at the very end of a
// thread.
pthread_key_t key;
/// For signal handlers; `key` is for the end of the thread.
constinit thread_local ThreadEntry* own_entry = nullptr;

void remove(void* entry) {
  auto* thread = static_cast<ThreadEntry*>(entry);
  own_entry = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  if (current.end != nullptr) current.end(*thread);
  (thread->previous == nullptr ? first : thread->previous->next) = thread->next;
  if (thread->next != nullptr) thread->next->previous = thread->previous;
  delete thread;
}

/// A child of a fork has one thread.
void forget_others() {
  auto* own = static_cast<ThreadEntry*>(::pthread_getspecific(key));
  first = own;
  current = {};
  if (own != nullptr) {
    own->next = own->previous = nullptr;
    own->id = platform::thread_id();
    own->watcher = nullptr;
  }
  mutex.unlock();
}

bool make_key() {
  if (::pthread_key_create(&key, remove) != 0) return false;
  platform::at_fork([] { mutex.lock(); }, [] { mutex.unlock(); }, forget_others);
  return true;
}

}  // namespace

void enlist_thread(const ThreadState& state) {
  static const bool made = make_key();
  if (!made || ::pthread_getspecific(key) != nullptr) return;
  auto* thread = new ThreadEntry;
  thread->id = platform::thread_id();
  thread->state = &state;
  if (::pthread_setspecific(key, thread) != 0) {
    delete thread;
    return;
  }
  own_entry = thread;
  const std::lock_guard<std::mutex> lock(mutex);
  thread->next = first;
  if (first != nullptr) first->previous = thread;
  first = thread;
  if (current.begin != nullptr) current.begin(*thread);
}

void* watcher_of_this_thread() {
  return own_entry == nullptr ? nullptr : own_entry->watcher.load();
}

void watch_threads(const ThreadWatcher& watcher) {
  const std::lock_guard<std::mutex> lock(mutex);
  current = watcher;
  for (ThreadEntry* at = first; at != nullptr; at = at->next) current.begin(*at);
}

void stop_watching_threads() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (current.end != nullptr) {
    for (ThreadEntry* at = first; at != nullptr; at = at->next) current.end(*at);
  }
  current = {};
}

}  // namespace hoist::jit
