// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/reference.hpp"

#include <fmt/core.h>

#include <utility>

#include "api/impl.hpp"
#include "base/check.hpp"
#include "image/layout/vm_layout.hpp"

namespace hoist {

using api::Access;
using image::VmObject;

static_assert(detail::kHostWord == image::kHostWord);

static ExternRef extern_of(const VmObject& object, StoreRef store) {
  return Access::extern_ref<ExternRef>(object.host, runtime::word_of(object), object.serial, store);
}

// ---- Between references and words.
namespace api {

static Error not_alive(const std::string& what, ValKind kind) {
  return {ErrorKind::BadArgument,
          fmt::format("{} is an {} of another store, or one whose HandleScope has ended", what,
                      name(ValType(kind)))};
}

Result<std::uint64_t> reference_bits(runtime::Store& store, const Val& value,
                                     const std::string& what) {
  const std::uint64_t word = Access::bits(value);
  if (value.kind() == ValKind::ExternRef) {
    const std::uint64_t serial = Access::serial(value);
    if (serial == 0) return word;
    if (serial == 1) {  // a pointer that is no word by itself
      HOIST_TRY(VmObject * made, store.heap().new_object(value.externref().host, nullptr));
      return runtime::word_of(*made);
    }
    if (Access::val_store(value) != store.ref() || runtime::object_of(word)->serial != serial) {
      return not_alive(what, ValKind::ExternRef);
    }
    // Its scope may have ended: it must not go before it is where it belongs.
    store.heap().push(word);
    return word;
  }
  // Memory of exceptions goes: whether it is there takes a look at all of them.
  if (Access::val_store(value) == store.ref()) {
    for (const image::VmException* at = store.exceptions(); at != nullptr; at = at->next) {
      if (at != runtime::exception_of(word)) continue;
      if (runtime::Store::serial_of(*at) != Access::serial(value)) break;
      store.heap().push(word);
      return word;
    }
  }
  return not_alive(what, value.kind());
}

Val from_reference(runtime::Store& store, ValType type, std::uint64_t bits) {
  if (bits == 0) return Access::val<Val>(type, bits, StoreRef());
  if (type.kind() == ValKind::FuncRef) return Access::val<Val>(type, bits, store.ref());
  if (type.kind() == ValKind::ExternRef) {
    const detail::Slot slot{{bits, 0}};
    return detail::SlotType<ExternRef>::get(slot, store.ref());
  }
  store.heap().push(bits);
  Val out = Access::val<Val>(type, bits, store.ref());
  Access::set_serial(out, runtime::Store::serial_of(*runtime::exception_of(bits)));
  return out;
}

}  // namespace api

namespace detail {

bool extern_to_slot(const ExternRef& value, StoreRef store, Slot& slot) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return false;
  const auto bits = api::reference_bits(*inner, value, "the reference");
  if (bits) slot.bits[0] = *bits;
  return bits.has_value();
}

ExternRef extern_from_slot(const Slot& slot, StoreRef store) noexcept {
  runtime::Store* inner = Access::store(store);
  const VmObject* object = runtime::object_of(slot.bits[0]);
  if (inner == nullptr || object == nullptr) return {};
  // Made for a pointer that is no word by itself: nothing but that to the host.
  if (object->finalize == nullptr && (reinterpret_cast<std::uintptr_t>(object->host) >> 63) != 0) {
    return ExternRef(object->host);
  }
  inner->heap().push(slot.bits[0]);
  return extern_of(*object, store);
}

}  // namespace detail

// ---- Externrefs.

Result<ExternRef> ExternRef::create(StoreRef store, void* pointer,
                                    void (*finalize)(void*)) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  HOIST_TRY(const VmObject* object, inner->heap().new_object(pointer, finalize));
  return extern_of(*object, store);
}

ExternRef Val::externref() const noexcept {
  const std::uint64_t bits = get(ValKind::ExternRef);
  if (bits == 0) return {};
  if (bits_[1] <= kWidePointer) {
    const std::uint64_t pointer = bits_[1] == 0 ? bits & ~detail::kHostWord : bits;
    return ExternRef(reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer)));
  }
  // Memory of objects stays as long as the store; the pointer is known as long as the object is.
  const VmObject* object = Access::store(store_) == nullptr ? nullptr : runtime::object_of(bits);
  void* host = object != nullptr && object->serial == bits_[1] ? object->host : nullptr;
  return Access::extern_ref<ExternRef>(host, bits, bits_[1], store_);
}

// ---- Collection.

void StoreRef::collect() const noexcept {
  if (runtime::Store* store = Access::store(*this)) store->heap().collect();
}

std::uint64_t StoreRef::references() const noexcept {
  const runtime::Store* store = Access::store(*this);
  return store == nullptr ? 0 : store->heap().objects();
}

// ---- Roots.

HandleScope::HandleScope(StoreRef store) noexcept : store_(store) {
  if (const runtime::Store* inner = Access::store(store)) mark_ = inner->heap().scope();
}

HandleScope::~HandleScope() {
  if (runtime::Store* inner = Access::store(store_)) inner->heap().pop_to(mark_);
}

Result<Root> Root::create(StoreRef store, const Val& value) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  if (!value.type().is_ref()) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("a root keeps references, not {}", name(value.type())));
  }
  HOIST_TRY(const std::uint64_t bits, api::to_bits(*inner, value, value.type(), "the reference"));
  Root out;
  out.store_ = store;
  out.type_ = value.type();
  out.number_ =
      inner->heap().add_root(value.kind() == ValKind::FuncRef ? bits | image::kHostWord : bits);
  out.holds_ = true;
  return out;
}

Root::Root(Root&& other) noexcept
    : store_(other.store_),
      type_(other.type_),
      number_(other.number_),
      holds_(std::exchange(other.holds_, false)) {}

Root& Root::operator=(Root&& other) noexcept {
  std::swap(store_, other.store_);
  std::swap(type_, other.type_);
  std::swap(number_, other.number_);
  std::swap(holds_, other.holds_);
  return *this;
}

Root::~Root() {
  runtime::Store* inner = Access::store(store_);
  if (inner != nullptr && holds_) inner->heap().drop_root(number_);
}

Val Root::get() const noexcept {
  runtime::Store* inner = Access::store(store_);
  if (inner == nullptr || !holds_) return Val::null(type_);
  const std::uint64_t bits = inner->heap().root(number_);
  return api::from_bits(*inner, type_,
                        type_.kind() == ValKind::FuncRef ? bits & ~image::kHostWord : bits);
}

}  // namespace hoist
