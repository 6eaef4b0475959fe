// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the embedding programs share: a result or the end of the program with its message.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "hoist/hoist.hpp"

namespace guest {

[[noreturn]] inline void fail(const char* what, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", what, message.c_str());
  std::exit(1);
}

template <typename T>
T need(hoist::Result<T> result, const char* what) {
  if (!result) fail(what, result.error().message());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Prints one line "ok NAME" or ends the program with both texts.
inline void expect(const char* name, const std::string& found, const std::string& wanted) {
  if (found != wanted) fail(name, "found \"" + found + "\", wanted \"" + wanted + "\"");
  std::printf("ok %s: %s\n", name, found.c_str());
}

}  // namespace guest
