// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/clocks.hpp"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/check.hpp"

namespace hoist::platform {

static clockid_t id_of(Clock clock) {
  switch (clock) {
    case Clock::Monotonic: return CLOCK_MONOTONIC;
    case Clock::Realtime: return CLOCK_REALTIME;
    case Clock::ProcessCpu: return CLOCK_PROCESS_CPUTIME_ID;
    case Clock::ThreadCpu: return CLOCK_THREAD_CPUTIME_ID;
  }
  HOIST_UNREACHABLE("a Clock");
}

static std::uint64_t to_ns(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t now_ns(Clock clock) {
  timespec time = {};
  ::clock_gettime(id_of(clock), &time);
  return to_ns(time);
}

std::uint64_t resolution_ns(Clock clock) {
  timespec time = {};
  ::clock_getres(id_of(clock), &time);
  return to_ns(time);
}

std::uint64_t peak_resident_bytes() {
  rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint32_t process_id() {
  return static_cast<std::uint32_t>(::getpid());
}

}  // namespace hoist::platform
