// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Custom sections as annotations. The name section becomes identifiers; branch hints become
// annotations of their instructions if all of them fit, otherwise a custom section like others.
// Source: core specification 3.0, appendix "Custom Sections and Annotations"; branch hinting
// proposal.
#include "wasm/decode/immediates.hpp"
#include "wasm/text/print/module_printer.hpp"
#include "wasm/text/print/printed_sections.hpp"

namespace hoist::wasm {

namespace {

/// Words of a placement, by section id.
constexpr std::string_view kSectionWords[] = {"first",  "type",   "import",    "func",  "table",
                                              "memory", "global", "export",    "start", "elem",
                                              "code",   "data",   "datacount", "tag"};

constexpr std::size_t kLongString = 72;   ///< bytes; longer ones are on several lines
constexpr std::size_t kStringPiece = 64;  ///< bytes a line, unless a line break comes earlier

}  // namespace

// ---- Custom sections.

/// The last section in front of `id`, itself included, that the text reader will write: it leaves
/// out what is empty, and counts data segments only where an instruction names one.
std::uint8_t ModulePrinter::written_section_before(std::uint8_t id) const {
  if (id == 0) return 0;
  for (std::size_t place = section_rank(id) + 1; place-- > 0;) {
    const std::uint8_t candidate = kSectionOrder[place];
    const bool written = sections_[candidate] && sections_[candidate]->count != 0 &&
                         (candidate != kDataCountSection || uses_data_index_);
    if (written) return candidate;
  }
  return 0;
}

void ModulePrinter::customs() {
  for (const Custom& item : customs_) {
    if (item.name == "name" && options_.names) continue;
    if (&item == hint_section_ && !hints_.empty()) continue;
    custom(item);
  }
}

void ModulePrinter::custom(const Custom& custom) {
  const std::uint8_t section = written_section_before(custom.after);
  out_.line();
  out_ << "(@custom";
  name(custom.name);
  out_ << (section == 0 ? " (before " : " (after ") << kSectionWords[section] << ')';
  const auto content = bytes_.subspan(custom.begin, custom.end - custom.begin);
  long_string({reinterpret_cast<const char*>(content.data()), content.size()});
  out_ << ')';
}

/// Behind a space, or in pieces on lines of their own that end where the content has line breaks.
void ModulePrinter::long_string(std::string_view bytes) {
  if (bytes.size() <= kLongString) {
    out_ << ' ';
    out_.string(bytes, false);
    return;
  }
  out_.indent();
  while (!bytes.empty() && !out_.full()) {
    const std::size_t newline = bytes.substr(0, kStringPiece).find('\n');
    const std::string_view piece =
        bytes.substr(0, newline == std::string_view::npos ? kStringPiece : newline + 1);
    out_.line();
    out_.string(piece, false);
    bytes.remove_prefix(piece.size());
  }
  out_.outdent();
}

// ---- Branch hints.

void ModulePrinter::read_hints() {
  if (hint_section_ == nullptr) return;
  const bool muted = out_.mute(true);
  ByteReader in(bytes_, hint_section_->begin, hint_section_->end);
  std::uint32_t functions = 0;
  bool ok = in.u32(functions);
  std::uint32_t next = imported_[kFunc];
  for (; ok && functions != 0; --functions) {
    std::uint32_t func = 0;
    ok = in.u32(func) && func >= next && func < counts_.functions;
    if (!ok) break;
    next = func + 1;
    ok = read_hint_list(in, hints_[func]);
  }
  if (!ok || !in.at_end() || !hints_fit()) hints_.clear();
  error_.reset();  // a section that does not fit is no error
  out_.mute(muted);
}

/// Offsets ascend; each hint is one byte, 0 or 1.
bool ModulePrinter::read_hint_list(ByteReader& in, FunctionHints& hints) {
  std::uint32_t count = 0;
  if (!in.u32(count) || count == 0) return false;
  std::uint32_t next = 0;
  for (; count != 0; --count) {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint8_t value = 0;
    if (!in.u32(offset) || offset < next || !in.u32(size) || size != 1) return false;
    if (!in.u8(value) || value > 1 || offset == 0xffff'ffff) return false;
    hints.emplace(offset, value);
    next = offset + 1;
  }
  return true;
}

/// Whether each hint is at an `if` or `br_if`.
bool ModulePrinter::hints_fit() {
  if (!sections_[kCodeSection]) return false;
  ByteReader in(bytes_, sections_[kCodeSection]->begin, sections_[kCodeSection]->end);
  std::uint32_t func = imported_[kFunc];
  for (std::uint32_t left = sections_[kCodeSection]->count; left != 0; --left, ++func) {
    std::span<const std::uint8_t> code;
    if (!in.bytes(code)) return false;
    const auto found = hints_.find(func);
    if (found == hints_.end()) continue;
    const std::size_t begin = in.offset() - code.size();
    ByteReader body(bytes_, begin, in.offset());
    std::uint32_t runs = 0;
    if (!body.u32(runs)) return false;
    for (; runs != 0; --runs) {
      std::uint32_t count = 0;
      if (!body.u32(count) || !val_type(body)) return false;
    }
    std::size_t fitting = 0;
    while (!body.at_end()) {
      const auto offset = static_cast<std::uint32_t>(body.offset() - begin);
      std::uint16_t op = 0;
      if (!read_opcode(body, op) || op >= kOpNumbers || op_info_at(op).text.empty()) return false;
      if (op == static_cast<std::uint16_t>(Op::If) || op == static_cast<std::uint16_t>(Op::BrIf)) {
        fitting += found->second.count(offset);
      }
      if (skip_immediates(body, op_info_at(op).imm) != SkipResult::Ok) return false;
    }
    if (fitting != found->second.size()) return false;
  }
  return true;
}

/// The annotation of the instruction at that offset of the module, if it has one.
void ModulePrinter::hint(std::uint32_t offset) {
  if (function_hints_ == nullptr || !in_function_) return;
  const auto found = function_hints_->find(offset - body_begin_);
  if (found == function_hints_->end()) return;
  out_.line();
  out_ << "(@metadata.code.branch_hint " << (found->second != 0 ? "\"\\01\")" : "\"\\00\")");
}

}  // namespace hoist::wasm
