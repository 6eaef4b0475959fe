// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/inlined_calls.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/keyed_hash.hpp"
#include "wasm/debug/debug_info.hpp"
#include "wasm/debug/line_header.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

namespace {

/// Bytes of all names together, and of all paths.
constexpr std::size_t kMostNameBytes = std::size_t{64} << 20;
/// From an entry to the one that has the name.
constexpr unsigned kMostOrigins = 8;
/// Entries that are read for names take as many times the section's bytes at most: an honest one
/// is read a few times.
constexpr std::size_t kNameReads = 16;
/// Likewise headers of .debug_line, each read once for each unit that names it.
constexpr std::size_t kHeaderReads = 4;

}  // namespace

class InlinedCallReader {
 public:
  explicit InlinedCallReader(const Module& module)
      : module_(module), sections_(module), info_(sections_) {}

  InlinedCalls run() {
    out_.code_begin_ = module_.code_section.offset;
    ranges_left_ = sections_.info.size() + sections_.ranges.size() + sections_.rnglists.size();
    if (info_.problem() != nullptr) damaged(info_.problem(), 0);
    for (const DebugInfo::Unit& unit : info_.units()) {
      const std::size_t before = intervals_.size();
      const char* problem = read_unit(unit);
      if (problem == nullptr) continue;
      intervals_.resize(before);
      damaged(problem, unit.begin);
      break;
    }
    flatten();
    out_.calls_.shrink_to_fit();
    return std::move(out_);
  }

 private:
  struct Interval {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t call = 0;
  };

  void damaged(const char* what, std::size_t at) {
    out_.problem_ =
        fmt::format("the DWARF in .debug_info is damaged: {} (unit at 0x{:x})", what, at);
  }

  const char* read_unit(const DebugInfo::Unit& unit) {
    unit_ = &unit;
    has_header_ = false;
    unit_files_.clear();
    dwarf::Cursor in = info_.entries(unit, unit.entries);
    // The call that the entries of each open level are in.
    std::vector<std::uint32_t> levels;
    DebugInfo::Entry entry;
    do {
      if (!info_.next(unit, in, entry)) return "an entry is not valid";
      if (entry.tag == DebugInfo::kEndOfSiblings) {
        if (levels.empty()) return nullptr;
        levels.pop_back();
        continue;
      }
      std::uint32_t call = levels.empty() ? InlinedCalls::kNone : levels.back();
      if (entry.tag == DebugInfo::kSubprogram) call = InlinedCalls::kNone;
      if (entry.tag == DebugInfo::kInlinedSubroutine) {
        if (!add_call(entry, call)) return "it has more ranges than bytes";
      }
      if (entry.has_children) levels.push_back(call);
    } while (!levels.empty() && in.left() != 0);
    return nullptr;
  }

