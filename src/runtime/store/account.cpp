// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/store/account.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace hoist::runtime {

std::uint64_t Account::sum(What what) const {
  std::uint64_t out = own_[static_cast<std::size_t>(what)];
  if (what != What::MemoryBytes) return out;
  for (const Shared& shared : shared_) out += shared.memory->bytes();
  return out;
}

bool Account::fits(What what, std::uint64_t amount, std::uint64_t most) const {
  const std::uint64_t have = sum(what);
  return amount <= most && have <= most - amount;
}

std::uint64_t Account::total(What what) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sum(what);
}

bool Account::take(What what, std::uint64_t amount, std::uint64_t most) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!fits(what, amount, most)) return false;
  own(what) += amount;
  return true;
}

void Account::give(What what, std::uint64_t amount) {
  const std::lock_guard<std::mutex> lock(mutex_);
  HOIST_CHECK(amount <= own(what), "what is given back was taken");
  own(what) -= amount;
}

bool Account::add_shared(const LinearMemory& memory, std::uint64_t most) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = std::ranges::find(shared_, &memory, &Shared::memory);
  if (known != shared_.end()) {
    ++known->stores;
    return true;
  }
  if (!fits(What::MemoryBytes, memory.bytes(), most)) return false;
  shared_.push_back({&memory, 1});
  return true;
}

void Account::drop_shared(const LinearMemory& memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = std::ranges::find(shared_, &memory, &Shared::memory);
  HOIST_CHECK(known != shared_.end(), "a shared memory that was added");
  if (--known->stores == 0) shared_.erase(known);
}

std::optional<Result<std::uint64_t>> Account::grow_shared(LinearMemory& memory, std::uint64_t pages,
                                                          std::uint64_t most) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The caller knows that the pages as bytes are a number.
  if (!fits(What::MemoryBytes, pages << memory.type().page_size_log2, most)) return std::nullopt;
  return memory.grow(pages);
}

}  // namespace hoist::runtime
