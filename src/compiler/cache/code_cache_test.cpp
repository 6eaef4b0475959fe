// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cache/code_cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "compiler/compile_module.hpp"
#include "isa/registry.hpp"
#include "platform/files.hpp"
#include "platform/private_dir.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist::compiler {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 24;

class CodeCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hoist-cache-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
    directory_ = root_ + "/some/cache";
  }
  void TearDown() override {
    const std::string command = "rm -rf '" + root_ + "'";
    EXPECT_EQ(::system(command.c_str()), 0);
  }

  static wasm::Module module_of(const std::string& wat) {
    auto bytes = wasm::assemble_wat(wat);
    EXPECT_TRUE(bytes);
    auto module = wasm::decode(wasm::ModuleBytes::own(*std::move(bytes)));
    EXPECT_TRUE(module);
    EXPECT_TRUE(wasm::validate_module(*module));
    return *std::move(module);
  }
  static wasm::Module module_number(int i) {
    return module_of("(module (func (export \"f\") (result i32) (i32.const " + std::to_string(i) +
                     ")))");
  }
  static image::Image compile(const wasm::Module& module) {
    static const auto& target = *new std::unique_ptr<codegen::Target>(
        *isa::make_target("x86_64", isa::baseline_features("x86_64")));
    CompilerOptions options;
    options.target = target.get();
    auto image = compile_module(module, options);
    EXPECT_TRUE(image);
    return *std::move(image);
  }
  /// Compiles and stores.
  static void fill(const CodeCache& cache, const wasm::Module& module) {
    cache.store(key_of(cache, module), module, compile(module));
  }
  static CodeCache::Key key_of(const CodeCache& cache, const wasm::Module& module) {
    image::CodeSettings settings;
    settings.opt_level = 2;
    return cache.key(module.bytes.span(), settings);
  }
  std::string path_of(const CodeCache& cache, const wasm::Module& module) const {
    return directory_ + "/" + key_of(cache, module).file_name();
  }
  bool has(const CodeCache& cache, const wasm::Module& module) {
    return cache.find(key_of(cache, module), module).has_value();
  }

  std::string root_;
  std::string directory_;
};

