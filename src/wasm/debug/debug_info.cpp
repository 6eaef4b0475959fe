// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/debug_info.hpp"

#include <algorithm>
#include <limits>

namespace hoist::wasm {

using dwarf::Cursor;

namespace {

/// How many times the section of abbreviations may be read through: once is what linkers write.
constexpr std::size_t kAbbrevReads = 4;

// DW_AT_*: DWARF 5, section 7.5.4.
constexpr struct {
  std::uint16_t code;
  DebugInfo::Attribute attribute;
} kLookedAt[] = {
    {0x03, DebugInfo::kName},          {0x10, DebugInfo::kStatements},
    {0x11, DebugInfo::kLowPc},         {0x12, DebugInfo::kHighPc},
    {0x1b, DebugInfo::kDirectory},     {0x31, DebugInfo::kAbstractOrigin},
    {0x47, DebugInfo::kSpecification}, {0x55, DebugInfo::kRanges},
    {0x58, DebugInfo::kCallFile},      {0x59, DebugInfo::kCallLine},
    {0x6e, DebugInfo::kLinkageName},   {0x72, DebugInfo::kStringOffsetsBase},
    {0x73, DebugInfo::kAddressBase},   {0x74, DebugInfo::kRangeListsBase},
    {0x2007, DebugInfo::kLinkageName},  // of GCC and LLVM before version 4
};

DebugInfo::Attribute looked_at(std::uint64_t code) {
  for (const auto& one : kLookedAt) {
    if (one.code == code) return one.attribute;
  }
  return DebugInfo::kAttributes;
}

// DW_UT_*: DWARF 5, section 7.5.1.
enum UnitType : std::uint8_t { kCompile = 1, kType = 2, kPartial = 3, kSkeleton = 4, kSplit = 5 };

// DW_RLE_*: DWARF 5, section 7.25.
enum RangeEntry : std::uint8_t {
  kEndOfList = 0,
  kBaseAddressx = 1,
  kStartxEndx = 2,
  kStartxLength = 3,
  kOffsetPair = 4,
  kBaseAddress = 5,
  kStartEnd = 6,
  kStartLength = 7
};

}  // namespace

DebugInfo::DebugInfo(const dwarf::Sections& sections) : sections_(sections) {
  problem_ = read_units();
}

const char* DebugInfo::read_units() {
  Cursor in(sections_.info);
  while (in.left() != 0) {
    Unit unit;
    unit.begin = in.at();
    const dwarf::UnitLength length = dwarf::unit_length(in);
    if (!in.ok() || length.bytes > in.left()) return "a unit is longer than the section";
    unit.wide = length.wide;
    unit.end = in.at() + static_cast<std::size_t>(length.bytes);
    Cursor head(sections_.info.first(unit.end), in.at());
    in.skip(length.bytes);
    if (!read_unit(head, unit)) return "a unit is not valid";
    if (unit.entries != 0) units_.push_back(unit);
  }
  return nullptr;
}

/// Leaves `entries` at 0 for a unit that has no code.
bool DebugInfo::read_unit(Cursor& in, Unit& unit) {
  unit.version = in.fixed<std::uint16_t>();
  if (!in.ok() || unit.version < 2 || unit.version > 5) return false;
  if (unit.version >= 5) {
    const std::uint8_t type = in.u8();
    unit.address_bytes = in.u8();
    unit.abbreviations = in.offset(unit.wide);
    if (type == kSkeleton || type == kSplit) in.skip(8);
    if (type != kCompile && type != kPartial && type != kSkeleton) return in.ok();
  } else {
    unit.abbreviations = in.offset(unit.wide);
    unit.address_bytes = in.u8();
  }
  if (!in.ok() || (unit.address_bytes != 4 && unit.address_bytes != 8)) return false;
  const std::size_t begin = in.at();
  Entry first;
  if (in.left() == 0) return true;
  if (!next(unit, in, first)) return false;
  unit.entries = begin;
  // The bases come first: other attributes are looked up with them.
  if (first[kStringOffsetsBase]) unit.string_offsets = first[kStringOffsetsBase].number;
  if (first[kAddressBase]) unit.addresses = first[kAddressBase].number;
  if (first[kRangeListsBase]) unit.range_lists = first[kRangeListsBase].number;
  if (first[kStatements]) unit.line_program = first[kStatements].number;
  unit.directory = text(unit, first[kDirectory]);
  unit.low_pc = first[kLowPc] ? address(unit, first[kLowPc]) : 0;
  return true;
}

const DebugInfo::Unit* DebugInfo::unit_at(std::uint64_t offset) const {
  auto at =
      std::upper_bound(units_.begin(), units_.end(), offset,
                       [](std::uint64_t wanted, const Unit& unit) { return wanted < unit.begin; });
  if (at == units_.begin()) return nullptr;
  --at;
  return offset >= at->entries && offset < at->end ? &*at : nullptr;
}

// ---- Abbreviations.

const DebugInfo::Abbreviation* DebugInfo::Table::find(std::uint64_t code) const {
  if (code != 0 && code <= all.size() && codes.empty())
    return &all[static_cast<std::size_t>(code - 1)];
  const auto at = codes.find(code);
  return at == codes.end() ? nullptr : &all[at->second];
}

const DebugInfo::Table* DebugInfo::table(std::uint64_t offset) {
  if (offset == last_table_offset_) return last_table_;
  const auto [at, fresh] = tables_.try_emplace(offset);
  if (fresh) {
    at->second = std::make_unique<Table>();
    if (!read_table(offset, *at->second)) at->second.reset();
  }
  last_table_offset_ = offset;
  last_table_ = at->second.get();
  return last_table_;
}

bool DebugInfo::read_table(std::uint64_t offset, Table& out) {
  if (abbrev_bytes_ > kAbbrevReads * sections_.abbrev.size()) return false;
  Cursor in(sections_.abbrev, offset);
  bool in_order = true;
  std::vector<std::uint64_t> codes;
  for (std::uint64_t code = in.uleb(); in.ok() && code != 0; code = in.uleb()) {
    in_order &= code == codes.size() + 1;
    codes.push_back(code);
    Abbreviation one;
    const std::uint64_t tag = in.uleb();
    one.tag = tag > 0xffff ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(tag);
    one.has_children = in.u8() != 0;
    one.first = static_cast<std::uint32_t>(out.fields.size());
    std::uint32_t seen = 0;
    while (true) {
      const std::uint64_t name = in.uleb();
      const std::uint64_t form = in.uleb();
      const std::int64_t constant = form == dwarf::kFormImplicitConst ? in.sleb() : 0;
      if (!in.ok() || (name == 0 && form == 0)) break;
      if (form > 0xffff) return false;
      Attribute attribute = looked_at(name);
      // Of an attribute that is there twice the first counts.
      if (attribute != kAttributes && (seen & 1U << attribute) != 0) attribute = kAttributes;
      if (attribute != kAttributes) seen |= 1U << attribute;
      const bool takes_bytes = form != dwarf::kFormImplicitConst && form != dwarf::kFormFlagPresent;
      if (attribute == kAttributes && !takes_bytes) continue;
      out.fields.push_back({attribute, static_cast<std::uint16_t>(form), constant});
    }
    one.count = static_cast<std::uint32_t>(out.fields.size()) - one.first;
    out.all.push_back(one);
  }
  abbrev_bytes_ += in.at() - std::min<std::size_t>(in.at(), static_cast<std::size_t>(offset));
  if (!in.ok()) return false;
  if (!in_order) {
    for (std::size_t i = 0; i < codes.size(); ++i)
      out.codes.try_emplace(codes[i], static_cast<std::uint32_t>(i));
  }
  return true;
}

// ---- Entries.

bool DebugInfo::next(const Unit& unit, Cursor& in, Entry& out) {
  out.tag = kEndOfSiblings;
  out.has_children = false;
  out.values.fill({});
  const std::uint64_t code = in.uleb();
  if (code == 0) return in.ok();
  const Table* abbreviations = table(unit.abbreviations);
  const Abbreviation* of = abbreviations == nullptr ? nullptr : abbreviations->find(code);
  if (of == nullptr) return false;
  out.tag = of->tag;
  out.has_children = of->has_children;
  Value ignored;
  for (std::uint32_t i = 0; i < of->count; ++i) {
    const Field& field = abbreviations->fields[of->first + i];
    Value& to = field.attribute == kAttributes ? ignored : out.values[field.attribute];
    if (field.form == dwarf::kFormImplicitConst) {
      to = {field.form, static_cast<std::uint64_t>(field.constant), {}};
    } else if (!value(unit, in, field.form, to)) {
      return false;
    }
  }
  return in.ok();
}

bool DebugInfo::value(const Unit& unit, Cursor& in, std::uint16_t form, Value& out) const {
  out.form = form;
  switch (form) {
    case dwarf::kFormAddr: out.number = in.address(unit.address_bytes); break;
    case dwarf::kFormString: out.text = in.string(); break;
    case dwarf::kFormFlagPresent: out.number = 1; break;
    case dwarf::kFormFlag:
    case dwarf::kFormData1:
    case dwarf::kFormRef1:
    case dwarf::kFormStrx1:
    case dwarf::kFormAddrx1: out.number = in.u8(); break;
    case dwarf::kFormData2:
    case dwarf::kFormRef2:
    case dwarf::kFormStrx2:
    case dwarf::kFormAddrx2: out.number = in.fixed<std::uint16_t>(); break;
    case dwarf::kFormStrx3:
    case dwarf::kFormAddrx3: out.number = in.u24(); break;
    case dwarf::kFormData4:
    case dwarf::kFormRef4:
    case dwarf::kFormRefSup4:
    case dwarf::kFormStrx4:
    case dwarf::kFormAddrx4: out.number = in.fixed<std::uint32_t>(); break;
    case dwarf::kFormData8:
    case dwarf::kFormRef8:
    case dwarf::kFormRefSig8:
    case dwarf::kFormRefSup8: out.number = in.fixed<std::uint64_t>(); break;
    case dwarf::kFormData16: in.skip(16); break;
    case dwarf::kFormUdata:
    case dwarf::kFormRefUdata:
    case dwarf::kFormStrx:
    case dwarf::kFormAddrx:
    case dwarf::kFormLoclistx:
    case dwarf::kFormRnglistx: out.number = in.uleb(); break;
    case dwarf::kFormSdata: out.number = static_cast<std::uint64_t>(in.sleb()); break;
    case dwarf::kFormRefAddr:
      // In version 2 it has the size of an address.
      out.number = unit.version == 2 ? in.address(unit.address_bytes) : in.offset(unit.wide);
      break;
    case dwarf::kFormStrp:
    case dwarf::kFormLineStrp:
    case dwarf::kFormStrpSup:
    case dwarf::kFormSecOffset: out.number = in.offset(unit.wide); break;
    case dwarf::kFormBlock1: in.skip(in.u8()); break;
    case dwarf::kFormBlock2: in.skip(in.fixed<std::uint16_t>()); break;
    case dwarf::kFormBlock4: in.skip(in.fixed<std::uint32_t>()); break;
    case dwarf::kFormBlock:
    case dwarf::kFormExprloc: in.skip(in.uleb()); break;
    case dwarf::kFormIndirect: {
      const std::uint64_t real = in.uleb();
      if (real == dwarf::kFormIndirect || real == dwarf::kFormImplicitConst || real > 0xffff)
        return false;
      return value(unit, in, static_cast<std::uint16_t>(real), out);
    }
    default: return false;
  }
  return in.ok();
}

std::string_view DebugInfo::text(const Unit& unit, const Value& value) const {
  std::string_view out;
  const auto from = [&](dwarf::Bytes section, std::uint64_t at) {
    return dwarf::string_at(section, at, out) ? out : std::string_view();
  };
  switch (value.form) {
    case dwarf::kFormString: return value.text.substr(0, dwarf::kMaxText);
    case dwarf::kFormStrp: return from(sections_.str, value.number);
    case dwarf::kFormLineStrp: return from(sections_.line_str, value.number);
    case dwarf::kFormStrx:
    case dwarf::kFormStrx1:
    case dwarf::kFormStrx2:
    case dwarf::kFormStrx3:
    case dwarf::kFormStrx4: {
      const std::uint64_t bytes = unit.wide ? 8 : 4;
      if (value.number > sections_.str_offsets.size()) return {};
      Cursor in(sections_.str_offsets, unit.string_offsets);
      in.skip(value.number * bytes);
      const std::uint64_t at = in.offset(unit.wide);
      return in.ok() ? from(sections_.str, at) : std::string_view();
    }
    default: return {};
  }
}

std::uint64_t DebugInfo::target(const Unit& unit, const Value& value) const {
  switch (value.form) {
    case dwarf::kFormRef1:
    case dwarf::kFormRef2:
    case dwarf::kFormRef4:
    case dwarf::kFormRef8:
    case dwarf::kFormRefUdata:
      return value.number < unit.end - unit.begin ? unit.begin + value.number : kNone;
    case dwarf::kFormRefAddr: return value.number;
    default: return kNone;
  }
}

// ---- Addresses.

std::uint64_t DebugInfo::address_at(const Unit& unit, std::uint64_t index) const {
  if (index > sections_.addr.size()) return kNone;
  Cursor in(sections_.addr, unit.addresses);
  in.skip(index * unit.address_bytes);
  const std::uint64_t out = in.address(unit.address_bytes);
  return in.ok() ? out : kNone;
}

std::uint64_t DebugInfo::address(const Unit& unit, const Value& value) const {
  switch (value.form) {
    case dwarf::kFormAddr: return value.number;
    case dwarf::kFormAddrx:
    case dwarf::kFormAddrx1:
    case dwarf::kFormAddrx2:
    case dwarf::kFormAddrx3:
    case dwarf::kFormAddrx4: return address_at(unit, value.number);
    default: return kNone;
  }
}

bool DebugInfo::ranges(const Unit& unit, const Entry& entry, std::size_t& left,
                       std::vector<Range>& out) const {
  if (const Value& list = entry[kRanges]) {
    if (unit.version < 5) return old_ranges(unit, list.number, left, out);
    if (list.form != dwarf::kFormRnglistx) return range_list(unit, list.number, left, out);
    if (list.number > sections_.rnglists.size()) return false;
    Cursor in(sections_.rnglists, unit.range_lists);
    in.skip(list.number * (unit.wide ? 8 : 4));
    const std::uint64_t at = in.offset(unit.wide);
    if (!in.ok() || at > sections_.rnglists.size()) return false;
    return range_list(unit, unit.range_lists + at, left, out);
  }
  if (!entry[kLowPc] || !entry[kHighPc]) return true;
  const std::uint64_t low = address(unit, entry[kLowPc]);
  const Value& high = entry[kHighPc];
  const std::uint64_t absolute = address(unit, high);
  if (low == kNone) return false;
  if (left == 0) return false;
  --left;
  // A number is the length.
  out.push_back({low, absolute != kNone ? absolute : low + high.number});
  return true;
}

bool DebugInfo::old_ranges(const Unit& unit, std::uint64_t at, std::size_t& left,
                           std::vector<Range>& out) const {
  Cursor in(sections_.ranges, at);
  std::uint64_t base = unit.low_pc;
  const std::uint64_t escape = unit.address_bytes == 8 ? ~std::uint64_t{0} : 0xffff'ffff;
  for (; left != 0; --left) {
    const std::uint64_t begin = in.address(unit.address_bytes);
    const std::uint64_t end = in.address(unit.address_bytes);
    if (!in.ok()) return false;
    if (begin == 0 && end == 0) return true;
    if (begin == escape) {
      base = end;
    } else {
      out.push_back({base + begin, base + end});
    }
  }
  return false;
}

bool DebugInfo::range_list(const Unit& unit, std::uint64_t at, std::size_t& left,
                           std::vector<Range>& out) const {
  Cursor in(sections_.rnglists, at);
  std::uint64_t base = unit.low_pc;
  for (; left != 0; --left) {
    std::uint64_t begin = 0;
    switch (in.u8()) {
      case kEndOfList: return in.ok();
      case kBaseAddressx: base = address_at(unit, in.uleb()); continue;
      case kBaseAddress: base = in.address(unit.address_bytes); continue;
      case kStartxEndx:
        begin = address_at(unit, in.uleb());
        out.push_back({begin, address_at(unit, in.uleb())});
        break;
      case kStartxLength:
        begin = address_at(unit, in.uleb());
        out.push_back({begin, begin + in.uleb()});
        break;
      case kOffsetPair:
        begin = base + in.uleb();
        out.push_back({begin, base + in.uleb()});
        break;
      case kStartEnd:
        begin = in.address(unit.address_bytes);
        out.push_back({begin, in.address(unit.address_bytes)});
        break;
      case kStartLength:
        begin = in.address(unit.address_bytes);
        out.push_back({begin, begin + in.uleb()});
        break;
      default: return false;
    }
    if (!in.ok()) return false;
  }
  return false;
}

}  // namespace hoist::wasm
