// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the heap collects, in collections and not in time.
#include "runtime/gc/heap.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hoist::runtime {
namespace {

/// `roots` are the references of a guest.
class Guest final : public Heap::Owner {
 public:
  void mark_roots(Heap::Marker& marker) override {
    for (const std::uint64_t word : roots) marker.mark(word);
  }
  void mark_payload(const image::VmException&, Heap::Marker&) override {}
  void sweep_exceptions() override {}
  Error references_full() const override { return {ErrorKind::Limit, "full"}; }

  /// False: there is no room. What is `kept` goes to the roots.
  bool make(bool kept) {
    const std::size_t scope = heap.scope();
    const auto made = heap.new_object(nullptr, nullptr);
    if (made && kept) roots.push_back(word_of(**made));
    heap.pop_to(scope);
    return made.has_value();
  }

  std::vector<std::uint64_t> roots;
  Heap heap{*this};
};

TEST(Heap, CollectsWhenThereIsTwiceAsMuch) {
  Guest guest;
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(guest.make(true));
  // 4,096, 8,192, …, 65,536
  EXPECT_EQ(guest.heap.collections(), 5U);
  for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(guest.make(false));
  EXPECT_LE(guest.heap.collections(), 5U + 10U);
}

TEST(Heap, TheLimitIsReachedExactly) {
  Guest guest;
  guest.heap.limits.objects = 10;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(guest.make(true));
  EXPECT_FALSE(guest.make(true));
  guest.roots.pop_back();
  EXPECT_TRUE(guest.make(true));
  EXPECT_FALSE(guest.make(true));
}

/// A guest whose live objects are nearly all that it may have.
TEST(Heap, CollectionsArePaidForNearTheLimit) {
  for (const std::uint64_t below : {0U, 1U, 10U, 100U, 1'000U}) {
    Guest guest;
    guest.heap.limits.objects = 10'000;
    for (std::uint64_t i = below; i < 10'000; ++i) ASSERT_TRUE(guest.make(true));
    const std::uint64_t before = guest.heap.collections();
    std::uint64_t made = 0;
    for (int i = 0; i < 100'000; ++i) made += guest.make(false) ? 1U : 0U;
    // Each looks at 20,000 words and objects or more: one in 1,250 attempts.
    EXPECT_LE(guest.heap.collections() - before, below == 1'000 ? 101U : 81U) << below;
    EXPECT_EQ(made == 0, below == 0) << below;
    if (below == 1'000) {
      EXPECT_EQ(made, 100'000U);
    }
    // It gets room again in the end, and at once if somebody collects.
    guest.roots.clear();
    bool fine = false;
    for (int i = 0; i < 2'000 && !fine; ++i) fine = guest.make(false);
    EXPECT_TRUE(fine) << below;
  }
}

TEST(Heap, AnExplicitCollectionEndsTheWaiting) {
  Guest guest;
  guest.heap.limits.objects = 10'000;
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(guest.make(true));
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(guest.make(true));
  guest.roots.resize(9'999);
  EXPECT_FALSE(guest.make(true));
  guest.heap.collect();
  EXPECT_TRUE(guest.make(true));
}

/// Few objects, but a table full of null that each collection walks.
TEST(Heap, LargeRootsArePaidForToo) {
  Guest guest;
  guest.roots.resize(1'000'000);
  for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(guest.make(false));
  EXPECT_LE(guest.heap.collections(), 17U);
}

}  // namespace
}  // namespace hoist::runtime
