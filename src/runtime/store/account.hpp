// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Account: what the stores of one program have together: bytes of memories, elements of tables. A
/// store has one of its own unless it joins another's, as the threads of a program do. Any thread.
///
/// Guarantees: what is taken with a limit never brings the total above it. A shared memory is
/// counted once, with the size that it has when somebody asks, whoever has grown it. Costs: a lock
/// for each memory and table that is made or grows, and a look at each shared memory.

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "runtime/objects/linear_memory.hpp"

namespace hoist::runtime {

class Account {
 public:
  enum class What : std::uint8_t { MemoryBytes, TableElements };

  std::uint64_t total(What what) const;
  /// False: that would be more than `most`, and nothing is taken.
  bool take(What what, std::uint64_t amount, std::uint64_t most);
  void give(What what, std::uint64_t amount);

  /// One more store has the memory. False: it is not counted yet and would bring the total above
  /// `most`; nothing has changed then.
  bool add_shared(const LinearMemory& memory, std::uint64_t most);
  void drop_shared(const LinearMemory& memory);
  /// Grows a memory that was added, whose growth the caller has locked. Nothing: that would be more
  /// than `most`. Errors as LinearMemory::grow.
  std::optional<Result<std::uint64_t>> grow_shared(LinearMemory& memory, std::uint64_t pages,
                                                   std::uint64_t most);

 private:
  struct Shared {
    const LinearMemory* memory;
    std::uint64_t stores;
  };
  // With the lock.
  std::uint64_t sum(What what) const;
  bool fits(What what, std::uint64_t amount, std::uint64_t most) const;
  std::uint64_t& own(What what) { return own_[static_cast<std::size_t>(what)]; }

  mutable std::mutex mutex_;
  std::uint64_t own_[2] = {};  // by What, without shared memories
  std::vector<Shared> shared_;
};

}  // namespace hoist::runtime
