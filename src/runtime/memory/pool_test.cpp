// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Pools and images: what a slot holds when it is taken, whatever its last user did; what is said
/// when there is no slot; what happens when the system refuses.
#include "runtime/memory/pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace hoist::runtime {
namespace {

using platform::PageCall;
constexpr std::uint64_t kPage = 65536;

struct Data {
  std::uint64_t to;
  std::vector<std::uint8_t> bytes;
};

std::vector<MemoryImage::Piece> pieces_of(const std::vector<Data>& data) {
  std::vector<MemoryImage::Piece> out;
  for (const Data& item : data) out.push_back({item.to, item.bytes});
  return out;
}

std::vector<std::uint8_t> plain(const std::vector<Data>& data, std::uint64_t size) {
  std::vector<std::uint8_t> out(size, 0);
  for (const Data& item : data) {
    std::copy(item.bytes.begin(), item.bytes.end(),
              out.begin() + static_cast<std::ptrdiff_t>(item.to));
  }
  return out;
}

std::vector<Data> random_data(std::mt19937& random, std::uint64_t size) {
  std::vector<Data> out;
  for (std::uint64_t i = random() % 20; i-- > 0;) {
    Data data{random() % (size - 9000), std::vector<std::uint8_t>(random() % 9000)};
    // Zeros too: they must overwrite what an earlier segment wrote.
    const bool zeros = random() % 3 == 0;
    for (std::uint8_t& byte : data.bytes) byte = zeros ? 0 : static_cast<std::uint8_t>(random());
    out.push_back(std::move(data));
  }
  return out;
}

PoolSettings settings(std::uint64_t keep) {
  PoolSettings out;
  out.instances = out.memories = out.tables = 3;
  out.memory_bytes = 64 * kPage;
  out.keep_resident_bytes = keep;
  return out;
}

bool holds(const std::uint8_t* memory, const std::vector<std::uint8_t>& wanted) {
  return std::memcmp(memory, wanted.data(), wanted.size()) == 0;
}

class PoolTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  void TearDown() override {
    for (int call = 0; call < platform::kPageCalls; ++call) {
      platform::fail_pages(static_cast<PageCall>(call), -1);
    }
  }
};

TEST_P(PoolTest, ASlotHoldsWhatWasAskedFor) {
  auto pool = Pool::create(settings(GetParam()));
  ASSERT_TRUE(pool);
  std::mt19937 random(7);
  struct Kind {
    std::shared_ptr<const MemoryImage> image;
    std::vector<std::uint8_t> contents;
  };
  std::vector<Kind> kinds;
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t size = (1 + random() % 4) * kPage;
    const std::vector<Data> data = random_data(random, size);
    auto image = MemoryImage::build(pieces_of(data));
    // Without an image (no data, say) a memory starts as zeros.
    kinds.push_back(
        {image, image == nullptr ? std::vector<std::uint8_t>(size, 0) : plain(data, size)});
  }
  for (int round = 0; round < 400; ++round) {
    const Kind& kind = kinds[random() % kinds.size()];
    const auto slot = (*pool)->take_memory(kind.image, kind.contents.size());
    ASSERT_TRUE(slot);
    std::uint8_t* memory = (*pool)->memory(*slot);
    ASSERT_TRUE(holds(memory, kind.contents)) << "round " << round;
    std::uint64_t size = kind.contents.size();
    if (random() % 2 == 0) {
      const std::uint64_t grown = size + (1 + random() % 5) * kPage;
      ASSERT_TRUE((*pool)->grow_memory(*slot, size, grown));
      ASSERT_TRUE(holds(memory + size, std::vector<std::uint8_t>(grown - size, 0)));
      size = grown;
    }
    if (random() % 3 != 0) std::memset(memory, 0xa5, size);
    (*pool)->give_memory(*slot);
  }
}

