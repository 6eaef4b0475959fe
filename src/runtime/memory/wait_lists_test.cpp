// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/wait_lists.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace hoist::runtime {
namespace {

using Outcome = WaitLists::Outcome;

const auto kYes = [] { return true; };
const auto kNo = [] { return false; };

TEST(WaitLists, ComparesBeforeItWaits) {
  WaitLists lists;
  platform::Parker parker;
  EXPECT_EQ(lists.wait(8, kNo, -1, parker, kNo, -1), Outcome::NotEqual);
  EXPECT_EQ(lists.wait(8, kYes, 0, parker, kNo, -1), Outcome::TimedOut);
  EXPECT_EQ(lists.wait(8, kYes, 1'000'000, parker, kNo, -1), Outcome::TimedOut);
  // Nobody is left in the list.
  EXPECT_EQ(lists.notify(8, 1), 0U);
}

TEST(WaitLists, GivesUpWhenUnparkedAndAsked) {
  WaitLists lists;
  platform::Parker parker;
  std::atomic<bool> stop{false};
  std::thread other([&] {
    stop = true;
    parker.unpark();
  });
  EXPECT_EQ(lists.wait(8, kYes, -1, parker, [&] { return stop.load(); }, -1), Outcome::GivenUp);
  other.join();
  EXPECT_EQ(lists.notify(8, 1), 0U);
}

TEST(WaitLists, AsksAtIntervals) {
  WaitLists lists;
  platform::Parker parker;
  int asked = 0;
  EXPECT_EQ(
      lists.wait(8, kYes, -1, parker, [&] { return ++asked == 3; }, 1'000'000), Outcome::GivenUp);
}

TEST(WaitLists, WakesFirstComeFirstServedAtOneAddressOnly) {
  WaitLists lists;
  std::atomic<int> waiting{0};
  std::vector<int> order;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      platform::Parker parker;
      // Under the bucket's lock: the place in the list follows at once.
      const auto count = [&] {
        ++waiting;
        return true;
      };
      EXPECT_EQ(lists.wait(64, count, -1, parker, kNo, -1), Outcome::Woken);
      const std::lock_guard<std::mutex> lock(mutex);
      order.push_back(i);
    });
    while (waiting != i + 1) std::this_thread::yield();
  }
  EXPECT_EQ(lists.notify(68, 4), 0U);
  EXPECT_EQ(lists.notify(64, 0), 0U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(lists.notify(64, 1), 1U);
    for (bool done = false; !done; std::this_thread::yield()) {
      const std::lock_guard<std::mutex> lock(mutex);
      done = order.size() == i + 1;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

/// A counting semaphore made of nothing but waiting and waking, under load: no wake-up is lost, or
/// this would not end.
TEST(WaitLists, LosesNoWakeUp) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  WaitLists lists;
  std::atomic<std::uint32_t> tokens{0};
  std::atomic<int> taken{0};
  const auto take = [&] {
    platform::Parker parker;
    for (int i = 0; i < kRounds; ++i) {
      for (;;) {
        std::uint32_t have = tokens.load();
        if (have != 0 && tokens.compare_exchange_strong(have, have - 1)) break;
        if (have == 0) lists.wait(16, [&] { return tokens.load() == 0; }, -1, parker, kNo, -1);
      }
      ++taken;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(take);
  for (int i = 0; i < kThreads * kRounds; ++i) {
    ++tokens;
    lists.notify(16, 1);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, kThreads * kRounds);
  EXPECT_EQ(tokens, 0U);
}

}  // namespace
}  // namespace hoist::runtime
