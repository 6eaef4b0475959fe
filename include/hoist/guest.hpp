// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Views of guest memory: the way to take a pointer and a length from a guest.
///
///   linker.define_func("env", "log", [](guest_string_view text) { std::puts(text.str().c_str());
///   }); linker.define_func("env", "sum", [](guest_span<const float> in, guest_span<float> out) { …
///   });
///
/// A view is two parameters of the WebAssembly function, both i32: an address, and a count of
/// elements (of bytes for a string). They are of the memory that the calling instance exports as
/// "memory". Before the host function runs, the whole range is checked: a range out of bounds traps
/// ("out of bounds memory access"), and so does an address that is not a multiple of the element's
/// alignment ("unaligned atomic"), be it of an empty range, which is good anywhere else within
/// memory and at its end.
///
/// A view stays good while memory grows, wherever that moves it to: every access looks the memory
/// up and is checked again. What a view gives out as pointers (`span`, `view`) is good until the
/// guest runs, memory grows or the store ends. The guest may change what a view shows whenever it
/// runs: copy before you check and use.

#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "hoist/func.hpp"
#include "hoist/memory.hpp"

namespace hoist {

namespace detail {
/// The memory of the caller if the range is in it, else none after HostCall::fail. `count` elements
/// of `size` bytes.
HOIST_API std::optional<Memory> guest_memory(HostCall& call, std::uint64_t address,
                                             std::uint64_t count, std::size_t size,
                                             std::size_t alignment) noexcept;
/// @error Trap: out of bounds or not aligned; BadArgument: the store is gone.
HOIST_API Result<void> check_range(const Memory& memory, std::uint64_t address, std::uint64_t count,
                                   std::size_t size, std::size_t alignment) noexcept;
}  // namespace detail

/// `count` values of type T in a guest's memory; const T: they can only be read. T is trivially
/// copyable and has the layout that the guest's compiler gives it (little-endian, no pointers). Any
/// bytes must be a value of it, since the guest may put any there: take a number for a bool or
/// enum.
template <typename T>
class guest_span {
 public:
  using value_type = std::remove_const_t<T>;
  static_assert(std::is_trivially_copyable_v<value_type> && !std::is_pointer_v<value_type>);
  static_assert(!std::is_same_v<value_type, bool>, "a guest's byte may be neither 0 nor 1");

  /// Empty, of no memory.
  guest_span() = default;
  /// @error Trap: out of bounds or not aligned; BadArgument: the store is gone.
  static Result<guest_span> create(const Memory& memory, std::uint64_t address,
                                   std::uint64_t count) noexcept {
    auto good = detail::check_range(memory, address, count, sizeof(T), alignof(T));
    if (!good) return std::move(good).error();
    return guest_span(memory, address, count);
  }
  operator guest_span<const T>() const  // NOLINT: implicit by design
    requires(!std::is_const_v<T>)
  {
    return memory_ ? guest_span<const T>(*memory_, address_, count_) : guest_span<const T>();
  }

  std::size_t size() const { return count_; }
  std::size_t size_bytes() const { return count_ * sizeof(T); }
  bool empty() const { return count_ == 0; }
  std::uint64_t address() const { return address_; }
  const std::optional<Memory>& memory() const { return memory_; }

  /// @error Trap ("out of bounds memory access"): `index` is not below size(); BadArgument: the
  /// store is gone.
  Result<value_type> at(std::size_t index) const noexcept {
    if (!memory_ || index >= count_) return make_trap(TrapCode::MemoryOutOfBounds);
    return memory_->template get<value_type>(address_ + index * sizeof(T));
  }
  /// The same for who knows that it is in range: ends the process otherwise, as the value of a
  /// failed Result does.
  value_type operator[](std::size_t index) const noexcept {
    value_type out;
    std::memcpy(&out, place(index), sizeof(T));
    return out;
  }
  void set(std::size_t index, const value_type& value) const noexcept
    requires(!std::is_const_v<T>)
  {
    std::memcpy(place(index), &value, sizeof(T));
  }

  /// Elements [offset, offset + count). @error Trap: not all of them are in this view.
  Result<guest_span> subspan(std::size_t offset, std::size_t count) const noexcept {
    if (offset > count_ || count > count_ - offset) return make_trap(TrapCode::MemoryOutOfBounds);
    if (!memory_) return guest_span();
    return guest_span(*memory_, address_ + offset * sizeof(T), count);
  }
  /// Copies the first elements, as many as both have room for; says how many.
  std::size_t copy_to(std::span<value_type> to) const noexcept {
    const std::span<T> from = span();
    const std::size_t count = std::min(from.size(), to.size());
    if (count != 0) std::memcpy(to.data(), from.data(), count * sizeof(T));
    return count;
  }
  std::size_t copy_from(std::span<const value_type> from) const noexcept
    requires(!std::is_const_v<T>)
  {
    const std::span<T> to = span();
    const std::size_t count = std::min(from.size(), to.size());
    if (count != 0) std::memcpy(to.data(), from.data(), count * sizeof(T));
    return count;
  }
  std::vector<value_type> to_vector() const {
    std::vector<value_type> out(span().size());
    copy_to(out);
    return out;
  }
  /// The elements in place, for speed: good until the guest runs, memory grows or the store ends.
  /// Empty if the store is gone.
  std::span<T> span() const noexcept {
    if (!memory_ || count_ == 0) return {};
    const std::span<std::uint8_t> all = memory_->data();
    if (address_ > all.size() || size_bytes() > all.size() - address_) return {};
    return {reinterpret_cast<T*>(all.data() + address_), count_};
  }

