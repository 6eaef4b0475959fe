// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "demangle/demangle.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <string>

#include "base/random.hpp"

namespace hoist::demangle {
namespace {

TEST(Demangle, CppAndBothFormsOfRust) {
  if (!is_available()) GTEST_SKIP() << "built without libiberty";
  EXPECT_EQ(demangled("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(demangled("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt");
  EXPECT_EQ(demangled("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(demangled("_RNvCs15kBYyAo9fc_7mycrate7example"), "mycrate::example");
}

TEST(Demangle, OtherNamesStay) {
  for (const char* name : {"", "_", "_Z", "_R", "main", "_Zwhat?", "_Reset", "foo(int)",
                           "__original_main", "_ZN3foo3barE\xff"}) {
    EXPECT_EQ(demangled(name), name);
  }
  EXPECT_EQ(demangled(std::string_view("_Z1fi\0x", 7)), std::string_view("_Z1fi\0x", 7));
}

TEST(Demangle, HostileNamesAreBounded) {
  // Each pair doubles what the one before stands for.
  std::string doubling = "_Z1fI1A";
  for (int i = 0; i < 200; ++i) doubling += "S_IS" + std::to_string(i % 10) + "_S_E";
  std::string nested = "_Z";
  for (int i = 0; i < 700; ++i) nested += "N1A";
  std::string pointers = "_Z1f" + std::string(1400, 'P') + "i";
  std::string exponential = "_Z1f";
  exponential += "1AI1BS_E";
  for (char c = '0'; c <= '9'; ++c) exponential += std::string("1AIS") + c + "_S" + c + "_E";
  for (char c = 'A'; c <= 'Z'; ++c) exponential += std::string("1AIS") + c + "_S" + c + "_E";
  const std::string rust = "_RMC0" + std::string(600, 'T') + "lE";
  for (const std::string& name :
       {doubling, nested, pointers, exponential, rust, std::string(1 << 20, 'x'),
        "_Z" + std::string(1 << 20, 'N'), "_R" + std::string(1499, 'B')}) {
    EXPECT_LE(demangled(name).size(), std::max(kMaxDemangled + 3, name.size()));
    EXPECT_LE(display_name(name).size(), 4 * 1024U + 3);
  }
}

TEST(Demangle, RandomNamesDoNoHarm) {
  base::SplitMix64 random(7);
  static constexpr std::string_view kLetters = "NISTLPRKEijvcS_0123456789ABCZMCBGDFQXdtpqyh\x80\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string name = i % 2 == 0 ? "_Z" : "_R";
    const std::uint64_t length = random.next() % 120;
    for (std::uint64_t k = 0; k < length; ++k) name += kLetters[random.next() % kLetters.size()];
    static_cast<void>(demangled(name));
  }
}

TEST(Demangle, SmallStacks) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{64} << 10), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void*) -> void* {
                  static_cast<void>(demangled("_Z1f" + std::string(1400, 'P') + "i"));
                  return nullptr;
                },
                nullptr),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Demangle, DisplayNamesAreOneLine) {
  EXPECT_EQ(display_name("a\nb\x1b[2J\xff"), "a\\x0ab\\x1b[2J\\xff");
  EXPECT_EQ(display_name("_ZN3foo3barEi", true), "_ZN3foo3barEi");
}

}  // namespace
}  // namespace hoist::demangle
