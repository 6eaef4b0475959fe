// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/sampler/resolver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "base/text/printable.hpp"
#include "demangle/demangle.hpp"
#include "image/inlined_frames.hpp"
#include "image/tables/eh_frame.hpp"
#include "image/tables/eh_frame_reader.hpp"
#include "jit/code_registry.hpp"
#include "jit/stack_sample.hpp"
#include "runtime/engine/module_code.hpp"
#include "runtime/objects/host_function.hpp"
#include "wasm/debug/inlined_calls.hpp"
#include "wasm/decode/byte_reader.hpp"
#include "wasm/format/opcodes.hpp"

namespace hoist::profiling {

using image::FuncKey;
using image::FuncKind;

namespace {

/// Ways to get somewhere: of a guest whose stacks are never the same, later frames are left out.
constexpr std::uint32_t kMostNodes = 4U << 20;
/// Of a name that a module gives to an import.
constexpr std::size_t kMaxImportName = 200;

struct Found {
  const image::Image* image = nullptr;
  const jit::CodeOwner* owner = nullptr;
  std::uint32_t offset = 0;
};

/// The lookup itself must be short; what it finds stays, as whoever removes code waits for the
/// sampler.
std::optional<Found> find_code(std::uintptr_t pc) {
  const jit::CodeLookup lookup;
  const jit::LoadedCode* loaded = lookup.find(pc);
  if (loaded == nullptr) return std::nullopt;
  return Found{loaded->image, loaded->owner, loaded->offset_of(pc)};
}

/// What a call of the host at an offset of the module calls: an import's name, or the instruction
/// that Hoist itself carries out ("memory.copy", "throw"). Empty: the instruction does not say.
std::string called_host(const wasm::Module& module, std::uint32_t source) {
  using wasm::Group;
  const std::size_t size = module.bytes.span().size();
  if (source >= size) return "host";
  wasm::ByteReader in(module.bytes.span(), source, size);
  std::uint8_t first = 0;
  std::uint32_t code = 0;
  if (!in.u8(first)) return "host";
  const bool is_prefix = first >= 0xfc && first <= 0xfe;
  if (is_prefix && !in.u32(code)) return "host";
  const std::uint16_t number = is_prefix ? wasm::op_number(first, code) : wasm::op_number(0, first);
  if (number >= wasm::kOpNumbers) return "host";
  const wasm::OpInfo& op = wasm::op_info_at(number);
  const auto is_one_of = [&](std::initializer_list<Group> groups) {
    return std::find(groups.begin(), groups.end(), op.group) != groups.end();
  };
  if (is_one_of(
          {Group::CallIndirect, Group::CallRef, Group::ReturnCallIndirect, Group::ReturnCallRef}))
    return {};
  // Where code looks at the time that is left, and the like.
  if (is_one_of({Group::Illegal, Group::Block, Group::Loop, Group::End, Group::Br, Group::BrIf}))
    return "host";
  if (!is_one_of({Group::Call, Group::ReturnCall})) return std::string(op.text);
  std::uint32_t index = 0;
  if (!in.u32(index)) return "host";
  for (const wasm::Import& import : module.imports) {
    if (import.kind != wasm::ExternKind::Func || import.index != index) continue;
    return base::printable(fmt::format("{}.{}", import.module, import.field), kMaxImportName);
  }
  // The function that is called there has gone on to a host function.
  return {};
}

}  // namespace

std::size_t Resolver::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = key.code * 0x9e37'79b9'7f4a'7c15;
  for (const std::uint64_t word :
       {key.function, std::uint64_t{key.file} << 32 | key.line, std::uint64_t{key.inlined}}) {
    hash = (hash ^ word) * 0xbf58'476d'1ce4'e5b9;
    hash ^= hash >> 29;
  }
  return hash;
}

void Resolver::forget_addresses() {
  by_pc_.clear();
  hosts_.clear();
  records_.clear();
  pool_.clear();
  forget_stack();
}

void Resolver::forget_host_functions() {
  host_functions_.clear();
  forget_stack();
}

void Resolver::forget_stack() {
  words_.clear();
  nodes_.clear();
  begin_ = 0;
}

std::uint32_t Resolver::text_number(std::string_view text) {
  if (text.empty()) return 0;
  return texts_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size() + 1))
      .first->second;
}

std::uint32_t Resolver::special(FrameKind kind, const std::string& name) {
  const auto number = static_cast<std::uint32_t>(profile_.frames.size());
  const auto [at, fresh] =
      specials_.try_emplace(kFrameKinds[static_cast<unsigned>(kind)] + name, number);
  if (fresh) profile_.frames.push_back({name, {}, {}, 0, kind});
  return at->second;
}

