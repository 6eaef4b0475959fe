// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/line_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/bits.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

namespace {

// DW_LNS_*, DW_LNE_*, DW_LNCT_*, DW_FORM_*: DWARF 5, section 7.22 and 7.5.6.
enum Standard : std::uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kSetColumn = 5,
  kNegateStatement = 6,
  kSetBasicBlock = 7,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
  kSetPrologueEnd = 10,
  kSetEpilogueBegin = 11,
  kSetIsa = 12,
};
enum Extended : std::uint8_t { kEndSequence = 1, kSetAddress = 2, kDefineFile = 3 };
enum Content : std::uint8_t { kPath = 1, kDirectoryIndex = 2 };
enum Form : std::uint8_t {
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
};

/// An honest row takes a byte at least.
constexpr std::size_t kRowsPerByte = 1;
constexpr std::size_t kMaxPath = 4096;
/// Files of one unit; each takes a byte at least, names of the same string cost nothing.
constexpr std::size_t kMaxFiles = std::size_t{1} << 20;
/// Bytes of all paths together.
constexpr std::size_t kMaxPathBytes = std::size_t{64} << 20;

using Bytes = std::span<const std::uint8_t>;

/// A cursor that stays at the end once it has failed.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  std::size_t left() const { return bytes_.size() - at_; }
  std::size_t at() const { return at_; }
  template <typename T>
  T fixed() {
    if (left() < sizeof(T)) return fail<T>();
    const T value = base::load_le<T>(&bytes_[at_]);
    at_ += sizeof(T);
    return value;
  }
  std::uint8_t u8() { return fixed<std::uint8_t>(); }
  std::uint64_t uleb() {
    std::uint64_t out = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (!ok_ || shift >= 64) return fail<std::uint64_t>();
      out |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return out;
    }
  }
  std::int64_t sleb() {
    std::uint64_t out = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (!ok_ || shift >= 64) return fail<std::int64_t>();
      out |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) out |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(out);
    }
  }
  std::string_view string() {
    std::size_t end = at_;
    while (end < bytes_.size() && bytes_[end] != 0) ++end;
    if (end == bytes_.size()) return fail<std::string_view>();
    const std::string_view out(reinterpret_cast<const char*>(bytes_.data()) + at_, end - at_);
    at_ = end + 1;
    return out;
  }
  void skip(std::uint64_t count) {
    if (count > left()) {
      fail<int>();
    } else {
      at_ += static_cast<std::size_t>(count);
    }
  }
  Bytes take(std::uint64_t count) {
    const std::size_t from = at_;
    skip(count);
    return ok_ ? bytes_.subspan(from, static_cast<std::size_t>(count)) : Bytes();
  }

 private:
  template <typename T>
  T fail() {
    ok_ = false;
    at_ = bytes_.size();
    return T{};
  }
  Bytes bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

class LineReader {
 public:
  explicit LineReader(const Module& module) : module_(module) {
    line_ = section(".debug_line");
    line_str_ = section(".debug_line_str");
    str_ = section(".debug_str");
  }

  LineTable run() {
    out_.code_begin_ = module_.code_section.offset;
    Cursor in(line_);
    while (in.left() != 0 && out_.problem_.empty()) {
      const std::size_t begun = in.at();
      std::uint64_t length = in.fixed<std::uint32_t>();
      wide_ = length == 0xffff'ffff;
      if (wide_) length = in.fixed<std::uint64_t>();
      const Bytes unit = in.take(length);
      if (!in.ok()) {
        damaged("a unit is longer than the section", begun);
      } else if (const char* problem = read_unit(unit); problem != nullptr) {
        damaged(problem, begun);
      }
    }
    // Of rows at one address the last counts; where one sequence ends and another begins, the
    // beginning.
    for (std::size_t i = 0; i < out_.rows_.size(); ++i)
      out_.rows_[i].order = static_cast<std::uint32_t>(i);
    std::sort(out_.rows_.begin(), out_.rows_.end(), [](const auto& a, const auto& b) {
      if (a.address != b.address) return a.address < b.address;
      if ((a.file == 0) != (b.file == 0)) return a.file == 0;
      return a.order < b.order;
    });
    out_.rows_.shrink_to_fit();
    return std::move(out_);
  }

