// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instances by the pool, by images and by copying, through the public API: what a new instance
// holds, whatever lived in its place before and however many are made at once.
#include <fmt/core.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "api/test_support.hpp"

namespace hoist::api {
namespace {

constexpr std::uint64_t kPage = 65536;

Engine pooled_engine(std::uint32_t slots, std::uint64_t keep = 0, std::uint32_t instances = 0) {
  Config config;
  PoolingOptions& pooling = config.pooling.emplace();
  pooling.memories = pooling.tables = slots;
  pooling.instances = std::max(slots, instances);
  pooling.memory_bytes = 64 * kPage;
  pooling.table_elements = 1000;
  pooling.instance_bytes = 16384;
  pooling.keep_resident_bytes = keep;
  return must(Engine::create(config));
}

/// Everything that an instance has, and a function that leaves none of it as it was.
constexpr const char* kModule = R"((module
  (memory (export "memory") 2 8) (table (export "table") 10 500 funcref)
  (global $g (export "global") (mut i64) (i64.const 7))
  (elem (i32.const 3) $one) (data (i32.const 65000) "initial data, over a page's end")
  (func $one (result i32) (i32.const 1))
  (func (export "id") (result i32) (i32.load (i32.const 8)))
  (func (export "peek") (param i32) (result i32) (i32.load (local.get 0)))
  (func (export "spoil") (param $id i32)
    (drop (memory.grow (i32.const 3)))
    (memory.fill (i32.const 0) (local.get $id) (i32.mul (memory.size) (i32.const 65536)))
    (drop (table.grow 0 (ref.func $one) (i32.const 300)))
    (table.fill 0 (i32.const 0) (ref.func $one) (table.size 0))
    (global.set $g (i64.const -1)))))";

/// Another with less of everything, so that what is left would lie beyond its end too.
constexpr const char* kOther = R"((module
  (memory (export "memory") 1 8) (table (export "table") 5 500 funcref)
  (global (export "global") (mut i64) (i64.const 9))
  (data (i32.const 30000) "other data")
  (func (export "peek") (param i32) (result i32) (i32.load (local.get 0)))
  (func (export "grow") (drop (memory.grow (i32.const 6)))
    (drop (table.grow 0 (ref.null func) (i32.const 400))))))";

/// A memory of zeros but for `text` at `at`.
bool holds(const Memory& memory, std::uint64_t at, std::string_view text) {
  std::vector<std::uint8_t> wanted(memory.size_bytes());
  std::memcpy(wanted.data() + at, text.data(), text.size());
  return std::ranges::equal(memory.data(), wanted);
}

/// What earlier memories in the same place had beyond the end is out of bounds.
void expect_end(const Instance& instance, std::int32_t end) {
  const auto peek = must(instance.typed<std::int32_t(std::int32_t)>("peek"));
  EXPECT_EQ(must(peek(end - 4)), 0);
  EXPECT_FALSE(peek(end));
  EXPECT_FALSE(peek(end + 65536));
}

void expect_fresh(const Instance& instance) {
  const Memory memory = must(instance.memory("memory"));
  EXPECT_EQ(memory.pages(), 2U);
  EXPECT_TRUE(holds(memory, 65000, "initial data, over a page's end"));
  expect_end(instance, 2 * 65536);
  const Table table = must(instance.table("table"));
  ASSERT_EQ(table.size(), 10U);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(must(table.get(i)).is_null(), i != 3);
  EXPECT_EQ(must(instance.global("global")).get().i64(), 7);
}

void expect_fresh_other(const Instance& instance) {
  const Memory memory = must(instance.memory("memory"));
  EXPECT_EQ(memory.pages(), 1U);
  expect_end(instance, 65536);
  must(must(instance.typed<void()>("grow"))());
  EXPECT_EQ(memory.pages(), 7U);
  EXPECT_TRUE(holds(memory, 30000, "other data"));
  const Table table = must(instance.table("table"));
  ASSERT_EQ(table.size(), 405U);
  for (std::uint64_t i = 0; i < 405; ++i) EXPECT_TRUE(must(table.get(i)).is_null());
  EXPECT_EQ(must(instance.global("global")).get().i64(), 9);
}

void spoil(const Instance& instance, std::int32_t id) {
  must(must(instance.typed<void(std::int32_t)>("spoil"))(id));
}

