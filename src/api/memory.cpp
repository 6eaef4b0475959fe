// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/memory.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "api/impl.hpp"
#include "runtime/objects/types.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist {

using api::Access;
using runtime::LinearMemory;

Result<Memory> Memory::create(StoreRef store, const MemoryType& type) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  HOIST_TRY(LinearMemory * memory, inner->new_memory(runtime::to_wasm(type)));
  return Access::make<Memory>(store, memory);
}

MemoryType Memory::type() const noexcept {
  const auto* memory = Access::live<LinearMemory>(*this);
  if (memory == nullptr) return {};
  MemoryType out = runtime::to_public(memory->type());
  out.minimum = memory->pages();
  return out;
}

std::uint64_t Memory::pages() const noexcept {
  const auto* memory = Access::live<LinearMemory>(*this);
  return memory == nullptr ? 0 : memory->pages();
}

std::uint64_t Memory::size_bytes() const noexcept {
  const auto* memory = Access::live<LinearMemory>(*this);
  return memory == nullptr ? 0 : memory->bytes();
}

Result<std::uint64_t> Memory::grow(std::uint64_t delta_pages) noexcept {
  auto* memory = Access::live<LinearMemory>(*this);
  if (memory == nullptr) return api::store_gone();
  return Access::store(store_)->grow_memory(*memory, delta_pages);
}

std::span<std::uint8_t> Memory::data() const noexcept {
  const auto* memory = Access::live<LinearMemory>(*this);
  if (memory == nullptr) return {};
  return {memory->base(), memory->bytes()};
}

Result<std::span<std::uint8_t>> Memory::bytes(std::uint64_t address,
                                              std::uint64_t length) const noexcept {
  const auto* memory = Access::live<LinearMemory>(*this);
  if (memory == nullptr) return api::store_gone();
  if (!memory->in_bounds(address, length)) {
    return runtime::trap_error(
        image::TrapCode::HeapOutOfBounds,
        fmt::format("{} bytes at {} of a memory of {} bytes", length, address, memory->bytes()));
  }
  return std::span<std::uint8_t>(memory->base() + address, length);
}

Result<std::string_view> Memory::text(std::uint64_t address, std::uint64_t length) const noexcept {
  HOIST_TRY(const auto piece, bytes(address, length));
  return std::string_view(reinterpret_cast<const char*>(piece.data()), piece.size());
}

Result<void> Memory::read(std::uint64_t address, std::span<std::uint8_t> to) const noexcept {
  HOIST_TRY(const auto piece, bytes(address, to.size()));
  std::copy(piece.begin(), piece.end(), to.begin());
  return {};
}

Result<void> Memory::write(std::uint64_t address,
                           std::span<const std::uint8_t> from) const noexcept {
  HOIST_TRY(const auto piece, bytes(address, from.size()));
  std::copy(from.begin(), from.end(), piece.begin());
  return {};
}

}  // namespace hoist
