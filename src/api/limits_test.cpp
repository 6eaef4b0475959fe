// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits through the public API: growth, fuel, epochs, interruption.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

Engine engine_with(void (*change)(Config&), OptLevel level = OptLevel::Full) {
  Config config;
  config.opt_level = level;
  change(config);
  return must(Engine::create(config));
}

const Engine& fuel_engine() {
  static const Engine* engine = new Engine(engine_with([](Config& c) { c.fuel = true; }));
  return *engine;
}
const Engine& epoch_engine() {
  static const Engine* engine = new Engine(engine_with([](Config& c) { c.epoch = true; }));
  return *engine;
}

constexpr const char* kHostile = R"((module $m
  (memory (export "memory") 1) (table $t (export "table") 1 funcref) (elem declare func $spin)
  (func $spin (export "spin") (loop (br 0)))
  (func $deep (export "deep") (result i32) (i32.add (call $deep) (i32.const 1)))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "grow_table") (param i32) (result i32) (table.grow $t (ref.null func) (local.get 0)))
  (func (export "eat") (result i32) (loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (memory.size))
  (func (export "count") (param i32) (result i32) (local i32)
    (loop (local.set 1 (i32.add (local.get 1) (local.get 0)))
      (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func (export "nothing"))))";

Instance instantiate(Store& store, std::string_view text = kHostile) {
  return must(Instance::create(store, compile(text, store.engine())));
}

std::int32_t call_i32(const Instance& instance, const char* name, std::initializer_list<Val> args) {
  return must(must(instance.func(name)).call(args))[0].i32();
}

// ---- Growth.

TEST(Limits, GrowthBeyondIsRefused) {
  StoreLimits limits;
  limits.memory_bytes = 3 * 65536;
  limits.table_elements = 5;
  Store store(test_engine(), limits);
  const Instance guest = instantiate(store);
  EXPECT_EQ(call_i32(guest, "grow", {3}), -1);
  EXPECT_EQ(call_i32(guest, "grow", {-1}), -1);
  EXPECT_EQ(call_i32(guest, "grow", {2}), 1);
  EXPECT_EQ(call_i32(guest, "grow", {1}), -1);
  EXPECT_EQ(call_i32(guest, "grow", {0}), 3);
  EXPECT_EQ(call_i32(guest, "grow_table", {5}), -1);
  EXPECT_EQ(call_i32(guest, "grow_table", {4}), 1);
  EXPECT_ERROR(
      must(guest.memory("memory")).grow(1), ErrorKind::Limit,
      "a memory of 262144 bytes is more than the store's limit memory_bytes of 196608 bytes");
  EXPECT_ERROR(must(guest.table("table")).grow(1, Val::null(ValType(ValKind::FuncRef))),
               ErrorKind::Limit,
               "a table of 6 elements is more than the store's limit table_elements of 5 elements");
}

TEST(Limits, TotalOfAllMemoriesAndCounts) {
  StoreLimits limits;
  limits.total_memory_bytes = 3 * 65536;
  limits.memories = 2;
  limits.tables = 2;
  limits.instances = 2;
  Store store(test_engine(), limits);
  const Instance first = instantiate(store);
  const Instance second = instantiate(store);
  EXPECT_EQ(call_i32(first, "grow", {2}), -1);
  EXPECT_EQ(call_i32(first, "grow", {1}), 1);
  EXPECT_EQ(call_i32(second, "grow", {1}), -1);
  EXPECT_ERROR(Instance::create(store, compile("(module)")), ErrorKind::Limit,
               "the store's limit of 2 instances is reached");
  EXPECT_ERROR(Memory::create(store, {}), ErrorKind::Limit,
               "the store's limit of 2 memories is reached");
}

TEST(Limits, TotalOfAllTables) {
  StoreLimits limits;
  limits.total_table_elements = 5;
  {
    Store store(test_engine(), limits);
    const Instance first = instantiate(store);
    const Instance second = instantiate(store);
    EXPECT_EQ(call_i32(first, "grow_table", {4}), -1);
    EXPECT_EQ(call_i32(first, "grow_table", {3}), 1);
    EXPECT_EQ(call_i32(second, "grow_table", {1}), -1);
    EXPECT_EQ(call_i32(second, "grow_table", {0}), 1);
    EXPECT_ERROR(must(second.table("table")).grow(1, Val::null(ValType(ValKind::FuncRef))),
                 ErrorKind::Limit,
                 "a table of 2 elements is more than the store's limit total_table_elements of 5 "
                 "elements, of which others have 4");
    EXPECT_ERROR(Instance::create(store, compile("(module (table 1 funcref))")), ErrorKind::Limit,
                 "a table of 1 elements is more than the store's limit total_table_elements of 5 "
                 "elements, of which others have 5");
  }
  limits.total_table_elements = 4;
  Store store(test_engine(), limits);
  // What was made for the first stays, the rest was never counted.
  EXPECT_FALSE(Instance::create(store, compile("(module (table 3 funcref) (table 2 funcref))")));
  EXPECT_FALSE(Instance::create(store, compile("(module (table 5 funcref))")));
  must(Instance::create(store, compile("(module (table 1 funcref))")));
}

TEST(Limits, MessagesNameThemAsTheEmbedderDoes) {
  StoreLimits limits;
  limits.memory_bytes = 65536;
  limits.total_memory_bytes = 65536;
  limits.table_elements = 3;
  limits.instances = 2;
  limits.references = 0;
  limits.name_of = [](StoreLimit limit) -> const char* {
    switch (limit) {
      case StoreLimit::MemoryBytes: return "--memory";
      case StoreLimit::TotalMemoryBytes: return "--all-memory";
      case StoreLimit::Instances: return "--instances";
      case StoreLimit::References: return "--references";
      case StoreLimit::TableElements:
      case StoreLimit::TotalTableElements:
      case StoreLimit::Memories:
      case StoreLimit::Tables:
      case StoreLimit::ReferenceBytes: return nullptr;
    }
    return nullptr;
  };
  Store store(test_engine(), limits);
  EXPECT_ERROR(Instance::create(store, compile("(module (memory 2))")), ErrorKind::Limit,
               "a memory of 131072 bytes is more than the limit --memory of 65536 bytes");
  EXPECT_ERROR(Instance::create(store, compile("(module (table 4 funcref))")), ErrorKind::Limit,
               "a table of 4 elements is more than the store's limit table_elements of 3 elements");
  must(Instance::create(store, compile("(module (memory 1))")));
  EXPECT_ERROR(Instance::create(store, compile("(module (memory 1))")), ErrorKind::Limit,
               "a memory of 65536 bytes is more than the limit --all-memory of 65536 bytes, of "
               "which others have 65536");
  must(Instance::create(store, compile("(module)")));
  EXPECT_ERROR(Instance::create(store, compile("(module)")), ErrorKind::Limit,
               "the limit --instances of 2 instances is reached");
  EXPECT_ERROR(ExternRef::create(store, nullptr, [](void*) {}), ErrorKind::Limit,
               "the store's references have reached their limit: 0 objects of 0 (--references)");
}

/// Whoever grows it, and whoever asks meanwhile.
TEST(Limits, SharedMemoriesCountWithTheirPresentSize) {
  struct Context {
    std::optional<SharedMemory> memory;
    int asked = 0;
  } context;
  StoreLimits limits;
  limits.total_memory_bytes = 8 * 65536;
  limits.context = &context;
  limits.on_growth = [](void* opaque, const Growth& growth) {
    auto& self = *static_cast<Context*>(opaque);
    // No lock is held: the same memory can be grown from here.
    if (growth.what == Growth::What::Memory && ++self.asked == 3) must(self.memory->grow(1));
    return growth.allowed;
  };
  Store store(test_engine(), limits);
  Store other(test_engine());
  MemoryType type;
  type.minimum = 1;
  type.maximum = 100;
  context.memory = must(SharedMemory::create(test_engine(), type));
  Memory here = must(context.memory->in(store));
  Memory there = must(context.memory->in(other));
  must(context.memory->in(store));
  EXPECT_EQ(context.asked, 1);
  EXPECT_EQ(must(there.grow(2)), 1U);
  EXPECT_EQ(must(context.memory->grow(1)), 3U);
  const Instance guest = instantiate(store);  // one page of its own: asked for the second time
  // It had 4 pages when it was asked, has 5 then, and is asked about those.
  EXPECT_EQ(must(here.grow(2)), 5U);
  EXPECT_EQ(context.asked, 4);
  EXPECT_EQ(context.memory->pages(), 7U);
  EXPECT_EQ(call_i32(guest, "grow", {1}), -1);
  EXPECT_FALSE(here.grow(1));
  // The store does not decide about others, but counts what they did.
  EXPECT_EQ(must(there.grow(10)), 7U);
  EXPECT_EQ(call_i32(guest, "grow", {1}), -1);
  EXPECT_EQ(call_i32(guest, "grow", {0}), 1);
}

TEST(Limits, MinimumAboveTheLimit) {
  StoreLimits limits;
  limits.memory_bytes = 65536;
  Store store(test_engine(), limits);
  EXPECT_ERROR(
      Instance::create(store, compile("(module (memory 2))")), ErrorKind::Limit,
      "a memory of 131072 bytes is more than the store's limit memory_bytes of 65536 bytes");
}

TEST(Limits, TrapOnRefusedGrowth) {
  StoreLimits limits;
  limits.memory_bytes = 2 * 65536;
  limits.table_elements = 1;
  limits.trap_on_refused_growth = true;
  Store store(test_engine(), limits);
  const Instance guest = instantiate(store);
  for (int i = 0; i < 3; ++i) {
    const auto result = must(guest.func("eat")).call({});
    EXPECT_ERROR(
        result, ErrorKind::Limit,
        "a memory of 196608 bytes is more than the store's limit memory_bytes of 131072 bytes");
    EXPECT_EQ(frame_names(result.error()), "m!eat");
    EXPECT_FALSE(must(guest.func("grow_table")).call({1}));
  }
  EXPECT_EQ(call_i32(guest, "count", {4}), 10);
}

TEST(Limits, CallbackHasTheLastWord) {
  struct Log {
    std::vector<Growth> asked;
    bool answer = true;
  } log;
  StoreLimits limits;
  limits.memory_bytes = 65536;
  limits.context = &log;
  limits.on_growth = [](void* context, const Growth& growth) {
    static_cast<Log*>(context)->asked.push_back(growth);
    return static_cast<Log*>(context)->answer;
  };
  Store store(test_engine(), limits);
  const Instance guest = instantiate(store, R"((module (memory 1 4)
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))))");
  EXPECT_EQ(call_i32(guest, "grow", {2}), 1);
  log.answer = false;
  EXPECT_EQ(call_i32(guest, "grow", {1}), -1);
  EXPECT_EQ(call_i32(guest, "grow", {2}), -1);  // above its own maximum: nobody is asked
  ASSERT_EQ(log.asked.size(), 3U);
  EXPECT_EQ(log.asked[0].current, 0U);
  EXPECT_EQ(log.asked[0].desired, 65536U);
  EXPECT_TRUE(log.asked[0].allowed);
  EXPECT_EQ(log.asked[1].current, 65536U);
  EXPECT_EQ(log.asked[1].desired, 3 * 65536U);
  EXPECT_EQ(log.asked[1].maximum, 4 * 65536U);
  EXPECT_FALSE(log.asked[1].allowed);
}