  /// `call` is the one that it is in, and becomes the new one if that has code. False: a list of
  /// ranges does not end.
  bool add_call(const DebugInfo::Entry& entry, std::uint32_t& call) {
    ranges_.clear();
    // A list that is damaged is as good as none.
    if (!info_.ranges(*unit_, entry, ranges_left_, ranges_)) {
      if (ranges_left_ == 0) return false;
      ranges_.clear();
    }
    const auto number = static_cast<std::uint32_t>(out_.calls_.size());
    const std::size_t before = intervals_.size();
    for (const DebugInfo::Range range : ranges_) {
      // A linker gives code that it dropped the address 0 or one at the end of the address space.
      if (range.begin == 0 || range.begin >= range.end || range.end > module_.code_section.size)
        continue;
      intervals_.push_back(
          {static_cast<std::uint32_t>(range.begin), static_cast<std::uint32_t>(range.end), number});
    }
    if (intervals_.size() == before) return true;
    InlinedCalls::Stored made;
    made.parent = call;
    made.name = name_of(entry);
    made.file = file_number(entry[DebugInfo::kCallFile].number);
    made.line = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(entry[DebugInfo::kCallLine].number, 0xffff'ffff));
    out_.calls_.push_back(made);
    call = number;
    return true;
  }

  // ---- Names.

  std::uint32_t name_of(const DebugInfo::Entry& entry) {
    const std::uint64_t origin = info_.target(*unit_, entry[DebugInfo::kAbstractOrigin]);
    if (origin == DebugInfo::kNone) return name_number({});
    const auto [at, fresh] = by_origin_.try_emplace(origin, 0);
    if (fresh) at->second = name_number(find_name(origin));
    return at->second;
  }

  /// Its linkage name, or else its name.
  std::string_view find_name(std::uint64_t origin) {
    std::string_view name;
    for (unsigned i = 0; i < kMostOrigins; ++i) {
      const DebugInfo::Unit* unit = info_.unit_at(origin);
      if (unit == nullptr || name_bytes_read_ > kNameReads * sections_.info.size()) break;
      dwarf::Cursor in = info_.entries(*unit, static_cast<std::size_t>(origin));
      DebugInfo::Entry entry;
      const bool valid = info_.next(*unit, in, entry);
      name_bytes_read_ += in.at() - static_cast<std::size_t>(origin);
      if (!valid) break;
      const std::string_view linkage = info_.text(*unit, entry[DebugInfo::kLinkageName]);
      if (!linkage.empty()) return linkage;
      if (name.empty()) name = info_.text(*unit, entry[DebugInfo::kName]);
      origin = info_.target(*unit, entry[DebugInfo::kSpecification]);
      if (origin == DebugInfo::kNone)
        origin = info_.target(*unit, entry[DebugInfo::kAbstractOrigin]);
      if (origin == DebugInfo::kNone) break;
    }
    return name;
  }

  /// Number of a text in a list of different ones.
  std::uint32_t number(std::string text, std::vector<std::string>& all,
                       std::unordered_map<std::string, std::uint32_t, base::KeyedHash>& numbers,
                       std::size_t& bytes) {
    if (bytes + text.size() > kMostNameBytes) text = "...";
    const auto [at, fresh] = numbers.try_emplace(text, static_cast<std::uint32_t>(all.size()));
    if (fresh) {
      bytes += text.size();
      all.push_back(std::move(text));
    }
    return at->second;
  }
  std::uint32_t name_number(std::string_view name) {
    return number(std::string(name.empty() ? "?" : name), out_.names_, name_numbers_, name_bytes_);
  }

  void read_header() {
    dwarf::Cursor in(sections_.line, unit_->line_program);
    const dwarf::UnitLength length = dwarf::unit_length(in);
    dwarf::Cursor program(in.take(length.bytes));
    if (in.ok() && header_.read(sections_, program, length.wide, unit_->directory) != nullptr)
      header_ = LineHeader();
    header_bytes_read_ += program.at();
  }

  /// Of a file of the unit.
  std::uint32_t file_number(std::uint64_t file) {
    if (!has_header_) {
      has_header_ = true;
      header_ = LineHeader();
      if (header_bytes_read_ <= kHeaderReads * sections_.line.size()) read_header();
      unit_files_.assign(header_.file_count(), InlinedCalls::kNone);
    }
    if (file >= unit_files_.size()) return number({}, out_.files_, file_numbers_, file_bytes_);
    std::uint32_t& out = unit_files_[static_cast<std::size_t>(file)];
    if (out == InlinedCalls::kNone)
      out = number(header_.path(file), out_.files_, file_numbers_, file_bytes_);
    return out;
  }

  // ---- From ranges, one within the other, to spans.

  void flatten() {
    struct Border {
      std::uint32_t address;
      std::uint32_t call;
      bool begins;
    };
    std::vector<Border> borders;
    borders.reserve(2 * intervals_.size());
    for (const Interval& interval : intervals_) {
      borders.push_back({interval.begin, interval.call, true});
      borders.push_back({interval.end, interval.call, false});
    }
    std::sort(borders.begin(), borders.end(), [](const Border& a, const Border& b) {
      return a.address != b.address ? a.address < b.address : a.call < b.call;
    });
    // Inner calls have larger numbers. Ranges of one call may touch or overlap.
    std::multiset<std::uint32_t> open;
    for (std::size_t i = 0; i < borders.size();) {
      const std::uint32_t address = borders[i].address;
      // What begins comes first: of two ranges that touch, none is open twice in vain.
      for (std::size_t k = i; k < borders.size() && borders[k].address == address; ++k) {
        if (borders[k].begins) open.insert(borders[k].call);
      }
      for (; i < borders.size() && borders[i].address == address; ++i) {
        if (!borders[i].begins) open.erase(open.find(borders[i].call));
      }
      const std::uint32_t call = open.empty() ? InlinedCalls::kNone : *open.rbegin();
      if (out_.spans_.empty() || out_.spans_.back().call != call)
        out_.spans_.push_back({address, call});
    }
  }

  const Module& module_;
  const dwarf::Sections sections_;
  DebugInfo info_;
  InlinedCalls out_;
  const DebugInfo::Unit* unit_ = nullptr;
  LineHeader header_;
  bool has_header_ = false;
  std::vector<std::uint32_t> unit_files_;
  std::vector<Interval> intervals_;
  std::vector<DebugInfo::Range> ranges_;
  std::size_t ranges_left_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t, base::KeyedHash> by_origin_;
  std::unordered_map<std::string, std::uint32_t, base::KeyedHash> name_numbers_;
  std::unordered_map<std::string, std::uint32_t, base::KeyedHash> file_numbers_;
  std::size_t name_bytes_ = 0;
  std::size_t name_bytes_read_ = 0;
  std::size_t header_bytes_read_ = 0;
  std::size_t file_bytes_ = 0;
};

InlinedCalls InlinedCalls::read(const Module& module) {
  return InlinedCallReader(module).run();
}

std::uint32_t InlinedCalls::find(std::uint64_t module_offset) const {
  if (module_offset < code_begin_) return kNone;
  const std::uint64_t wanted = module_offset - code_begin_;
  const auto at = std::upper_bound(
      spans_.begin(), spans_.end(), wanted,
      [](std::uint64_t address, const Span& span) { return address < span.address; });
  return at == spans_.begin() ? kNone : (at - 1)->call;
}

InlinedCalls::Call InlinedCalls::operator[](std::uint32_t number) const {
  const Stored& call = calls_[number];
  SourceLine from{files_[call.file], call.line};
  if (from.file.empty()) from.line = 0;
  return {names_[call.name], from, call.parent};
}

}  // namespace hoist::wasm