  /// Reads elements one by one; each access is checked as operator[] is.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = guest_span::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = value_type;
    iterator() = default;
    iterator(const guest_span* of, std::size_t index) : of_(of), index_(index) {}
    value_type operator*() const { return (*of_)[index_]; }
    iterator& operator++() {
      ++index_;
      return *this;
    }
    iterator operator++(int) { return iterator(of_, index_++); }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    const guest_span* of_ = nullptr;
    std::size_t index_ = 0;
  };
  iterator begin() const { return iterator(this, 0); }
  iterator end() const { return iterator(this, count_); }

 private:
  template <typename>
  friend class guest_span;
  template <typename>
  friend struct detail::ParamType;
  guest_span(const Memory& memory, std::uint64_t address, std::size_t count)
      : memory_(memory), address_(address), count_(count) {}
  std::uint8_t* place(std::size_t index) const noexcept {
    if (!memory_ || index >= count_) std::abort();
    const std::span<std::uint8_t> all = memory_->data();
    const std::uint64_t at = address_ + index * sizeof(T);
    if (at > all.size() || sizeof(T) > all.size() - at) std::abort();
    return all.data() + at;
  }
  std::optional<Memory> memory_;
  std::uint64_t address_ = 0;
  std::size_t count_ = 0;
};

/// Text of a guest: bytes that are UTF-8 by convention and not checked to be.
class guest_string_view {
 public:
  guest_string_view() = default;
  explicit guest_string_view(const guest_span<const char>& bytes) : bytes_(bytes) {}
  /// @error as guest_span.
  static Result<guest_string_view> create(const Memory& memory, std::uint64_t address,
                                          std::uint64_t length) noexcept {
    auto bytes = guest_span<const char>::create(memory, address, length);
    if (!bytes) return std::move(bytes).error();
    return guest_string_view(*bytes);
  }

  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  std::uint64_t address() const { return bytes_.address(); }
  const guest_span<const char>& bytes() const { return bytes_; }
  /// A copy of the host's own.
  std::string str() const { return std::string(view()); }
  /// In place: good until the guest runs, memory grows or the store ends. Empty if it is gone.
  std::string_view view() const noexcept {
    const std::span<const char> text = bytes_.span();
    return {text.data(), text.size()};
  }
  friend bool operator==(const guest_string_view& a, std::string_view b) { return a.view() == b; }

 private:
  guest_span<const char> bytes_;
};

namespace detail {

template <typename T>
struct ParamType<guest_span<T>> {
  static constexpr bool kKnown = true;
  static constexpr bool kCanFail = true;
  static constexpr std::size_t kSlots = 2;
  static constexpr ValKind kind(std::size_t) { return ValKind::I32; }
  static guest_span<T> get(const Slot* slots, HostCall& call, bool& ok) {
    if (!ok) return {};
    const std::uint64_t address = static_cast<std::uint32_t>(slots[0].bits[0]);
    const std::uint64_t count = static_cast<std::uint32_t>(slots[1].bits[0]);
    const auto memory = guest_memory(call, address, count, sizeof(T), alignof(T));
    if (memory) return guest_span<T>(*memory, address, count);
    ok = false;
    return {};
  }
  /// For calls of guests: the callee must take it to be of the memory that it is of.
  static bool put(const guest_span<T>& view, StoreRef store, Slot* slots) {
    if (view.memory() && view.memory()->store() != store) return false;
    slots[0].bits[0] = static_cast<std::uint32_t>(view.address());
    slots[1].bits[0] = static_cast<std::uint32_t>(view.size());
    return true;
  }
};

template <>
struct ParamType<guest_string_view> : ParamType<guest_span<const char>> {
  using Bytes = ParamType<guest_span<const char>>;
  static guest_string_view get(const Slot* slots, HostCall& call, bool& ok) {
    return guest_string_view(Bytes::get(slots, call, ok));
  }
  static bool put(const guest_string_view& view, StoreRef store, Slot* slots) {
    return Bytes::put(view.bytes(), store, slots);
  }
};

}  // namespace detail

}  // namespace hoist