// ---- Fuel.

TEST(Fuel, IsTheSameAtAllLevels) {
  std::uint64_t used[3] = {};
  for (unsigned level = 0; level < 3; ++level) {
    const Engine engine =
        engine_with([](Config& c) { c.fuel = true; }, static_cast<OptLevel>(level));
    Store store(engine);
    const Instance guest = instantiate(store);
    must(store.set_fuel(1'000'000));
    EXPECT_EQ(call_i32(guest, "count", {100}), 5050);
    used[level] = 1'000'000 - must(store.fuel());
  }
  // Nine instructions a turn, one at the end.
  EXPECT_EQ(used[0], 901U);
  EXPECT_EQ(used[1], used[0]);
  EXPECT_EQ(used[2], used[0]);
}

TEST(Fuel, RunsOut) {
  Store store(fuel_engine());
  const Instance guest = instantiate(store);
  EXPECT_TRAP(must(guest.func("spin")).call({}), TrapCode::OutOfFuel, "m!spin");
  must(store.set_fuel(5000));
  const auto spun = must(guest.func("spin")).call({});
  EXPECT_TRAP(spun, TrapCode::OutOfFuel, "m!spin");
  EXPECT_EQ(spun.error().message(), "all fuel consumed: 5000 units were given");
  EXPECT_EQ(must(store.fuel()), 0U);
  must(store.set_fuel(5000));
  EXPECT_TRAP(must(guest.func("eat")).call({}), TrapCode::OutOfFuel, "m!eat");
  must(store.set_fuel(2000));
  EXPECT_EQ(call_i32(guest, "count", {100}), 5050);
  must(store.add_fuel(7));
  EXPECT_EQ(must(store.fuel()), 2000U - 901 + 7);
}

