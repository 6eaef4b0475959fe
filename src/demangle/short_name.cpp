// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A name is read once from left to right. What is left out is skipped as a bracketed group; a name
// whose brackets do not match stays whole.
#include "demangle/short_name.hpp"

#include <array>

namespace hoist::demangle {

namespace {

constexpr std::string_view kMore = "\u2026";
constexpr unsigned kMaxNesting = 8;
/// Groups in parentheses within a name, as in "main.(*T).Method", that are kept.
constexpr std::size_t kShortGroup = 24;

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

/// The symbols behind "operator", longest first.
std::string_view operator_symbols(std::string_view text) {
  static constexpr std::array<std::string_view, 16> kSymbols = {
      "<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=",
      "->",  "()",  "[]",  "<",   ">",  "-",  ",",  "!"};
  for (const std::string_view symbol : kSymbols) {
    if (text.starts_with(symbol)) return symbol;
  }
  return {};
}

class Shortener {
 public:
  Shortener(std::string_view text, unsigned nesting) : text_(text), nesting_(nesting) {}

  /// Empty: it is no name of the kind that is understood.
  std::string run() {
    while (at_ < text_.size() && good_ && !done_) step();
    if (!good_) return {};
    return std::move(out_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  char before() const { return at_ == 0 ? '\0' : text_[at_ - 1]; }

  void step() {
    const char c = text_[at_];
    if (rest().starts_with("operator") && !is_identifier(before()) &&
        (at_ + 8 == text_.size() || !is_identifier(text_[at_ + 8]))) {
      take_operator();
    } else if (c == '<') {
      take_angle();
    } else if (c == '(') {
      take_parenthesis();
    } else if (c == '{') {
      take_brace();
    } else if (c == ' ') {
      take_space();
    } else if (c == '>' || c == ')' || c == '}') {
      // An arrow of a Rust or WebAssembly type.
      if (c != '>' || before() != '-') good_ = false;
      take(1);
    } else if (!take_inline_namespace()) {
      take(1);
    }
  }

  void take(std::size_t count) {
    out_ += text_.substr(at_, count);
    at_ += count;
  }

  /// The end behind the group that begins at `from`; npos: it does not end.
  std::size_t group_end(std::size_t from) const {
    std::string open;
    for (std::size_t i = from; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == 'o' && text_.substr(i).starts_with("operator") &&
          (i == 0 || !is_identifier(text_[i - 1]))) {
        i += 7 + operator_symbols(text_.substr(i + 8)).size();
        continue;
      }
      if (c == '<') open += '>';
      if (c == '(') open += ')';
      if (c == '{') open += '}';
      if (c == '[') open += ']';
      if (c != '>' && c != ')' && c != '}' && c != ']') continue;
      if (c == '>' && i != 0 && text_[i - 1] == '-') continue;
      // "(1 > 2)" within template arguments.
      if (c == '>' && !open.empty() && open.back() != '>') continue;
      if (open.empty() || open.back() != c) return std::string_view::npos;
      open.pop_back();
      if (open.empty()) return i + 1;
    }
    return is_cut() ? text_.size() : std::string_view::npos;
  }
  /// As `display_name` leaves names that are too long.
  bool is_cut() const { return text_.ends_with("..."); }

  void take_operator() {
    take(8);
    const std::string_view symbols = operator_symbols(rest());
    if (!symbols.empty()) {
      take(symbols.size());
      // "operator< <int>": the space only keeps the two apart.
      if (rest().starts_with(" <")) ++at_;
      if (rest().starts_with("<")) fold();
      return;
    }
    if (!rest().starts_with(" ")) return;
    // "operator new[]", "operator std::vector<int>": up to the parameters.
    while (at_ < text_.size() && text_[at_] != '(' && good_) {
      if (text_[at_] == '<') {
        fold();
      } else if (!take_inline_namespace()) {
        take(1);
      }
    }
  }

  void fold() {
    const std::size_t end = group_end(at_);
    if (end == std::string_view::npos) {
      good_ = false;
      return;
    }
    at_ = end;
    out_ += "<";
    out_ += kMore;
    out_ += ">";
  }

  /// Rust's "<T as Trait>", "<impl Trait for T>" or "<T>" stand where a name could.
  bool is_qualification(std::string_view inner) const {
    const char last = before();
    if (last == ':') {
      return inner.starts_with("impl ") || inner.find(" as ") != std::string_view::npos;
    }
    return !is_identifier(last) && last != '>' && last != ')' && last != ']' && last != '}';
  }

  void take_angle() {
    const std::size_t end = group_end(at_);
    if (end == std::string_view::npos) {
      good_ = false;
      return;
    }
    const std::string_view inner = text_.substr(at_ + 1, end - at_ - 2);
    if (!is_qualification(inner) || nesting_ == kMaxNesting) return fold();
    Shortener within(inner, nesting_ + 1);
    std::string shorter = within.run();
    if (shorter.empty()) return fold();
    out_ += "<" + shorter + ">";
    at_ = end;
  }

  /// Parameters end the name, unless a name in the function follows.
  void take_parenthesis() {
    const std::size_t end = group_end(at_);
    if (end == std::string_view::npos) {
      good_ = false;
      return;
    }
    const std::string_view behind = text_.substr(end);
    const char last = out_.empty() ? '\0' : out_.back();
    const bool called = is_identifier(last) || last == '>' || last == '}' || last == '\'' ||
                        last == ']' || is_operator_end();
    const bool more = !behind.empty() && (is_identifier(behind[0]) || behind[0] == '.' ||
                                          behind[0] == '(' || behind[0] == '#');
    if (!called || nesting_ != 0 || more) {
      const std::size_t size = end - at_;
      if (size <= kShortGroup) {
        take(size);
      } else {
        out_ += "(";
        out_ += kMore;
        out_ += ")";
        at_ = end;
      }
      return;
    }
    out_.erase(0, name_begin_);
    name_begin_ = 0;
    at_ = end;
    const std::size_t local = behind.find("::");
    const bool qualifiers_only =
        local != std::string_view::npos &&
        behind.substr(0, local).find_first_not_of(" &constvolatile") == std::string_view::npos;
    if (qualifiers_only) {
      at_ += local;
      return;
    }
    // " [host]" and the like are more than the name.
    const std::size_t mark = behind.find(" [");
    if (mark != std::string_view::npos && behind.back() == ']') out_ += behind.substr(mark);
    done_ = true;
  }

  bool is_operator_end() const {
    const std::size_t word = out_.rfind("operator");
    return word != std::string::npos && !operator_symbols(out_.substr(word + 8)).empty() &&
           word + 8 + operator_symbols(out_.substr(word + 8)).size() == out_.size();
  }

  void take_brace() {
    const std::size_t end = group_end(at_);
    if (end == std::string_view::npos) {
      good_ = false;
      return;
    }
    const std::string_view group = text_.substr(at_, end - at_);
    const std::size_t number = group.rfind('#');
    if (group.starts_with("{lambda(") && number != std::string_view::npos) {
      out_ += "{lambda";
      out_ += group.substr(number);
    } else {
      out_ += group;
    }
    at_ = end;
  }

  /// What comes before may be a return type: known when parameters follow.
  void take_space() {
    take(1);
    if (!rest().starts_with("[")) name_begin_ = out_.size();
  }

  /// The versions of the standard libraries and ABI tags say nothing here.
  bool take_inline_namespace() {
    const std::size_t tag_end = rest().starts_with("[abi:") ? rest().find(']') : text_.npos;
    if (tag_end != text_.npos) {
      at_ += tag_end + 1;
      return true;
    }
    if (text_[at_] != '_' || before() != ':') return false;
    for (const std::string_view name : {"__1::", "__2::", "__cxx11::"}) {
      if (!rest().starts_with(name)) continue;
      at_ += name.size();
      return true;
    }
    return false;
  }

  std::string_view text_;
  unsigned nesting_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t name_begin_ = 0;
  bool good_ = true;
  bool done_ = false;
};

/// Where the last `count` code points begin.
std::size_t tail_begin(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  while (count != 0 && at != 0) {
    --at;
    while (at != 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
    --count;
  }
  return at;
}

/// Where the code points behind the first `count` begin.
std::size_t head_end(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size()) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && count-- == 0) break;
    ++at;
  }
  return at;
}

/// Without the namespaces of what is in brackets: "<Vec<…> as Drop>::drop".
std::string without_inner_paths(std::string_view text) {
  std::string out;
  std::size_t depth = 0;
  std::size_t word = 0;  // where the last identifier begins in `out`
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') ++depth;
    if (c == '>' && depth != 0 && text[i - 1] != '-') --depth;
    if (depth != 0 && text.substr(i).starts_with("::") && out.size() > word) {
      out.resize(word);
      ++i;
      continue;
    }
    out += c;
    if (!is_identifier(c)) word = out.size();
  }
  return out;
}

}  // namespace

