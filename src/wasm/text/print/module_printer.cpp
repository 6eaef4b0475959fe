// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/print/module_printer.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "wasm/text/print/printed_sections.hpp"

namespace hoist::wasm {

namespace {

constexpr std::uint8_t kMagic[] = {0x00, 'a', 's', 'm', 0x01, 0x00, 0x00, 0x00};
constexpr std::uint8_t kComponent[] = {0x00, 'a', 's', 'm', 0x0d, 0x00, 0x01, 0x00};

/// Names of the kinds of imports and exports in the text.
constexpr std::string_view kKindWords[] = {"func", "table", "memory", "global", "tag"};

constexpr std::uint8_t kExactFunc = 0x20;  ///< import of a function of exactly that type

enum ElemFlag : std::uint32_t { kPassive = 1, kExplicit = 2, kExpressions = 4 };

}  // namespace

ModulePrinter::ModulePrinter(std::span<const std::uint8_t> module, const PrintOptions& options,
                             base::FunctionRef<void(std::string_view)> write)
    : bytes_(module), options_(options), out_(write, options.max_bytes) {}

Result<void> ModulePrinter::run() {
  const bool ok = survey() && print();
  out_.mute(false);
  out_.flush();
  if (!ok) return *std::move(error_);
  return {};
}

// ---- First walk.

bool ModulePrinter::survey() {
  constexpr std::uint32_t kMaxSize = 0xffff'ffff;
  if (bytes_.size() > kMaxSize) return malformed("the module is larger than 4 GiB", 0);
  ByteReader in(bytes_);
  if (!header(in) || !find_sections(in)) return false;
  out_.mute(true);
  const bool ok = count_definitions() && read_function_types();
  out_.mute(false);
  if (!ok) return false;
  if (options_.names && name_section_ != nullptr) {
    names_.read(bytes_, name_section_->begin, name_section_->end, counts_);
  }
  read_hints();
  return true;
}

bool ModulePrinter::header(ByteReader& in) {
  if (!in.skip(sizeof kMagic)) return fail_read(in);
  const std::span<const std::uint8_t> found = bytes_.first(sizeof kMagic);
  if (std::ranges::equal(found, kMagic)) return true;
  if (std::ranges::equal(found, kComponent)) {
    return unsupported("component-model (a component, not a module)", 4);
  }
  if (!std::ranges::equal(found.first(4), std::span(kMagic).first(4))) {
    return malformed("magic header not detected: a module begins with the bytes 00 61 73 6d", 0);
  }
  return malformed("unknown binary version", 4);
}

bool ModulePrinter::find_sections(ByteReader& in) {
  std::uint8_t last = kCustomSection;
  while (!in.at_end()) {
    const std::uint32_t at = in.offset();
    std::uint8_t id = 0;
    std::uint32_t size = 0;
    if (!in.u8(id)) return fail_read(in);
    if (id >= kNumSections) return malformed(fmt::format("malformed section id {}", id), at);
    if (!in.u32(size)) return fail_read(in);
    const std::uint32_t begin = in.offset();
    if (!in.skip(size)) {
      return malformed(fmt::format("length out of bounds: a section claims {} bytes, {} are left",
                                   size, in.remaining()),
                       at + 1);
    }
    ByteReader content(bytes_, begin, in.offset());
    if (id == kCustomSection) {
      if (!note_custom(content, last)) return false;
      continue;
    }
    if (last != kCustomSection && section_rank(id) <= section_rank(last)) {
      return malformed(
          fmt::format("unexpected content after last section: section {} after section {}", id,
                      last),
          at);
    }
    last = id;
    Section section{.begin = begin, .end = in.offset(), .count = 1};
    if (id != kStartSection) {
      if (!content.u32(section.count)) return fail_read(content);
      section.begin = content.offset();
    }
    sections_[id] = section;
  }
  return true;
}

bool ModulePrinter::note_custom(ByteReader& in, std::uint8_t after) {
  Custom custom;
  const std::size_t size = in.remaining();
  const std::uint32_t begin = in.offset();
  if (!in.name(custom.name)) return fail_read(in);
  custom.begin = in.offset();
  custom.end = begin + static_cast<std::uint32_t>(size);
  custom.after = after;
  customs_.push_back(custom);
  return true;
}

/// How many of each kind there are, and what the types are.
bool ModulePrinter::count_definitions() {
  // Pointers to custom sections are good from here on.
  unsigned hint_sections = 0;
  for (const Custom& custom : customs_) {
    if (custom.name == "name" && name_section_ == nullptr) name_section_ = &custom;
    if (custom.name != "metadata.code.branch_hint") continue;
    ++hint_sections;
    hint_section_ = &custom;
  }
  if (hint_sections != 1) hint_section_ = nullptr;  // several are no hints
  for (const std::uint8_t id : {kTypeSection, kImportSection}) {
    if (!sections_[id]) continue;
    ByteReader in(bytes_, sections_[id]->begin, sections_[id]->end);
    if (!entries(id, in)) return false;
  }
  imported_ = next_;
  const auto count = [this](std::uint8_t id) { return sections_[id] ? sections_[id]->count : 0; };
  const auto sum = [](std::uint32_t a, std::uint32_t b) { return a > ~b ? ~0u : a + b; };
  counts_ = {.functions = sum(imported_[kFunc], count(kFunctionSection)),
             .types = next_type_,
             .tables = sum(imported_[kTable], count(kTableSection)),
             .memories = sum(imported_[kMemory], count(kMemorySection)),
             .globals = sum(imported_[kGlobal], count(kGlobalSection)),
             .elements = count(kElementSection),
             .data = count(kDataSection),
             .tags = sum(imported_[kTag], count(kTagSection))};
  next_ = {};
  next_type_ = 0;
  const std::uint32_t functions = count(kFunctionSection);
  if (functions != count(kCodeSection)) {
    return malformed(fmt::format("function and code section have inconsistent lengths: {} and {}",
                                 functions, count(kCodeSection)),
                     static_cast<std::uint32_t>(bytes_.size()));
  }
  if (sections_[kDataCountSection] && count(kDataCountSection) != counts_.data) {
    return malformed(fmt::format("data count and data section have inconsistent lengths: {} and {}",
                                 count(kDataCountSection), counts_.data),
                     static_cast<std::uint32_t>(bytes_.size()));
  }
  return true;
}

bool ModulePrinter::read_function_types() {
  if (!sections_[kFunctionSection]) return true;
  const Section& section = *sections_[kFunctionSection];
  ByteReader in(bytes_, section.begin, section.end);
  for (std::uint32_t i = 0; i < section.count; ++i) {
    std::uint32_t type = 0;
    if (!in.u32(type)) return fail_read(in);
    function_types_.push_back(type);
  }
  return true;
}

// ---- Second walk.

bool ModulePrinter::print() {
  out_ << "(module";
  if (!names_.module.empty()) {
    out_ << ' ';
    out_.identifier(names_.module);
  }
  out_.indent();
  for (const std::uint8_t id : kSectionOrder) {
    if (!print_section(id)) return false;
  }
  customs();
  out_.outdent();
  out_ << ")\n";
  return check_size(static_cast<std::uint32_t>(bytes_.size()));
}

bool ModulePrinter::print_section(std::uint8_t id) {
  // Functions are printed with their bodies; the count of the segments is no text.
  if (id == kFunctionSection || id == kDataCountSection || !sections_[id]) return true;
  ByteReader in(bytes_, sections_[id]->begin, sections_[id]->end);
  return entries(id, in);
}

bool ModulePrinter::entries(std::uint8_t id, ByteReader& in) {
  for (std::uint32_t i = 0; i < sections_[id]->count; ++i) {
    const std::uint32_t at = in.offset();
    if (!entry(id, in)) {
      if (in.failed() && !error_) return fail_read(in);
      return false;
    }
    if (!check_size(at)) return false;
  }
  if (in.at_end()) return true;
  return malformed(fmt::format("section size mismatch: {} bytes of section {} are left over",
                               in.remaining(), id),
                   in.offset());
}

bool ModulePrinter::entry(std::uint8_t id, ByteReader& in) {
  switch (id) {
    case kTypeSection: return rec_group(in);
    case kImportSection: return import(in);
    case kTableSection: return table(in);
    case kMemorySection: return memory(in);
    case kTagSection: return tag(in);
    case kGlobalSection: return global(in);
    case kExportSection: return export_(in);
    case kStartSection: return start(in);
    case kElementSection: return element(in);
    case kCodeSection: return function(in);
    default: return data_segment(in);
  }
}

// ---- Imports and exports.

PrintedSpace& ModulePrinter::space_of(std::uint8_t kind) {
  switch (kind) {
    case kTable: return names_.tables;
    case kMemory: return names_.memories;
    case kGlobal: return names_.globals;
    case kTag: return names_.tags;
    default: return names_.functions;
  }
}

void ModulePrinter::name(std::string_view text) {
  out_ << ' ';
  out_.string(text, true);
}

bool ModulePrinter::import(ByteReader& in) {
  std::string_view module;
  std::string_view field;
  if (!in.name(module) || !in.name(field)) return fail_read(in);
  const std::uint32_t at = in.offset();
  std::uint8_t kind = 0;
  if (!in.u8(kind)) return fail_read(in);
  const bool exact = kind == kExactFunc;
  if (exact) kind = kFunc;
  if (kind >= kNumKinds) return malformed(fmt::format("malformed import kind {}", kind), at);
  out_.line();
  out_ << "(import";
  name(module);
  name(field);
  out_ << " (" << kKindWords[kind];
  space_of(kind).definition(out_, next_[kind]++);
  bool ok = false;
  switch (kind) {
    case kFunc: {
      std::uint32_t type = 0;
      if (!in.u32(type)) return fail_read(in);
      if (function_types_.size() < next_[kFunc]) function_types_.push_back(type);
      out_ << (exact ? " (exact (type " : " (type ");
      type_reference(type);
      out_ << ')';
      ok = signature(type, nullptr);
      if (exact) out_ << ')';
      break;
    }
    case kTable: ok = table_type(in); break;
    case kMemory: ok = memory_type(in); break;
    case kGlobal: ok = global_type(in); break;
    default: ok = tag_type(in); break;
  }
  out_ << "))";
  return ok;
}

bool ModulePrinter::export_(ByteReader& in) {
  std::string_view exported;
  if (!in.name(exported)) return fail_read(in);
  const std::uint32_t at = in.offset();
  std::uint8_t kind = 0;
  std::uint32_t item = 0;
  if (!in.u8(kind) || !in.u32(item)) return fail_read(in);
  if (kind >= kNumKinds) return malformed(fmt::format("malformed export kind {}", kind), at);
  out_.line();
  out_ << "(export";
  name(exported);
  out_ << " (" << kKindWords[kind] << ' ';
  space_of(kind).reference(out_, item);
  out_ << "))";
  return true;
}

bool ModulePrinter::start(ByteReader& in) {
  out_.line();
  out_ << "(start";
  if (!index(in, names_.functions)) return false;
  out_ << ')';
  return true;
}

// ---- Definitions.

bool ModulePrinter::table(ByteReader& in) {
  const std::uint32_t at = in.offset();
  out_.line();
  out_ << "(table";
  names_.tables.definition(out_, next_[kTable]++);
  constexpr std::uint8_t kWithInit = 0x40;
  const bool has_init = in.peek() == kWithInit;
  if (has_init) {
    std::uint8_t reserved = 0;
    if (!in.skip(1) || !in.u8(reserved)) return fail_read(in);
    if (reserved != 0) return malformed("zero byte expected behind 40 of a table", at);
  }
  if (!table_type(in)) return false;
  if (has_init && !expression(in, "")) return false;
  out_ << ')';
  return true;
}

bool ModulePrinter::memory(ByteReader& in) {
  out_.line();
  out_ << "(memory";
  names_.memories.definition(out_, next_[kMemory]++);
  if (!memory_type(in)) return false;
  out_ << ')';
  return true;
}

bool ModulePrinter::tag(ByteReader& in) {
  out_.line();
  out_ << "(tag";
  names_.tags.definition(out_, next_[kTag]++);
  if (!tag_type(in)) return false;
  out_ << ')';
  return true;
}

bool ModulePrinter::global(ByteReader& in) {
  out_.line();
  out_ << "(global";
  names_.globals.definition(out_, next_[kGlobal]++);
  if (!global_type(in) || !expression(in, "")) return false;
  out_ << ')';
  return true;
}

bool ModulePrinter::function(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint32_t size = 0;
  if (!in.u32(size)) return fail_read(in);
  const std::uint32_t begin = in.offset();
  if (!in.skip(size)) {
    return malformed(fmt::format("length out of bounds: a function claims {} bytes, {} are left",
                                 size, in.remaining()),
                     at);
  }
  const std::uint32_t func = next_[kFunc]++;
  ByteReader code(bytes_, begin, in.offset());
  return body(code, func);
}

// ---- Segments.

bool ModulePrinter::element(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint32_t flags = 0;
  if (!in.u32(flags)) return fail_read(in);
  if (flags > 7) return malformed(fmt::format("malformed elements segment kind {}", flags), at);
  const bool active = (flags & kPassive) == 0;
  const bool expressions = (flags & kExpressions) != 0;
  out_.line();
  out_ << "(elem";
  names_.elements.definition(out_, next_element_++);
  if (!active && (flags & kExplicit) != 0) out_ << " declare";
  if (active) {
    std::uint32_t table = 0;
    if ((flags & kExplicit) != 0 && !in.u32(table)) return fail_read(in);
    if (table != 0) {
      out_ << " (table ";
      names_.tables.reference(out_, table);
      out_ << ')';
    }
    out_ << ' ';
    if (!expression(in, "offset")) return false;
  }
  out_ << ' ';
  const bool has_type = (flags & (kPassive | kExplicit)) != 0;
  if (!expressions) {
    std::uint8_t kind = 0;
    if (has_type && !in.u8(kind)) return fail_read(in);
    if (kind != 0) return malformed(fmt::format("malformed element kind {}", kind), in.offset());
    out_ << "func";
  } else if (has_type) {
    if (!ref_type(in)) return false;
  } else {
    out_ << "funcref";
  }
  return element_items(in, expressions);
}

bool ModulePrinter::element_items(ByteReader& in, bool expressions) {
  std::uint32_t count = 0;
  if (!in.u32(count)) return fail_read(in);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (expressions) {
      out_ << ' ';
      if (!expression(in, "item")) return false;
    } else if (!index(in, names_.functions)) {
      return false;
    }
    if (!check_size(in.offset())) return false;
  }
  out_ << ')';
  return true;
}

