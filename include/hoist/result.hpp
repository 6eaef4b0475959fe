// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Result<T> and Error: how every fallible call of Hoist answers. Shaped like std::expected, in
/// plain C++20, without exceptions.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace hoist {

/// What went wrong, coarsely: enough to decide what to do. The message says the rest.
enum class ErrorKind : std::uint8_t {
  Malformed,    ///< the bytes or the text are not WebAssembly (or not CLIF)
  Invalid,      ///< well-formed, but validation fails
  Unsupported,  ///< names a feature that this build does not have
  Link,         ///< an import is missing or has another type
  Limit,        ///< a documented limit of Hoist or one that the embedder set
  OutOfMemory,  ///< the system refused memory
  Io,           ///< a file or device
  BadArgument,  ///< the caller passed something that cannot be
  Trap,         ///< the guest trapped (api level)
  Exit,         ///< the guest asked to exit; `Error::code()` is the status
  Host,         ///< a host function failed
  Internal,     ///< never shown for guest input
  Exception     ///< the guest threw an exception that nothing caught (exception.hpp)
};

namespace detail {

/// What an Error may carry besides its message: a trap's frames (trap.hpp), those and an exception
/// of WebAssembly (exception.hpp), or the C++ exception of a host function (detail/exceptions.hpp).
/// Counted by its owners; made with a count of 1.
struct ErrorDetail {
  enum class Kind : std::uint8_t { Trap, Exception, Thrown };
  ErrorDetail(Kind the_kind, void (*the_destroy)(ErrorDetail*))
      : destroy(the_destroy), kind(the_kind) {}
  std::atomic<std::uint32_t> owners{1};
  void (*destroy)(ErrorDetail*);
  Kind kind;
};

class ErrorDetailRef {
 public:
  ErrorDetailRef() = default;
  /// Takes over one count.
  explicit ErrorDetailRef(ErrorDetail* detail) : detail_(detail) {}
  ErrorDetailRef(const ErrorDetailRef& other) : detail_(other.detail_) {
    if (detail_ != nullptr) detail_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  ErrorDetailRef(ErrorDetailRef&& other) noexcept
      : detail_(std::exchange(other.detail_, nullptr)) {}
  ErrorDetailRef& operator=(ErrorDetailRef other) noexcept {
    std::swap(detail_, other.detail_);
    return *this;
  }
  ~ErrorDetailRef() {
    if (detail_ != nullptr && detail_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      detail_->destroy(detail_);
    }
  }
  ErrorDetail* get() const { return detail_; }

 private:
  ErrorDetail* detail_ = nullptr;
};

}  // namespace detail

class [[nodiscard]] Error {
 public:
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

  Error(ErrorKind kind, std::string message, std::uint64_t offset = kNoOffset)
      : message_(std::move(message)), offset_(offset), kind_(kind) {}

  ErrorKind kind() const { return kind_; }
  /// Lower-case first letter, no final period; names the found and the allowed value.
  const std::string& message() const { return message_; }
  std::string& message() { return message_; }
  /// Byte offset into the input (binary), or kNoOffset.
  std::uint64_t offset() const { return offset_; }
  bool has_offset() const { return offset_ != kNoOffset; }
  /// 1-based position in a text, 0 where there is none.
  std::uint32_t line() const { return line_; }
  std::uint32_t column() const { return column_; }
  Error& at_line(std::uint32_t line, std::uint32_t column) {
    line_ = line;
    column_ = column;
    return *this;
  }
  /// Exit status (Exit), trap code (Trap); else 0.
  std::int32_t code() const { return code_; }
  Error& with_code(std::int32_t code) {
    code_ = code;
    return *this;
  }
  /// For Hoist's own headers; null for most errors. See trap.hpp for a trap's frames.
  detail::ErrorDetail* detail() const { return detail_.get(); }
  Error& with_detail(detail::ErrorDetailRef detail) {
    detail_ = std::move(detail);
    return *this;
  }

 private:
  std::string message_;
  detail::ErrorDetailRef detail_;
  std::uint64_t offset_ = kNoOffset;
  std::uint32_t line_ = 0;
  std::uint32_t column_ = 0;
  std::int32_t code_ = 0;
  ErrorKind kind_;
};

/// A T or an Error. Accessing the wrong one ends the process: it is a bug of the caller.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : value_(std::move(value)), ok_(true) {}       // NOLINT: implicit by design
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT: implicit by design
  Result(Result&& other) noexcept : ok_(other.ok_) {
    if (ok_) {
      new (&value_) T(std::move(other.value_));
    } else {
      new (&error_) Error(std::move(other.error_));
    }
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&& other) noexcept {
    if (this != &other) {
      this->~Result();
      new (this) Result(std::move(other));
    }
    return *this;
  }
  ~Result() {
    if (ok_) {
      value_.~T();
    } else {
      error_.~Error();
    }
  }

  bool has_value() const { return ok_; }
  explicit operator bool() const { return ok_; }
  T& value() & { return check(true), value_; }
  const T& value() const& { return check(true), value_; }
  T&& value() && { return check(true), std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() & { return check(false), error_; }
  const Error& error() const& { return check(false), error_; }
  Error&& error() && { return check(false), std::move(error_); }

 private:
  void check(bool want_value) const {
    if (ok_ != want_value) std::abort();
  }
  union {
    T value_;
    Error error_;
  };
  bool ok_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design
  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const {
    if (error_) std::abort();
  }
  Error& error() & { return error_.value(); }
  const Error& error() const& { return error_.value(); }
  Error&& error() && { return std::move(error_).value(); }

 private:
  std::optional<Error> error_;
};

}  // namespace hoist