TEST_F(CodeCacheTest, FindsWhatWasStored) {
  const CodeCache cache(directory_, kLimit);
  const wasm::Module module = module_number(1);
  EXPECT_FALSE(has(cache, module));
  EXPECT_EQ(cache.usage()->entries, 0u);
  fill(cache, module);
  const auto found = cache.find(key_of(cache, module), module);
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::ranges::equal(found->text(), compile(module).text()));
  EXPECT_FALSE(has(cache, module_number(2)));
  EXPECT_EQ(cache.usage()->entries, 1u);
  struct stat info = {};
  ASSERT_EQ(::stat(directory_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_EQ(cache.clear()->entries, 1u);
  EXPECT_EQ(cache.usage()->entries, 0u);
  EXPECT_FALSE(has(cache, module));
}

TEST_F(CodeCacheTest, EverySettingHasItsOwnEntry) {
  const CodeCache cache(directory_, kLimit);
  const wasm::Module module = module_number(1);
  const image::CodeSettings plain;
  std::vector<image::CodeSettings> others(8, plain);
  others[0].opt_level = 1;
  others[1].signals = false;
  others[2].explicit_bounds = true;
  others[3].fuel = true;
  others[4].epoch = true;
  others[5].cpu_features = 1;
  others[6].canonical_nans = true;
  others[7].deterministic_relaxed = true;
  std::vector<std::string> names{cache.key(module.bytes.span(), plain).file_name()};
  for (const image::CodeSettings& other : others) {
    names.push_back(cache.key(module.bytes.span(), other).file_name());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

/// Even if two modules had one name, the code of one would not run for the other.
TEST_F(CodeCacheTest, AnEntryOfAnotherModuleIsNotUsed) {
  const CodeCache cache(directory_, kLimit);
  const wasm::Module one = module_number(1);
  const wasm::Module two = module_number(2);
  fill(cache, one);
  ASSERT_EQ(::rename(path_of(cache, one).c_str(), path_of(cache, two).c_str()), 0);
  EXPECT_FALSE(has(cache, two));
  EXPECT_EQ(cache.usage()->entries, 0u) << "what is wrong is removed";
}

TEST_F(CodeCacheTest, DamagedEntriesAreRemoved) {
  const CodeCache cache(directory_, kLimit);
  const wasm::Module module = module_number(1);
  fill(cache, module);
  const std::string path = path_of(cache, module);
  const auto good = platform::read_file(path, kLimit);
  ASSERT_TRUE(good);
  for (std::size_t at = 0; at < good->size(); at += 61) {
    std::vector<std::uint8_t> bytes = *good;
    if (at % 2 == 0) {
      bytes[at] ^= 0x10;
    } else {
      bytes.resize(at);
    }
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    ASSERT_FALSE(has(cache, module)) << at;
    ASSERT_NE(::access(path.c_str(), F_OK), 0) << at;
  }
  fill(cache, module);
  EXPECT_TRUE(has(cache, module));
}

TEST_F(CodeCacheTest, WhatWasNotUsedForLongestGoes) {
  const wasm::Module first = module_number(0);
  const CodeCache unlimited(directory_, kLimit);
  fill(unlimited, first);
  const std::uint64_t entry_bytes = unlimited.usage()->bytes;
  const CodeCache cache(directory_, entry_bytes * 4 + entry_bytes / 2);
  const auto set_age = [&](const wasm::Module& module, int seconds) {
    const timespec times[2] = {{1'000'000 - seconds, 0}, {1'000'000 - seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path_of(cache, module).c_str(), times, 0), 0);
  };
  std::vector<wasm::Module> modules;
  for (int i = 1; i < 4; ++i) {
    modules.push_back(module_number(i));
    fill(cache, modules.back());
    set_age(modules.back(), 100 - i);
  }
  set_age(first, 1000);
  EXPECT_TRUE(has(cache, first)) << "a use makes it young";
  fill(cache, module_number(4));
  EXPECT_EQ(cache.usage()->entries, 4u);
  EXPECT_LE(cache.usage()->bytes, entry_bytes * 4 + entry_bytes / 2);
  EXPECT_TRUE(has(cache, first));
  EXPECT_FALSE(has(cache, modules[0]));
  EXPECT_TRUE(has(cache, modules[1]));
}

TEST_F(CodeCacheTest, AModuleLargerThanTheLimitIsNotStored) {
  const CodeCache cache(directory_, 1000);
  fill(cache, module_number(1));
  EXPECT_EQ(cache.usage()->entries, 0u);
}

TEST_F(CodeCacheTest, DirectoriesOfOthersAreNotUsed) {
  const wasm::Module module = module_number(1);
  const CodeCache cache(directory_, kLimit);
  fill(cache, module);
  // Others may write to it.
  ASSERT_EQ(::chmod(directory_.c_str(), 0770), 0);
  EXPECT_FALSE(has(cache, module));
  EXPECT_FALSE(cache.usage());
  ASSERT_EQ(::chmod(directory_.c_str(), 0700), 0);
  EXPECT_TRUE(has(cache, module));
  // A link instead of the directory.
  const std::string link = root_ + "/link";
  ASSERT_EQ(::symlink(directory_.c_str(), link.c_str()), 0);
  EXPECT_FALSE(has(CodeCache(link, kLimit), module));
  // A link, a file that others may write, and a pipe instead of the entry.
  const std::string path = path_of(cache, module);
  ASSERT_EQ(::chmod(path.c_str(), 0622), 0);
  EXPECT_FALSE(has(cache, module));
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(::rename(path.c_str(), (root_ + "/elsewhere").c_str()), 0);
  ASSERT_EQ(::symlink((root_ + "/elsewhere").c_str(), path.c_str()), 0);
  EXPECT_FALSE(has(cache, module));
  ::unlink(path.c_str());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(has(cache, module)) << "and does not wait";
}

TEST_F(CodeCacheTest, WhatIsInThePlaceOfAnEntryGoes) {
  const wasm::Module module = module_number(1);
  const CodeCache cache(directory_, kLimit);
  fill(cache, module);
  const std::string path = path_of(cache, module);
  ::unlink(path.c_str());
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  EXPECT_FALSE(has(cache, module));
  EXPECT_EQ(cache.usage()->entries, 0u);
  fill(cache, module);
  EXPECT_TRUE(has(cache, module)) << "an empty directory is replaced";
  // What is in directories is nobody's to remove.
  ::unlink(path.c_str());
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  std::ofstream(path + "/kept") << "x";
  fill(cache, module);
  EXPECT_FALSE(has(cache, module));
  ASSERT_TRUE(cache.clear());
  EXPECT_EQ(::access((path + "/kept").c_str(), F_OK), 0);
  ASSERT_EQ(::unlink((path + "/kept").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", (directory_ + "/link.hoist").c_str()), 0);
  ASSERT_TRUE(cache.clear());
  struct stat info = {};
  EXPECT_NE(::lstat(path.c_str(), &info), 0);
  EXPECT_NE(::lstat((directory_ + "/link.hoist").c_str(), &info), 0);
}

TEST_F(CodeCacheTest, NothingThatIsWrongWithTheDirectoryMatters) {
  const wasm::Module module = module_number(1);
  for (const std::string& directory :
       {std::string("/proc/nowhere"), std::string("/dev/null"), std::string("/dev/null/x"),
        root_ + "/" + std::string(300, 'x'), std::string()}) {
    const CodeCache cache(directory, kLimit);
    fill(cache, module);
    EXPECT_FALSE(has(cache, module)) << directory;
  }
}

TEST_F(CodeCacheTest, AbandonedTemporaryFilesGo) {
  const CodeCache cache(directory_, kLimit);
  fill(cache, module_number(1));
  const std::string old_file = directory_ + "/.new-old";
  const std::string new_file = directory_ + "/.new-new";
  std::ofstream(old_file) << "x";
  std::ofstream(new_file) << "x";
  const timespec times[2] = {{1'000'000, 0}, {1'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, old_file.c_str(), times, 0), 0);
  fill(cache, module_number(2));
  EXPECT_NE(::access(old_file.c_str(), F_OK), 0);
  EXPECT_EQ(::access(new_file.c_str(), F_OK), 0) << "somebody may be writing it";
}

}  // namespace
}  // namespace hoist::compiler
