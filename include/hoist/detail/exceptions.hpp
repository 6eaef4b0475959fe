// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// How an exception of a host function gets past WebAssembly: caught where the host function was
/// called, carried as an Error, thrown again by the call that entered WebAssembly. The library is
/// built without exceptions; all of this is inline code, and code that differs with the embedder's
/// setting takes its `Exceptions` as a template parameter, so that files built with and without
/// exceptions can be linked into one program.

#include <utility>

#include "hoist/detail/host_call.hpp"

#if defined(__cpp_exceptions)
#include <exception>
#endif

namespace hoist::detail {

#if defined(__cpp_exceptions)
inline namespace exceptions_on {

struct Exceptions {
  static constexpr bool kEnabled = true;

  struct Carrier : ErrorDetail {
    explicit Carrier(std::exception_ptr the_exception)
        : ErrorDetail(Kind::Exception,
                      [](ErrorDetail* self) { delete static_cast<Carrier*>(self); }),
          exception(std::move(the_exception)) {}
    std::exception_ptr exception;
  };

  static Error carry(std::string message) {
    Error error(ErrorKind::Host, std::move(message));
    return std::move(error.with_detail(ErrorDetailRef(new Carrier(std::current_exception()))));
  }

  template <typename Body>
  static bool guard(HostCall& call, Body&& body) noexcept {
    try {
      return body();
    } catch (const std::exception& exception) {
      call.fail(carry(std::string("a host function threw an exception: ") + exception.what()));
    } catch (...) {
      call.fail(carry("a host function threw an exception"));
    }
    return false;
  }

  /// Throws if `error` carries an exception.
  static void pass_on(const Error& error) {
    const ErrorDetail* detail = error.detail();
    if (detail != nullptr && detail->kind == ErrorDetail::Kind::Exception) {
      std::rethrow_exception(static_cast<const Carrier*>(detail)->exception);
    }
  }
};

}  // namespace exceptions_on
#else
inline namespace exceptions_off {

struct Exceptions {
  static constexpr bool kEnabled = false;
  template <typename Body>
  static bool guard(HostCall&, Body&& body) noexcept {
    return body();
  }
  static void pass_on(const Error&) noexcept {}
};

}  // namespace exceptions_off
#endif

/// Passes a result on to the embedder; a carried exception is thrown instead.
template <typename Mode, typename T>
Result<T> pass_on(Result<T> result) noexcept(!Mode::kEnabled) {
  if (!result) Mode::pass_on(result.error());
  return result;
}

}  // namespace hoist::detail