TEST(Fuel, IsRefilledByTheCallback) {
  Store store(fuel_engine());
  const Instance guest = instantiate(store);
  int refills = 0;
  store.on_out_of_fuel(
      [](void* context, StoreRef) -> std::uint64_t {
        return ++*static_cast<int*>(context) <= 3 ? 400 : 0;
      },
      &refills);
  EXPECT_EQ(call_i32(guest, "count", {100}), 5050);
  EXPECT_EQ(refills, 3);
  EXPECT_TRAP(must(guest.func("spin")).call({}), TrapCode::OutOfFuel, "m!spin");
}

TEST(Fuel, RejectsWhatCannotBe) {
  Store store(fuel_engine());
  EXPECT_FALSE(store.set_fuel(std::uint64_t{1} << 63));
  must(store.set_fuel((std::uint64_t{1} << 63) - 1));
  EXPECT_FALSE(store.add_fuel(1));
  Store without(test_engine());
  EXPECT_ERROR(without.set_fuel(1), ErrorKind::BadArgument,
               "the engine's code does not count fuel (see Config::fuel)");
}

TEST(Fuel, BulkOperationsPayForTheirLength) {
  Store store(fuel_engine());
  const Instance guest = instantiate(store, R"((module (memory 100)
    (func (export "fill") (param i32) (memory.fill (i32.const 0) (i32.const 1) (local.get 0)))))");
  must(store.set_fuel(1'000'000));
  must(must(guest.func("fill")).call({6'400'000}));
  EXPECT_EQ(must(store.fuel()), 1'000'000U - 100'000 - 4);
}

