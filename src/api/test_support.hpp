// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For the tests of the public API: one engine, modules from text.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "hoist/hoist.hpp"

namespace hoist::api {

/// Ends the test program with the message where a value is expected.
template <typename T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message();
    std::abort();
  }
  return *std::move(result);
}
inline void must(Result<void> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message();
    std::abort();
  }
}

inline const Engine& test_engine() {
  static const Engine* engine = new Engine(must(Engine::create()));
  return *engine;
}

inline Module compile(std::string_view text, const Engine& engine = test_engine()) {
  return must(Module::from_text(engine, text));
}

/// An instance of a module without imports, in a store of its own.
struct Guest {
  Store store;
  Instance instance;
  explicit Guest(std::string_view text, const Engine& engine = test_engine())
      : store(engine), instance(must(Instance::create(store, compile(text, engine)))) {}
  Func func(std::string_view name) const { return must(instance.func(name)); }
  Result<std::vector<Val>> call(std::string_view name, std::initializer_list<Val> args = {}) const {
    return func(name).call(args);
  }
};

/// "b a start": functions of the frames, innermost first.
inline std::string frame_names(const Error& error) {
  const Trap* trap = Trap::of(error);
  if (trap == nullptr) return "(no frames)";
  std::string out;
  for (const Frame& frame : trap->frames()) {
    if (!out.empty()) out += ' ';
    if (!frame.module.empty()) out += frame.module + "!";
    out += frame.function.empty() ? "?" : frame.function;
  }
  return out;
}

#define EXPECT_TRAP(result, the_code, frames)                                                \
  do {                                                                                       \
    auto&& trap_result = (result);                                                           \
    ASSERT_FALSE(trap_result);                                                               \
    EXPECT_EQ(trap_result.error().kind(), ErrorKind::Trap) << trap_result.error().message(); \
    EXPECT_EQ(trap_result.error().code(), static_cast<int>(the_code));                       \
    EXPECT_EQ(frame_names(trap_result.error()), frames);                                     \
  } while (false)

#define EXPECT_ERROR(result, the_kind, text)          \
  do {                                                \
    auto&& error_result = (result);                   \
    ASSERT_FALSE(error_result);                       \
    EXPECT_EQ(error_result.error().kind(), the_kind); \
    EXPECT_EQ(error_result.error().message(), text);  \
  } while (false)

}  // namespace hoist::api
