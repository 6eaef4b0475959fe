// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The annotations that mean something: @custom, @name and @metadata.code.branch_hint. All others
// are white space. Source: WebAssembly core specification 3.0, appendix "Custom Sections and
// Annotations"; branch hinting proposal.
#include <fmt/core.h>

#include <algorithm>

#include "wasm/text/module_assembler.hpp"

namespace hoist::wasm {

namespace {

struct SectionName {
  std::string_view name;
  TextSection section;
};
constexpr SectionName kSections[] = {
    {"type", TextSection::Type},     {"import", TextSection::Import},
    {"func", TextSection::Func},     {"table", TextSection::Table},
    {"memory", TextSection::Memory}, {"global", TextSection::Global},
    {"export", TextSection::Export}, {"start", TextSection::Start},
    {"elem", TextSection::Elem},     {"code", TextSection::Code},
    {"data", TextSection::Data},     {"datacount", TextSection::DataCount},
    {"tag", TextSection::Tag},
};

/// The content of an annotation, word by word.
class NoteReader : TokenCursor {
 public:
  explicit NoteReader(const TokenStream& inner)
      : TokenCursor(inner, 0, static_cast<std::uint32_t>(inner.tokens.size()) - 1) {}

  bool at_end() const { return at_kind(TokenKind::End); }
  bool at_open() const { return at_kind(TokenKind::LParen); }
  bool string(std::string& out) {
    if (!at_kind(TokenKind::String)) return false;
    decode_string(text_of(next()), out);
    return true;
  }
  /// Null, or what is wrong.
  const char* placement(TextSection& section, bool& after) {
    next();
    const bool before = at_keyword("before");
    if (!before && !at_keyword("after")) return "malformed placement";
    next();
    after = !before;
    section = TextSection::Custom;
    if (before && at_keyword("first")) section = TextSection::First;
    if (after && at_keyword("last")) section = TextSection::Last;
    for (const SectionName& row : kSections) {
      if (at_keyword(row.name)) section = row.section;
    }
    if (section == TextSection::Custom) return "malformed section kind";
    next();
    return expect_close() ? nullptr : "unexpected token";
  }
};

}  // namespace

bool ModuleAssembler::check_annotations() {
  const auto first = std::lower_bound(
      stream_.annotations.begin(), stream_.annotations.end(), at_first_,
      [](const Annotation& note, std::uint32_t token) { return note.before < token; });
  for (auto it = first; it != stream_.annotations.end() && it->before <= end_; ++it) {
    if (it->id == "custom" && !custom_annotation(*it)) return false;
    if (it->id == "name" && !name_annotation(*it)) return false;
    if (it->id == "metadata.code.branch_hint" && !hint_annotation(*it)) return false;
  }
  return true;
}

bool ModuleAssembler::fail_note(const Annotation& note, std::string_view what) {
  Token at = stream_.tokens[note.before];
  at.offset = note.offset;
  at.kind = TokenKind::LParen;
  return fail(at, std::string(what));
}

bool ModuleAssembler::custom_annotation(const Annotation& note) {
  if (!std::binary_search(boundaries_.begin(), boundaries_.end(), note.before)) {
    return fail_note(note, "misplaced @custom annotation");
  }
  const TokenStream inner = lex(stream_.source.substr(note.content, note.end - note.content));
  NoteReader reader(inner);
  Custom custom;
  if (!reader.string(custom.name)) {
    return fail_note(note, "@custom annotation: missing section name");
  }
  if (!is_valid_utf8(custom.name)) {
    return fail_note(note, "@custom annotation: malformed UTF-8 encoding");
  }
  if (reader.at_open()) {
    if (const char* wrong = reader.placement(custom.section, custom.after)) {
      return fail_note(note, fmt::format("@custom annotation: {}", wrong));
    }
  }
  while (reader.string(custom.content)) {
  }
  if (!reader.at_end()) return fail_note(note, "@custom annotation: unexpected token");
  customs_.push_back(std::move(custom));
  return true;
}

/// `(@name "…")` behind the identifier, or its place, of a definition, parameter or local.
bool ModuleAssembler::name_annotation(const Annotation& note) {
  const TokenStream inner = lex(stream_.source.substr(note.content, note.end - note.content));
  NoteReader reader(inner);
  std::string name;
  if (!reader.string(name) || !reader.at_end()) {
    return fail_note(note, "@name annotation: unexpected token");
  }
  if (!is_valid_utf8(name)) return fail_note(note, "@name annotation: malformed UTF-8 encoding");
  if (note.before == at_first_) {
    if (has_given_module_name_) return fail_note(note, "@name annotation: multiple module names");
    has_given_module_name_ = true;
    module_name_ = std::move(name);
    return true;
  }
  if (const auto slot = name_slots_.find(note.before); slot != name_slots_.end()) {
    slot->second.space->set_given_name(slot->second.index, std::move(name));
    return true;
  }
  std::uint32_t at = note.before - 1;
  if (stream_.tokens[at].kind == TokenKind::Id && at > 0) --at;
  for (const char* word : {"param", "local", "field"}) {
    if (!is_keyword(stream_.tokens[at], word)) continue;
    inner_names_.insert_or_assign(note.before, std::move(name));
    return true;
  }
  return fail_note(note, "misplaced @name annotation");
}

const std::string* ModuleAssembler::given_name() const {
  if (inner_names_.empty()) return nullptr;
  const auto found = inner_names_.find(at_);
  return found == inner_names_.end() ? nullptr : &found->second;
}

bool ModuleAssembler::hint_annotation(const Annotation& note) {
  const TokenStream inner = lex(stream_.source.substr(note.content, note.end - note.content));
  NoteReader reader(inner);
  std::string value;
  if (!reader.string(value) || !reader.at_end() || value.size() != 1 ||
      static_cast<unsigned char>(value[0]) > 1) {
    return fail_note(note, "@metadata.code.branch_hint annotation: invalid value");
  }
  if (!hint_at_.try_emplace(note.before, static_cast<std::uint8_t>(value[0])).second) {
    return fail_note(note, "@metadata.code.branch_hint annotation: duplicate annotation");
  }
  return true;
}

bool ModuleAssembler::check_hint(Op op, std::uint32_t token) {
  if (hint_at_.empty()) return true;
  const auto found = hint_at_.find(token);
  if (found == hint_at_.end()) return true;
  if (!in_function_) return true;  // will be found left over
  if (op == Op::If || op == Op::BrIf) return true;
  return fail(stream_.tokens[token],
              "@metadata.code.branch_hint annotation: invalid target, must be if or br_if");
}

void ModuleAssembler::take_hint(std::uint32_t token, const Bytes& out) {
  if (hint_at_.empty() || !in_function_) return;
  const auto found = hint_at_.find(token);
  if (found == hint_at_.end()) return;
  function_hints_.push_back({static_cast<std::uint32_t>(out.size()), found->second});
  hint_at_.erase(found);
}

bool ModuleAssembler::check_hints_left() {
  if (hint_at_.empty()) return true;
  std::uint32_t first = kNotFound;
  for (const auto& [token, hint] : hint_at_) first = std::min(first, token);
  return fail(stream_.tokens[first],
              "@metadata.code.branch_hint annotation: not in a function, or not before an "
              "instruction");
}

}  // namespace hoist::wasm
