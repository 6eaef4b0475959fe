// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/shared_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "api/test_support.hpp"
#include "hoist/wasi_threads.hpp"

namespace hoist::api {
namespace {

MemoryType shared_type(std::uint64_t minimum, std::uint64_t maximum, bool is_64 = false) {
  MemoryType type;
  type.minimum = minimum;
  type.maximum = maximum;
  type.is_64 = is_64;
  type.shared = true;
  return type;
}

/// `module` in `store`, with the memory as "env" "memory".
Instance instance_with(const Store& store, const Module& module, const SharedMemory& memory) {
  Linker linker(store.engine());
  must(linker.define("env", "memory", memory));
  return must(linker.instantiate(store, module));
}

/// A queue between threads: `put` adds one under a lock of the guest's own, `take` waits for one.
constexpr std::string_view kQueue = R"((module
  (memory (import "env" "memory") 1 4 shared)
  (func $lock
    (loop $again
      (if (i32.atomic.rmw.cmpxchg (i32.const 0) (i32.const 0) (i32.const 1))
        (then
          (drop (memory.atomic.wait32 (i32.const 0) (i32.const 1) (i64.const -1)))
          (br $again)))))
  (func $unlock
    (i32.atomic.store (i32.const 0) (i32.const 0))
    (drop (memory.atomic.notify (i32.const 0) (i32.const 1))))
  (func (export "put") (param $count i32)
    (loop $next
      (call $lock)
      (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
      (i32.atomic.store (i32.const 4) (i32.add (i32.atomic.load (i32.const 4)) (i32.const 1)))
      (call $unlock)
      (drop (memory.atomic.notify (i32.const 4) (i32.const 1)))
      (br_if $next (local.tee $count (i32.sub (local.get $count) (i32.const 1))))))
  (func (export "take") (param $count i32) (local $have i32)
    (loop $next
      (local.set $have (i32.atomic.load (i32.const 4)))
      (if (i32.eqz (local.get $have))
        (then
          (drop (memory.atomic.wait32 (i32.const 4) (i32.const 0) (i64.const -1)))
          (br $next)))
      (call $lock)
      (local.set $have (i32.atomic.load (i32.const 4)))
      (if (local.get $have)
        (then (i32.atomic.store (i32.const 4) (i32.sub (local.get $have) (i32.const 1)))))
      (call $unlock)
      (br_if $next (i32.eqz (local.get $have)))
      (br_if $next (local.tee $count (i32.sub (local.get $count) (i32.const 1))))))
  (func (export "wait") (param i64) (result i32)
    (memory.atomic.wait32 (i32.const 16) (i32.const 0) (local.get 0)))
  (func (export "grow") (result i32) (memory.grow (i32.const 1)))
  (func (export "size") (result i32) (memory.size))
  (func (export "load") (param i32) (result i32) (i32.load (local.get 0)))))";

TEST(SharedMemory, GuestsOfSeveralThreadsWaitForAndWakeEachOther) {
  constexpr int kPairs = 2;
  constexpr int kItems = 500;
  const Module module = compile(kQueue);
  const SharedMemory memory = must(SharedMemory::create(test_engine(), shared_type(1, 4)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 2 * kPairs; ++i) {
    threads.emplace_back([&, i] {
      Store store(test_engine());
      const Instance instance = instance_with(store, module, memory);
      must(must(instance.func(i % 2 == 0 ? "put" : "take")).call({Val(kItems)}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  Store store(test_engine());
  const Instance instance = instance_with(store, module, memory);
  EXPECT_EQ(must(must(instance.func("load")).call({Val(8)}))[0].i32(), kPairs * kItems);
  EXPECT_EQ(must(must(instance.func("load")).call({Val(4)}))[0].i32(), 0);
}

TEST(SharedMemory, GrowsForAllAndStays) {
  const Module module = compile(kQueue);
  const SharedMemory memory = must(SharedMemory::create(test_engine(), shared_type(1, 4)));
  Store one(test_engine());
  Store two(test_engine());
  const Instance first = instance_with(one, module, memory);
  const Instance second = instance_with(two, module, memory);
  const std::uint8_t* data = memory.data();
  EXPECT_EQ(must(must(first.func("grow")).call())[0].i32(), 1);
  EXPECT_EQ(must(must(second.func("grow")).call())[0].i32(), 2);
  EXPECT_EQ(must(must(first.func("size")).call())[0].i32(), 3);
  EXPECT_EQ(must(memory.grow(1)), 3U);
  EXPECT_EQ(must(must(second.func("grow")).call())[0].i32(), -1);
  EXPECT_EQ(memory.data(), data);
  memory.data()[4 * 65536 - 4] = 77;
  EXPECT_EQ(must(must(second.func("load")).call({Val(4 * 65536 - 4)}))[0].i32(), 77);
  EXPECT_EQ(memory.type(), shared_type(4, 4));
}

TEST(SharedMemory, HostsWaitAndWake) {
  const Module module = compile(kQueue);
  const SharedMemory memory = must(SharedMemory::create(test_engine(), shared_type(1, 4)));
  std::thread guest([&] {
    Store store(test_engine());
    const Instance instance = instance_with(store, module, memory);
    EXPECT_EQ(must(must(instance.func("wait")).call({Val(std::int64_t{-1})}))[0].i32(), 0);
  });
  while (must(memory.notify(16, 1)) == 0) std::this_thread::yield();
  guest.join();
  EXPECT_EQ(must(memory.wait32(16, 1, -1)), SharedMemory::WaitOutcome::NotEqual);
  EXPECT_EQ(must(memory.wait64(16, 0, 1000)), SharedMemory::WaitOutcome::TimedOut);
  EXPECT_FALSE(memory.wait32(2, 0, 0));
  EXPECT_FALSE(memory.notify(65536, 1));
}

TEST(SharedMemory, GuestsThatWaitAreInterrupted) {
  const Module module = compile(kQueue);
  const SharedMemory memory = must(SharedMemory::create(test_engine(), shared_type(1, 4)));
  Store store(test_engine());
  const Instance instance = instance_with(store, module, memory);
  std::thread other([handle = store.interrupt_handle()] { handle.interrupt(); });
  const auto done = must(instance.func("wait")).call({Val(std::int64_t{-1})});
  other.join();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), static_cast<int>(TrapCode::Interrupted));
  // One request ends one call.
  EXPECT_EQ(must(must(instance.func("wait")).call({Val(std::int64_t{0})}))[0].i32(), 2);
}

TEST(SharedMemory, EpochDeadlinesEndWaits) {
  Config config;
  config.epoch = true;
  const Engine engine = must(Engine::create(config));
  const Module module = compile(kQueue, engine);
  const SharedMemory memory = must(SharedMemory::create(engine, shared_type(1, 4)));
  Store store(engine);
  const Instance instance = instance_with(store, module, memory);
  must(store.set_epoch_deadline(1));
  std::thread other([&] { engine.increment_epoch(); });
  const auto done = must(instance.func("wait")).call({Val(std::int64_t{-1})});
  other.join();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), static_cast<int>(TrapCode::Interrupted));
}

TEST(SharedMemory, BelongsToAnEngineAndSaysWhatIsWrong) {
  const SharedMemory memory = must(SharedMemory::create(test_engine(), shared_type(1, 4)));
  const Engine other = must(Engine::create());
  Store store(other);
  EXPECT_FALSE(memory.in(store));
  Linker linker(other);
  EXPECT_FALSE(linker.define("env", "memory", memory));
  MemoryType endless;
  EXPECT_FALSE(SharedMemory::create(test_engine(), endless));
  StoreLimits limits;
  limits.memory_bytes = 65535;
  Store small(test_engine(), limits);
  EXPECT_FALSE(memory.in(small));
}

TEST(SharedMemory, OutlivesTheStoreThatMadeIt) {
  std::optional<SharedMemory> memory;
  {
    Guest guest(R"((module (memory (export "memory") 1 2 shared)
      (func (export "f") (i32.store (i32.const 4) (i32.const 9)))))");
    must(guest.call("f"));
    memory = must(guest.instance.memory("memory")).shared();
  }
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->data()[4], 9);
  Store store(test_engine());
  EXPECT_EQ(must(must(memory->in(store)).get<std::uint32_t>(4)), 9U);
}

TEST(Memory, OfOtherTypes) {
  Guest guest(R"((module
    (memory (export "wide") i64 1 70000) (memory (export "bytes") 10 20 (pagesize 1))
    (table (export "table") i64 1 3 funcref)))");
  Memory wide = must(guest.instance.memory("wide"));
  EXPECT_TRUE(wide.type().is_64);
  EXPECT_EQ(must(wide.grow(2)), 1U);
  must(wide.set<std::uint8_t>(196'607, 5));
  EXPECT_FALSE(wide.set<std::uint8_t>(196'608, 5));
  EXPECT_FALSE(wide.shared());
  Memory bytes = must(guest.instance.memory("bytes"));
  EXPECT_EQ(bytes.pages(), 10U);
  EXPECT_EQ(bytes.type().page_size_log2, 0);
  EXPECT_EQ(must(bytes.grow(3)), 10U);
  EXPECT_EQ(bytes.size_bytes(), 13U);
  EXPECT_FALSE(bytes.grow(8));
  EXPECT_TRUE(must(guest.instance.table("table")).type().is_64);
  ExternType described;
  described.kind = ExternKind::Memory;
  described.memory = bytes.type();
  EXPECT_EQ(to_string(described), "memory 13..20 pages of 1 byte");
  described.memory = shared_type(1, 2, true);
  EXPECT_EQ(to_string(described), "shared memory i64 1..2 pages");
}

TEST(Memory, BulkOperationsAreWholeWheneverTheHostIsAsked) {
  Config config;
  config.fuel = true;
  const Engine engine = must(Engine::create(config));
  Guest guest(R"((module
    (memory (export "memory") 2) (table (export "table") 1 100000 funcref)
    (elem declare func $f) (func $f)
    (func (export "run") (param $i i32)
      (loop $next
        (memory.fill (i32.const 0) (local.get $i) (i32.const 131072))
        (drop (table.grow (ref.func $f) (i32.const 1000)))
        (br_if $next (local.tee $i (i32.sub (local.get $i) (i32.const 1))))))))",
              engine);
  struct Seen {
    Memory memory;
    Table table;
    int asked;
    bool whole;
  } seen{must(guest.instance.memory("memory")), must(guest.instance.table("table")), 0, true};
  must(guest.store.set_fuel(1));
  guest.store.on_out_of_fuel(
      [](void* context, StoreRef) -> std::uint64_t {
        auto& look = *static_cast<Seen*>(context);
        ++look.asked;
        const auto bytes = look.memory.data();
        look.whole &= bytes.front() == bytes.back() && bytes[65'536] == bytes[0];
        look.whole &= look.table.size() % 1000 == 1;
        look.whole &=
            look.table.size() == 1 || !must(look.table.get(look.table.size() - 1)).is_null();
        return 10;
      },
      &seen);
  must(guest.call("run", {Val(50)}));
  EXPECT_GT(seen.asked, 10);
  EXPECT_TRUE(seen.whole);
}

TEST(Table, Of64BitsWithoutBulkMemory) {
  Config config;
  config.features = "-bulk-memory";
  const Engine engine = must(Engine::create(config));
  const Guest lib(R"((module (table (export "t") i64 1 funcref)))", engine);
  Linker linker(engine);
  must(linker.define_instance("lib", lib.instance));
  const Module module = compile(R"((module
    (import "lib" "t" (table i64 1 funcref)) (func $f) (elem (i64.const 0) func $f)))",
                                engine);
  EXPECT_TRUE(linker.instantiate(lib.store, module));
}

// ---- Threads of WASI programs.

/// The main thread starts `count` threads and waits until each has added its argument; `trap` makes
/// the last one fail, `spin` makes them never end.
constexpr std::string_view kThreads = R"((module
  (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  (memory (import "env" "memory") 1 1 shared)
  (func (export "wasi_thread_start") (param $id i32) (param $argument i32)
    (if (i32.eq (local.get $argument) (i32.const -1)) (then unreachable))
    (if (i32.eq (local.get $argument) (i32.const -2))
      (then (drop (memory.atomic.wait32 (i32.const 64) (i32.const 0) (i64.const -1)))))
    (drop (i32.atomic.rmw.add (i32.const 4) (local.get $argument)))
    (drop (i32.atomic.rmw.or (i32.const 8) (i32.shl (i32.const 1) (local.get $id))))
    (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))
    (drop (memory.atomic.notify (i32.const 0) (i32.const -1))))
  (func (export "spawn") (param i32) (result i32) (call $spawn (local.get 0)))
  (func (export "run") (param $count i32) (param $last i32) (result i32) (local $i i32) (local $done i32)
    (loop $next
      (if (i32.lt_s
            (call $spawn (select (local.get $last) (local.get $i) (i32.eq (local.get $i) (local.get $count))))
            (i32.const 0))
        (then (return (i32.const -1))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.le_u (local.get $i) (local.get $count))))
    (loop $wait
      (local.set $done (i32.atomic.load (i32.const 0)))
      (if (i32.lt_u (local.get $done) (local.get $i))
        (then
          (drop (memory.atomic.wait32 (i32.const 0) (local.get $done) (i64.const -1)))
          (br $wait))))
    (i32.add (i32.load (i32.const 4)) (i32.mul (i32.load (i32.const 8)) (i32.const 1000))))))";

