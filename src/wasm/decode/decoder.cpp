// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame of a module: header, order and sizes of sections, and what needs all of them.
//
// Source: WebAssembly core specification, section 5.5 "Modules".
#include "wasm/decode/decoder.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "wasm/decode/immediates.hpp"
#include "wasm/decode/module_decoder.hpp"
#include "wasm/decode/type_reader.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::wasm {

namespace {
/// Sections by id; `rank` is the place in the order that a module must keep (0: anywhere).
struct SectionKind {
  std::string_view name;
  std::uint8_t rank;
};
constexpr SectionKind kSections[] = {
    {"custom", 0}, {"type", 1},   {"import", 2},      {"function", 3}, {"table", 4},
    {"memory", 5}, {"global", 7}, {"export", 8},      {"start", 9},    {"element", 10},
    {"code", 12},  {"data", 13},  {"data count", 11}, {"tag", 6}};
constexpr std::uint8_t kMagic[] = {0x00, 'a', 's', 'm'};
constexpr std::uint8_t kVersion[] = {0x01, 0x00, 0x00, 0x00};
constexpr std::uint8_t kComponent[] = {0x0d, 0x00, 0x01, 0x00};
}  // namespace

bool has_magic(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= sizeof(kMagic) &&
         std::equal(kMagic, kMagic + sizeof(kMagic), bytes.begin());
}

Result<Module> decode(ModuleBytes bytes, Features features) {
  if (bytes.span().size() > kMaxModuleBytes) {
    return Error(ErrorKind::Limit, fmt::format("the module has {} bytes, at most {} are supported",
                                               bytes.span().size(), kMaxModuleBytes));
  }
  return ModuleDecoder(std::move(bytes), features).run();
}

ModuleDecoder::ModuleDecoder(ModuleBytes bytes, Features features) {
  module_.bytes = std::move(bytes);
  module_.features = features;
}

Result<Module> ModuleDecoder::run() {
  ByteReader in(module_.bytes.span());
  if (!header(in) || !all_sections(in) || !check_counts()) {
    // The bodies are not read yet: what is malformed in one of them comes first.
    if (error_->kind() == ErrorKind::Malformed) skim_bodies();
    return *std::move(error_);
  }
  if (missing_feature_) return *std::move(missing_feature_);
  finish();
  return std::move(module_);
}

bool ModuleDecoder::header(ByteReader& in) {
  const std::span<const std::uint8_t> bytes = module_.bytes.span();
  if (!in.skip(sizeof(kMagic))) return fail_read(in);
  if (!has_magic(bytes)) {
    return malformed("magic header not detected: a module begins with the bytes 00 61 73 6d", 0);
  }
  const std::uint32_t at = in.offset();
  if (!in.skip(sizeof(kVersion))) return fail_read(in);
  const std::span<const std::uint8_t> version = bytes.subspan(at, sizeof(kVersion));
  if (std::ranges::equal(version, kVersion)) return true;
  if (std::ranges::equal(version, kComponent)) {
    error_.emplace(ErrorKind::Unsupported,
                   "unsupported feature: component-model (a component, not a module)", at);
    return false;
  }
  return malformed(
      fmt::format("unknown binary version {:02x} {:02x} {:02x} {:02x}, not 01 00 00 00", version[0],
                  version[1], version[2], version[3]),
      at);
}

bool ModuleDecoder::all_sections(ByteReader& in) {
  std::uint8_t last = 0;  // id of the last section that was not custom
  while (!in.at_end()) {
    const std::uint32_t at = in.offset();
    std::uint8_t id = 0;
    std::uint32_t size = 0;
    if (!in.u8(id)) return fail_read(in);
    if (id >= std::size(kSections))
      return malformed(fmt::format("malformed section id {}", id), at);
    if (!in.u32(size)) return fail_read(in);
    const SectionKind& kind = kSections[id];
    if (size > in.remaining()) {
      return malformed(
          fmt::format("length out of bounds: the {} section claims {} bytes, {} are left",
                      kind.name, size, in.remaining()),
          at + 1);
    }
    if (kind.rank != 0) {
      if (kind.rank <= kSections[last].rank) {
        return malformed(
            fmt::format("unexpected content after last section: a {} section after the {} "
                        "section",
                        kind.name, kSections[last].name),
            at);
      }
      last = id;
    }
    ByteReader content(module_.bytes.span(), in.offset(), in.offset() + size);
    if (!section(id, content)) return false;
    if (!content.at_end()) {
      return malformed(
          fmt::format("section size mismatch: {} bytes of the {} section are left over",
                      content.remaining(), kind.name),
          content.offset());
    }
    if (!in.skip(size)) return fail_read(in);
  }
  return true;
}

