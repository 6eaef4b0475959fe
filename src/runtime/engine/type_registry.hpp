// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Canonical numbers of types, engine-wide: equal types have equal numbers, which is what compiled
/// code compares. Equality is that of the specification: the same place in rec groups that are
/// equal but for the names of their own types (iso-recursive types). Source: core
/// specification 3.0, sections 3.1.2 "Rolling and unrolling" and 3.3 "Matching".

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "hoist/types.hpp"
#include "wasm/format/module.hpp"

namespace hoist::runtime {

/// Counts how often each rec group is held; its numbers may be given to other types once nobody
/// does. Groups hold the types of others that they name. Any thread.
///
/// In value types that come out of the registry, and wherever a type belongs to no single module,
/// concrete heap types are numbers of the registry.
class TypeRegistry {
 public:
  TypeRegistry() = default;
  ~TypeRegistry();
  TypeRegistry(const TypeRegistry&) = delete;
  TypeRegistry& operator=(const TypeRegistry&) = delete;

  /// The numbers of the types of a valid module, in order; each is held once more.
  /// @error Limit: more types than there are numbers. Nothing is held then.
  Result<std::vector<std::uint32_t>> acquire(const wasm::Module& module);
  /// A final type without super type in a group of its own, that names no other type.
  std::uint32_t acquire(const wasm::FuncType& type);
  /// Once more, by somebody for whom it is held already.
  void hold(std::uint32_t id);
  void release(std::uint32_t id);
  void release(std::span<const std::uint32_t> ids);

  /// `id` is held, by whoever asks, as long as the reference is used. Takes no lock.
  const wasm::FuncType& get(std::uint32_t id) const { return entry(id).type; }
  /// The same as the API shows it.
  const hoist::FuncType& get_public(std::uint32_t id) const { return entry(id).public_type; }
  /// For VmFuncRef.
  const std::uint32_t* supertypes(std::uint32_t id) const { return entry(id).supertypes.data(); }
  bool is_func(std::uint32_t id) const { return entry(id).kind == wasm::CompositeKind::Func; }

  /// Whether the type is the other or below it.
  bool is_below(std::uint32_t id, std::uint32_t super) const;
  /// Matching of heap and value types, whose concrete ones are numbers of the registry.
  bool matches(wasm::HeapType sub, wasm::HeapType super) const;
  bool matches(wasm::ValType sub, wasm::ValType super) const;

  /// A type of a module with `ids` in place of its own numbers.
  static wasm::ValType translate(wasm::ValType type, std::span<const std::uint32_t> ids);
  static wasm::FuncType translate(const wasm::FuncType& type, std::span<const std::uint32_t> ids);

 private:
  /// A rec group in words: types of the group as places in it, others as numbers.
  using Key = std::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Group {
    const Key* key = nullptr;
    std::uint64_t holders = 0;
    std::vector<std::uint32_t> ids;
    std::vector<std::uint32_t> named;  ///< types of other groups
  };
  struct Entry {
    wasm::FuncType type;
    hoist::FuncType public_type;
    std::vector<std::uint32_t> supertypes;
    std::uint32_t depth = 0;
    wasm::CompositeKind kind = wasm::CompositeKind::Func;
    Group* group = nullptr;
  };
  /// What a group is made from.
  struct Source;
  /// Entries stay where they are, so that `get` needs no lock: block n has 64 << n of them.
  static constexpr std::uint32_t kFirstBlock = 64;
  static constexpr std::size_t kBlocks = 26;
  using Place = std::atomic<Entry*>;

  const Entry& entry(std::uint32_t id) const;
  Place& place(std::uint32_t id) const;
  Result<std::vector<std::uint32_t>> acquire(const wasm::Module& module, bool is_host);
  // With the lock.
  Group* find_or_make(const Source& source);
  std::uint32_t new_id();
  void release_locked(std::uint32_t id);
  void drop(Group* group);

  std::mutex mutex_;
  std::unordered_map<Key, std::unique_ptr<Group>, Hash> groups_;
  std::array<std::atomic<Place*>, kBlocks> blocks_{};
  std::uint32_t count_ = 0;  // ids that were ever given
  std::vector<std::uint32_t> free_;
  Key key_;
};

}  // namespace hoist::runtime