void Resolver::add_frame(const jit::CodeOwner* owner, FuncKey key, std::string_view name,
                         const jit::CodeOwner::Place& place, bool inlined) {
  Key wanted;
  wanted.code = owner == nullptr ? 0 : owner->id();
  wanted.function =
      std::uint64_t{key.name_space()} << 33 | std::uint64_t{inlined} << 32 | key.index();
  wanted.inlined = text_number(name);
  wanted.file = text_number(place.file);
  wanted.line = place.line;
  const auto number = static_cast<std::uint32_t>(profile_.frames.size());
  const auto [at, fresh] = frames_.try_emplace(wanted, number);
  if (fresh) {
    const auto* wasm_owner = runtime::CodeOwner::of(owner);
    const bool raw = wasm_owner != nullptr && wasm_owner->raw_names;
    const bool is_function = owner == nullptr || owner->kind(key) == CodeKind::Function;
    ProfileFrame frame;
    frame.function = !name.empty()      ? demangle::display_name(name, raw)
                     : owner == nullptr ? fmt::format("user[{}]", key.index())
                                        : owner->name(key);
    frame.module = owner == nullptr ? std::string() : owner->module_name();
    frame.file = base::printable(place.file);
    frame.line = place.line;
    frame.kind = inlined       ? FrameKind::Inlined
                 : is_function ? FrameKind::Guest
                               : FrameKind::Trampoline;
    profile_.frames.push_back(std::move(frame));
  }
  pool_.push_back(at->second);
}

void Resolver::add_own_frame(const jit::CodeOwner* owner, FuncKey key, std::uint32_t source) {
  const std::size_t before = pool_.size();
  add_frames_of(owner, key, source, false);
  pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(before), pool_.end() - 1);
}

void Resolver::add_frames_of(const jit::CodeOwner* owner, FuncKey key, std::uint32_t source,
                             bool inlined) {
  const bool is_function = owner != nullptr && owner->kind(key) == CodeKind::Function;
  if (!is_function || source == image::kAbsent) {
    add_frame(owner, key, {}, {}, inlined);
  } else if (const auto* wasm_owner = runtime::CodeOwner::of(owner)) {
    wasm_owner->source_frames(source, [&](const wasm::SourceFrame& frame) {
      jit::CodeOwner::Place place;
      place.file = frame.at.file;
      place.line = frame.at.line;
      add_frame(owner, key, frame.function, place, inlined || !frame.function.empty());
    });
  } else {
    add_frame(owner, key, {}, owner->place(source), inlined);
  }
}

/// Where the function is, at an offset that has no place of its own (prologue, check of the stack):
/// at the place before it, or the first.
static std::uint32_t nearest_source(const image::Image& image, const image::FunctionEntry& entry,
                                    std::uint32_t offset) {
  using image::AddressEntry;
  std::uint32_t before = image::kAbsent;
  std::uint32_t after = image::kAbsent;
  const std::uint32_t end = entry.offset + entry.code_size;
  image.addresses().for_range(entry.offset, end, [&](AddressEntry at) {
    if (at.offset < entry.offset || at.source == AddressEntry::kNone) return;
    if (at.offset <= offset) {
      before = at.offset;
    } else if (after == image::kAbsent) {
      after = at.offset;
    }
  });
  const std::uint32_t place = before != image::kAbsent ? before : after;
  return place == image::kAbsent ? image::kAbsent : image::own_source_at(image, place);
}

Resolver::Range Resolver::find_frames(std::uintptr_t pc) {
  const auto begin = static_cast<std::uint32_t>(pool_.size());
  const auto found = find_code(pc);
  if (!found) return {begin, 0};
  const image::FunctionEntry* entry = found->image->find_function(found->offset);
  if (entry == nullptr) return {begin, 0};
  // All but the last are inlined into it.
  std::vector<std::pair<FuncKey, std::uint32_t>> chain;
  image::for_each_source_frame(
      *found->image, found->offset,
      [&](FuncKey key, std::uint32_t source) { chain.emplace_back(key, source); });
  if (chain.size() == 1 && chain[0].second == image::kAbsent) {
    chain[0].second = nearest_source(*found->image, *entry, found->offset);
    add_own_frame(found->owner, chain[0].first, chain[0].second);
  } else {
    for (std::size_t i = 0; i < chain.size(); ++i)
      add_frames_of(found->owner, chain[i].first, chain[i].second, i + 1 != chain.size());
  }
  return {begin, static_cast<std::uint32_t>(pool_.size()) - begin};
}

Resolver::Range Resolver::frames_at(std::uintptr_t pc) {
  if (const auto at = by_pc_.find(pc); at != by_pc_.end()) return at->second;
  const Range range = find_frames(pc);
  by_pc_.emplace(pc, range);
  return range;
}

