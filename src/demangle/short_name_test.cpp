// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "demangle/short_name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hoist::demangle {
namespace {

TEST(ShortName, KeepsWhatTellsFunctionsApart) {
  static constexpr struct {
    const char* name;
    const char* wanted;
  } kCases[] = {
      {"main", "main"},
      {"wasm[shop]::function[12]", "wasm[shop]::function[12]"},
      {"entry trampoline [i32, i32] -> [i32]", "entry trampoline [i32, i32] -> [i32]"},
      {"wasi_snapshot_preview1.fd_write [host]", "wasi_snapshot_preview1.fd_write [host]"},
      {"my own name", "my own name"},
      {"shop::buy(int)", "shop::buy"},
      {"shop::Box::get() const", "shop::Box::get"},
      {"shop::Box<int>::get() const & [inlined]", "shop::Box<…>::get [inlined]"},
      {"void std::__2::sort<int*, Less>(int*, int*, Less)", "std::sort<…>"},
      {"std::__2::map<int, std::__2::pair<a, b>>::find(int const&)", "std::map<…>::find"},
      {"bool shop::operator< <int>(Box<int> const&)", "shop::operator<<…>"},
      {"shop::operator<(Box<int> const&, Box<int> const&)", "shop::operator<"},
      {"Ptr<Box>::operator->() const", "Ptr<…>::operator->"},
      {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
       "std::operator<<<…>"},
      {"a::operator<=>(a::T const&) const", "a::operator<=>"},
      {"F<int>::operator()(int) const", "F<…>::operator()"},
      {"operator new(unsigned long)", "operator new"},
      {"Box::operator std::vector<int>() const", "Box::operator std::vector<…>"},
      {"(anonymous namespace)::twice(int)", "(anonymous namespace)::twice"},
      {"shop::run(int)::{lambda(int, Box<a>)#2}::operator()(int, Box<a>) const",
       "shop::run::{lambda#2}::operator()"},
      {"f<(1 > 2)>(int)", "f<…>"},
      {"void t::insert[abi:nqn220108]<a::B>(a::B)", "t::insert<…>"},
      {"g<&a::operator> >(int)", "g<…>"},
      {"<alloc::vec::Vec<T, A> as core::ops::drop::Drop>::drop",
       "<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop"},
      {"core::num::<impl core::str::FromStr for i32>::from_str",
       "core::num::<impl core::str::FromStr for i32>::from_str"},
      {"<<a::B<C> as d::E>::F as g::H>::i", "<<a::B<…> as d::E>::F as g::H>::i"},
      {"<T>::push", "<T>::push"},
      {"alloc::vec::from_elem::<u8>", "alloc::vec::from_elem::<…>"},
      {"core::ops::function::FnOnce::call_once{{vtable.shim}}",
       "core::ops::function::FnOnce::call_once{{vtable.shim}}"},
      {"main::run::{{closure}}", "main::run::{{closure}}"},
      {"<fn(u8) -> bool as a::B>::c", "<fn(u8) -> bool as a::B>::c"},
      {"main.(*Tree).Walk", "main.(*Tree).Walk"},
      {"hash.Map(u32,u32,a.very.long.context,80).put", "hash.Map(…).put"},
      {"~lib/array/Array<i32>#push", "~lib/array/Array<…>#push"},
      {"Box::operator std::__2::view<char>[abi:x]() const", "Box::operator std::view<…>"},
      // Cut.
      {"std::__2::map<int, std::__2::pair<in...", "std::map<…>"},
      {"shop::run(int, std::...", "shop::run"},
      {"decltype ((std::move(a.very.long.name)...", "decltype (…)"},
      // Not understood: as they are.
      {"a<b", "a<b"},
      {"a)>(", "a)>("},
      {"f(int", "f(int"},
      {"", ""},
  };
  for (const auto& each : kCases) EXPECT_EQ(short_name(each.name), each.wanted) << each.name;
}

TEST(ShortName, HostileNamesAreOfNoConsequence) {
  for (const char* piece : {"<", "(", "{", "a<", "<a ", "operator", "operator<", "<<a as ", "::"}) {
    std::string name;
    while (name.size() < 5000) name += piece;
    EXPECT_EQ(short_name(name), name) << piece;
    EXPECT_LE(columns_of(fitting_name(name, 60)), 60U) << piece;
  }
  std::string nested = "x";
  for (int i = 0; i < 1000; ++i) nested = "<" + nested + " as T>";
  EXPECT_LT(short_name(nested).size(), 200U);
}

TEST(ShortName, FitsItsColumns) {
  EXPECT_EQ(fitting_name("a::b::Vec<int>::push(int)", 40), "a::b::Vec<…>::push");
  EXPECT_EQ(fitting_name("aaaaaaaa::bbbbbbbb::Vec<int>::push(int)", 20), "…::Vec<…>::push");
  EXPECT_EQ(fitting_name("<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter", 50),
            "<Vec<…> as FromIterator<…>>::from_iter");
  EXPECT_EQ(fitting_name("core::num::<impl core::str::FromStr for i32>::from_str", 45),
            "core::num::<impl FromStr for i32>::from_str");
  EXPECT_EQ(fitting_name("abcdefghijklmnopqrstuvwxyz", 10), "abc…uvwxyz");
  EXPECT_EQ(without_middle("ääääääääääää", 7), "ää…ääää");
  EXPECT_EQ(columns_of("a…ä"), 3U);
}

}  // namespace
}  // namespace hoist::demangle
