// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting: poll_oneoff, pipes, FIFOs, sockets; and being woken out of each.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <thread>

#include "platform/clocks.hpp"
#include "platform/sockets.hpp"
#include "wasi/p1/test_support.hpp"

namespace hoist::wasi {
namespace {

class Waiting : public ::testing::Test, public Guest {
 protected:
  void SetUp() override {
    outer_ = directory_for_tests();
    ASSERT_TRUE(context.preopen(outer_, "/"));
    context.wake = &wake_;
  }
  void TearDown() override { remove_tree(outer_); }
  /// Raises the flag a little later.
  std::thread wake_soon() {
    return std::thread([this] {
      ::usleep(30'000);
      wake_.raise();
    });
  }
  static std::uint64_t now() { return platform::now_ns(platform::Clock::Monotonic); }
  /// A pipe of the host: its reading end as number 0, its writing end as number 1.
  void make_pipe() {
    ASSERT_EQ(::pipe2(pipe_, O_CLOEXEC), 0);
    for (std::uint32_t i = 0; i < 2; ++i) {
      Descriptor d;
      d.fd = platform::Fd(pipe_[i]);
      ASSERT_TRUE(describe_host_fd(d));
      context.set(i, std::move(d));
    }
  }
  std::string outer_;
  platform::WakeFlag wake_;
  int pipe_[2] = {-1, -1};
};

TEST_F(Waiting, Clocks) {
  EXPECT_EQ(poll(0), Errno::Inval);
  const std::uint64_t start = now();
  subscribe_clock(0, 77, 1, 2'000'000, false);
  ASSERT_EQ(poll(1), Errno::Success);
  EXPECT_GE(now() - start, 2'000'000u);
  EXPECT_EQ(out(), 1u);
  EXPECT_EQ(event(0).user, 77u);
  EXPECT_EQ(event(0).error, 0u);
  // The past, and nothing at all: at once.
  subscribe_clock(0, 1, 0, 5, true);
  subscribe_clock(1, 2, 1, 0, false);
  subscribe_clock(2, 3, 0, ~0ull, true);
  subscribe_clock(3, 4, 1, ~0ull, false);
  ASSERT_EQ(poll(4), Errno::Success);
  ASSERT_EQ(out(), 2u);
  EXPECT_EQ(event(0).user, 1u);
  EXPECT_EQ(event(1).user, 2u);
  const std::uint64_t real = platform::now_ns(platform::Clock::Realtime);
  subscribe_clock(0, 5, 0, real + 3'000'000, true);
  ASSERT_EQ(poll(1), Errno::Success);
  EXPECT_GE(platform::now_ns(platform::Clock::Realtime), real + 3'000'000);
  // Clocks that cannot be waited for, and none.
  subscribe_clock(0, 6, 2, 0, false);
  subscribe_clock(1, 7, 9, 0, false);
  ASSERT_EQ(poll(2), Errno::Success);
  ASSERT_EQ(out(), 2u);
  EXPECT_EQ(event(0).error, static_cast<unsigned>(Errno::Notsup));
  EXPECT_EQ(event(1).error, static_cast<unsigned>(Errno::Inval));
}

TEST_F(Waiting, WaitingUsesNoProcessorTime) {
  const std::uint64_t before = platform::now_ns(platform::Clock::ThreadCpu);
  make_pipe();
  subscribe_clock(0, 1, 1, 100'000'000, false);
  subscribe_fd(1, 2, 0, false);
  ASSERT_EQ(poll(2), Errno::Success);
  EXPECT_EQ(out(), 1u);
  EXPECT_LT(platform::now_ns(platform::Clock::ThreadCpu) - before, 20'000'000u);
}

TEST_F(Waiting, Descriptors) {
  make_pipe();
  subscribe_fd(0, 1, 0, false);
  subscribe_fd(1, 2, 1, true);
  subscribe_fd(2, 3, 99, false);
  subscribe_fd(3, 4, 0, true);
  ASSERT_EQ(poll(4), Errno::Success);
  ASSERT_EQ(out(), 2u);
  EXPECT_EQ(event(0).user, 2u);
  EXPECT_EQ(event(1).user, 3u);
  EXPECT_EQ(event(1).error, static_cast<unsigned>(Errno::Badf));
  ASSERT_EQ(write(1, "hello"), Errno::Success);
  subscribe_clock(1, 9, 1, ~0ull, false);
  subscribe_fd(2, 5, 0, false);
  ASSERT_EQ(poll(3), Errno::Success);
  ASSERT_EQ(out(), 2u) << "one descriptor asked for twice";
  EXPECT_EQ(event(0).user, 1u);
  EXPECT_EQ(event(0).bytes, 5u);
  EXPECT_EQ(event(1).user, 5u);
  std::string text;
  ASSERT_EQ(read(0, 10, text), Errno::Success);
  ASSERT_EQ(call("fd_close", {1}), Errno::Success);
  ASSERT_EQ(poll(1), Errno::Success);
  EXPECT_EQ(event(0).flags, 1u) << "hang-up";
  ASSERT_EQ(read(0, 10, text), Errno::Success);
  EXPECT_EQ(text, "");
  // A file is always ready.
  ASSERT_EQ(open("made", 1), Errno::Success);
  subscribe_fd(0, 1, out(), true);
  ASSERT_EQ(poll(1), Errno::Success);
  EXPECT_EQ(out(), 1u);
}

TEST_F(Waiting, PipesWithoutWaiting) {
  make_pipe();
  std::string text;
  ASSERT_EQ(call("fd_fdstat_set_flags", {0, fdflags::kNonblock}), Errno::Success);
  EXPECT_EQ(read(0, 10, text), Errno::Again);
  EXPECT_EQ(::fcntl(pipe_[0], F_GETFL) & O_NONBLOCK, 0) << "the host's own flags are left alone";
  EXPECT_EQ(call("fd_seek", {0, 0, 0, 304}), Errno::Spipe);
  EXPECT_EQ(call("fd_pread", {0, kListAt, 1, 0, kOutAt}), Errno::Spipe);
  ASSERT_EQ(call("fd_fdstat_set_flags", {1, fdflags::kNonblock}), Errno::Success);
  slice(8192, 40000);
  std::size_t sent = 0;
  Errno error = Errno::Success;
  while ((error = call("fd_write", {1, kListAt, 1, kOutAt})) == Errno::Success) sent += out();
  EXPECT_EQ(error, Errno::Again);
  EXPECT_GE(sent, 4096u);
}

TEST_F(Waiting, ABrokenPipeIsAnErrno) {
  make_pipe();
  ASSERT_EQ(call("fd_close", {0}), Errno::Success);
  EXPECT_EQ(write(1, "x"), Errno::Pipe);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

TEST_F(Waiting, WokenOutOfEverything) {
  make_pipe();
  const auto woken = [&](const char* what, auto&& act) {
    std::thread waker = wake_soon();
    act();
    EXPECT_EQ(outcome, Outcome::Interrupted) << what;
    waker.join();
    wake_.lower();
  };
  std::string text;
  woken("read", [&] { read(0, 10, text); });
  woken("poll", [&] {
    subscribe_fd(0, 1, 0, false);
    subscribe_clock(1, 2, 1, ~0ull, false);
    poll(2);
  });
  woken("sleep", [&] {
    subscribe_clock(0, 2, 0, ~0ull, true);
    poll(1);
  });
  woken("write", [&] {
    slice(8192, 40000);
    while (call("fd_write", {1, kListAt, 1, kOutAt}) == Errno::Success) {
    }
  });
  ASSERT_EQ(::mkfifo((outer_ + "/fifo").c_str(), 0666), 0);
  woken("open", [&] { open("fifo", 0, true, rights::kFdWrite); });
  ASSERT_EQ(open("fifo", 0, true, rights::kFdRead), Errno::Success)
      << "opening to read waits later";
  const std::uint32_t fifo = out();
  woken("fifo", [&] { read(fifo, 10, text); });
  // Not raised: works as ever.
  EXPECT_EQ(open("fifo", 0, true, rights::kFdWrite), Errno::Success);
  EXPECT_EQ(write(out(), "abc"), Errno::Success);
  EXPECT_EQ(read(fifo, 10, text), Errno::Success);
  EXPECT_EQ(text, "abc");
  // Raised beforehand: what need not wait is done, the rest given up at once.
  wake_.raise();
  EXPECT_EQ(open("made", 1), Errno::Success);
  read(fifo, 10, text);
  EXPECT_EQ(outcome, Outcome::Interrupted);
}

class Sockets : public Waiting {
 protected:
  void SetUp() override {
    Waiting::SetUp();
    auto socket = platform::listen_tcp("127.0.0.1:0");
    ASSERT_TRUE(socket) << socket.error().message();
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ASSERT_EQ(::getsockname(socket->get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = address.sin_port;
    ASSERT_TRUE(context.preopen_fd(*std::move(socket), true));
  }
  int connect_client() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = port_;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  static constexpr std::uint32_t kListener = 4;
  std::uint16_t port_ = 0;
};

TEST_F(Sockets, AcceptReceiveSend) {
  ASSERT_EQ(call("fd_prestat_get", {kListener, 512}), Errno::Success);
  EXPECT_EQ(get<std::uint32_t>(512), 1u) << "no directory, and not the end of what was given";
  const int client = connect_client();
  ASSERT_EQ(call("sock_accept", {kListener, 0, kOutAt}), Errno::Success);
  const std::uint32_t fd = out();
  ASSERT_EQ(call("fd_fdstat_get", {fd, 512}), Errno::Success);
  EXPECT_EQ(memory[512], 6) << "a stream socket";
  ASSERT_EQ(::send(client, "hello", 5, 0), 5);
  slice(4096, 3);
  ASSERT_EQ(call("sock_recv", {fd, kListAt, 1, 1, 300, 304}), Errno::Success);
  EXPECT_EQ(get<std::uint32_t>(300), 3u) << "peeked";
  slice(4099, 2, 1);
  ASSERT_EQ(call("sock_recv", {fd, kListAt, 2, 2, 300, 304}), Errno::Success);
  EXPECT_EQ(std::string(memory.begin() + 4096, memory.begin() + 4101), "hello");
  slice(2048, static_cast<std::uint32_t>(put("answer", 2048)));
  ASSERT_EQ(call("sock_send", {fd, kListAt, 1, 0, 300}), Errno::Success);
  char buffer[16];
  EXPECT_EQ(::recv(client, buffer, sizeof buffer, 0), 6);
  ASSERT_EQ(write(fd, "again"), Errno::Success) << "fd_write sends";
  EXPECT_EQ(::recv(client, buffer, sizeof buffer, 0), 5);
  EXPECT_EQ(call("sock_shutdown", {fd, 0}), Errno::Inval);
  EXPECT_EQ(call("sock_shutdown", {fd, 4}), Errno::Inval);
  EXPECT_EQ(call("sock_shutdown", {fd, 2}), Errno::Success);
  EXPECT_EQ(::recv(client, buffer, sizeof buffer, 0), 0);
  EXPECT_EQ(write(fd, "x"), Errno::Pipe);
  ::close(client);
  std::string text;
  EXPECT_EQ(read(fd, 10, text), Errno::Success);
  EXPECT_EQ(text, "");
}

TEST_F(Sockets, WaitsForAll) {
  const int client = connect_client();
  ASSERT_EQ(call("sock_accept", {kListener, 0, kOutAt}), Errno::Success);
  const std::uint32_t fd = out();
  std::thread sender([&] {
    for (const char* part : {"ab", "cd", "ef"}) {
      ::usleep(5000);
      EXPECT_EQ(::send(client, part, 2, 0), 2);
    }
  });
  slice(4096, 6);
  EXPECT_EQ(call("sock_recv", {fd, kListAt, 1, 2, 300, 304}), Errno::Success);
  EXPECT_EQ(get<std::uint32_t>(300), 6u);
  sender.join();
  ::close(client);
}

TEST_F(Sockets, Errors) {
  EXPECT_EQ(call("sock_shutdown", {3, 3}), Errno::Notsock) << "a directory";
  EXPECT_EQ(call("sock_accept", {3, 0, kOutAt}), Errno::Notsock);
  EXPECT_EQ(call("sock_recv", {3, kListAt, 0, 0, 300, 304}), Errno::Notsock);
  EXPECT_EQ(call("sock_send", {3, kListAt, 0, 0, 300}), Errno::Notsock);
  EXPECT_EQ(call("sock_shutdown", {99, 3}), Errno::Badf);
  ASSERT_EQ(call("fd_fdstat_set_flags", {kListener, fdflags::kNonblock}), Errno::Success);
  EXPECT_EQ(call("sock_accept", {kListener, 0, kOutAt}), Errno::Again);
  EXPECT_EQ(call("sock_accept", {kListener, 1, kOutAt}), Errno::Inval);
  const int client = connect_client();
  EXPECT_EQ(call("sock_accept", {kListener, 0, 65533}), Errno::Fault);
  ASSERT_EQ(call("sock_accept", {kListener, fdflags::kNonblock, kOutAt}), Errno::Success);
  const std::uint32_t fd = out();
  EXPECT_EQ(call("sock_accept", {fd, 0, kOutAt}), Errno::Inval) << "it does not listen";
  slice(4096, 10);
  EXPECT_EQ(call("sock_recv", {fd, kListAt, 1, 0, 300, 304}), Errno::Again);
  EXPECT_EQ(call("sock_recv", {fd, kListAt, 1, 8, 300, 304}), Errno::Inval);
  EXPECT_EQ(call("sock_send", {fd, kListAt, 1, 1, 300}), Errno::Inval);
  EXPECT_EQ(call("fd_fdstat_set_rights", {fd, rights::kFdRead, 0}), Errno::Success);
  EXPECT_EQ(call("sock_shutdown", {fd, 3}), Errno::Notcapable);
  EXPECT_EQ(call("sock_send", {fd, kListAt, 1, 0, 300}), Errno::Notcapable);
  ::close(client);
  for (const char* bad : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "localhost:80",
                          "[::1:80", "127.0.0.1:80x", "1.2.3:4"}) {
    auto made = platform::listen_tcp(bad);
    ASSERT_FALSE(made) << bad;
    EXPECT_EQ(made.error().kind(), ErrorKind::BadArgument) << bad;
  }
  EXPECT_FALSE(context.preopen_fd(platform::Fd(9999), false));
}

TEST_F(Sockets, WokenOutOfAccept) {
  std::thread waker = wake_soon();
  call("sock_accept", {kListener, 0, kOutAt});
  EXPECT_EQ(outcome, Outcome::Interrupted);
  waker.join();
  EXPECT_EQ(context.open_descriptors(), 2u);
}

/// A clock of the embedder may make the memory grow, which moves it, and the guest close
/// descriptors.
TEST(WasiHooks, ClockMovesTheMemoryOfAPoll) {
  Guest guest;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  guest.context.set_host_fd(0, ends[0]);
  guest.subscribe_fd(0, 1, 0, false);
  guest.subscribe_clock(1, 2, 1, 0, true);
  struct Move {
    Guest* guest;
    std::vector<std::uint8_t> old;
  } move{&guest, {}};
  guest.context.clock_user = &move;
  guest.context.clock = [](void* user, std::uint32_t) noexcept -> std::uint64_t {
    auto& [moved, old] = *static_cast<Move*>(user);
    old = moved->memory;
    old.swap(moved->memory);
    std::fill(old.begin(), old.end(), std::uint8_t{0xee});
    moved->context.close(0);
    return 5;
  };
  const GuestMemory::Source source{
      [](const void* owner) {
        return std::span<std::uint8_t>(static_cast<Move*>(const_cast<void*>(owner))->guest->memory);
      },
      &move};
  const std::uint64_t args[] = {8192, 20480, 2, Guest::kOutAt};
  for (const Function& f : functions()) {
    if (std::string_view(f.name) != "poll_oneoff") continue;
    EXPECT_EQ(f.call(guest.context, GuestMemory(guest.memory, &source), args, guest.outcome),
              Errno::Success);
  }
  EXPECT_EQ(guest.out(), 2u);
  EXPECT_EQ(guest.event(0).error, static_cast<std::uint16_t>(Errno::Badf));
  EXPECT_EQ(guest.event(1).user, 2u);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(WasiHooks, ClockAndRandomOfTheHost) {
  Guest guest;
  std::uint64_t ticks = 41;
  guest.context.clock = [](void* user, std::uint32_t id) noexcept {
    return ++*static_cast<std::uint64_t*>(user) + id;
  };
  guest.context.clock_user = &ticks;
  guest.context.random = [](void*, std::uint8_t* bytes, std::size_t size) noexcept {
    std::fill_n(bytes, size, std::uint8_t{7});
  };
  ASSERT_EQ(guest.call("clock_time_get", {1, 0, 64}), Errno::Success);
  EXPECT_EQ(guest.get<std::uint64_t>(64), 43u);
  ASSERT_EQ(guest.call("random_get", {100, 5000}), Errno::Success);
  EXPECT_EQ(guest.memory[5099], 7);
  EXPECT_EQ(guest.memory[5100], 0);
}

}  // namespace
}  // namespace hoist::wasi
