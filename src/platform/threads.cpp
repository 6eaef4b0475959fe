// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

namespace hoist::platform {

static StackBounds find_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  StackBounds bounds;
  void* low = nullptr;
  std::size_t bytes = 0;
  std::size_t guard = 0;
  if (::pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    bounds.low = reinterpret_cast<std::uintptr_t>(low);
    bounds.high = bounds.low + bytes;
    // Whether the guard lies inside the stack differs between C libraries; take it as inside.
    if (::pthread_attr_getguardsize(&attributes, &guard) == 0 && guard < bytes / 2) {
      bounds.low += guard;
    }
  }
  ::pthread_attr_destroy(&attributes);
  return bounds;
}

StackBounds thread_stack() {
  static thread_local StackBounds bounds;
  if (bounds.high == 0) bounds = find_stack();
  return bounds;
}

std::uint32_t thread_id() {
  return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

std::string thread_name(std::uint32_t id) {
  const std::string path = "/proc/self/task/" + std::to_string(id) + "/comm";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  char text[32];
  const std::size_t size = std::fread(text, 1, sizeof(text), file);
  std::fclose(file);
  std::string name(text, size);
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

void name_this_thread(const std::string& name) {
  static_cast<void>(::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str()));
}

void yield_thread() {
  ::sched_yield();
}

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  // It can only fail for want of memory; then a child of a busy process may wait for ever, as
  // without.
  static_cast<void>(::pthread_atfork(before, in_parent, in_child));
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) {
    const int count = CPU_COUNT(&set);
    if (count > 0) return static_cast<unsigned>(count);
  }
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<unsigned>(online) : 1;
}

}  // namespace hoist::platform
