// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/sampler/resolver.hpp"

#include <fmt/core.h>

#include <optional>

#include "base/leb128.hpp"
#include "base/text/printable.hpp"
#include "image/inlined_frames.hpp"
#include "image/tables/eh_frame.hpp"
#include "image/tables/eh_frame_reader.hpp"
#include "jit/code_registry.hpp"
#include "jit/stack_sample.hpp"
#include "runtime/engine/module_code.hpp"
#include "wasm/debug/line_table.hpp"

namespace hoist::profiling {

using image::FuncKey;
using image::FuncKind;

namespace {

/// Of a name that a module gives to an import.
constexpr std::size_t kMaxImportName = 200;

struct Found {
  const image::Image* image = nullptr;
  const runtime::CodeOwner* owner = nullptr;
  std::uint32_t offset = 0;
};

/// The lookup itself must be short; what it finds stays, as whoever removes code waits for the
/// sampler.
std::optional<Found> find_code(std::uintptr_t pc) {
  const jit::CodeLookup lookup;
  const jit::LoadedCode* loaded = lookup.find(pc);
  if (loaded == nullptr) return std::nullopt;
  return Found{loaded->image, static_cast<const runtime::CodeOwner*>(loaded->owner),
               loaded->offset_of(pc)};
}

/// What the instruction at an offset of the module calls, if it is an import or a builtin.
std::string called_import(const wasm::Module& module, std::uint32_t source) {
  const std::span<const std::uint8_t> bytes = module.bytes.span();
  if (source >= bytes.size()) return "host";
  constexpr std::uint8_t kCall = 0x10;
  constexpr std::uint8_t kReturnCall = 0x12;
  constexpr std::uint8_t kMemoryGrow = 0x40;
  const std::uint8_t op = bytes[source];
  if (op == kMemoryGrow) return "memory.grow";
  if (op != kCall && op != kReturnCall) return "host";
  std::uint64_t index = 0;
  std::size_t at = source + 1;
  for (unsigned shift = 0; shift < 35 && at < bytes.size(); shift += 7) {
    const std::uint8_t byte = bytes[at++];
    index |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) break;
  }
  for (const wasm::Import& import : module.imports) {
    if (import.kind != wasm::ExternKind::Func || import.index != index) continue;
    return base::printable(fmt::format("{}.{}", import.module, import.field), kMaxImportName);
  }
  return "host";
}

}  // namespace

std::size_t Resolver::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = key.code * 0x9e37'79b9'7f4a'7c15;
  for (const std::uint64_t word : {key.function, std::uint64_t{key.file} << 32 | key.line}) {
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
  words_.clear();
  nodes_.clear();
  begin_ = 0;
}

std::uint32_t Resolver::file_number(std::string_view file) {
  if (file.empty()) return 0;
  return files_.try_emplace(std::string(file), static_cast<std::uint32_t>(files_.size() + 1))
      .first->second;
}

std::uint32_t Resolver::special(FrameKind kind, const std::string& name) {
  const auto number = static_cast<std::uint32_t>(profile_.frames.size());
  const auto [at, fresh] =
      specials_.try_emplace(kFrameKinds[static_cast<unsigned>(kind)] + name, number);
  if (fresh) profile_.frames.push_back({name, {}, {}, 0, kind});
  return at->second;
}

void Resolver::add_frame(const runtime::CodeOwner* owner, FuncKey key, std::uint32_t source,
                         bool inlined) {
  const bool is_function = key.kind() == FuncKind::WasmFunction;
  const wasm::LineTable* table =
      owner == nullptr || !is_function || source == image::kAbsent ? nullptr : owner->lines();
  const wasm::SourceLine line = table == nullptr ? wasm::SourceLine() : table->find(source);
  Key wanted;
  wanted.code = owner == nullptr ? 0 : owner->id;
  wanted.function =
      std::uint64_t{key.name_space()} << 33 | std::uint64_t{inlined} << 32 | key.index();
  wanted.file = file_number(line.file);
  wanted.line = line.line;
  const auto number = static_cast<std::uint32_t>(profile_.frames.size());
  const auto [at, fresh] = frames_.try_emplace(wanted, number);
  if (fresh) {
    ProfileFrame frame;
    frame.function = owner == nullptr ? fmt::format("user[{}]", key.index()) : owner->name(key);
    frame.module = owner == nullptr ? std::string() : owner->module_name();
    frame.file = base::printable(line.file);
    frame.line = line.line;
    frame.kind = inlined                           ? FrameKind::Inlined
                 : is_function || owner == nullptr ? FrameKind::Guest
                                                   : FrameKind::Trampoline;
    profile_.frames.push_back(std::move(frame));
  }
  pool_.push_back(at->second);
}

Resolver::Range Resolver::find_frames(std::uintptr_t pc) {
  const auto begin = static_cast<std::uint32_t>(pool_.size());
  const auto found = find_code(pc);
  if (!found) return {begin, 0};
  const image::FunctionEntry* entry = found->image->find_function(found->offset);
  if (entry == nullptr) return {begin, 0};
  image::for_each_source_frame(*found->image, found->offset,
                               [&](FuncKey key, std::uint32_t source) {
                                 // The last is the function itself: of what comes before, all is
                                 // inlined.
                                 add_frame(found->owner, key, source, true);
                               });
  const auto count = static_cast<std::uint32_t>(pool_.size()) - begin;
  if (count != 0) {
    pool_.pop_back();
    std::uint32_t source = found->image->source_at(found->offset);
    const image::InlineTable& table = found->image->tables().inlining;
    for (std::uint32_t at = table.frame_at(found->offset); at != image::kAbsent;
         at = table.frame(at).parent)
      source = table.frame(at).call_source;
    add_frame(found->owner, entry->key, source, false);
  }
  return {begin, count};
}

Resolver::Range Resolver::frames_at(std::uintptr_t pc) {
  if (const auto at = by_pc_.find(pc); at != by_pc_.end()) return at->second;
  const Range range = find_frames(pc);
  by_pc_.emplace(pc, range);
  return range;
}

std::uint32_t Resolver::host_frame(std::uintptr_t return_address) {
  if (const auto at = hosts_.find(return_address); at != hosts_.end()) return at->second;
  std::string name = "host";
  if (const auto found = find_code(return_address - 1); found && found->owner != nullptr) {
    const std::uint32_t source = found->image->source_at(found->offset);
    if (found->owner->module != nullptr && source != image::kAbsent)
      name = called_import(found->owner->module->module(), source);
  }
  const std::uint32_t frame = special(FrameKind::Host, name);
  hosts_.emplace(return_address, frame);
  return frame;
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
    if (word == jit::sample_word::kHost) {
      node = child(node, at + 1 < words.size() ? host_frame(words[at + 1])
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
