// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "asm/buffer/code_buffer.hpp"

#include <algorithm>
#include <cstring>

#include "base/bits.hpp"
#include "base/keyed_hash.hpp"

namespace hoist::masm {

namespace {

constexpr std::uint32_t kShortSize = 2;

constexpr std::uint32_t long_size(FixupKind kind) {
  switch (kind) {
    case FixupKind::X64JmpLong: return 5;
    case FixupKind::X64JccLong: return 6;
    case FixupKind::Rel32:
    case FixupKind::X64JmpShort:
    case FixupKind::X64JccShort: return 0;
  }
  HOIST_UNREACHABLE("every fixup kind is listed");
}

std::uint64_t hash_bytes(const std::uint8_t* bytes, std::uint32_t size) {
  return base::keyed_hash(bytes, size);
}

}  // namespace

void CodeBuffer::clear() {
  cursor_ = begin_.get();
  labels_.clear();
  bound_.clear();
  fixups_.clear();
  if (!constants_.empty()) {
    std::fill(constant_slots_.begin(), constant_slots_.end(), 0u);
    constants_.clear();
  }
  constant_fixups_.clear();
  tables_.clear();
  table_targets_.clear();
  relocs_.clear();
  traps_.clear();
  sources_.clear();
  calls_.clear();
  cuts_.clear();
  code_size_ = 0;
  alignment_ = 16;
  too_large_ = false;
}

void CodeBuffer::grow() {
  if (offset() > kMaxSize) {
    // Writing goes on at the start, so that memory stays bounded; `finish` reports it.
    too_large_ = true;
    cursor_ = begin_.get();
    return;
  }
  ensure(std::max<std::size_t>(capacity_ * 2, 4096));
}

void CodeBuffer::ensure(std::size_t bytes) {
  if (bytes <= capacity_) return;
  std::unique_ptr<std::uint8_t[]> bigger(new (std::nothrow) std::uint8_t[bytes]);
  if (bigger == nullptr) base::out_of_memory();
  const std::uint32_t used = begin_ == nullptr ? 0 : offset();
  if (used != 0) std::memcpy(bigger.get(), begin_.get(), used);
  begin_ = std::move(bigger);
  cursor_ = begin_.get() + used;
  capacity_ = bytes;
  limit_ = begin_.get() + bytes;
}

void CodeBuffer::put(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), kMaxReserve);
    std::uint8_t* p = reserve(kMaxReserve);
    std::memcpy(p, bytes.data(), count);
    commit(p + count);
    bytes = bytes.subspan(count);
  }
}

void CodeBuffer::make_labels(std::uint32_t count) {
  HOIST_DCHECK(labels_.empty(), "labels are numbered from the first");
  const std::uint32_t unbound = kUnbound;
  labels_.resize(count);
  std::fill(labels_.begin(), labels_.end(), unbound);
}

void CodeBuffer::bind(Label label) {
  HOIST_DCHECK(!is_bound(label), "a label is bound once");
  labels_[label] = offset();
  bound_.push_back(label);
}

Constant CodeBuffer::add_constant32(std::uint32_t bits) {
  std::uint8_t bytes[4];
  base::store_le(bytes, bits);
  return add_constant(bytes);
}

Constant CodeBuffer::add_constant64(std::uint64_t bits) {
  std::uint8_t bytes[8];
  base::store_le(bytes, bits);
  return add_constant(bytes);
}

void CodeBuffer::rehash_constants() {
  constant_slots_.assign(std::max<std::size_t>(32, constant_slots_.size() * 2), 0u);
  for (std::uint32_t c = 0; c < constants_.size(); ++c) {
    const ConstantData& data = constants_[Constant(c)];
    std::size_t at = hash_bytes(data.bytes, data.size) & (constant_slots_.size() - 1);
    while (constant_slots_[at] != 0) at = (at + 1) & (constant_slots_.size() - 1);
    constant_slots_[at] = c + 1;
  }
}

Constant CodeBuffer::add_constant(std::span<const std::uint8_t> bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  HOIST_DCHECK(size == 4 || size == 8 || size == 16, "constants have 4, 8 or 16 bytes");
  if (constants_.size() * 2 >= constant_slots_.size()) rehash_constants();
  std::size_t at = hash_bytes(bytes.data(), size) & (constant_slots_.size() - 1);
  for (; constant_slots_[at] != 0; at = (at + 1) & (constant_slots_.size() - 1)) {
    const Constant candidate(constant_slots_[at] - 1);
    const ConstantData& data = constants_[candidate];
    if (data.size == size && std::memcmp(data.bytes, bytes.data(), size) == 0) return candidate;
  }
  ConstantData data{};
  std::memcpy(data.bytes, bytes.data(), size);
  data.size = size;
  const Constant made = constants_.push(data);
  constant_slots_[at] = made.index() + 1;
  return made;
}

Label CodeBuffer::add_jump_table(std::span<const Label> targets) {
  const Label label = new_label();
  tables_.push_back({label, static_cast<std::uint32_t>(table_targets_.size()),
                     static_cast<std::uint32_t>(targets.size())});
  table_targets_.insert(table_targets_.end(), targets.begin(), targets.end());
  return label;
}

void CodeBuffer::add_source(std::uint32_t loc) {
  if (!sources_.empty()) {
    if (sources_.back().loc == loc) return;
    if (sources_.back().offset == offset()) {
      sources_.back().loc = loc;
      return;
    }
  }
  sources_.push_back({offset(), loc});
}