TEST_P(PoolTest, RefusalsOfTheSystemAreErrorsAndLeakNothing) {
  auto pool = Pool::create(settings(GetParam()));
  ASSERT_TRUE(pool);
  std::mt19937 random(11);
  const std::vector<Data> data = {{100, std::vector<std::uint8_t>(5000, 1)}};
  const auto image = MemoryImage::build(pieces_of(data));
  ASSERT_NE(image, nullptr);
  for (int round = 0; round < 300; ++round) {
    constexpr PageCall kCalls[] = {PageCall::MapFile, PageCall::MapFresh, PageCall::Protect,
                                   PageCall::Discard};
    const PageCall call = kCalls[random() % 4];
    platform::fail_pages(call, static_cast<int>(random() % 3));
    const bool with_image = random() % 2 == 0;
    const std::uint64_t size = (1 + random() % 3) * kPage;
    const auto slot = (*pool)->take_memory(with_image ? image : nullptr, size);
    // A wipe that fails too would retire the slot.
    platform::fail_pages(PageCall::MapFresh, -1);
    if (slot) {
      const std::vector<Data> none;
      ASSERT_TRUE(holds((*pool)->memory(*slot), plain(with_image ? data : none, size)));
      std::memset((*pool)->memory(*slot), 0x5a, size);
      (*pool)->give_memory(*slot);
    } else {
      EXPECT_EQ(slot.error().kind(), ErrorKind::OutOfMemory);
    }
    platform::fail_pages(call, -1);
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*pool)->take_memory(image, kPage));
}

TEST_P(PoolTest, SlotsRunOut) {
  auto pool = Pool::create(settings(GetParam()));
  ASSERT_TRUE(pool);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*pool)->take_memory(nullptr, kPage));
  const auto none = (*pool)->take_memory(nullptr, kPage);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::Limit);
  EXPECT_EQ(none.error().message(),
            "all 3 memories of the engine's pool are in use (PoolingOptions::memories)");
  (*pool)->give_memory(1);
  EXPECT_TRUE((*pool)->take_memory(nullptr, kPage));
  EXPECT_EQ((*pool)->take_memory(nullptr, 65 * kPage).error().kind(), ErrorKind::Limit);
}

TEST_P(PoolTest, TablesAndBlocksStartAsZeros) {
  auto pool = Pool::create(settings(GetParam()));
  ASSERT_TRUE(pool);
  for (std::uint64_t used : {1U, 600U, 20'000U, 5U}) {
    const auto slot = (*pool)->take_table();
    ASSERT_TRUE(slot);
    std::uint64_t* table = (*pool)->table(*slot);
    for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_EQ(table[i], 0U);
    std::memset(table, 0xff, used * 8);
    (*pool)->give_table(*slot, used);
  }
  for (const std::uint64_t key : {1U, 1U, 2U, 2U, 3U, 4U, 1U}) {
    const auto block = (*pool)->take_block(key, key * 10'000);
    ASSERT_TRUE(block);
    const std::uint64_t checked = block->same ? 128 : 40'000;
    for (std::uint64_t i = 0; i < checked; ++i) ASSERT_EQ(block->base[i], 0U);
    if (block->same) {
      EXPECT_EQ(block->base[128], key);
    }
    std::memset(block->base, static_cast<int>(key), key * 10'000);
    (*pool)->give_block(block->slot, key, 128);
  }
  (*pool)->forget_block(1);
  EXPECT_FALSE((*pool)->take_block(1, 100)->same);
}

INSTANTIATE_TEST_SUITE_P(Keep, PoolTest, testing::Values(0, 2 * kPage, 1000 * kPage));

TEST(MemoryImage, IsNotMadeWhenItDoesNotPayOrCannotBe) {
  EXPECT_EQ(MemoryImage::build({}), nullptr);
  const std::vector<Data> far = {{0, {1}}, {std::uint64_t{1} << 30, {1}}};
  EXPECT_EQ(MemoryImage::build(pieces_of(far)), nullptr);
  const std::vector<Data> good = {{70'000, {1, 2, 3}}};
  for (const PageCall call : {PageCall::CreateFile, PageCall::SizeFile, PageCall::MapFile}) {
    platform::fail_pages(call, 0);
    EXPECT_EQ(MemoryImage::build(pieces_of(good)), nullptr);
    platform::fail_pages(call, -1);
  }
  EXPECT_NE(MemoryImage::build(pieces_of(good)), nullptr);
}

}  // namespace
}  // namespace hoist::runtime
