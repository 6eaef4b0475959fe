// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Validation of a whole module, bodies in parallel.
#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "base/worker_thread.hpp"
#include "wasm/validate/validator.hpp"
#include "wasm/validate/validator_parts.hpp"

namespace hoist::wasm {

namespace {
/// Threads take chunks of functions. One that fails is remembered if no earlier one failed; later
/// ones are not looked at any more. Bodies come in the order of their offsets, so the lowest
/// function that fails has the error at the lowest offset, and it is always looked at.
class BodyQueue {
 public:
  explicit BodyQueue(const Module& module)
      : module_(module), next_(module.num_imported_functions), bad_(module.num_functions()) {}

  /// The error of the first function in this thread's share that fails.
  std::optional<Error> work(std::uint32_t& failed) {
    BodyScratch scratch;
    std::optional<Error> first;
    for (;;) {
      const std::uint32_t begin = next_.fetch_add(kChunk);
      const std::uint32_t end = std::min(begin + kChunk, module_.num_functions());
      if (begin >= end) return first;
      for (std::uint32_t func = begin; func < end && func < bad_.load(); ++func) {
        Result<void> result = validate_body(module_, func, scratch);
        if (result) continue;
        first = std::move(result).error();
        failed = func;
        std::uint32_t bad = bad_.load();
        while (func < bad && !bad_.compare_exchange_weak(bad, func)) {
        }
        return first;  // what this thread would take next comes later
      }
    }
  }

 private:
  static constexpr std::uint32_t kChunk = 32;
  const Module& module_;
  std::atomic<std::uint32_t> next_;
  std::atomic<std::uint32_t> bad_;
};
}  // namespace

static Result<void> validate_bodies(const Module& module, unsigned threads) {
  BodyQueue queue(module);
  struct Outcome {
    BodyQueue* queue;
    std::uint32_t func = UINT32_MAX;
    std::optional<Error> error;
  };
  std::vector<Outcome> outcomes(threads, Outcome{&queue, UINT32_MAX, {}});
  const auto work = [](void* share) {
    auto& outcome = *static_cast<Outcome*>(share);
    outcome.error = outcome.queue->work(outcome.func);
  };
  {
    // They take from one queue: one that the system refuses to start is not missed.
    std::vector<base::WorkerThread> others(threads - 1);
    for (unsigned i = 1; i < threads; ++i) {
      if (!others[i - 1].start(work, &outcomes[i])) break;
    }
    work(&outcomes[0]);
  }
  const auto first = std::ranges::min_element(outcomes, {}, &Outcome::func);
  if (first->error) return *std::move(first->error);
  return {};
}

Result<void> validate_all(const Module& module, unsigned threads) {
  HOIST_TRY_VOID(validate_before_code(module));
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  // A thread is worth its start only with some work to do.
  threads = std::min(threads, 1 + module.num_defined_functions() / 64);
  HOIST_TRY_VOID(validate_bodies(module, threads));
  return validate_data(module);
}

}  // namespace hoist::wasm