Result<void> CodeBuffer::finish(FinishOptions options) {
  if (begin_ == nullptr) ensure(4096);
  if (too_large_) return Error(ErrorKind::Limit, "function has more than 1 GiB of machine code");
  if (options.shrink_branches && mark_short_branches()) {
    remove_marked();
    rewrite_offsets();
  }
  code_size_ = offset();
  append_constants(16);
  append_constants(8);
  append_constants(4);
  append_jump_tables();
  if (too_large_ || offset() > kMaxSize) {
    return Error(ErrorKind::Limit, "function has more than 1 GiB of machine code");
  }
  resolve();
  return {};
}

/// Distances only get smaller by removing bytes, so what fits now fits afterwards. Fills `cuts_`.
bool CodeBuffer::mark_short_branches() {
  std::uint32_t saved = 0;
  for (Fixup& fixup : fixups_) {
    const std::uint32_t size = long_size(fixup.kind);
    if (size == 0 || !is_bound(fixup.label)) continue;
    const std::uint32_t end = fixup.offset + size;
    const std::uint32_t target = labels_[fixup.label];
    // Unsigned: a backward target gives a huge distance, and had its chance at emission.
    if (target - end > 127) continue;
    fixup.shrink = true;
    saved += size - kShortSize;
    cuts_.push_back({end, saved});
  }
  return !cuts_.empty();
}

void CodeBuffer::remove_marked() {
  std::uint8_t* const code = begin_.get();
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  const auto copy_until = [&](std::uint32_t end) {
    if (to != from) std::memmove(code + to, code + from, end - from);
    to += end - from;
    from = end;
  };
  for (const Fixup& fixup : fixups_) {
    if (!fixup.shrink) continue;
    copy_until(fixup.offset);
    const bool is_jump = fixup.kind == FixupKind::X64JmpLong;
    code[to] = is_jump ? std::uint8_t{0xeb} : static_cast<std::uint8_t>(code[from + 1] - 0x10);
    to += kShortSize;
    from = fixup.offset + long_size(fixup.kind);
  }
  copy_until(offset());
  cursor_ = code + to;
}

/// Every list is in ascending order of offset, so that one walk over the cuts does for each.
void CodeBuffer::rewrite_offsets() {
  const auto rewrite = [this](auto& items, auto&& offset_of) {
    std::size_t next = 0;
    std::uint32_t saved = 0;
    for (auto& item : items) {
      std::uint32_t& at = offset_of(item);
      while (next < cuts_.size() && cuts_[next].end <= at) saved = cuts_[next++].saved;
      at -= saved;
    }
  };
  const auto own_offset = [](auto& item) -> std::uint32_t& { return item.offset; };
  rewrite(bound_, [this](Label label) -> std::uint32_t& { return labels_[label]; });
  rewrite(fixups_, own_offset);
  rewrite(constant_fixups_, own_offset);
  rewrite(relocs_, own_offset);
  rewrite(traps_, own_offset);
  rewrite(sources_, own_offset);
  rewrite(calls_, own_offset);
  for (Fixup& fixup : fixups_) {
    if (!fixup.shrink) continue;
    fixup.kind =
        fixup.kind == FixupKind::X64JmpLong ? FixupKind::X64JmpShort : FixupKind::X64JccShort;
  }
}

void CodeBuffer::pad_to(std::uint32_t align) {
  const std::uint32_t count = base::align_up(offset(), align) - offset();
  std::uint8_t* p = reserve();
  // Int3: running off the end of the code must not go on in data.
  std::memset(p, 0xcc, count);
  commit(p + count);
}

void CodeBuffer::append_constants(std::uint32_t size) {
  bool padded = false;
  for (ConstantData& data : constants_) {
    if (data.size != size) continue;
    if (!padded) pad_to(size);
    padded = true;
    data.offset = offset();
    std::uint8_t* p = reserve();
    std::memcpy(p, data.bytes, size);
    commit(p + size);
  }
}

void CodeBuffer::append_jump_tables() {
  if (tables_.empty()) return;
  pad_to(4);
  for (const JumpTable& table : tables_) {
    const std::uint32_t base = offset();
    labels_[table.label] = base;
    for (std::uint32_t i = 0; i < table.count; ++i) {
      const Label target = table_targets_[table.first + i];
      HOIST_DCHECK(is_bound(target), "every target of a jump table is bound");
      std::uint8_t* p = reserve();
      base::store_le(p, labels_[target] - base);
      commit(p + 4);
    }
  }
}

void CodeBuffer::resolve() {
  std::uint8_t* const code = begin_.get();
  for (const Fixup& fixup : fixups_) {
    HOIST_DCHECK(is_bound(fixup.label), "every label that is referred to is bound");
    const std::uint32_t distance = labels_[fixup.label] - fixup.offset;
    std::uint8_t* const at = code + fixup.offset;
    switch (fixup.kind) {
      case FixupKind::Rel32:
        base::store_le(at, distance + static_cast<std::uint32_t>(fixup.addend));
        break;
      case FixupKind::X64JmpLong: base::store_le(at + 1, distance - 5); break;
      case FixupKind::X64JccLong: base::store_le(at + 2, distance - 6); break;
      case FixupKind::X64JmpShort:
      case FixupKind::X64JccShort: at[1] = static_cast<std::uint8_t>(distance - kShortSize); break;
    }
  }
  for (const ConstantFixup& fixup : constant_fixups_) {
    const std::uint32_t target = constants_[fixup.constant].offset;
    base::store_le(code + fixup.offset,
                   target + static_cast<std::uint32_t>(fixup.addend) - fixup.offset);
  }
}

}  // namespace hoist::masm
