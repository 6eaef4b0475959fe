// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/guest.hpp"

#include <fmt/core.h>

#include <limits>

#include "runtime/trap/trap_error.hpp"

namespace hoist::detail {

Result<void> check_range(const Memory& memory, std::uint64_t address, std::uint64_t count,
                         std::size_t size, std::size_t alignment) noexcept {
  if (count > std::numeric_limits<std::uint64_t>::max() / size) {
    return runtime::trap_error(image::TrapCode::HeapOutOfBounds,
                               fmt::format("{} elements of {} bytes", count, size));
  }
  auto bytes = memory.bytes(address, count * size);
  if (!bytes) return std::move(bytes).error();
  if (address % alignment == 0) return {};
  // The test suite's word for it; the only trap code there is for misaligned access.
  return runtime::trap_error(
      image::TrapCode::UnalignedAtomic,
      fmt::format("a view at address {}, which is no multiple of {}", address, alignment));
}

std::optional<Memory> guest_memory(HostCall& call, std::uint64_t address, std::uint64_t count,
                                   std::size_t size, std::size_t alignment) noexcept {
  const std::optional<Memory> memory = Caller(call).memory();
  if (!memory) {
    call.fail(
        Error(ErrorKind::Host,
              "a host function takes a view of guest memory, but was not called by an instance "
              "that exports a memory as \"memory\""));
    return std::nullopt;
  }
  if (auto good = check_range(*memory, address, count, size, alignment); !good) {
    call.fail(std::move(good).error());
    return std::nullopt;
  }
  return memory;
}

}  // namespace hoist::detail
