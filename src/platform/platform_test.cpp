// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "platform/clocks.hpp"
#include "platform/cpu_features.hpp"
#include "platform/files.hpp"
#include "platform/machine_context.hpp"
#include "platform/pages.hpp"
#include "platform/private_dir.hpp"
#include "platform/random.hpp"
#include "platform/sample_timer.hpp"
#include "platform/signals.hpp"
#include "platform/threads.hpp"

namespace hoist::platform {
namespace {

TEST(Pages, ReserveCommitAndGiveBack) {
  auto region = PageRegion::reserve(std::uint64_t{6} << 30);
  ASSERT_TRUE(region);
  ASSERT_TRUE(region->protect(0, page_bytes(), Access::ReadWrite));
  EXPECT_EQ(region->base()[0], 0);
  region->base()[page_bytes() - 1] = 7;
  EXPECT_TRUE(region->contains(reinterpret_cast<std::uintptr_t>(region->base())));
  EXPECT_FALSE(
      region->contains(reinterpret_cast<std::uintptr_t>(region->base()) + region->bytes()));
}

TEST(PageRegion, TakesPagesOfAnother) {
  const std::uint64_t page = page_bytes();
  for (const std::uint64_t mappings : {1U, 2U}) {
    auto from = PageRegion::reserve(8 * page);
    auto to = PageRegion::reserve(16 * page);
    ASSERT_TRUE(from && to);
    ASSERT_TRUE(from->protect(0, 4 * page * mappings, Access::ReadWrite));
    ASSERT_TRUE(to->protect(0, 8 * page, Access::ReadWrite));
    from->base()[page] = 5;
    // The second time there are two mappings, which the system may refuse.
    if (mappings == 2) {
      ASSERT_TRUE(from->protect(4 * page, 4 * page, Access::Read));
    }
    if (to->take_pages(*from, 0, 4 * page * mappings)) {
      EXPECT_EQ(to->base()[page], 5);
      EXPECT_EQ(from->base()[page], 0);
    } else {
      EXPECT_EQ(from->base()[page], 5);
      to->base()[8 * page - 1] = 1;
      to->base()[0] = 1;
    }
  }
}

TEST(Pages, RefusalIsAnErrorThatNamesTheSize) {
  auto region = PageRegion::reserve(std::uint64_t{1} << 60);
  ASSERT_FALSE(region);
  EXPECT_EQ(region.error().kind(), ErrorKind::OutOfMemory);
  EXPECT_NE(region.error().message().find("1152921504606846976"), std::string::npos);
}

TEST(Threads, StackOfEachThreadIsItsOwn) {
  const StackBounds mine = thread_stack();
  EXPECT_TRUE(mine.contains(current_stack_pointer()));
  std::thread([&] {
    const StackBounds other = thread_stack();
    EXPECT_TRUE(other.contains(current_stack_pointer()));
    EXPECT_FALSE(mine.contains(current_stack_pointer()));
  }).join();
}

TEST(Files, ErrorsNameThePathAndTheReason) {
  const auto missing = read_file("/nonexistent/x.wasm", 100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(),
            "cannot read '/nonexistent/x.wasm': No such file or directory");
  const auto directory = read_file("/", 100);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().message(), "cannot read '/': it is a directory, not a file");
  const auto endless = read_file("/dev/zero", 100'000);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().message(), "cannot read '/dev/zero': it is larger than 100000 bytes");
}

TEST(Files, ReadsFilesThatHideTheirSize) {
  const auto text = read_file("/proc/self/status", 1 << 20);
  ASSERT_TRUE(text);
  EXPECT_GT(text->size(), 100U);
}

TEST(Files, PipesWithoutReadersAreErrorsAndOldFilesStay) {
  const std::string folder = testing::TempDir() + "hoist-files-" + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const std::uint8_t bytes[] = {'n', 'e', 'w'};
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto unread = replace_file(pipe, bytes, false);
  ASSERT_FALSE(unread);
  EXPECT_NE(unread.error().message().find("nobody reads it"), std::string::npos);
  EXPECT_FALSE(append_file(pipe, "new"));
  EXPECT_TRUE(check_replaceable(pipe));
  EXPECT_FALSE(check_replaceable(folder));
  EXPECT_FALSE(check_replaceable(folder + "/missing/file"));
  EXPECT_TRUE(check_replaceable(folder + "/file"));
  EXPECT_FALSE(replace_file("/dev/full", bytes, false));
  EXPECT_TRUE(replace_file("/dev/null", bytes, false));
  const std::string file = folder + "/file";
  ASSERT_TRUE(replace_file(file, bytes, false));
  const auto read = read_file(file, 100);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 3U);
  ::unlink(file.c_str());
  ::unlink(pipe.c_str());
  EXPECT_EQ(::rmdir(folder.c_str()), 0) << "something was left behind";
}

TEST(WaitProbe, KnowsWhoWaits) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::atomic<std::uint32_t> id{0};
  std::atomic<bool> spin{true};
  std::thread thread([&] {
    id = thread_id();
    while (spin.load()) {
    }
    char byte = 0;
    while (::read(ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
  });
  while (id.load() == 0) yield_thread();
  WaitProbe probe;
  WaitPlace place;
  EXPECT_FALSE(probe.waits(place)) << "not open";
  probe.open(id);
  EXPECT_FALSE(probe.waits(place));
  spin = false;
  const bool known = ::access("/proc/self/syscall", R_OK) == 0;
  for (int i = 0; known && i < 2000 && !probe.waits(place); ++i) ::usleep(1000);
  if (known) {
    ASSERT_TRUE(probe.waits(place));
    EXPECT_TRUE(place.is_at(place.pc, place.sp));
    EXPECT_FALSE(place.is_at(place.pc + 1, place.sp));
    EXPECT_FALSE(place.is_at(0, 0));
    WaitPlace again;
    ASSERT_TRUE(probe.waits(again));
    EXPECT_EQ(again.ran_ns, place.ran_ns);
  }
  EXPECT_EQ(::write(ends[1], "x", 1), 1);
  thread.join();
  EXPECT_FALSE(probe.waits(place)) << "it has ended";
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Clocks, Advance) {
  const std::uint64_t before = now_ns(Clock::Monotonic);
  EXPECT_GE(now_ns(Clock::Monotonic), before);
  EXPECT_GT(now_ns(Clock::Realtime), std::uint64_t{1'600'000'000} * 1'000'000'000);
  EXPECT_GT(peak_resident_bytes(), 1U << 20);
}

TEST(CpuFeatures, BaselineNamesWhatIsMissing) {
  CpuFeatures old;
  old.add(CpuFeature::Sse3);
  const auto checked = check_cpu_baseline(old);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message(),
            "this CPU lacks ssse3 sse4.1: code for x86-64 needs SSE4.1 and SSSE3");
  EXPECT_TRUE(check_cpu_baseline(detect_cpu_features()));
}

TEST(Random, Differs) {
  std::uint8_t a[16] = {};
  std::uint8_t b[16] = {};
  random_bytes(a);
  random_bytes(b);
  EXPECT_NE(std::string(a, a + 16), std::string(b, b + 16));
}

// Fault handling changes the process for good: each case runs in a child.
void pass_all_on_then_exit(int) {
  ::_exit(42);
}
bool claim_nothing(Fault&) {
  return false;
}

TEST(SignalsDeathTest, UnclaimedFaultsGoToTheHandlerThatWasThere) {
  EXPECT_EXIT(
      {
        ::signal(SIGSEGV, pass_all_on_then_exit);
        install_fault_handler(claim_nothing);
        auto region = PageRegion::reserve(page_bytes());
        const volatile std::uint8_t* at = region->base();
        std::exit(at[0]);
      },
      testing::ExitedWithCode(42), "");
}

TEST(SignalsDeathTest, PreviousHandlerRunsAsTheKernelWouldRunIt) {
  EXPECT_EXIT(
      {
        struct sigaction before = {};
        before.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
        sigemptyset(&before.sa_mask);
        sigaddset(&before.sa_mask, SIGUSR1);
        before.sa_sigaction = [](int signal, siginfo_t* info, void*) {
          sigset_t blocked;
          ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
          const bool right = sigismember(&blocked, SIGUSR1) == 1 &&
                             sigismember(&blocked, signal) == 1 && info->si_code <= 0;
          if (!right) ::_exit(1);
        };
        ::sigaction(SIGBUS, &before, nullptr);
        install_fault_handler(claim_nothing);
        ::raise(SIGBUS);
        ::raise(SIGBUS);  // once only: by now it is the default action
        std::exit(2);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST(SignalsDeathTest, IgnoredSignalsFromOutsideStayIgnored) {
  EXPECT_EXIT(
      {
        ::signal(SIGILL, SIG_IGN);
        install_fault_handler(claim_nothing);
        ::raise(SIGILL);
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
}

TEST(SignalsDeathTest, UnclaimedFaultsEndTheProcessAsBefore) {
  EXPECT_EXIT(
      {
        ::signal(SIGSEGV, SIG_DFL);
        install_fault_handler(claim_nothing);
        auto region = PageRegion::reserve(page_bytes());
        const volatile std::uint8_t* at = region->base();
        std::exit(at[0]);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(SignalsDeathTest, SignalsFromOutsideArePassedOn) {
  EXPECT_EXIT(
      {
        ::signal(SIGFPE, pass_all_on_then_exit);
        install_fault_handler([](Fault&) { return true; });
        ::raise(SIGFPE);
        std::exit(1);
      },
      testing::ExitedWithCode(42), "");
}

TEST(SignalsDeathTest, ClaimedFaultsContinueElsewhere) {
  EXPECT_EXIT(
      {
        static std::uint8_t* page = nullptr;
        ensure_signal_stack();
        install_fault_handler([](Fault& fault) {
          if (fault.address != reinterpret_cast<std::uintptr_t>(page)) return false;
          fault.at.pc = reinterpret_cast<std::uintptr_t>(+[] { ::_exit(7); });
          fault.at.sp = (fault.at.sp & ~std::uintptr_t{15}) - 8;
          return true;
        });
        auto region = PageRegion::reserve(page_bytes());
        page = region->base();
        const volatile std::uint8_t* at = page;
        std::exit(at[0]);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace hoist::platform
