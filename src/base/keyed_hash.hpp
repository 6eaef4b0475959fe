// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Hashes for tables whose keys come from guests: random for each process, so that nobody can make
/// a module whose keys collide and whose look-ups take for ever. Nothing observable may depend on
/// them: not the order of a table, nor which of several equal entries is found.
///
/// Each step folds the 128-bit product of two words, both mixed with secret ones. Without knowing
/// those, collisions are as likely as with random numbers; not for signatures or secrets.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace hoist::base {

struct HashKey {
  std::uint64_t words[3];
};

namespace detail {
extern HashKey hash_key;
extern std::atomic<bool> has_hash_key;
void make_hash_key();

inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}
}  // namespace detail

/// The process's key; made at the first use, any thread.
inline const HashKey& hash_key() {
  if (!detail::has_hash_key.load(std::memory_order_acquire)) [[unlikely]]
    detail::make_hash_key();
  return detail::hash_key;
}

/// All 64 bits of the result are good.
inline std::uint64_t keyed_hash(std::uint64_t a, std::uint64_t b) {
  const HashKey& key = hash_key();
  return detail::fold(a ^ key.words[0], b ^ key.words[1]);
}

inline std::uint64_t keyed_hash(std::span<const std::uint64_t> words) {
  const HashKey& key = hash_key();
  std::uint64_t hash = key.words[2] ^ words.size();
  for (const std::uint64_t word : words)
    hash = detail::fold(word ^ key.words[0], hash ^ key.words[1]);
  return hash;
}

inline std::uint64_t keyed_hash(const void* bytes, std::size_t size) {
  const HashKey& key = hash_key();
  const char* at = static_cast<const char*>(bytes);
  std::uint64_t hash = key.words[2] ^ size;
  for (; size >= 8; at += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = detail::fold(word ^ key.words[0], hash ^ key.words[1]);
  }
  std::uint64_t last = 0;
  if (size != 0) std::memcpy(&last, at, size);
  return detail::fold(last ^ key.words[0], hash ^ key.words[1]);
}

/// For containers keyed by text or by numbers.
struct KeyedHash {
  std::size_t operator()(std::string_view text) const {
    return static_cast<std::size_t>(keyed_hash(text.data(), text.size()));
  }
  std::size_t operator()(std::uint64_t number) const {
    return static_cast<std::size_t>(keyed_hash(number, 0));
  }
};

}  // namespace hoist::base
