// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Canonical numbers of function types, engine-wide: equal types have equal numbers, which is what
/// compiled code compares in an indirect call.

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "wasm/format/types.hpp"

namespace hoist::runtime {

/// Counts how often each type is held; a number may be given to another type once nobody holds it.
/// Any thread.
class TypeRegistry {
 public:
  std::uint32_t acquire(const wasm::FuncType& type);
  void release(std::uint32_t id);
  /// `id` is held, by whoever asks, as long as the reference is used.
  const wasm::FuncType& get(std::uint32_t id) const;

 private:
  struct Entry {
    wasm::FuncType type;
    std::uint64_t holders = 0;
  };
  struct Hash {
    std::size_t operator()(const wasm::FuncType& type) const;
  };
  mutable std::mutex mutex_;
  std::unordered_map<wasm::FuncType, std::uint32_t, Hash> ids_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::uint32_t> free_;
};

}  // namespace hoist::runtime