std::string short_name(std::string_view name) {
  if (name.find_first_of("<(") == std::string_view::npos) return std::string(name);
  std::string out = Shortener(name, 0).run();
  return out.empty() ? std::string(name) : out;
}

std::size_t columns_of(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

std::string without_middle(std::string_view text, std::size_t columns) {
  if (columns < 3) columns = 3;
  if (columns_of(text) <= columns) return std::string(text);
  // The end tells more than the beginning.
  const std::size_t head = (columns - 1) / 3;
  const std::size_t tail = columns - 1 - head;
  std::string out(text.substr(0, head_end(text, head)));
  out += kMore;
  out += text.substr(tail_begin(text, tail));
  return out;
}

std::string fitting_name(std::string_view name, std::size_t columns) {
  if (columns < 8) columns = 8;
  std::string out = short_name(name);
  if (columns_of(out) <= columns) return out;
  out = without_inner_paths(out);
  if (columns_of(out) <= columns) return out;
  // Outer namespaces first, as far as it takes: those in no bracket.
  std::size_t depth = 0;
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const char c = out[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == '}') && depth != 0) --depth;
    if (depth != 0 || c != ':' || out[i + 1] != ':') continue;
    const std::string_view tail = std::string_view(out).substr(i);
    if (columns_of(tail) + 1 > columns) continue;
    return std::string(kMore).append(tail);
  }
  return without_middle(out, columns);
}

}  // namespace hoist::demangle
