// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/store.hpp"

#include <fmt/core.h>

#include <utility>

#include "api/impl.hpp"

namespace hoist {

namespace api {

Error store_gone() {
  return {ErrorKind::BadArgument, "the store that this belongs to is gone"};
}

Error moved_from(const char* what) {
  return {ErrorKind::BadArgument, fmt::format("the {} was moved from", what)};
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

// ---- Limits.

void InterruptHandle::interrupt() const noexcept {
  if (shared_ != nullptr) shared_->interrupt();
}

InterruptHandle StoreRef::interrupt_handle() const noexcept {
  InterruptHandle out;
  if (const runtime::Store* store = Access::store(*this)) out.shared_ = store->shared();
  return out;
}

Result<void> StoreRef::set_fuel(std::uint64_t units) const noexcept {
  runtime::Store* store = Access::store(*this);
  return store == nullptr ? Result<void>(api::store_gone()) : store->set_fuel(units);
}

Result<void> StoreRef::add_fuel(std::uint64_t units) const noexcept {
  runtime::Store* store = Access::store(*this);
  return store == nullptr ? Result<void>(api::store_gone()) : store->add_fuel(units);
}

Result<std::uint64_t> StoreRef::fuel() const noexcept {
  const runtime::Store* store = Access::store(*this);
  return store == nullptr ? Result<std::uint64_t>(api::store_gone()) : store->fuel();
}

void StoreRef::on_out_of_fuel(LimitCallback refill, void* context) const noexcept {
  if (runtime::Store* store = Access::store(*this)) store->on_out_of_fuel = {refill, context};
}

Result<void> StoreRef::set_epoch_deadline(std::uint64_t ticks) const noexcept {
  runtime::Store* store = Access::store(*this);
  return store == nullptr ? Result<void>(api::store_gone()) : store->set_epoch_deadline(ticks);
}

void StoreRef::on_epoch_deadline(LimitCallback extend, void* context) const noexcept {
  if (runtime::Store* store = Access::store(*this)) store->on_epoch_deadline = {extend, context};
}

Store::Store(const Engine& engine, const StoreLimits& limits) noexcept : engine_(engine) {
  // Of an engine that was moved from: a store that is gone.
  if (engine.impl() == nullptr) return;
  ref_ = (new runtime::Store(engine.impl()->engine, limits))->ref();
}

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