std::uint32_t Resolver::host_function_frame(std::uint64_t word) {
  if (const auto at = host_functions_.find(word); at != host_functions_.end()) return at->second;
  std::string name = "host";
  if ((word & jit::sample_word::kHostFunction) != 0) {
    const auto& function = *reinterpret_cast<const runtime::HostFunction*>(
        static_cast<std::uintptr_t>(word & ~jit::sample_word::kHostFunction));
    name = function.name().empty() ? "host " + hoist::to_string(function.public_type())
                                   : base::printable(function.name(), kMaxImportName);
  }
  const std::uint32_t frame = special(FrameKind::Host, name);
  host_functions_.emplace(word, frame);
  return frame;
}

std::uint32_t Resolver::host_frame(std::uint64_t word, std::uintptr_t return_address) {
  auto at = hosts_.find(return_address);
  if (at == hosts_.end()) {
    std::string name = "host";
    if (const auto found = find_code(return_address - 1)) {
      const auto* owner = runtime::CodeOwner::of(found->owner);
      const std::uint32_t source = found->image->source_at(found->offset);
      if (owner != nullptr && owner->module != nullptr && source != image::kAbsent) {
        name = called_host(owner->module->module(), source);
      }
    }
    const std::uint32_t frame = name.empty() ? Profile::kNone : special(FrameKind::Host, name);
    at = hosts_.emplace(return_address, frame).first;
  }
  return at->second != Profile::kNone ? at->second : host_function_frame(word);
}

std::uintptr_t Resolver::hidden_caller(std::uintptr_t pc, std::uint64_t at_sp,
                                       std::uint64_t above) {
  const auto found = find_code(pc);
  if (!found) return 0;
  const image::FunctionEntry* entry = found->image->find_function(found->offset);
  if (entry == nullptr || entry->key.kind() == FuncKind::EntryTrampoline) return 0;
  const auto number = static_cast<std::size_t>(entry - found->image->functions().data());
  std::vector<image::FrameRecord>& records = records_[found->image];
  if (records.empty()) {
    image::FrameReader reader(
        found->image->section(image::table_section(image::TableKind::EhFrame)));
    for (image::FrameRecord next = reader.next(); !next.bytes.empty(); next = reader.next())
      records.push_back(next);
  }
  if (number >= records.size()) return 0;
  const image::CfaRule rule = image::cfa_at(records[number], found->offset - entry->offset);
  std::uintptr_t caller = 0;
  if (rule.reg == image::kDwarfRsp && rule.offset == 8) caller = at_sp;
  if (rule.reg == image::kDwarfRsp && rule.offset == 16) caller = above;
  if (caller == 0) return 0;
  const auto from = find_code(caller - 1);
  if (!from) return 0;
  entry = from->image->find_function(from->offset);
  return entry == nullptr || entry->key.kind() == FuncKind::EntryTrampoline ? 0 : caller;
}

std::uint32_t Resolver::child(std::uint32_t parent, std::uint32_t frame) {
  const std::uint64_t key = std::uint64_t{parent + 1} << 32 | frame;
  const auto number = static_cast<std::uint32_t>(profile_.nodes.size());
  if (number >= kMostNodes && !children_.contains(key)) return parent;
  const auto [at, fresh] = children_.try_emplace(key, number);
  if (fresh) profile_.nodes.push_back({parent, frame, 0});
  return at->second;
}

std::uint32_t Resolver::add_frames(std::uint32_t node, std::uintptr_t pc) {
  const Range range = frames_at(pc);
  for (std::uint32_t i = range.count; i-- != 0;) node = child(node, pool_[range.begin + i]);
  return node;
}

std::uint32_t Resolver::add(std::span<const std::uint64_t> words) {
  // The innermost: pc, and what is at the stack pointer.
  constexpr std::size_t kInner = 4;
  const bool in_code = words.size() >= kInner && words[0] == jit::sample_word::kInCode;
  const std::size_t begin = in_code ? kInner : 0;
  // A stack begins as the one before did, most often.
  std::size_t at = words.size();
  std::size_t before = words_.size();
  while (at > begin && before > begin_ && words[at - 1] == words_[before - 1]) {
    --at;
    --before;
  }
  std::uint32_t node = at == words.size() ? Profile::kNone : nodes_[before];
  nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(before));
  nodes_.insert(nodes_.begin(), at, Profile::kNone);
  words_.assign(words.begin(), words.end());
  begin_ = begin;
  while (at-- > begin) {
    const std::uint64_t word = words[at];
    if (word == jit::sample_word::kHost || (word & jit::sample_word::kHostFunction) != 0) {
      node = child(node, at + 1 < words.size() ? host_frame(word, words[at + 1])
                                               : special(FrameKind::Host, "host"));
    } else if (word == jit::sample_word::kGap) {
      node = child(node, special(FrameKind::Gap, "..."));
    } else if (word > jit::sample_word::kLastMark) {
      node = add_frames(node, word - 1);
    }
    nodes_[at] = node;
  }
  if (!in_code) return node;
  if (const std::uintptr_t caller = hidden_caller(words[1], words[2], words[3]))
    node = add_frames(node, caller - 1);
  return add_frames(node, words[1]);
}

}  // namespace hoist::profiling
