// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Names of functions for people: what tells one from another, in little room. Takes what
/// `display_name` gives; what it does not understand stays as it is. Time is linear in the name's
/// length but for nested Rust qualifications, of which eight are looked into.

#include <cstddef>
#include <string>
#include <string_view>

namespace hoist::demangle {

/// Without return type, parameters and template arguments:
///   "void std::__2::sort<int*, Less>(int*, int*, Less)"  "std::sort<…>"
///   "<alloc::vec::Vec<T> as Drop>::drop"                  "<alloc::vec::Vec<…> as Drop>::drop"
///   "bool shop::operator< <int>(Box<int> const&)"         "shop::operator<<…>"
std::string short_name(std::string_view name);

/// In at most `columns` (at least 8) code points: `short_name`, if need be without the
/// namespaces in brackets ("<Vec<…> as Drop>::drop") and the outer ones ("…::Vec<…>::push"), at
/// last without its middle.
std::string fitting_name(std::string_view name, std::size_t columns);

/// `text` without its middle, for which "…" stands, in at most `columns` code points.
std::string without_middle(std::string_view text, std::size_t columns);

/// Code points of UTF-8.
std::size_t columns_of(std::string_view text);

}  // namespace hoist::demangle
