// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// How a handle (StoreRef and what is built on it) finds its store, or that the store is gone: a
/// slot that is never freed, and the store's number, which is never used twice.

#include <atomic>
#include <cstdint>

#include "hoist/store.hpp"

namespace hoist::runtime {
class Store;
}

namespace hoist::detail {

struct StoreSlot {
  std::atomic<std::uint64_t> id{0};  ///< of the store that lives here; 0 if none does
  runtime::Store* store = nullptr;
  StoreSlot* next_free = nullptr;
};

/// Private parts of the public handles, for the library.
class Access {
 public:
  static StoreRef ref(StoreSlot* slot, std::uint64_t id) {
    StoreRef out;
    out.slot_ = slot;
    out.id_ = id;
    return out;
  }
  /// Null once the store is gone.
  static runtime::Store* store(StoreRef ref) {
    if (ref.slot_ == nullptr || ref.slot_->id.load(std::memory_order_relaxed) != ref.id_) {
      return nullptr;
    }
    return ref.slot_->store;
  }
  template <typename HandleType>
  static HandleType make(StoreRef store, void* object) {
    HandleType out;
    out.store_ = store;
    out.object_ = object;
    return out;
  }
  template <typename HandleType>
  static void* object(const HandleType& handle) {
    return handle.object_;
  }
  /// The object, if the handle's store is alive, else null.
  template <typename Object, typename HandleType>
  static Object* live(const HandleType& handle) {
    return store(handle.store_) == nullptr ? nullptr : static_cast<Object*>(handle.object_);
  }
  template <typename LinkerType>
  static auto* linker(const LinkerType& linker) {
    return linker.impl_.get();
  }
  template <typename ValType>
  static std::uint64_t bits(const ValType& value) {
    return value.bits_[0];
  }
  /// The upper half of a v128; 0 for other values.
  template <typename ValType>
  static std::uint64_t upper(const ValType& value) {
    return value.kind() == decltype(value.kind())::V128 ? value.bits_[1] : 0;
  }
  template <typename ValType>
  static void set_upper(ValType& value, std::uint64_t upper) {
    value.bits_[1] = upper;
  }
  /// Of an externref: see Val.
  template <typename ValType>
  static std::uint64_t serial(const ValType& value) {
    return value.bits_[1];
  }
  template <typename ValType>
  static void set_serial(ValType& value, std::uint64_t serial) {
    value.bits_[1] = serial;
  }
  template <typename Ref>
  static Ref extern_ref(void* host, std::uint64_t word, std::uint64_t serial, StoreRef store) {
    Ref out(host);
    out.word_ = word;
    out.serial_ = serial;
    out.store_ = store;
    return out;
  }
  template <typename ValType>
  static StoreRef val_store(const ValType& value) {
    return value.store_;
  }
  template <typename Value, typename Type>
  static Value val(Type type, std::uint64_t bits, StoreRef store) {
    Value out = Value::raw(type, bits);
    out.store_ = store;
    return out;
  }
  template <typename ExternType, typename Kind>
  static ExternType make_extern(Kind kind, StoreRef store, void* object) {
    ExternType out;
    out.kind_ = kind;
    out.store_ = store;
    out.object_ = object;
    return out;
  }
};

}  // namespace hoist::detail

namespace hoist::runtime {

/// A free slot, filled in for `store` under a new number.
detail::StoreSlot* claim_store_slot(Store* store);
/// All handles to it are dead from now on.
void free_store_slot(detail::StoreSlot* slot);

}  // namespace hoist::runtime