bool ModulePrinter::data_segment(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint32_t flags = 0;
  if (!in.u32(flags)) return fail_read(in);
  if (flags > 2) return malformed(fmt::format("malformed data segment kind {}", flags), at);
  out_.line();
  out_ << "(data";
  names_.data.definition(out_, next_data_++);
  if (flags != 1) {
    std::uint32_t memory = 0;
    if (flags == 2 && !in.u32(memory)) return fail_read(in);
    if (memory != 0) {
      out_ << " (memory ";
      names_.memories.reference(out_, memory);
      out_ << ')';
    }
    out_ << ' ';
    if (!expression(in, "offset")) return false;
  }
  std::span<const std::uint8_t> content;
  if (!in.bytes(content)) return fail_read(in);
  long_string({reinterpret_cast<const char*>(content.data()), content.size()});
  out_ << ')';
  return true;
}

// ---- Errors.

bool ModulePrinter::malformed(std::string message, std::uint32_t offset) {
  if (!error_) error_.emplace(ErrorKind::Malformed, std::move(message), offset);
  return false;
}

bool ModulePrinter::unsupported(std::string message, std::uint32_t offset) {
  if (!error_) error_.emplace(ErrorKind::Unsupported, "unsupported feature: " + message, offset);
  return false;
}

bool ModulePrinter::fail_read(const ByteReader& in) {
  if (!error_) error_.emplace(in.error());
  return false;
}

bool ModulePrinter::check_size(std::uint32_t offset) {
  if (!out_.full()) return true;
  if (!error_) {
    error_.emplace(
        ErrorKind::Limit,
        fmt::format("the text of the module is larger than {} bytes", options_.max_bytes), offset);
  }
  return false;
}

// ---- Interface.

Result<void> print_wat(std::span<const std::uint8_t> module, const PrintOptions& options,
                       base::FunctionRef<void(std::string_view)> write) {
  return ModulePrinter(module, options, write).run();
}

Result<std::string> wat_text(std::span<const std::uint8_t> module, const PrintOptions& options) {
  std::string text;
  const auto append = [&text](std::string_view piece) { text += piece; };
  HOIST_TRY_VOID(print_wat(module, options, append));
  return text;
}

}  // namespace hoist::wasm
