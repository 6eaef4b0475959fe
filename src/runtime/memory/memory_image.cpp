// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/memory_image.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/bits.hpp"
#include "base/containers/bit_set.hpp"

namespace hoist::runtime {

std::uint64_t next_memory_id() {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

static bool is_zero(const std::uint8_t* bytes, std::uint64_t size) {
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

/// Pages that hold nothing but zeros stay holes.
static void write(const MemoryImage::Piece& piece, std::uint64_t begin, std::uint8_t* out,
                  base::BitSet& touched) {
  const std::uint64_t page = platform::page_bytes();
  const std::uint64_t size = piece.bytes.size();
  for (std::uint64_t from = 0; from < size;) {
    const std::uint64_t at = piece.to + from - begin;
    const std::uint64_t part = std::min(size - from, page - at % page);
    const std::uint8_t* bytes = piece.bytes.data() + from;
    if (touched.contains(at / page) || !is_zero(bytes, part)) {
      touched.insert(at / page);
      std::memcpy(out + at, bytes, part);
    }
    from += part;
  }
}

std::shared_ptr<const MemoryImage> MemoryImage::build(std::span<const Piece> pieces) {
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  std::uint64_t data = 0;
  for (const Piece& piece : pieces) {
    if (piece.bytes.empty()) continue;
    low = std::min(low, piece.to);
    high = std::max(high, piece.to + piece.bytes.size());
    data += piece.bytes.size();
  }
  if (data == 0) return nullptr;
  const std::uint64_t page = platform::page_bytes();
  const std::uint64_t begin = low - low % page;
  const std::uint64_t bytes = base::align_up(high, page) - begin;
  if (bytes > kFreeBytes + kMostSpread * data) return nullptr;

  auto file = platform::MemoryFile::create(bytes);
  if (!file) return nullptr;
  base::BitSet touched(bytes / page);
  for (const Piece& piece : pieces) write(piece, begin, file->writable(), touched);
  if (!file->seal()) return nullptr;
  std::shared_ptr<MemoryImage> out(new MemoryImage);
  out->id_ = next_memory_id();
  out->begin_ = begin;
  out->file_ = *std::move(file);
  return out;
}

}  // namespace hoist::runtime