bool ModuleDecoder::section(std::uint8_t id, ByteReader& in) {
  switch (id) {
    case 0: return custom_section(in);
    case 1: return type_section(in);
    case 2: return import_section(in);
    case 3: return function_section(in);
    case 4: return table_section(in);
    case 5: return memory_section(in);
    case 6: return global_section(in);
    case 7: return export_section(in);
    case 8: return start_section(in);
    case 9: return elem_section(in);
    case 10: return code_section(in);
    case 11: return data_section(in);
    case 12: return data_count_section(in);
    default: return tag_section(in);
  }
}

bool ModuleDecoder::check_counts() {
  const auto end = static_cast<std::uint32_t>(module_.bytes.span().size());
  if (module_.bodies.size() != module_.num_defined_functions()) {
    return malformed(fmt::format("function and code section have inconsistent lengths: {} and {}",
                                 module_.num_defined_functions(), module_.bodies.size()),
                     module_.code_section.offset != 0 ? module_.code_section.offset : end);
  }
  if (module_.data_count && *module_.data_count != module_.data.size()) {
    return malformed(fmt::format("data count and data section have inconsistent lengths: {} and {}",
                                 *module_.data_count, module_.data.size()),
                     end);
  }
  return true;
}

/// Replaces the error by that of the first malformed body in front of it.
void ModuleDecoder::skim_bodies() {
  for (const Range body : module_.bodies) {
    if (error_->offset() < body.offset) return;
    ByteReader in(module_.bytes.span(), body.offset, body.end());
    if (!skim_body(in) && in.failed()) {
      error_.emplace(in.error());
      return;
    }
  }
}

/// Reads a body without understanding it. False: see `in`, if that has failed.
bool ModuleDecoder::skim_body(ByteReader& in) {
  std::uint32_t groups = 0;
  if (!in.u32(groups)) return false;
  for (std::uint32_t i = 0; i < groups; ++i) {
    std::uint32_t locals = 0;
    ValType type;
    Feature needs = Feature::Core;
    if (!in.u32(locals) || read_val_type(in, type, needs) != TypeRead::Ok) return false;
  }
  while (!in.at_end()) {
    std::uint16_t number = 0;
    if (!read_opcode(in, number)) return false;
    const OpInfo& info = op_info_at(number);
    if (info.group == Group::Illegal) return false;
    if (skip_immediates(in, info.imm) != SkipResult::Ok) return false;
  }
  return true;
}

void ModuleDecoder::finish() {
  find_escaping_functions();
  read_branch_hints();
}

void ModuleDecoder::find_escaping_functions() {
  module_.escaping_functions.reset(module_.functions.size());
  const auto add = [&](std::uint64_t func) {
    if (func < module_.functions.size()) {
      module_.escaping_functions.insert(static_cast<std::size_t>(func));
    }
  };
  for (const Export& item : module_.exports) {
    if (item.kind == ExternKind::Func) add(item.index);
  }
  for (const ConstOp& op : module_.const_pool) {
    if (op.op == Op::RefFunc) add(op.operand);
  }
  for (const ElemSegment& segment : module_.elements) {
    for (const ElemItem& item : segment.items) {
      if (item.kind == ElemItem::Kind::Func) add(item.index);
    }
  }
}

bool ModuleDecoder::count(ByteReader& in, std::size_t already, std::uint32_t limit,
                          std::string_view what, std::uint32_t& out) {
  const std::uint32_t at = in.offset();
  if (!in.u32(out)) return fail_read(in);
  if (out > in.remaining()) {
    return malformed(
        fmt::format(
            "length out of bounds: {} {} in {} bytes, unexpected end of section or function", out,
            what, in.remaining()),
        at);
  }
  if (out > limit - std::min<std::size_t>(limit, already)) {
    error_.emplace(
        ErrorKind::Limit,
        fmt::format("too many {}: {}, at most {} are supported", what, out + already, limit), at);
    return false;
  }
  return true;
}

void ModuleDecoder::need(Feature feature, std::string_view what, std::uint32_t offset) {
  if (module_.features.has(feature) || missing_feature_) return;
  missing_feature_.emplace(ErrorKind::Unsupported,
                           fmt::format("unsupported feature: {} ({})", text(feature), what),
                           offset);
}

bool ModuleDecoder::limit(std::string message, std::uint32_t offset) {
  error_.emplace(ErrorKind::Limit, std::move(message), offset);
  return false;
}

bool ModuleDecoder::malformed(std::string message, std::uint32_t offset) {
  error_.emplace(ErrorKind::Malformed, std::move(message), offset);
  return false;
}

bool ModuleDecoder::fail_read(const ByteReader& in) {
  error_.emplace(in.error());
  return false;
}

}  // namespace hoist::wasm