/// What leaves the code is at the call, whatever the instructions around it belong to.
TEST(Fuel, BacktracesNameTheCall) {
  constexpr const char* kText =
      R"((module $m (import "h" "trap" (func $trap (param i32))) (memory 1)
    (func (export "fill")
      (i32.store (i32.const 0) (i32.const 5))
      (memory.fill (i32.const 65530) (i32.const 1) (i32.const 100))
      (i32.store (i32.const 8) (i32.const 9)))
    (func (export "host")
      (i32.store (i32.const 0) (i32.const 5))
      (call $trap (i32.const 1))
      (i32.store (i32.const 8) (i32.const 9)))))";
  for (const Engine* engine : {&test_engine(), &fuel_engine()}) {
    Store store(*engine);
    if (engine == &fuel_engine()) must(store.set_fuel(1000));
    Linker linker(*engine);
    must(linker.define_func("h", "trap", [](std::int32_t) -> Result<void> {
      return make_trap(TrapCode::Unreachable);
    }));
    const Instance guest = must(linker.instantiate(store, compile(kText, *engine)));
    const auto place = [&](const char* name) -> std::uint64_t {
      const auto result = must(guest.func(name)).call({});
      const Trap* trap = result ? nullptr : Trap::of(result.error());
      return trap == nullptr || trap->frames().empty() ? 0 : trap->frames()[0].function_offset;
    };
    EXPECT_EQ(place("fill"), 1U + 7 + 9);
    EXPECT_EQ(place("host"), 1U + 7 + 2);
  }
}

// ---- Epochs.