TEST(Pooling, StoresDoNotShareAndTheLastSlotIsTheLast) {
  const Engine engine = pooled_engine(6);
  const Module module = compile(kModule, engine);
  std::vector<std::unique_ptr<Store>> stores;
  std::vector<Instance> instances;
  for (int i = 0; i < 6; ++i) {
    stores.push_back(std::make_unique<Store>(engine));
    instances.push_back(must(Instance::create(*stores.back(), module)));
    expect_fresh(instances.back());
    spoil(instances.back(), i + 1);
  }
  for (int i = 0; i < 6; ++i) {
    const auto id = must(instances[static_cast<std::size_t>(i)].typed<std::int32_t()>("id"));
    EXPECT_EQ(must(id()), 0x01010101 * (i + 1));
  }
  Store late(engine);
  EXPECT_ERROR(Instance::create(late, module), ErrorKind::Limit,
               "all 6 instances of the engine's pool are in use (PoolingOptions::instances)");
  // Stores that do not use the pool go on.
  StoreLimits limits;
  limits.pooled = false;
  Store apart(engine, limits);
  expect_fresh(must(Instance::create(apart, module)));
  // What a store had is free when it ends.
  stores[2].reset();
  expect_fresh(must(Instance::create(late, module)));
  Store later(engine);
  EXPECT_FALSE(Instance::create(later, module));
}

TEST(Pooling, WhatDoesNotFitIsAnErrorThatNamesTheOption) {
  const Engine engine = pooled_engine(2, 0, 8);
  const auto refused = [&](const char* text) {
    Store store(engine);
    const Result<Instance> made = Instance::create(store, compile(text, engine));
    return made ? "made" : made.error().message();
  };
  EXPECT_EQ(refused("(module (memory 65))"),
            "a memory of 4259840 bytes is larger than those of the engine's pool, 4194304 bytes "
            "(PoolingOptions::memory_bytes)");
  EXPECT_EQ(refused("(module (table 1001 funcref))"),
            "a table of 1001 elements is larger than those of the engine's pool, 1000 elements "
            "(PoolingOptions::table_elements)");
  std::string globals = "(module";
  for (int i = 0; i < 2000; ++i) globals += "(global (mut i32) (i32.const 0))";
  EXPECT_NE(refused((globals + ")").c_str()).find("PoolingOptions::instance_bytes"),
            std::string::npos);
  // Refusals do not cost slots.
  const Module one = compile("(module (memory 1))", engine);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(refused("(module (memory 65))").substr(0, 8), "a memory");
    Store store(engine);
    for (int i = 0; i < 2; ++i) must(Instance::create(store, one));
    EXPECT_ERROR(Instance::create(store, one), ErrorKind::Limit,
                 "all 2 memories of the engine's pool are in use (PoolingOptions::memories)");
  }
  EXPECT_EQ(refused("(module (memory 64) (table 1000 funcref))"), "made");
}

void reuse(const Engine& engine) {
  const Module module = compile(kModule, engine);
  const Module other = compile(kOther, engine);
  for (int round = 0; round < 6; ++round) {
    for (int again = 0; again <= round % 3; ++again) {
      Store store(engine);
      const Instance instance = must(Instance::create(store, module));
      expect_fresh(instance);
      spoil(instance, 0x55);
    }
    for (int again = 0; again <= round % 2; ++again) {
      Store store(engine);
      expect_fresh_other(must(Instance::create(store, other)));
    }
    // A module that does not live long gives its image back.
    Store store(engine);
    expect_fresh(must(Instance::create(store, compile(kModule, engine))));
  }
}

TEST(Pooling, ReuseShowsNothingOfEarlierInstances) {
  for (const std::uint64_t keep :
       {std::uint64_t{0}, std::uint64_t{5000}, kPage, std::uint64_t{1} << 30}) {
    SCOPED_TRACE(keep);
    reuse(pooled_engine(1, keep));
  }
}

TEST(Instantiation, ReuseShowsNothingOfEarlierInstances) {
  reuse(must(Engine::create()));
}

