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

#include "base/worker_thread.hpp"
#include "jit/stack_sample.hpp"
#include "jit/thread_list.hpp"
#include "jit/trap_handler.hpp"
#include "platform/clocks.hpp"
#include "platform/threads.hpp"
#include "profiling/sampler/resolver.hpp"
#include "profiling/sampler/sample_ring.hpp"

namespace hoist::profiling {
namespace {

using platform::Clock;

/// A ring has room for about twice this at 1 kHz and the largest stacks.
constexpr auto kDrainEvery = std::chrono::milliseconds(50);
/// Samples that are kept with their times, 16 bytes each; later ones only count.
constexpr std::size_t kMostTimedSamples = std::size_t{8} << 20;
/// Threads of a profile; samples of later ones count for the last.
constexpr std::size_t kMostThreads = 4096;

/// A thread that is sampled. Never freed before the sampler has ended: the last signal of its timer
/// may be on its way.
struct SampledThread {
  std::uint32_t number = 0;  ///< in Profile::threads
  SampleRing ring;
  platform::SampleTimer timer;
  /// The handler is in it: sequentially consistent with ThreadEntry::watcher.
  std::atomic<bool> busy{false};
  bool ended = false;
  std::uint64_t lost_before = 0;
};

void on_sample(const platform::MachineRegisters& at, std::uint32_t periods);
void take_sample(const platform::MachineRegisters& at, std::uint32_t periods, SampleRing& ring);

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
      profile_.start_unix_ms = platform::now_ns(Clock::Realtime) / 1'000'000;
      begun_ = platform::now_ns(Clock::Monotonic);
      resolver_ = std::make_unique<Resolver>(profile_);
      timed_ = 0;
      stopping_ = false;
      failure_.reset();
      worker_ = std::make_unique<base::WorkerThread>();
      running_ = true;
    }
    platform::install_sample_handler(on_sample);
    runtime::before_unload.store([] { the_sampler().code_goes(); }, std::memory_order_release);
    jit::watch_threads({[](jit::ThreadEntry& entry) { the_sampler().begin_thread(entry); },
                        [](jit::ThreadEntry& entry) { the_sampler().end_thread(entry); }});
    const bool started =
        worker_->start([](void* self) { static_cast<Sampler*>(self)->work(); }, this);
    if (!started)
      failure_.emplace(ErrorKind::Unsupported, "the system gives no thread for a profile");
    if (!failure_) return {};
    Error error = *failure_;
    static_cast<void>(stop());
    return error;
  }

  Profile stop() {
    jit::stop_watching_threads();
    runtime::before_unload.store(nullptr, std::memory_order_release);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    worker_.reset();
    const std::lock_guard<std::mutex> lock(mutex_);
    drain();
    profile_.duration_ns = platform::now_ns(Clock::Monotonic) - begun_;
    resolver_.reset();
    running_ = false;
    retired_.insert(retired_.end(), std::make_move_iterator(threads_.begin()),
                    std::make_move_iterator(threads_.end()));
    threads_.clear();
    return std::move(profile_);
  }

  static Sampler& the_sampler() {
    static Sampler& sampler = *new Sampler;
    return sampler;
  }

 private:
  // ---- Called with the list of threads locked.

  void begin_thread(jit::ThreadEntry& entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!running_) return;
    auto thread = take_thread();
    if (profile_.threads.size() < kMostThreads) profile_.threads.push_back({entry.id, {}});
    thread->number = static_cast<std::uint32_t>(profile_.threads.size() - 1);
    entry.watcher = thread.get();
    const auto started = thread->timer.start(entry.id, options_.clock, options_.interval_ns);
    if (!started && !failure_) failure_ = started.error();
    threads_.push_back(std::move(thread));
  }

  void end_thread(jit::ThreadEntry& entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto* thread = static_cast<SampledThread*>(entry.watcher.load());
    if (thread == nullptr) return;
    thread->timer.stop();
    // A last signal may be on its way, or its handler at work on another core.
    entry.watcher = nullptr;
    while (thread->busy.load()) platform::yield_thread();
    drain(*thread);
    thread->ended = true;
  }

  // ---- With the sampler locked.

  std::unique_ptr<SampledThread> take_thread() {
    if (retired_.empty()) return std::make_unique<SampledThread>();
    auto thread = std::move(retired_.back());
    retired_.pop_back();
    drain_nothing(*thread);
    thread->ended = false;
    return thread;
  }
  void drain_nothing(SampledThread& thread) {
    thread.ring.drain(buffer_, [](const auto&) {});
    thread.lost_before = thread.ring.lost();
  }

  void drain(SampledThread& thread) {
    thread.ring.drain(buffer_, [&](std::span<const std::uint64_t> words) {
      if (words.size() < 3) return;
      const std::uint64_t time = words[0];
      const auto weight = static_cast<std::uint32_t>(words[1]);
      const std::uint32_t node = resolver_->add(words.subspan(2));
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
    });
    const std::uint64_t lost = thread.ring.lost();
    profile_.lost += lost - thread.lost_before;
    thread.lost_before = lost;
  }

  void drain() {
    for (const auto& thread : threads_) {
      if (!thread->ended) drain(*thread);
    }
  }

  // ----

  void code_goes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!running_ || resolver_ == nullptr) return;
    drain();
    resolver_->forget_addresses();
  }

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopping_) {
      wake_.wait_for(lock, kDrainEvery);
      drain();
    }
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
  thread->busy.store(true);
  if (jit::watcher_of_this_thread() == thread) take_sample(at, periods, thread->ring);
  thread->busy.store(false);
}

void take_sample(const platform::MachineRegisters& at, std::uint32_t periods, SampleRing& ring) {
  ring.begin();
  ring.put(platform::now_ns(Clock::Monotonic));
  ring.put(periods);
  if (jit::sample_stack(at, [&](std::uint64_t word) { ring.put(word); })) ring.end();
}

}  // namespace

Result<void> start_sampler(const SamplerOptions& options) {
  return Sampler::the_sampler().start(options);
}

Profile stop_sampler() {
  return Sampler::the_sampler().stop();
}

}  // namespace hoist::profiling
