// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WASI through the public API: where streams lead, what is given to a guest, and being interrupted.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

/// Copies standard input to output (in pieces of 10 bytes) and errors' number to the exit status.
constexpr const char* kCat = R"((module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $time (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func $check (param i32) (if (local.get 0) (then (call $exit (local.get 0)))))
  (func $cat (export "cat") (param $in i32)
    (loop $more
      (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 10))
      (call $check (call $read (local.get $in) (i32.const 0) (i32.const 1) (i32.const 8)))
      (if (i32.load (i32.const 8)) (then
        (i32.store (i32.const 4) (i32.load (i32.const 8)))
        (call $check (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
        (br $more)))))
  (func (export "_start") (call $cat (i32.const 0)))
  (func (export "time") (result i64)
    (call $check (call $time (i32.const 0) (i64.const 0) (i32.const 16))) (i64.load (i32.const 16)))
  (func (export "random") (result i64)
    (call $check (call $random (i32.const 16) (i32.const 8))) (i64.load (i32.const 16)))
  (func (export "grow") (drop (memory.grow (i32.const 10)))))
)";

struct WasiGuest {
  Store store;
  Linker linker;
  Instance instance;
  explicit WasiGuest(WasiConfig config)
      : store(test_engine()), linker(test_engine()), instance([&] {
          must(add_wasi_to_linker(linker, std::move(config)));
          return must(linker.instantiate(store, compile(kCat)));
        }()) {}
  Result<std::vector<Val>> call(const char* name, std::initializer_list<Val> args = {}) {
    return must(instance.func(name)).call(args);
  }
};

int exit_code(const Result<std::vector<Val>>& result) {
  if (result) return 0;
  EXPECT_EQ(result.error().kind(), ErrorKind::Exit) << result.error().message();
  return result.error().code();
}

TEST(WasiApi, BuffersAndNothing) {
  std::string in = "some input, longer than ten bytes", out;
  WasiConfig config;
  config.in = WasiStream::to(in);
  config.out = WasiStream::to(out);
  WasiGuest guest(std::move(config));
  EXPECT_EQ(exit_code(guest.call("_start")), 0);
  EXPECT_EQ(out, in);

  WasiConfig nothing;
  nothing.in = WasiStream::null();
  nothing.out = WasiStream::closed();
  WasiGuest other(std::move(nothing));
  EXPECT_EQ(exit_code(other.call("_start")), 0);

  WasiConfig closed;
  closed.in = WasiStream::to(in);
  closed.out = WasiStream::closed();
  WasiGuest third(std::move(closed));
  EXPECT_EQ(exit_code(third.call("_start")), 8) << "BADF";
}

TEST(WasiApi, Files) {
  char directory[] = "/tmp/hoist-wasi-api-XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/file";
  std::string in = "first", text;
  for (const bool append : {false, true, true}) {
    WasiConfig config;
    config.in = WasiStream::to(in);
    config.out = WasiStream::file(path, append);
    WasiGuest guest(std::move(config));
    EXPECT_EQ(exit_code(guest.call("_start")), 0);
  }
  WasiConfig config;
  config.in = WasiStream::file(path);
  config.out = WasiStream::to(text);
  WasiGuest guest(std::move(config));
  EXPECT_EQ(exit_code(guest.call("_start")), 0);
  EXPECT_EQ(text, "firstfirstfirst");
  EXPECT_EQ(::remove(path.c_str()), 0);
  EXPECT_EQ(::rmdir(directory), 0);

  Linker linker(test_engine());
  WasiConfig missing;
  missing.in = WasiStream::file(path);
  EXPECT_EQ(add_wasi_to_linker(linker, std::move(missing)).error().kind(), ErrorKind::Io);
}

struct Callbacks {
  std::string in = "from a callback", out;
  std::size_t at = 0;
  WasiGuest* guest = nullptr;
  bool fail = false;

