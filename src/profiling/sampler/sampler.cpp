// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/sampler/sampler.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/text/printable.hpp"
#include "base/worker_thread.hpp"
#include "jit/code_events.hpp"
#include "jit/stack_sample.hpp"
#include "jit/thread_list.hpp"
#include "jit/trap_handler.hpp"
#include "platform/clocks.hpp"
#include "platform/sample_timer.hpp"
#include "platform/threads.hpp"
#include "profiling/sampler/resolver.hpp"
#include "profiling/sampler/sample_ring.hpp"
#include "runtime/objects/host_function.hpp"

namespace hoist::profiling {
namespace {

using platform::Clock;

/// A ring has room for about twice this at 1 kHz and the largest stacks.
constexpr auto kDrainEvery = std::chrono::milliseconds(50);
/// Samples that are kept with their times, 16 bytes each; later ones only count.
constexpr std::size_t kMostTimedSamples = std::size_t{8} << 20;
/// Threads that are asked whether they wait: each takes a descriptor. Others are interrupted.
constexpr std::size_t kMostProbes = 64;
/// Threads of a profile; samples of later ones count for the last.
constexpr std::size_t kMostThreads = 4096;

/// A thread that is sampled. Never freed: the last signal to it may be on its way.
struct SampledThread {
  std::uint32_t number = 0;  ///< in Profile::threads
  SampleRing ring;
  platform::SampleTimer timer;  ///< by the CPU clock
  platform::WaitProbe probe;    ///< by the wall clock
  std::uint32_t id = 0;
  const jit::ThreadState* state = nullptr;
  /// Handlers that may be in it: that of its thread, and for a moment a late one of a thread that
  /// had it before. Sequentially consistent with ThreadEntry::watcher.
  std::atomic<std::uint32_t> busy{0};
  /// Periods of the wall clock that the next sample stands for: the thread may not run for a while.
  std::atomic<std::uint32_t> due{0};
  // Where the last sample was taken, if that was in the host; else 0.
  std::atomic<std::uintptr_t> last_pc{0};
  std::atomic<std::uintptr_t> last_sp{0};
  std::uint32_t last_node = Profile::kNone;
  std::uint64_t waited_ran_ns = 0;  ///< WaitPlace::ran_ns; 0: it has been interrupted since
  std::uint64_t lost_before = 0;
};

void on_sample(const platform::MachineRegisters& at, std::uint32_t periods);
void take_sample(const platform::MachineRegisters& at, std::uint32_t periods,
                 SampledThread& thread);

class Sampler {
 public:
  Result<void> start(const SamplerOptions& options) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (running_) return Error(ErrorKind::BadArgument, "a guest profiler runs already");
      if (options.interval_ns < kShortestInterval || options.interval_ns > kLongestInterval) {
        return Error(ErrorKind::BadArgument,
                     fmt::format("the interval of a profile is {} ns: it must be from {} to {}",
                                 options.interval_ns, kShortestInterval, kLongestInterval));
      }
      options_ = options;
      profile_ = {};
      profile_.interval_ns = options.interval_ns;
      profile_.wall_clock = options.clock == SampleClock::Wall;
      profile_.start_unix_ms = platform::now_ns(Clock::Realtime) / 1'000'000;
      begun_ = platform::now_ns(Clock::Monotonic);
      resolver_ = std::make_unique<Resolver>(profile_);
      timed_ = 0;
      stopping_ = false;
      failure_.reset();
      worker_ = std::make_unique<base::WorkerThread>();
      running_ = true;
    }
    forget_in_children();
    platform::install_sample_handler(on_sample);
    set_hooks([] { the_sampler().code_goes(); }, [] { the_sampler().host_function_goes(); });
    jit::watch_threads({[](jit::ThreadEntry& entry) { the_sampler().begin_thread(entry); },
                        [](jit::ThreadEntry& entry) { the_sampler().end_thread(entry); }});
    const bool started =
        worker_->start([](void* self) { static_cast<Sampler*>(self)->work(); }, this);
    std::optional<Error> failure;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      failure = failure_;
    }
    if (!started)
      failure.emplace(ErrorKind::Unsupported, "the system gives no thread for a profile");
    if (!failure) return {};
    static_cast<void>(stop());
    return *std::move(failure);
  }

  Profile stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!running_) return {};  // in the child of a fork
    }
    jit::stop_watching_threads();
    set_hooks(nullptr, nullptr);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    worker_.reset();
    const std::lock_guard<std::mutex> lock(mutex_);
    profile_.duration_ns = platform::now_ns(Clock::Monotonic) - begun_;
    resolver_.reset();
    running_ = false;
    return std::move(profile_);
  }

  static Sampler& the_sampler() { return *instance(); }

 private:
  static Sampler*& instance() {
    static Sampler* sampler = new Sampler;
    return sampler;
  }
  static void set_hooks(void (*before_code_goes)(), void (*before_host_function_goes)()) {
    jit::before_unload.store(before_code_goes, std::memory_order_release);
    runtime::before_host_function_goes.store(before_host_function_goes, std::memory_order_release);
  }
  /// The child of a fork has none of the threads, and what they have locked stays so.
  static void forget_in_children() {
    static const bool done = [] {
      platform::at_fork([] {}, [] {},
                        [] {
                          set_hooks(nullptr, nullptr);
                          instance() = new Sampler;
                        });
      return true;
    }();
    static_cast<void>(done);
  }

  // ---- Called with the list of threads locked.

  /// Empty: it has none of its own.
  static std::string name_of_thread(std::uint32_t id) {
    if (id == platform::process_id()) return "main";
    std::string name = platform::thread_name(id);
    return name == platform::thread_name(platform::process_id()) ? std::string()
                                                                 : base::printable(name);
  }

  void begin_thread(jit::ThreadEntry& entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!running_) return;
    auto thread = take_thread();
    if (profile_.threads.size() < kMostThreads)
      profile_.threads.push_back({entry.id, name_of_thread(entry.id), {}});
    thread->number = static_cast<std::uint32_t>(profile_.threads.size() - 1);
    thread->id = entry.id;
    thread->state = entry.state;
    entry.watcher = thread.get();
    if (options_.clock == SampleClock::Wall) {
      if (threads_.size() < kMostProbes) thread->probe.open(entry.id);
    } else if (auto started = thread->timer.start(entry.id, options_.interval_ns); !started) {
      if (!failure_) failure_ = std::move(started).error();
    }
    threads_.push_back(std::move(thread));
  }

  void end_thread(jit::ThreadEntry& entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto* thread = static_cast<SampledThread*>(entry.watcher.load());
    if (thread == nullptr) return;
    thread->timer.stop();
    thread->probe.close();
    // A last signal may be on its way, or its handler at work on another core.
    entry.watcher = nullptr;
    while (thread->busy.load() != 0) platform::yield_thread();
    drain(*thread);
    const auto at = std::find_if(threads_.begin(), threads_.end(),
                                 [&](const auto& each) { return each.get() == thread; });
    retired_.push_back(std::move(*at));
    threads_.erase(at);
  }

  // ---- With the sampler locked.

  std::unique_ptr<SampledThread> take_thread() {
    if (retired_.empty()) return std::make_unique<SampledThread>();
    auto thread = std::move(retired_.back());
    retired_.pop_back();
    drain_nothing(*thread);
    thread->due = 0;
    thread->last_pc = 0;
    thread->last_sp = 0;
    thread->last_node = Profile::kNone;
    thread->waited_ran_ns = 0;
    return thread;
  }
  void drain_nothing(SampledThread& thread) {
    thread.ring.drain(buffer_, [](const auto&) {});
    thread.lost_before = thread.ring.lost();
  }

  /// The thread's last stack.
  void count(SampledThread& thread, std::uint64_t time, std::uint32_t weight) {
    const std::uint32_t node = thread.last_node;
    if (node == Profile::kNone) return;
    profile_.nodes[node].self += weight;
    profile_.samples += weight;
    if (timed_ == kMostTimedSamples) {
      ++profile_.untimed;
      return;
    }
    ++timed_;
    profile_.threads[thread.number].samples.push_back(
        {time > begun_ ? time - begun_ : 0, node, weight});
  }

  void drain(SampledThread& thread) {
    thread.ring.drain(buffer_, [&](std::span<const std::uint64_t> words) {
      if (words.size() < 3) return;
      const std::uint64_t time = words[0];
      const auto weight = static_cast<std::uint32_t>(words[1]);
      thread.last_node = resolver_->add(words.subspan(2));
      count(thread, time, weight);
    });
    const std::uint64_t lost = thread.ring.lost();
    profile_.lost += lost - thread.lost_before;
    thread.lost_before = lost;
  }

  void drain() {
    for (const auto& thread : threads_) drain(*thread);
  }

  // ----

  void code_goes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!running_ || resolver_ == nullptr) return;
    drain();
    resolver_->forget_addresses();
  }

  void host_function_goes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!running_ || resolver_ == nullptr) return;
    drain();
    resolver_->forget_host_functions();
  }

  void work() {
    using std::chrono::steady_clock;
    const std::chrono::nanoseconds interval(options_.interval_ns);
    const bool wall = options_.clock == SampleClock::Wall;
    auto now = steady_clock::now();
    auto tick = now + interval;
    auto next_drain = now + kDrainEvery;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopping_) {
      wake_.wait_until(lock, wall ? std::min(tick, next_drain) : next_drain);
      if (stopping_) return;
      now = steady_clock::now();
      if (now >= next_drain) {
        drain();
        next_drain = now + kDrainEvery;
      }
      if (!wall || now < tick) continue;
      // This thread may have come to run late, too.
      const auto periods = 1 + (now - tick) / interval;
      tick += periods * interval;
      sample_threads(static_cast<std::uint32_t>(periods));
    }
  }

  void sample_threads(std::uint32_t periods) {
    for (const auto& thread : threads_) {
      if (!jit::is_in_guest(*thread->state)) continue;
      if (still_waits(*thread)) {
        drain(*thread);
        count(*thread, platform::now_ns(Clock::Monotonic), periods);
      } else {
        thread->waited_ran_ns = 0;
        thread->due.fetch_add(periods, std::memory_order_relaxed);
        platform::interrupt_for_sample(thread->id);
      }
    }
  }

  /// Whether the thread waits where its last sample was taken. If it has run between two looks, the
  /// place may be the same and what led there not. What it runs to get back to its wait after an
  /// interruption does not count.
  static bool still_waits(SampledThread& thread) {
    platform::WaitPlace place;
    if (!thread.probe.waits(place) || !place.is_at(thread.last_pc.load(std::memory_order_relaxed),
                                                   thread.last_sp.load(std::memory_order_relaxed)))
      return false;
    if (thread.waited_ran_ns != 0 && thread.waited_ran_ns != place.ran_ns) return false;
    thread.waited_ran_ns = place.ran_ns;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool running_ = false;
  bool stopping_ = false;
  SamplerOptions options_;
  Profile profile_;
  std::unique_ptr<Resolver> resolver_;
  std::uint64_t begun_ = 0;
  std::size_t timed_ = 0;
  std::optional<Error> failure_;
  std::vector<std::unique_ptr<SampledThread>> threads_;
  std::vector<std::unique_ptr<SampledThread>> retired_;
  std::vector<std::uint64_t> buffer_;
  std::unique_ptr<base::WorkerThread> worker_;
};