 private:
  Bytes section(std::string_view name) const {
    for (const CustomSection& custom : module_.customs) {
      if (custom.name == name) return module_.bytes_of(custom.content);
    }
    return {};
  }

  void damaged(const char* what, std::size_t at) {
    out_.problem_ =
        fmt::format("the DWARF in .debug_line is damaged: {} (unit at 0x{:x})", what, at);
  }

  std::uint64_t offset(Cursor& in) const {
    return wide_ ? in.fixed<std::uint64_t>() : in.fixed<std::uint32_t>();
  }

  std::string_view string_at(Bytes section, std::uint64_t at) {
    if (at >= section.size()) {
      bad_string_ = true;
      return {};
    }
    // More of it is not shown, and many entries may name the same long string.
    const Bytes rest = section.subspan(static_cast<std::size_t>(at));
    const Bytes shown = rest.first(std::min(rest.size(), kMaxPath));
    const auto end = std::find(shown.begin(), shown.end(), std::uint8_t{0});
    bad_string_ |= end == shown.end() && shown.size() == rest.size();
    return {reinterpret_cast<const char*>(shown.data()),
            static_cast<std::size_t>(end - shown.begin())};
  }

  struct EntryFormat {
    std::uint64_t content;
    std::uint64_t form;
  };
  struct Value {
    std::string_view text;
    std::uint64_t number = 0;
  };

  /// False: a form that is unknown or not there.
  bool value(Cursor& in, std::uint64_t form, Value& out) {
    switch (form) {
      case kString: out.text = in.string(); return in.ok();
      case kLineStrp: out.text = string_at(line_str_, offset(in)); return in.ok();
      case kStrp: out.text = string_at(str_, offset(in)); return in.ok();
      case kUdata: out.number = in.uleb(); return in.ok();
      case kData1: out.number = in.u8(); return in.ok();
      case kData2: out.number = in.fixed<std::uint16_t>(); return in.ok();
      case kData4: out.number = in.fixed<std::uint32_t>(); return in.ok();
      case kData8: out.number = in.fixed<std::uint64_t>(); return in.ok();
      case kData16: in.skip(16); return in.ok();
      case kBlock: in.skip(in.uleb()); return in.ok();
      case kBlock1: in.skip(in.u8()); return in.ok();
      case kBlock2: in.skip(in.fixed<std::uint16_t>()); return in.ok();
      case kBlock4: in.skip(in.fixed<std::uint32_t>()); return in.ok();
      default: return false;
    }
  }

