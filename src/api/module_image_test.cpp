// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module::serialize and the ways back. Code of damaged images is never called here: only what is
// read from them.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "api/test_support.hpp"
#include "base/bits.hpp"
#include "image/image_file.hpp"
#include "image/image_open.hpp"

namespace hoist::api {
namespace {

constexpr const char* kText = R"((module $m
  (import "env" "f" (func (param i32) (result i32)))
  (memory (export "memory") 1) (data (i32.const 8) "hello")
  (table 2 funcref) (elem (i32.const 0) $twice)
  (global $g (mut i32) (i32.const 5))
  (func $twice (export "twice") (param i32) (result i32)
    (i32.add (local.get 0) (call $once (local.get 0))))
  (func $once (param i32) (result i32) (local.get 0))
  (func $load (export "load") (param i32) (result i32) (i32.load (local.get 0)))
  (func (export "grow") (result i32) (memory.grow (i32.const 1)))
  (func $start (global.set $g (i32.const 6)))
  (start $start)))";

Instance instantiate(StoreRef store, const Module& module) {
  Linker linker(test_engine());
  linker.unknown_imports(UnknownImports::Trap);
  return must(linker.instantiate(store, module));
}

void expect_works(const Module& module) {
  Store store(test_engine());
  const Instance instance = instantiate(store, module);
  EXPECT_EQ(must(must(instance.func("twice")).call({Val(std::int32_t{21})}))[0].i32(), 42);
  EXPECT_EQ(must(must(instance.func("load")).call({Val(std::int32_t{8})}))[0].i32(), 0x6c6c6568);
  EXPECT_EQ(must(must(instance.func("grow")).call({}))[0].i32(), 1);
  EXPECT_TRAP(must(instance.func("load")).call({Val(std::int32_t{-1})}),
              TrapCode::MemoryOutOfBounds, "m!load");
  EXPECT_EQ(module.name(), "m");
}

TEST(ModuleImage, ComesBackFromBytesAndFiles) {
  const Module module = compile(kText);
  const std::vector<std::uint8_t> bytes = must(module.serialize());
  EXPECT_TRUE(Module::is_image(bytes));
  const Module again = must(Module::deserialize(test_engine(), bytes));
  EXPECT_TRUE(again.stats().from_cache);
  expect_works(again);
  EXPECT_EQ(must(again.serialize()), bytes);

  char path[] = "/tmp/hoist-image-test-XXXXXX";
  ::close(::mkstemp(path));
  must(module.serialize_to_file(path));
  EXPECT_EQ(::access(path, X_OK), 0);
  const Module mapped = must(Module::deserialize_file(test_engine(), path));
  // Replacing or removing the file does not touch what is mapped.
  must(module.serialize_to_file(path));
  ::unlink(path);
  expect_works(mapped);
  EXPECT_EQ(must(mapped.serialize()), bytes);
  EXPECT_EQ(must(Module::precompile(test_engine(),
                                    {reinterpret_cast<const std::uint8_t*>(kText), strlen(kText)})),
            bytes);
}