TEST(WasiThreads, RunInStoresOfTheirOwn) {
  const Module module = compile(kThreads);
  ASSERT_TRUE(WasiThreads::is_wanted(module));
  Linker linker(test_engine());
  const WasiThreads threads = must(WasiThreads::add_to_linker(linker, module));
  Store store(test_engine());
  const Instance instance = must(linker.instantiate(store, module));
  // Arguments 0, 1, 2, 3 and numbers 1, 2, 3, 4.
  EXPECT_EQ(must(must(instance.func("run")).call({Val(3), Val(3)}))[0].i32(), 6 + 0b11110 * 1000);
  EXPECT_FALSE(threads.failure());
}

TEST(WasiThreads, OneThatTrapsEndsTheProgram) {
  const Module module = compile(kThreads);
  Linker linker(test_engine());
  WasiThreads threads = must(WasiThreads::add_to_linker(linker, module));
  Store store(test_engine());
  const Instance instance = must(linker.instantiate(store, module));
  const auto done = must(instance.func("run")).call({Val(1), Val(-1)});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), static_cast<int>(TrapCode::Interrupted));
  const auto failure = threads.failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->thread, 2);
  EXPECT_EQ(failure->error.code(), static_cast<int>(TrapCode::Unreachable));
  EXPECT_TRUE(threads.stop());
}

TEST(WasiThreads, AreStoppedAndCounted) {
  const Module module = compile(kThreads);
  Linker linker(test_engine());
  WasiThreadsConfig config;
  config.max_threads = 1;
  WasiThreads threads = must(WasiThreads::add_to_linker(linker, module, config));
  Store store(test_engine());
  const Instance instance = must(linker.instantiate(store, module));
  const auto spawn = [&](std::int32_t argument) {
    return must(must(instance.func("spawn")).call({Val(argument)}))[0].i32();
  };
  // The first waits for ever, the second is one too many.
  EXPECT_EQ(spawn(-2), 1);
  EXPECT_EQ(spawn(0), -1);
  EXPECT_TRUE(threads.stop());
  EXPECT_EQ(spawn(0), -1);
  EXPECT_FALSE(threads.failure());
}

TEST(WasiThreads, WantAnEntryFunction) {
  const Module module = compile(R"((module
    (import "wasi" "thread-spawn" (func (param i32) (result i32)))))");
  Linker linker(test_engine());
  EXPECT_FALSE(WasiThreads::add_to_linker(linker, module));
  EXPECT_FALSE(WasiThreads::is_wanted(compile("(module)")));
}

}  // namespace
}  // namespace hoist::api