  /// A list of directories or files of version 5.
  bool entries(Cursor& in, bool is_files) {
    std::vector<EntryFormat> formats(in.u8());
    for (EntryFormat& format : formats) format = {in.uleb(), in.uleb()};
    const std::uint64_t count = in.uleb();
    // An entry without fields takes no bytes: there cannot be many.
    if (!in.ok() || count > kMaxFiles || (formats.empty() && count != 0)) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string_view path;
      std::uint64_t directory = 0;
      for (const EntryFormat& format : formats) {
        Value found;
        if (!value(in, format.form, found)) return false;
        if (format.content == kPath) path = found.text;
        if (format.content == kDirectoryIndex) directory = found.number;
      }
      if (is_files) {
        unit_files_.push_back({path, directory});
      } else {
        directories_.push_back(path);
      }
    }
    return true;
  }

  bool old_entries(Cursor& in) {
    directories_.push_back({});  // of the compilation: not in this section
    for (std::string_view name = in.string(); in.ok() && !name.empty(); name = in.string())
      directories_.push_back(name);
    unit_files_.push_back({});
    for (std::string_view name = in.string(); in.ok() && !name.empty(); name = in.string())
      old_file(in, name);
    return in.ok();
  }
  void old_file(Cursor& in, std::string_view name) {
    const std::uint64_t directory = in.uleb();
    in.uleb();  // time
    in.uleb();  // size
    if (unit_files_.size() < kMaxFiles) unit_files_.push_back({name, directory});
  }

  /// Number of a file of the unit in files_, plus 1. Paths are made when a row first needs them.
  std::uint32_t file_number(std::uint64_t file) {
    if (file >= unit_files_.size()) return 0;
    UnitFile& of = unit_files_[static_cast<std::size_t>(file)];
    if (of.number != 0) return of.number;
    std::string path;
    if (!of.path.starts_with('/') && of.directory < directories_.size()) {
      const std::string_view directory = directories_[static_cast<std::size_t>(of.directory)];
      if (!directory.empty() && !directory.starts_with('/') && of.directory != 0 &&
          !directories_[0].empty()) {
        path = std::string(directories_[0].substr(0, kMaxPath)) + "/";
      }
      if (!directory.empty()) path += std::string(directory.substr(0, kMaxPath)) + "/";
    }
    path += of.path.substr(0, kMaxPath);
    if (path_bytes_ + path.size() > kMaxPathBytes) path = "...";
    const auto [at, fresh] =
        numbers_.try_emplace(path, static_cast<std::uint32_t>(out_.files_.size() + 1));
    if (fresh) {
      path_bytes_ += path.size();
      out_.files_.push_back(std::move(path));
    }
    of.number = at->second;
    return of.number;
  }

  struct State {
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::uint64_t line = 1;
  };

  /// Takes the sequence if its code is still there: a linker gives code that it dropped the address
  /// 0 or one at the end of the address space.
  void end_sequence(std::size_t first, std::uint64_t end) {
    auto& rows = out_.rows_;
    if (first == rows.size()) return;
    if (rows[first].address == 0 || end > module_.code_section.size || end < rows[first].address) {
      rows.resize(first);
      return;
    }
    rows.push_back({static_cast<std::uint32_t>(end), 0, 0, 0});
  }

  void add_row(const State& state) {
    auto& rows = out_.rows_;
    const std::uint64_t limit = module_.code_section.size;
    if (state.address > limit) return;
    rows.push_back({static_cast<std::uint32_t>(state.address), file_number(state.file),
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(state.line, 0xffff'ffff)),
                    0});
    if (rows.back().file == 0) rows.back().line = 0;
  }

  /// Null, or what is wrong.
  const char* read_unit(Bytes unit) {
    directories_.clear();
    unit_files_.clear();
    Cursor in(unit);
    const std::uint16_t version = in.fixed<std::uint16_t>();
    if (!in.ok() || version < 2 || version > 5) return "a version that is not 2 to 5";
    if (version >= 5) {
      const std::uint8_t address_bytes = in.u8();
      if (address_bytes != 4 && address_bytes != 8) return "addresses are not of 4 or 8 bytes";
      in.u8();  // segment selectors
    }
    const std::uint64_t header = offset(in);
    if (!in.ok() || header > in.left()) return "its header is cut off";
    Cursor head(unit.subspan(in.at(), static_cast<std::size_t>(header)));
    min_length_ = head.u8();
    if (version >= 4) head.u8();  // operations per instruction
    head.u8();                    // statements by default
    line_base_ = static_cast<std::int8_t>(head.u8());
    line_range_ = head.u8();
    opcode_base_ = head.u8();
    if (!head.ok() || line_range_ == 0 || opcode_base_ == 0) return "its header is not valid";
    lengths_.assign(opcode_base_, 0);
    for (unsigned i = 1; i < opcode_base_; ++i) lengths_[i] = head.u8();
    const bool listed =
        version >= 5 ? entries(head, false) && entries(head, true) : old_entries(head);
    if (!listed || !head.ok()) return "its list of files is not valid";
    if (bad_string_) return "the name of a file is not in the section of strings";
    in.skip(header);
    return run_program(unit.subspan(in.at()));
  }

  const char* run_program(Bytes program) {
    Cursor in(program);
    State state;
    std::size_t first = out_.rows_.size();
    const std::size_t most = out_.rows_.size() + program.size() * kRowsPerByte;
    while (in.left() != 0) {
      const std::uint8_t op = in.u8();
      if (out_.rows_.size() > most) return "it has more rows than bytes";
      if (op >= opcode_base_) {
        const unsigned adjusted = op - unsigned{opcode_base_};
        state.address += std::uint64_t{min_length_} * (adjusted / line_range_);
        state.line += static_cast<std::uint64_t>(std::int64_t{line_base_} +
                                                 std::int64_t{adjusted % line_range_});
        add_row(state);
        continue;
      }
      if (op == kExtended) {
        if (!extended(in, state, first)) return "its program is not valid";
        continue;
      }
      if (!standard(in, op, state)) return "its program is not valid";
    }
    // A sequence without an end says nothing of where it ends.
    out_.rows_.resize(first);
    return nullptr;
  }

  bool extended(Cursor& in, State& state, std::size_t& first) {
    const std::uint64_t length = in.uleb();
    Cursor body(in.take(length));
    if (!in.ok() || length == 0) return false;
    switch (body.u8()) {
      case kEndSequence:
        end_sequence(first, state.address);
        state = {};
        first = out_.rows_.size();
        break;
      case kSetAddress:
        if (length == 5) {
          state.address = body.fixed<std::uint32_t>();
        } else {
          state.address = body.fixed<std::uint64_t>();
        }
        // In a sequence that was dropped, whatever comes before stays in front.
        break;
      case kDefineFile: old_file(body, body.string()); break;
      default: break;  // discriminators, vendors' own
    }
    return body.ok();
  }

  bool standard(Cursor& in, std::uint8_t op, State& state) {
    switch (op) {
      case kCopy: add_row(state); break;
      case kAdvancePc: state.address += min_length_ * in.uleb(); break;
      case kAdvanceLine: state.line += static_cast<std::uint64_t>(in.sleb()); break;
      case kSetFile: state.file = in.uleb(); break;
      case kConstAddPc:
        state.address += std::uint64_t{min_length_} * ((255U - opcode_base_) / line_range_);
        break;
      case kFixedAdvancePc: state.address += in.fixed<std::uint16_t>(); break;
      case kNegateStatement:
      case kSetBasicBlock:
      case kSetPrologueEnd:
      case kSetEpilogueBegin: break;
      case kSetColumn:
      case kSetIsa: in.uleb(); break;
      default:
        for (unsigned i = 0; i < lengths_[op]; ++i) in.uleb();
        break;
    }
    return in.ok();
  }

  struct UnitFile {
    std::string_view path;
    std::uint64_t directory = 0;
    std::uint32_t number = 0;
  };

  const Module& module_;
  LineTable out_;
  Bytes line_, line_str_, str_;
  std::vector<std::string_view> directories_;
  std::vector<UnitFile> unit_files_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::uint8_t> lengths_;
  std::size_t path_bytes_ = 0;
  std::uint8_t min_length_ = 1;
  std::int8_t line_base_ = 0;
  std::uint8_t line_range_ = 1;
  std::uint8_t opcode_base_ = 1;
  bool wide_ = false;
  bool bad_string_ = false;
};

LineTable LineTable::read(const Module& module) {
  return LineReader(module).run();
}

SourceLine LineTable::find(std::uint64_t module_offset) const {
  if (module_offset < code_begin_) return {};
  const std::uint64_t wanted = module_offset - code_begin_;
  auto at =
      std::upper_bound(rows_.begin(), rows_.end(), wanted,
                       [](std::uint64_t address, const Row& row) { return address < row.address; });
  if (at == rows_.begin()) return {};
  --at;
  if (at->file == 0) return {};
  return {files_[at->file - 1], at->line};
}

}  // namespace hoist::wasm