/// Many threads begin with the same module at the same moment.
void instantiate_on_threads(const Engine& engine, const std::string& text) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 5; ++round) {
    const Module module = compile(text, engine);
    std::atomic<int> ready{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        for (int i = 0; i < 20; ++i) {
          Store store(engine);
          const Result<Instance> made = Instance::create(store, module);
          if (!made ||
              !holds(must(made->memory("memory")), 65000, "initial data, over a page's end")) {
            ++wrong;
            continue;
          }
          const std::int32_t id = t * 20 + i + 1;
          spoil(*made, id);
          if (must(must(made->typed<std::int32_t()>("id"))()) != 0x01010101 * id) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Instantiation, ThreadsAtOnce) {
  instantiate_on_threads(test_engine(), kModule);
}

TEST(Instantiation, ThreadsAtOnceWithImages) {
  // Enough data for an image, all of it zeros.
  std::string data = "(data (i32.const 66000) \"";
  for (int i = 0; i < 20000; ++i) data += "\\00";
  std::string text(kModule);
  text.insert(text.find("(func $one"), data + "\")");
  instantiate_on_threads(test_engine(), text);
}

TEST(Pooling, ThreadsAtOnce) {
  instantiate_on_threads(pooled_engine(4), kModule);
}

// ---- What data segments make of a memory does not depend on how.

struct RandomModule {
  std::string text;
  std::vector<std::uint8_t> wanted;
};

/// Segments that overlap, lie on page ends, hold zeros, or have a place that is an imported global.
RandomModule random_module(std::mt19937& random) {
  RandomModule out;
  const std::uint64_t pages = 1 + random() % 6;
  out.wanted.resize(pages * kPage);
  out.text = fmt::format(
      "(module (import \"e\" \"place\" (global $place i32)) (memory (export \"memory\") {})",
      pages);
  for (std::uint64_t i = 4 + random() % 30; i > 0; --i) {
    const std::uint64_t size = random() % 3000;
    std::uint64_t at = random() % (out.wanted.size() - size);
    if (random() % 4 == 0) at = (at / 4096) * 4096;
    std::string place = fmt::format("i32.const {}", at);
    if (random() % 16 == 0) {
      at = 1000;
      place = "global.get $place";
    }
    out.text += fmt::format("(data ({}) \"", place);
    const bool zeros = random() % 3 == 0;
    for (std::uint64_t k = 0; k < size; ++k) {
      const auto byte = static_cast<std::uint8_t>(zeros ? 0 : random());
      out.wanted[at + k] = byte;
      out.text += fmt::format("\\{:02x}", byte);
    }
    out.text += "\")";
  }
  out.text += ")";
  return out;
}

void expect_contents(const Engine& engine, const Module& module,
                     const std::vector<std::uint8_t>& wanted) {
  Store store(engine);
  const Extern place = must(Global::create(store, {ValKind::I32, false}, Val(1000)));
  const Instance instance = must(Instance::create(store, module, {&place, 1}));
  const Memory memory = must(instance.memory("memory"));
  ASSERT_EQ(memory.size_bytes(), wanted.size());
  EXPECT_TRUE(std::ranges::equal(memory.data(), wanted));
  std::ranges::fill(memory.data(), std::uint8_t{0xa5});
}

TEST(Instantiation, RandomDataIsTheSameHoweverItComes) {
  std::mt19937 random(20);
  const Engine pooled = pooled_engine(1);
  const Engine keeping = pooled_engine(1, 3 * kPage);
  for (int i = 0; i < 12; ++i) {
    const RandomModule made = random_module(random);
    for (const Engine* engine : {&test_engine(), &pooled, &keeping}) {
      const Module module = compile(made.text, *engine);
      // The first copies, later ones may share an image.
      for (int again = 0; again < 3; ++again) expect_contents(*engine, module, made.wanted);
    }
  }
}

/// An instance that fails has left a function in an imported table. What that reads is what the
/// segments before the one that does not fit wrote: all elements come before all data.
void expect_leftovers(const Engine& engine, const std::string& bad, std::int32_t wanted) {
  std::string data;
  for (int i = 0; i < 20000; ++i) data += "\\2a";
  const Module module =
      compile(fmt::format(R"((module (import "e" "table" (table 1 funcref)) (memory 1)
        (elem (i32.const 0) $read) (func $read (result i32) (i32.load (i32.const 100)))
        (data (i32.const 64) "{}") {}))",
                          data, bad),
              engine);
  for (int again = 0; again < 3; ++again) {
    Store store(engine);
    const Table table = must(
        Table::create(store, {ValKind::FuncRef, 1, std::nullopt}, Val::null(ValKind::FuncRef)));
    const Extern import = table;
    const Result<Instance> made = Instance::create(store, module, {&import, 1});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind(), ErrorKind::Trap);
    const std::optional<Func> read = must(table.get(0)).funcref();
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(must(read->call())[0].i32(), wanted);
  }
}

TEST(Instantiation, FailureLeavesWhatTheSpecificationSays) {
  const Engine pooled = pooled_engine(2);
  for (const Engine* engine : {&test_engine(), &pooled}) {
    expect_leftovers(*engine, "(data (i32.const 65536) \"x\")", 0x2a2a2a2a);
    expect_leftovers(*engine, "(elem (i32.const 1) $read)", 0);
  }
}

}  // namespace
}  // namespace hoist::api
