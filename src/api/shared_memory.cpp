// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/shared_memory.hpp"

#include <fmt/core.h>

#include <utility>

#include "api/impl.hpp"
#include "runtime/builtins/atomics.hpp"
#include "runtime/objects/types.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist {

using api::Access;
using runtime::LinearMemory;

SharedMemory::SharedMemory(std::shared_ptr<detail::SharedMemoryImpl> impl) noexcept
    : impl_(std::move(impl)) {}

Result<SharedMemory> SharedMemory::create(const Engine& engine, MemoryType type) noexcept {
  if (engine.impl() == nullptr) return api::moved_from("engine");
  type.shared = true;
  const std::shared_ptr<runtime::Engine>& inner = engine.impl()->engine;
  HOIST_TRY(auto memory, LinearMemory::create(runtime::to_wasm(type), StoreLimits::kUnlimited,
                                              nullptr, nullptr, inner->options().explicit_bounds));
  return SharedMemory(std::make_shared<detail::SharedMemoryImpl>(
      detail::SharedMemoryImpl{inner, std::move(memory)}));
}

Result<Memory> SharedMemory::in(StoreRef store) const noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  if (impl_ == nullptr) return api::moved_from("shared memory");
  if (inner->engine() != impl_->engine) {
    return Error(ErrorKind::BadArgument, "store and shared memory must be of the same engine");
  }
  HOIST_TRY(LinearMemory * memory, inner->add_shared_memory(impl_->memory));
  return Access::make<Memory>(store, memory);
}

MemoryType SharedMemory::type() const noexcept {
  if (impl_ == nullptr) return {};
  MemoryType out = runtime::to_public(impl_->memory->type());
  out.minimum = impl_->memory->pages();
  return out;
}

std::uint64_t SharedMemory::size_bytes() const noexcept {
  return impl_ == nullptr ? 0 : impl_->memory->bytes();
}

std::uint64_t SharedMemory::pages() const noexcept {
  return impl_ == nullptr ? 0 : impl_->memory->pages();
}

Result<std::uint64_t> SharedMemory::grow(std::uint64_t delta_pages) const noexcept {
  if (impl_ == nullptr) return api::moved_from("shared memory");
  const auto lock = impl_->memory->lock_growth();
  return impl_->memory->grow(delta_pages);
}

std::uint8_t* SharedMemory::data() const noexcept {
  return impl_ == nullptr ? nullptr : impl_->memory->base();
}

static Result<std::uint32_t> value_of(const runtime::AtomicOutcome& outcome, std::uint64_t address,
                                      const LinearMemory& memory) {
  if (outcome.trap == image::TrapCode::None) return outcome.value;
  return runtime::trap_error(
      outcome.trap, fmt::format("address {} of a memory of {} bytes", address, memory.bytes()));
}

Result<std::uint32_t> SharedMemory::notify(std::uint64_t address,
                                           std::uint32_t count) const noexcept {
  if (impl_ == nullptr) return api::moved_from("shared memory");
  return value_of(runtime::atomic_wake(*impl_->memory, address, 0, count), address, *impl_->memory);
}

static Result<SharedMemory::WaitOutcome> wait(const detail::SharedMemoryImpl* impl,
                                              std::uint64_t address, std::uint32_t bytes,
                                              std::uint64_t expected, std::int64_t timeout_ns) {
  if (impl == nullptr) return api::moved_from("shared memory");
  HOIST_TRY(const std::uint32_t number,
            value_of(runtime::atomic_wait(*impl->memory, address, 0, bytes, expected, timeout_ns),
                     address, *impl->memory));
  return static_cast<SharedMemory::WaitOutcome>(number);
}

Result<SharedMemory::WaitOutcome> SharedMemory::wait32(std::uint64_t address,
                                                       std::uint32_t expected,
                                                       std::int64_t timeout_ns) const noexcept {
  return wait(impl_.get(), address, 4, expected, timeout_ns);
}

Result<SharedMemory::WaitOutcome> SharedMemory::wait64(std::uint64_t address,
                                                       std::uint64_t expected,
                                                       std::int64_t timeout_ns) const noexcept {
  return wait(impl_.get(), address, 8, expected, timeout_ns);
}

std::optional<SharedMemory> Memory::shared() const noexcept {
  const auto* memory = Access::live<LinearMemory>(*this);
  if (memory == nullptr || !memory->type().shared) return std::nullopt;
  const runtime::Store& store = *Access::store(store_);
  return SharedMemory(std::make_shared<detail::SharedMemoryImpl>(
      detail::SharedMemoryImpl{store.engine(), store.owner_of(memory)}));
}

}  // namespace hoist