TEST(ModuleImage, OtherBytesAreErrors) {
  const auto load = [](std::string_view text) {
    return Module::deserialize(test_engine(),
                               {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_ERROR(load(""), ErrorKind::Malformed, "not a Hoist image: it is empty");
  EXPECT_ERROR(load(kText), ErrorKind::Malformed,
               "not a Hoist image: it does not begin as an ELF file does");
  EXPECT_ERROR(load("\x7f"
                    "ELF"),
               ErrorKind::Malformed,
               "damaged image: the file ends after 4 bytes, within its header");
  EXPECT_ERROR(Module::deserialize_file(test_engine(), "/nowhere"), ErrorKind::Io,
               "cannot read '/nowhere': No such file or directory");
  EXPECT_ERROR(Module::deserialize_file(test_engine(), "/tmp"), ErrorKind::Io,
               "cannot read '/tmp': it is not a regular file");
}

/// Who expects WebAssembly does not get machine code.
TEST(ModuleImage, IsNeverLoadedUnasked) {
  const std::vector<std::uint8_t> bytes = must(compile(kText).serialize());
  EXPECT_ERROR(Module::load(test_engine(), bytes), ErrorKind::BadArgument,
               "it is an image, not WebAssembly: it has to be loaded as one");
  EXPECT_ERROR(Module::from_file(test_engine(), "/proc/self/exe"), ErrorKind::BadArgument,
               "it is an image, not WebAssembly: it has to be loaded as one");
  EXPECT_EQ(Module::compile(test_engine(), bytes).error().kind(), ErrorKind::Malformed);
}

TEST(ModuleImage, FitsOnlyEnginesOfItsSettings) {
  std::vector<std::uint8_t> bytes = must(compile(kText).serialize());
  const auto with = [&bytes](auto change) {
    std::vector<std::uint8_t> changed = bytes;
    auto header = base::load_le<image::ImageHeader>(changed.data() + image::kHeaderAt);
    change(header);
    base::store_le(changed.data() + image::kHeaderAt, header);
    image::seal_image_file(changed);
    return Module::deserialize(test_engine(), changed);
  };
  using Header = image::ImageHeader;
  EXPECT_TRUE(with([](Header& h) { h.opt_level = 0; }));
  EXPECT_ERROR(with([](Header& h) { h.fuel = 1; }), ErrorKind::Unsupported,
               "the image was compiled with fuel on, the engine has off: both must be the same "
               "(hoist compile with no --fuel, or hoist run with --fuel; in the API Config::fuel)");
  // Code that looks at more than it has to runs.
  EXPECT_TRUE(with([](Header& h) { h.epoch = 1; }));
  EXPECT_TRUE(with([](Header& h) { h.interrupts = 1; }));
  EXPECT_ERROR(with([](Header& h) { h.signals = 0; }), ErrorKind::Unsupported,
               "the image was compiled with signals off, the engine has on: both must be the same "
               "(hoist compile with --signals=on, or hoist run with --signals=off; in the API "
               "Config::signals)");
  EXPECT_ERROR(with([](Header& h) { h.explicit_bounds = 1; }), ErrorKind::Unsupported,
               "the image was compiled with explicit bounds checks on, the engine has off: both "
               "must be the same (hoist compile with --bounds-checks=auto, or hoist run with "
               "--bounds-checks=explicit; in the API Config::explicit_bounds_checks)");
  EXPECT_FALSE(with([](Header& h) { h.cpu_features = ~std::uint64_t{0}; }));
  EXPECT_FALSE(with([](Header& h) { std::strcpy(h.target, "aarch64"); }));
}

TEST(ModuleImage, LooksAtLeastAtWhatTheEngineWants) {
  const auto engine_with = [](bool interruptible, bool epoch) {
    Config config;
    config.interruptible = interruptible;
    config.epoch = epoch;
    return must(Engine::create(config));
  };
  const std::span<const std::uint8_t> text(reinterpret_cast<const std::uint8_t*>(kText),
                                           strlen(kText));
  const Engine plain = engine_with(false, false);
  const Engine interruptible = engine_with(true, false);
  const Engine epoch = engine_with(false, true);
  const Engine both = engine_with(true, true);
  const auto check = [&](const Engine& made, const Engine& runs, bool fine) {
    EXPECT_EQ(Module::deserialize(runs, must(Module::precompile(made, text))).has_value(), fine);
  };
  for (const Engine* made : {&plain, &interruptible, &epoch, &both}) check(*made, plain, true);
  check(plain, interruptible, false);
  check(epoch, interruptible, true);
  check(interruptible, epoch, false);
  check(plain, both, false);
  check(epoch, both, true);
  EXPECT_ERROR(Module::deserialize(interruptible, must(Module::precompile(plain, text))),
               ErrorKind::Unsupported,
               "the image was compiled with checks for interruption off, the engine has on: both "
               "must be the same (hoist compile with --interruptible, or hoist run with no "
               "--timeout; in the API Config::interruptible)");
  EXPECT_ERROR(Module::deserialize(epoch, must(Module::precompile(interruptible, text))),
               ErrorKind::Unsupported,
               "the image was compiled with epoch checks off, the engine has on: both must be the "
               "same (hoist compile with --epoch, or hoist run with no --timeout; in the API "
               "Config::epoch)");
}

TEST(ModuleImage, NeedsTheFeaturesOfItsModule) {
  struct Case {
    const char* text;
    const char* used;  ///< what it needs, in the order of the table
  };
  // One use of each, as the only one: those that tell, and those that only change a rule.
  const Case cases[] = {
      {"(module)", ""},
      {"(module (func (result v128) (v128.const i64x2 1 2)))", "simd"},
      {"(module (global v128 (v128.const i64x2 1 2)))", "simd"},
      {"(module (func (param i32) (result i32) (i32.extend8_s (local.get 0))))", "sign-extension"},
      {"(module (memory 1 2 shared))", "threads"},
      {"(module (memory i64 1))", "memory64"},
      {"(module (memory 1) (memory 1))", "multi-memory"},
      {"(module (func $f (return_call $f)))", "tail-calls"},
      {"(module (tag))", "exceptions"},
      {"(module (func (param i32) (result i32 i32) (local.get 0) (local.get 0)))", "multi-value"},
      {"(module (global $a i32 (i32.const 1)) (global i32 (global.get $a)))", "gc"},
      {"(module (global i32 (i32.add (i32.const 1) (i32.const 2))))", "extended-const"},
      {"(module (memory 1) (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 0)))"
       " (func (param v128) (drop (local.get 0))))",
       "bulk-memory, simd"},
  };
  for (const Case& item : cases) {
    const std::vector<std::uint8_t> bytes = must(compile(item.text).serialize());
    EXPECT_TRUE(Module::deserialize(test_engine(), bytes)) << item.text;
    Config config;
    config.features = "-all";
    const auto none = Module::deserialize(must(Engine::create(config)), bytes);
    if (item.used[0] == 0) {
      EXPECT_TRUE(none) << none.error().message();
      continue;
    }
    ASSERT_FALSE(none) << item.text;
    EXPECT_EQ(none.error().kind(), ErrorKind::Unsupported);
    EXPECT_EQ(none.error().message(),
              std::string("the image's module uses features that the engine has off: ") +
                  item.used + " (hoist run with --features; in the API Config::features)");
  }
  // What it does not use does not matter.
  Config config;
  config.features = "-simd,-threads,-relaxed-simd";
  const Engine engine = must(Engine::create(config));
  const Module kept = must(Module::deserialize(engine, must(compile(kText).serialize())));
  EXPECT_EQ(must(kept.serialize()), must(compile(kText).serialize()));
}

TEST(ModuleImage, CodeForAnotherCpuIsMadeButNotLoaded) {
  const std::span<const std::uint8_t> text(reinterpret_cast<const std::uint8_t*>(kText),
                                           strlen(kText));
  Config config;
  config.cpu = "baseline";
  const Engine baseline = must(Engine::create(config));
  expect_works(must(Module::deserialize(test_engine(), must(Module::precompile(baseline, text)))));
  config.cpu = "sse9";
  EXPECT_EQ(Engine::create(config).error().kind(), ErrorKind::BadArgument);
}

/// Every byte damaged, the checksum put right: the module loads and instantiates, or is an error.
/// The code itself stays as it is: it is trusted.
TEST(ModuleImage, DamageWithTheRightChecksumIsHarmless) {
  const Module module = compile(
      "(module (func (export \"f\") (param i32) (result i32) (local.get 0)) (memory 1)"
      "(data (i32.const 3) \"abc\") (func (export \"g\") (drop (memory.grow (i32.const 0)))))");
  const std::vector<std::uint8_t> good = must(module.serialize());
  const auto image = image::open_image(good, nullptr);
  ASSERT_TRUE(image);
  const std::size_t text_begin = image::kTextAt;
  const std::size_t text_end = text_begin + image->text().size();
  std::vector<std::uint8_t> bytes = good;
  std::size_t loaded = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (at >= text_begin && at < text_end) continue;
    if (good[at] == 0 && at % 7 != 0) continue;  // much is empty
    for (const unsigned flip : {1u, 0xffu}) {
      bytes[at] = static_cast<std::uint8_t>(good[at] ^ flip);
      image::seal_image_file(bytes);
      const auto back = Module::deserialize(test_engine(), bytes);
      if (back) {
        ++loaded;
        Store store(test_engine());
        static_cast<void>(Instance::create(store, *back));
        static_cast<void>(back->exports());
      }
    }
    bytes[at] = good[at];
  }
  EXPECT_GT(loaded, 10u);
}

TEST(ModuleImage, EnginesShareACache) {
  char directory[] = "/tmp/hoist-image-test-XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  Config config;
  config.cache_directory = directory;
  for (const bool cached : {false, true}) {
    const Engine engine = must(Engine::create(config));
    const Module module = must(Module::from_text(engine, kText));
    EXPECT_EQ(module.stats().from_cache, cached);
    EXPECT_EQ(must(module.serialize()), must(compile(kText).serialize()));
  }
  config.opt_level = OptLevel::None;
  EXPECT_FALSE(must(Module::from_text(must(Engine::create(config)), kText)).stats().from_cache);
  const std::string command = std::string("rm -r ") + directory;
  EXPECT_EQ(::system(command.c_str()), 0);
}

}  // namespace
}  // namespace hoist::api
