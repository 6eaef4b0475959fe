// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A ring of words from one thread's signal handler to one reader. A sample is there as a whole or
/// not at all.

#include <atomic>
#include <cstdint>
#include <memory>

namespace hoist::profiling {

class SampleRing {
 public:
  /// 512 KiB: about 250 samples of the largest size.
  static constexpr std::uint64_t kWords = std::uint64_t{1} << 16;

  SampleRing() : words_(new std::uint64_t[kWords]) {}

  // ---- In the signal handler.
  void begin() {
    at_ = head_.load(std::memory_order_relaxed);
    room_ = kWords - (at_ - tail_.load(std::memory_order_acquire));
    fits_ = true;
    put(0);  // the length
  }
  void put(std::uint64_t word) {
    if (room_ == 0) {
      fits_ = false;
      return;
    }
    --room_;
    words_[at_++ % kWords] = word;
  }
  /// False: there was no room for it.
  bool end() {
    if (!fits_) {
      lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return false;
    }
    const std::uint64_t from = head_.load(std::memory_order_relaxed);
    words_[from % kWords] = at_ - from - 1;
    head_.store(at_, std::memory_order_release);
    return true;
  }

  // ---- In the reader.
  /// Calls visit(words of a sample, count) for each; `buffer` grows as needed.
  template <typename Buffer, typename Visit>
  void drain(Buffer& buffer, Visit&& visit) {
    const std::uint64_t end = head_.load(std::memory_order_acquire);
    std::uint64_t at = tail_.load(std::memory_order_relaxed);
    while (at != end) {
      const std::uint64_t length = words_[at++ % kWords];
      buffer.clear();
      for (std::uint64_t i = 0; i < length; ++i) buffer.push_back(words_[at++ % kWords]);
      tail_.store(at, std::memory_order_release);
      visit(buffer);
    }
  }
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  std::unique_ptr<std::uint64_t[]> words_;
  std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint64_t> lost_{0};
  // Of the handler.
  std::uint64_t at_ = 0;
  std::uint64_t room_ = 0;
  bool fits_ = true;
};

}  // namespace hoist::profiling
