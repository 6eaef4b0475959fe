// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoistdev/filetest_check.hpp"

#include <algorithm>
#include <regex>

namespace hoistdev {

namespace {

using Variables = std::map<std::string, std::string>;

bool is_word_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string escape(std::string_view literal) {
  std::string out;
  for (const char c : literal) {
    if (std::string_view("\\^$.|?*+()[]{}/").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// A pattern as a regular expression, and the names of its capture groups.
struct Compiled {
  std::string regex;
  std::vector<std::string> captures;
  std::string error;
};

/// End of the parenthesis that opens at `at`, or npos.
std::size_t matching_parenthesis(std::string_view text, std::size_t at) {
  unsigned depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '(') {
      ++depth;
    } else if (text[at] == ')' && --depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

Compiled compile(std::string_view pattern, const Variables& regexes, const Variables& captured) {
  Compiled out;
  const auto expand = [&](const std::string& name) -> std::string {
    if (const auto found = captured.find(name); found != captured.end()) {
      return escape(found->second);
    }
    if (const auto found = regexes.find(name); found != regexes.end()) {
      return "(?:" + found->second + ")";
    }
    out.error = "undefined variable $" + name;
    return {};
  };
  const auto name_at = [](std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && is_word_char(text[length])) ++length;
    return std::string(text.substr(0, length));
  };
  if (!pattern.empty() && is_word_char(pattern.front())) out.regex += "\\b";
  for (std::size_t i = 0; i < pattern.size() && out.error.empty();) {
    const std::size_t dollar = std::min(pattern.find('$', i), pattern.size());
    out.regex += escape(pattern.substr(i, dollar - i));
    i = dollar;
    if (i == pattern.size()) break;
    const std::string_view rest = pattern.substr(i + 1);
    if (rest.starts_with('$')) {
      out.regex += "\\$";
      i += 2;
    } else if (rest.starts_with('(')) {
      const std::size_t end = matching_parenthesis(pattern, i + 1);
      if (end == std::string_view::npos) {
        out.error = "unclosed $(";
        break;
      }
      const std::string_view inside = pattern.substr(i + 2, end - i - 2);
      const std::string name = name_at(inside);
      const std::string_view after = inside.substr(name.size());
      if (after.empty()) {
        if (!name.empty()) out.regex += expand(name);
      } else if (after[0] == '=') {
        const std::string_view re = after.substr(1);
        out.regex += name.empty() ? "(?:" : "(";
        if (!name.empty()) out.captures.push_back(name);
        out.regex += re.starts_with('$') ? expand(std::string(re.substr(1))) : std::string(re);
        out.regex += ')';
      } else {
        out.error = "malformed $(...)";
      }
      i = end + 1;
    } else {
      const std::string name = name_at(rest);
      out.regex += expand(name);
      i += 1 + name.size();
    }
  }
  // Does it end in literal text rather than in a variable?
  const std::size_t dollar = pattern.rfind('$');
  const std::string_view tail =
      dollar == std::string_view::npos ? std::string_view() : pattern.substr(dollar + 1);
  const bool variable_at_end =
      dollar != std::string_view::npos && std::ranges::all_of(tail, is_word_char);
  if (!pattern.empty() && is_word_char(pattern.back()) && !variable_at_end) out.regex += "\\b";
  return out;
}

struct Match {
  std::size_t begin = 0, end = 0;
};

class Run {
 public:
  explicit Run(const std::string& text) : text_(text) {}

  Variables regexes, captured;
  std::string error;

  /// First match in [from, to).
  std::optional<Match> find(const std::string& pattern, std::size_t from, std::size_t to) {
    const Compiled compiled = compile(pattern, regexes, captured);
    if (!compiled.error.empty()) {
      error = compiled.error;
      return std::nullopt;
    }
    try {
      const std::regex regex(compiled.regex);
      std::smatch found;
      auto flags = std::regex_constants::match_default;
      if (from > 0) flags |= std::regex_constants::match_prev_avail;
      const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(from);
      const auto end = text_.begin() + static_cast<std::ptrdiff_t>(to);
      if (!std::regex_search(begin, end, found, regex, flags)) return std::nullopt;
      for (std::size_t i = 0; i < compiled.captures.size(); ++i) {
        captured[compiled.captures[i]] = found[i + 1].str();
      }
      const std::size_t at = from + static_cast<std::size_t>(found.position(0));
      return Match{at, at + static_cast<std::size_t>(found.length(0))};
    } catch (const std::regex_error& e) {
      error = e.what();
      return std::nullopt;
    }
  }
  std::size_t line_end(std::size_t at) const {
    return std::min(text_.find('\n', at), text_.size());
  }

 private:
  const std::string& text_;
};

}  // namespace

static std::string_view without_marks(std::string_view comment) {
  while (comment.starts_with(';')) comment.remove_prefix(1);
  return trim(comment);
}

static constexpr std::pair<std::string_view, FileCheck::Kind> kKinds[] = {
    {"check:", FileCheck::Kind::Check},     {"sameln:", FileCheck::Kind::SameLine},
    {"nextln:", FileCheck::Kind::NextLine}, {"unordered:", FileCheck::Kind::Unordered},
    {"not:", FileCheck::Kind::Not},         {"regex:", FileCheck::Kind::Regex}};

FileCheck::Kind FileCheck::kind_of(std::string_view comment) {
  comment = without_marks(comment);
  for (const auto& [prefix, kind] : kKinds) {
    if (comment.starts_with(prefix)) return kind;
  }
  return Kind::None;
}

std::optional<std::string> FileCheck::add(std::string_view comment) {
  comment = without_marks(comment);
  for (const auto& [prefix, kind] : kKinds) {
    if (!comment.starts_with(prefix)) continue;
    const std::string_view pattern = trim(comment.substr(prefix.size()));
    if (kind == Kind::Regex && pattern.find('=') == std::string_view::npos) {
      return "expected regex: NAME=RE, found " + std::string(comment);
    }
    directives_.push_back({kind, std::string(pattern)});
  }
  return std::nullopt;
}

std::optional<std::string> FileCheck::run(const std::string& text) const {
  Run run(text);
  std::size_t at = 0;        // end of the last ordered match
  std::size_t furthest = 0;  // of the unordered matches after it
  std::vector<std::string> forbidden;
  const auto check_forbidden = [&](std::size_t from, std::size_t to) -> std::optional<std::string> {
    for (const std::string& pattern : forbidden) {
      if (run.find(pattern, from, to)) return "found what must not be there: " + pattern;
    }
    forbidden.clear();
    return std::nullopt;
  };
  for (const Directive& directive : directives_) {
    std::optional<Match> match;
    switch (directive.kind) {
      case Kind::None: continue;
      case Kind::Regex: {
        const std::size_t equals = directive.pattern.find('=');
        run.regexes[std::string(trim(directive.pattern.substr(0, equals)))] =
            directive.pattern.substr(equals + 1);
        continue;
      }
      case Kind::Not: forbidden.push_back(directive.pattern); continue;
      case Kind::Unordered:
        match = run.find(directive.pattern, at, text.size());
        if (match) furthest = std::max(furthest, match->end);
        break;
      case Kind::Check:
        at = std::max(at, furthest);
        match = run.find(directive.pattern, at, text.size());
        break;
      case Kind::SameLine:
        at = std::max(at, furthest);
        match = run.find(directive.pattern, at, run.line_end(at));
        break;
      case Kind::NextLine: {
        at = std::max(at, furthest);
        const std::size_t next = run.line_end(at) + 1;
        if (next <= text.size()) match = run.find(directive.pattern, next, run.line_end(next));
        break;
      }
    }
    if (!match) {
      std::string message = "no match for \"" + directive.pattern + "\"";
      if (!run.error.empty()) message += " (" + run.error + ")";
      const std::size_t end = run.line_end(std::min(run.line_end(at) + 1, text.size()));
      return message + " after:\n" + text.substr(0, end);
    }
    if (directive.kind == Kind::Unordered) continue;
    if (auto failure = check_forbidden(at, match->begin)) return failure;
    at = match->end;
  }
  return check_forbidden(at, text.size());
}

}  // namespace hoistdev
