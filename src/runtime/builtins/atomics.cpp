// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/builtins/atomics.hpp"

#include <atomic>

#include "runtime/store/store.hpp"

namespace hoist::runtime {

using image::TrapCode;

/// None if an aligned access of `bytes` may happen at operand + offset.
static TrapCode check(const LinearMemory& memory, std::uint64_t operand, std::uint64_t offset,
                      std::uint32_t bytes) {
  const std::uint64_t address = operand + offset;
  if (address % bytes != 0) return TrapCode::UnalignedAtomic;
  const bool wraps = address < operand;
  return wraps || !memory.in_bounds(address, bytes) ? TrapCode::HeapOutOfBounds : TrapCode::None;
}

template <typename T>
static bool holds(std::uint8_t* at, std::uint64_t expected) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).load(std::memory_order_seq_cst) ==
         static_cast<T>(expected);
}

namespace {
struct Waiting {
  platform::Parker& parker;
  base::FunctionRef<bool()> give_up;
  std::int64_t slice_ns;
};
}  // namespace

static AtomicOutcome wait_at(LinearMemory& memory, std::uint64_t operand, std::uint64_t offset,
                             std::uint32_t bytes, std::uint64_t expected, std::int64_t timeout_ns,
                             const Waiting& how) {
  if (const TrapCode trap = check(memory, operand, offset, bytes); trap != TrapCode::None) {
    return {0, trap};
  }
  WaitLists* waits = memory.waits();
  if (waits == nullptr) return {0, TrapCode::ExpectedSharedMemory};
  const std::uint64_t address = operand + offset;
  std::uint8_t* at = memory.base() + address;
  const auto is_expected = [&] {
    return bytes == 4 ? holds<std::uint32_t>(at, expected) : holds<std::uint64_t>(at, expected);
  };
  const WaitLists::Outcome outcome =
      waits->wait(address, is_expected, timeout_ns, how.parker, how.give_up, how.slice_ns);
  if (outcome == WaitLists::Outcome::GivenUp) return {0, TrapCode::None, true};
  return {static_cast<std::uint32_t>(outcome)};
}

AtomicOutcome atomic_wait(Store& store, LinearMemory& memory, std::uint64_t operand,
                          std::uint64_t offset, std::uint32_t bytes, std::uint64_t expected,
                          std::int64_t timeout_ns) {
  const auto give_up = [&] { return store.wants_attention() && !store.epoch_reached(); };
  return wait_at(memory, operand, offset, bytes, expected, timeout_ns,
                 {store.shared()->parker, give_up, store.attention_interval_ns()});
}

AtomicOutcome atomic_wait(LinearMemory& memory, std::uint64_t operand, std::uint64_t offset,
                          std::uint32_t bytes, std::uint64_t expected, std::int64_t timeout_ns) {
  platform::Parker parker;
  const auto never = [] { return false; };
  return wait_at(memory, operand, offset, bytes, expected, timeout_ns, {parker, never, -1});
}

AtomicOutcome atomic_wake(LinearMemory& memory, std::uint64_t operand, std::uint64_t offset,
                          std::uint32_t count) {
  if (const TrapCode trap = check(memory, operand, offset, 4); trap != TrapCode::None) {
    return {0, trap};
  }
  WaitLists* waits = memory.waits();
  return {waits == nullptr ? 0 : waits->notify(operand + offset, count)};
}

}  // namespace hoist::runtime
