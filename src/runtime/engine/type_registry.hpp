// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Canonical numbers of function types, engine-wide: equal types have equal numbers, which is what
/// compiled code compares in an indirect call.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "hoist/types.hpp"
#include "wasm/format/types.hpp"

namespace hoist::runtime {

/// Counts how often each type is held; a number may be given to another type once nobody holds it.
/// Any thread.
class TypeRegistry {
 public:
  TypeRegistry() = default;
  ~TypeRegistry();
  TypeRegistry(const TypeRegistry&) = delete;
  TypeRegistry& operator=(const TypeRegistry&) = delete;

  std::uint32_t acquire(const wasm::FuncType& type);
  void release(std::uint32_t id);
  /// `id` is held, by whoever asks, as long as the reference is used. Takes no lock.
  const wasm::FuncType& get(std::uint32_t id) const { return entry(id).type; }
  /// The same as the API shows it.
  const hoist::FuncType& get_public(std::uint32_t id) const { return entry(id).public_type; }

 private:
  struct Entry {
    wasm::FuncType type;
    hoist::FuncType public_type;
    std::uint64_t holders = 0;
  };
  /// Entries stay where they are, so that `get` needs no lock: block n has 64 << n of them.
  static constexpr std::uint32_t kFirstBlock = 64;
  static constexpr std::size_t kBlocks = 26;
  using Place = std::atomic<Entry*>;
  struct Hash {
    std::size_t operator()(const wasm::FuncType& type) const;
  };
  const Entry& entry(std::uint32_t id) const;
  Place& place(std::uint32_t id) const;

  std::mutex mutex_;
  std::unordered_map<wasm::FuncType, std::uint32_t, Hash> ids_;
  std::array<std::atomic<Place*>, kBlocks> blocks_{};
  std::uint32_t count_ = 0;  // ids that were ever given
  std::vector<std::uint32_t> free_;
};

}  // namespace hoist::runtime
