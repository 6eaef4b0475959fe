// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Typed 32-bit indexes and the tables that they index.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace hoist::base {

/// A 4-byte typed index into the table that created it; never a pointer. The all-ones index is
/// "none": a default-constructed entity is none.
template <typename Self>
class Entity {
 public:
  static constexpr std::uint32_t kNoneIndex = 0xffff'ffff;

  constexpr Entity() = default;
  constexpr explicit Entity(std::uint32_t index) : index_(index) {}
  constexpr explicit Entity(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}
  static constexpr Self none() { return Self(kNoneIndex); }

  constexpr std::uint32_t index() const { return index_; }
  constexpr bool is_none() const { return index_ == kNoneIndex; }
  constexpr bool is_some() const { return index_ != kNoneIndex; }
  constexpr explicit operator bool() const { return is_some(); }
  friend constexpr bool operator==(Entity, Entity) = default;
  friend constexpr auto operator<=>(Entity, Entity) = default;

 private:
  std::uint32_t index_ = kNoneIndex;
};

/// Declares an entity type with its printed prefix: `v7`, `inst3`, `block0`.
#define HOIST_ENTITY(Name, prefix_text)                 \
  struct Name : ::hoist::base::Entity<Name> {           \
    using Entity::Entity;                               \
    static constexpr const char* kPrefix = prefix_text; \
  }

/// Owns the data of one kind of entity: `push` makes a new entity.
template <typename E, typename T>
class EntityTable {
 public:
  E push(T value) {
    data_.push_back(std::move(value));
    return E(data_.size() - 1);
  }
  E next() const { return E(data_.size()); }
  T& operator[](E entity) {
    HOIST_DCHECK(entity.index() < data_.size(), "entity belongs to this table");
    return data_[entity.index()];
  }
  const T& operator[](E entity) const {
    HOIST_DCHECK(entity.index() < data_.size(), "entity belongs to this table");
    return data_[entity.index()];
  }
  bool contains(E entity) const { return entity.index() < data_.size(); }
  std::size_t size() const { return data_.size(); }
  bool empty() const { return data_.empty(); }
  void clear() { data_.clear(); }
  void resize(std::size_t size) { data_.resize(size); }
  void reserve(std::size_t size) { data_.reserve(size); }
  auto begin() { return data_.begin(); }
  auto end() { return data_.end(); }
  auto begin() const { return data_.begin(); }
  auto end() const { return data_.end(); }
  std::span<T> span() { return {data_.data(), data_.size()}; }
  std::span<const T> span() const { return {data_.data(), data_.size()}; }

 private:
  std::vector<T> data_;
};

/// Side data for entities made elsewhere: grows on write, reads the default where nothing was
/// written. `reset` keeps the memory.
template <typename E, typename T>
class EntityMap {
 public:
  EntityMap() = default;
  explicit EntityMap(T fallback) : fallback_(std::move(fallback)) {}

  const T& operator[](E entity) const {
    return entity.index() < data_.size() ? data_[entity.index()] : fallback_;
  }
  T& operator[](E entity) {
    if (entity.index() >= data_.size()) data_.resize(std::size_t{entity.index()} + 1, fallback_);
    return data_[entity.index()];
  }
  /// Sizes the table for `count` entities, all with the default.
  void reset(std::size_t count) { data_.assign(count, fallback_); }
  void clear() { data_.clear(); }
  std::size_t size() const { return data_.size(); }

 private:
  std::vector<T> data_;
  T fallback_{};
};

}  // namespace hoist::base
