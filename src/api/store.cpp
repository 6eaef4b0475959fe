// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/store.hpp"

#include <utility>

#include "api/impl.hpp"

namespace hoist {

namespace api {

Error store_gone() {
  return {ErrorKind::BadArgument, "the store that this belongs to is gone"};
}

Error failure(runtime::Store& store) {
  return store.take_error();
}

}  // namespace api

using api::Access;

bool StoreRef::alive() const noexcept {
  return Access::store(*this) != nullptr;
}

void* StoreRef::data() const noexcept {
  const runtime::Store* store = Access::store(*this);
  return store == nullptr ? nullptr : store->data;
}

void StoreRef::set_data(void* data) const noexcept {
  if (runtime::Store* store = Access::store(*this)) store->data = data;
}

Store::Store(const Engine& engine, const StoreLimits& limits) noexcept
    : engine_(engine), ref_((new runtime::Store(engine.impl()->engine, limits))->ref()) {}

Store::Store(Store&& other) noexcept
    : engine_(other.engine_), ref_(std::exchange(other.ref_, StoreRef())) {}

Store& Store::operator=(Store&& other) noexcept {
  std::swap(engine_, other.engine_);
  std::swap(ref_, other.ref_);
  return *this;
}

Store::~Store() {
  delete Access::store(ref_);
}

}  // namespace hoist