  static std::size_t read(void* user, std::uint8_t* into, std::size_t size) noexcept {
    auto& self = *static_cast<Callbacks*>(user);
    if (self.fail) return WasiStream::kFailed;
    const std::size_t n = std::min(size, self.in.size() - self.at);
    std::memcpy(into, self.in.data() + self.at, n);
    self.at += n;
    // Memory may move under the call that waits for this.
    if (self.guest != nullptr) {
      EXPECT_TRUE(self.guest->call("grow"));
    }
    return n;
  }
  static std::size_t write(void* user, const std::uint8_t* from, std::size_t size) noexcept {
    auto& self = *static_cast<Callbacks*>(user);
    self.out.append(reinterpret_cast<const char*>(from), std::min<std::size_t>(size, 3));
    return std::min<std::size_t>(size, 3);
  }
};

TEST(WasiApi, CallbacksThatEnterTheGuest) {
  Callbacks callbacks;
  WasiConfig config;
  config.in = WasiStream::reader(Callbacks::read, &callbacks);
  config.out = WasiStream::writer(Callbacks::write, &callbacks);
  WasiGuest guest(std::move(config));
  callbacks.guest = &guest;
  EXPECT_EQ(exit_code(guest.call("_start")), 0);
  EXPECT_EQ(callbacks.out, "frolba") << "three bytes of each piece of ten";
  callbacks.fail = true;
  EXPECT_EQ(exit_code(guest.call("_start")), 29) << "IO";
}

TEST(WasiApi, ClockAndRandom) {
  WasiConfig config;
  std::uint64_t now = 1000;
  config.clock = {
      [](void* user, std::uint32_t) noexcept { return ++*static_cast<std::uint64_t*>(user); },
      &now};
  config.random = {
      [](void*, std::uint8_t* out, std::size_t size) noexcept { std::memset(out, 9, size); },
      nullptr};
  WasiGuest guest(std::move(config));
  EXPECT_EQ(must(guest.call("time"))[0].i64(), 1001);
  EXPECT_EQ(must(guest.call("time"))[0].i64(), 1002);
  EXPECT_EQ(must(guest.call("random"))[0].i64(), 0x0909'0909'0909'0909);
}

TEST(WasiApi, DescriptorsOfTheHost) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  ASSERT_EQ(::send(pair[0], "through a socket", 16, 0), 16);
  ASSERT_EQ(::shutdown(pair[0], SHUT_WR), 0);
  std::string out;
  {
    WasiConfig config;
    config.out = WasiStream::to(out);
    config.descriptors = {pair[1]};
    WasiGuest guest(std::move(config));
    EXPECT_EQ(exit_code(guest.call("cat", {Val(3)})), 0);
    EXPECT_EQ(out, "through a socket");
  }
  EXPECT_NE(::fcntl(pair[1], F_GETFD), -1) << "it stays the host's";
  ::close(pair[0]);
  ::close(pair[1]);

  Linker linker(test_engine());
  WasiConfig bad;
  bad.descriptors = {9999};
  EXPECT_EQ(add_wasi_to_linker(linker, std::move(bad)).error().kind(), ErrorKind::BadArgument);
  bad = WasiConfig();
  bad.listen = {"nowhere"};
  EXPECT_EQ(add_wasi_to_linker(linker, std::move(bad)).error().kind(), ErrorKind::BadArgument);
  bad = WasiConfig();
  bad.directories = {{"/nonexistent", "/", false}};
  EXPECT_EQ(add_wasi_to_linker(linker, std::move(bad)).error().kind(), ErrorKind::Io);
}

TEST(WasiApi, AWaitingGuestIsInterrupted) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  WasiConfig config;
  config.in = WasiStream::host_descriptor(ends[0]);
  config.out = WasiStream::null();
  WasiGuest guest(std::move(config));
  const InterruptHandle handle = guest.store.interrupt_handle();
  std::thread interrupter([&] {
    ::usleep(50'000);
    handle.interrupt();
  });
  auto stopped = guest.call("_start");
  interrupter.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind(), ErrorKind::Trap) << stopped.error().message();
  EXPECT_EQ(frame_names(stopped.error()), "cat _start");
  // The store can be used again.
  ::close(ends[1]);
  EXPECT_EQ(exit_code(guest.call("_start")), 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace hoist::api