void on_sample(const platform::MachineRegisters& at, std::uint32_t periods) {
  auto* thread = static_cast<SampledThread*>(jit::watcher_of_this_thread());
  if (thread == nullptr) return;
  thread->busy.fetch_add(1);
  if (jit::watcher_of_this_thread() == thread) take_sample(at, periods, *thread);
  thread->busy.fetch_sub(1);
}

void take_sample(const platform::MachineRegisters& at, std::uint32_t periods,
                 SampledThread& thread) {
  SampleRing& ring = thread.ring;
  ring.begin();
  ring.put(platform::now_ns(Clock::Monotonic));
  const std::uint32_t due = thread.due.exchange(0, std::memory_order_relaxed);
  ring.put(due != 0 ? due : periods);
  bool in_code = false;
  const bool taken = jit::sample_stack(at,
                                       [&](std::uint64_t word) {
                                         in_code |= word == jit::sample_word::kInCode;
                                         ring.put(word);
                                       }) &&
                     ring.end();
  const bool may_wait = taken && !in_code;
  thread.last_pc.store(may_wait ? at.pc : 0, std::memory_order_relaxed);
  thread.last_sp.store(may_wait ? at.sp : 0, std::memory_order_relaxed);
}

}  // namespace

Result<void> start_sampler(const SamplerOptions& options) {
  return Sampler::the_sampler().start(options);
}

Profile stop_sampler() {
  return Sampler::the_sampler().stop();
}

}  // namespace hoist::profiling