TEST(Epoch, DeadlineAndCallback) {
  Store store(epoch_engine());
  const Instance guest = instantiate(store);
  EXPECT_EQ(call_i32(guest, "count", {10}), 55);  // no deadline at first
  must(store.set_epoch_deadline(2));
  store.engine().increment_epoch();
  EXPECT_EQ(call_i32(guest, "count", {10}), 55);
  store.engine().increment_epoch();
  EXPECT_TRAP(must(guest.func("spin")).call({}), TrapCode::Interrupted, "m!spin");
  EXPECT_TRAP(must(guest.func("nothing")).call({}), TrapCode::Interrupted, "m!nothing");
  int asked = 0;
  store.on_epoch_deadline(
      [](void* context, StoreRef ref) -> std::uint64_t {
        EXPECT_TRUE(ref.alive());
        return ++*static_cast<int*>(context) == 3 ? 0 : 1;
      },
      &asked);
  std::atomic<bool> done{false};
  std::thread ticker([&] {
    while (!done) store.engine().increment_epoch();
  });
  EXPECT_TRAP(must(guest.func("spin")).call({}), TrapCode::Interrupted, "m!spin");
  done = true;
  ticker.join();
  EXPECT_EQ(asked, 3);
  Store without(test_engine());
  EXPECT_FALSE(without.set_epoch_deadline(1));
}

// ---- Interruption.

TEST(Interrupt, StopsALoopFromAnotherThread) {
  Store store(epoch_engine());
  const Instance guest = instantiate(store);
  int early = 0;
  for (int i = 0; i < 20; ++i) {
    std::thread other([handle = store.interrupt_handle(), i] {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 50));
      handle.interrupt();
    });
    const auto result = must(guest.func("spin")).call({});
    other.join();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), static_cast<int>(TrapCode::Interrupted));
    // A request that comes before the call ends it before the guest begins.
    const std::string frames = frame_names(result.error());
    early += frames.empty() ? 1 : 0;
    EXPECT_TRUE(frames.empty() || frames == "m!spin") << frames;
    EXPECT_EQ(call_i32(guest, "count", {10}), 55);  // a request is used up
  }
  EXPECT_LT(early, 20);
}

/// Without epochs: loops, calls as the last act of a function, and both with handlers around.
TEST(Interrupt, StopsAllThatGoesOnInInterruptibleCode) {
  constexpr const char* kText = R"((module $m (tag $t) (type $f (func)) (table 1 1 funcref)
    (elem (i32.const 0) $indirect) (elem declare func $reference)
    (func $loop (export "loop") (loop (br 0)))
    (func $nested (export "nested") (loop (loop (br 1))))
    (func $tail (export "tail") (return_call $tail))
    (func $indirect (export "indirect") (return_call_indirect (type $f) (i32.const 0)))
    (func $reference (export "reference") (return_call_ref $f (ref.func $reference)))
    (func $try (export "try") (loop $l (block $h (try_table (catch $t $h) (loop (br 0)))) (br $l)))
    (func $throw (export "throw")
      (loop $l (block $h (try_table (catch $t $h) (throw $t))) (br $l)))
    (func (export "count") (param i32) (result i32) (local i32)
      (loop (local.set 1 (i32.add (local.get 1) (local.get 0)))
        (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
      (local.get 1))))";
  for (const OptLevel level : {OptLevel::None, OptLevel::Full}) {
    const Engine engine = engine_with([](Config& c) { c.interruptible = true; }, level);
    Store store(engine);
    const Instance guest = instantiate(store, kText);
    for (const char* name : {"loop", "nested", "tail", "indirect", "reference", "try", "throw"}) {
      std::thread other([handle = store.interrupt_handle()] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        handle.interrupt();
      });
      const auto result = must(guest.func(name)).call({});
      other.join();
      ASSERT_FALSE(result) << name;
      EXPECT_EQ(result.error().code(), static_cast<int>(TrapCode::Interrupted)) << name;
      EXPECT_EQ(call_i32(guest, "count", {10}), 55);
    }
    EXPECT_FALSE(store.set_epoch_deadline(1));  // epochs are more
  }
}

TEST(Interrupt, StopsRecursionWithoutEpochCode) {
  constexpr const char* kCalls = R"((module $m (global $n (mut i32) (i32.const 0))
    (func $leaf (global.set $n (i32.add (global.get $n) (i32.const 1))))
    (func $step (call $leaf) (call $leaf))
    (func (export "run") (loop (call $step) (br 0)))))";
  Store store(test_engine());
  const Instance guest = instantiate(store, kCalls);
  std::thread other([handle = store.interrupt_handle()] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    handle.interrupt();
  });
  const auto result = must(guest.func("run")).call({});
  other.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), static_cast<int>(TrapCode::Interrupted));
}

