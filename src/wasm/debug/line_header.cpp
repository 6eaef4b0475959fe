// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/line_header.hpp"

namespace hoist::wasm {

using dwarf::Cursor;

namespace {

// DW_LNCT_*: DWARF 5, section 7.22.
enum Content : std::uint8_t { kPath = 1, kDirectoryIndex = 2 };

/// Files of one unit; each takes a byte at least, names of the same string cost nothing.
constexpr std::size_t kMaxFiles = std::size_t{1} << 20;

/// Also "C:/src" and "sdk://src".
bool is_absolute(std::string_view path) {
  return path.starts_with('/') || path.starts_with('\\') || (path.size() > 1 && path[1] == ':') ||
         path.find("://") != std::string_view::npos;
}

}  // namespace

const char* LineHeader::read(const dwarf::Sections& sections, Cursor& unit, bool wide,
                             std::string_view directory) {
  sections_ = &sections;
  wide_ = wide;
  bad_string_ = false;
  directories_.clear();
  files_.clear();
  const std::uint16_t version = unit.fixed<std::uint16_t>();
  if (!unit.ok() || version < 2 || version > 5) return "a version that is not 2 to 5";
  if (version >= 5) {
    const std::uint8_t address_bytes = unit.u8();
    if (address_bytes != 4 && address_bytes != 8) return "addresses are not of 4 or 8 bytes";
    unit.u8();  // segment selectors
  }
  const std::uint64_t length = unit.offset(wide);
  if (!unit.ok() || length > unit.left()) return "its header is cut off";
  Cursor in(unit.take(length));
  min_length = in.u8();
  if (version >= 4) in.u8();  // operations per instruction
  in.u8();                    // statements by default
  line_base = static_cast<std::int8_t>(in.u8());
  line_range = in.u8();
  opcode_base = in.u8();
  if (!in.ok() || line_range == 0 || opcode_base == 0) return "its header is not valid";
  operands.assign(opcode_base, 0);
  for (unsigned i = 1; i < opcode_base; ++i) operands[i] = in.u8();
  const bool listed =
      version >= 5 ? entries(in, false) && entries(in, true) : old_entries(in, directory);
  if (!listed || !in.ok()) return "its list of files is not valid";
  if (bad_string_) return "the name of a file is not in the section of strings";
  return nullptr;
}

/// False: a form that is unknown or not there.
bool LineHeader::value(Cursor& in, std::uint64_t form, Value& out) {
  const auto text = [&](dwarf::Bytes section) {
    bad_string_ |= !dwarf::string_at(section, in.offset(wide_), out.text);
    return in.ok();
  };
  switch (form) {
    case dwarf::kFormString: out.text = in.string(); return in.ok();
    case dwarf::kFormLineStrp: return text(sections_->line_str);
    case dwarf::kFormStrp: return text(sections_->str);
    case dwarf::kFormUdata: out.number = in.uleb(); return in.ok();
    case dwarf::kFormData1: out.number = in.u8(); return in.ok();
    case dwarf::kFormData2: out.number = in.fixed<std::uint16_t>(); return in.ok();
    case dwarf::kFormData4: out.number = in.fixed<std::uint32_t>(); return in.ok();
    case dwarf::kFormData8: out.number = in.fixed<std::uint64_t>(); return in.ok();
    case dwarf::kFormData16: in.skip(16); return in.ok();
    case dwarf::kFormBlock: in.skip(in.uleb()); return in.ok();
    case dwarf::kFormBlock1: in.skip(in.u8()); return in.ok();
    case dwarf::kFormBlock2: in.skip(in.fixed<std::uint16_t>()); return in.ok();
    case dwarf::kFormBlock4: in.skip(in.fixed<std::uint32_t>()); return in.ok();
    default: return false;
  }
}

/// A list of directories or files of version 5.
bool LineHeader::entries(Cursor& in, bool is_files) {
  struct Field {
    std::uint64_t content;
    std::uint64_t form;
  };
  std::vector<Field> fields(in.u8());
  for (Field& field : fields) {
    field.content = in.uleb();
    field.form = in.uleb();
  }
  const std::uint64_t count = in.uleb();
  // An entry without fields takes no bytes: there cannot be many.
  if (!in.ok() || count > kMaxFiles || (fields.empty() && count != 0)) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    File file;
    for (const Field& field : fields) {
      Value found;
      if (!value(in, field.form, found)) return false;
      if (field.content == kPath) file.path = found.text;
      if (field.content == kDirectoryIndex) file.directory = found.number;
    }
    if (is_files) {
      files_.push_back(file);
    } else {
      directories_.push_back(file.path);
    }
  }
  return true;
}

bool LineHeader::old_entries(Cursor& in, std::string_view directory) {
  directories_.push_back(directory);
  for (std::string_view name = in.string(); in.ok() && !name.empty(); name = in.string())
    directories_.push_back(name);
  files_.push_back({});
  const auto file = [&](std::string_view name) {
    const std::uint64_t index = in.uleb();
    in.uleb();  // time
    in.uleb();  // size
    if (files_.size() < kMaxFiles) files_.push_back({name, index});
  };
  for (std::string_view name = in.string(); in.ok() && !name.empty(); name = in.string())
    file(name);
  return in.ok();
}

void LineHeader::add_file(Cursor& in) {
  File file;
  file.path = in.string();
  file.directory = in.uleb();
  in.uleb();  // time
  in.uleb();  // size
  if (files_.size() < kMaxFiles) files_.push_back(file);
}

std::string LineHeader::path(std::uint64_t number) const {
  if (number >= files_.size()) return {};
  const File& file = files_[static_cast<std::size_t>(number)];
  const auto cut = [](std::string_view text) { return text.substr(0, dwarf::kMaxText); };
  std::string out;
  if (!is_absolute(file.path) && file.directory < directories_.size()) {
    const std::string_view directory = directories_[static_cast<std::size_t>(file.directory)];
    if (!directory.empty() && !is_absolute(directory) && file.directory != 0 &&
        !directories_[0].empty()) {
      out.append(cut(directories_[0])) += '/';
    }
    if (!directory.empty()) out.append(cut(directory)) += '/';
  }
  return out.append(cut(file.path));
}

}  // namespace hoist::wasm