TEST(Interrupt, BeforeTheCallAndAfterTheStore) {
  InterruptHandle handle;
  handle.interrupt();  // of no store
  {
    Store store(test_engine());
    const Instance guest = instantiate(store);
    handle = store.interrupt_handle();
    handle.interrupt();
    EXPECT_TRAP(must(guest.func("nothing")).call({}), TrapCode::Interrupted, "");
    must(must(guest.func("nothing")).call({}));
    EXPECT_TRAP(must(guest.func("deep")).call({}), TrapCode::StackOverflow,
                frame_names(must(guest.func("deep")).call({}).error()));
    // Within a host function: what it calls next.
    const Func host = Func::wrap(store, [&]() -> Result<void> {
      handle.interrupt();
      auto inner = must(guest.func("nothing")).call({});
      EXPECT_FALSE(inner);
      return must(guest.func("nothing")).call({}).has_value()
                 ? Result<void>()
                 : Result<void>(Error(ErrorKind::Host, "interrupted twice"));
    });
    must(host.call({}));
  }
  handle.interrupt();
}

TEST(Interrupt, LeavesNothingBehind) {
  // The same stack depth each time, so that the limit is the same.
  Store store(test_engine());
  const Instance guest = instantiate(store);
  const Func nothing = must(guest.func("nothing"));
  const InterruptHandle handle = store.interrupt_handle();
  std::string log;
  for (int i = 0; i < 8; ++i) {
    if (i % 2 != 0) handle.interrupt();
    log += nothing.call({}).has_value() ? 'f' : 'i';
  }
  EXPECT_EQ(log,
            "fififi"
            "fi");
}

InterruptHandle* alarm_handle = nullptr;

TEST(Interrupt, FromASignalHandler) {
  Store store(epoch_engine());
  const Instance guest = instantiate(store);
  InterruptHandle handle = store.interrupt_handle();
  alarm_handle = &handle;
  struct sigaction before = {};
  struct sigaction action = {};
  action.sa_handler = [](int) { alarm_handle->interrupt(); };
  ::sigaction(SIGALRM, &action, &before);
  ::ualarm(2000, 0);
  EXPECT_TRAP(must(guest.func("spin")).call({}), TrapCode::Interrupted, "m!spin");
  ::sigaction(SIGALRM, &before, nullptr);
}

TEST(Interrupt, StartFunctionToo) {
  Store store(epoch_engine());
  const Module module = compile("(module $m (func $s (loop (br 0))) (start $s))", epoch_engine());
  std::thread other([handle = store.interrupt_handle()] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    handle.interrupt();
  });
  const auto made = Instance::create(store, module);
  other.join();
  EXPECT_TRAP(made, TrapCode::Interrupted, "m!s");
}

// ---- The stack.

TEST(Stack, ErrorNamesTheLimit) {
  const Engine engine = engine_with([](Config& c) { c.guest_stack_bytes = 100'000; });
  Store store(engine);
  const Instance guest = instantiate(store);
  const auto result = must(guest.func("deep")).call({});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "call stack exhausted: the limit is 100000 bytes");
}

TEST(Stack, ErrorNamesTheThreadsOwnStack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{512} << 10);
  pthread_t thread;
  std::string message;
  const auto run = [](void* out) -> void* {
    Store store(test_engine());
    const Instance guest = instantiate(store);
    const auto result = must(guest.func("deep")).call({});
    if (!result) *static_cast<std::string*>(out) = result.error().message();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &message), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_TRUE(message.starts_with("call stack exhausted: the thread's stack has ")) << message;
}

TEST(Stack, SizesNearTheEndOfAddresses) {
  for (const std::uint64_t bytes : {~std::uint64_t{0}, ~std::uint64_t{0} - (1 << 20)}) {
    Config config;
    config.guest_stack_bytes = bytes;
    const Engine engine = must(Engine::create(config));
    Store store(engine);
    const Instance guest = instantiate(store);
    EXPECT_EQ(call_i32(guest, "count", {10}), 55);
    EXPECT_EQ(must(guest.func("deep")).call({}).error().code(),
              static_cast<int>(TrapCode::StackOverflow));
  }
}

}  // namespace
}  // namespace hoist::api
