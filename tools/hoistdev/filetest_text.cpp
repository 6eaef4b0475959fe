// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Comparison of text with what a file expects, and its replacement under --bless.
#include <algorithm>

#include "hoistdev/filetest_check.hpp"
#include "hoistdev/filetest_command.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

std::string without_trailing_space(std::string line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
    line.pop_back();
  }
  return line;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(without_trailing_space(std::string(text.substr(0, end))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool is_directive(std::string_view comment) {
  return FileCheck::kind_of(comment) != FileCheck::Kind::None;
}

/// The comments after a function without `;;` notes: their text and the lines that they take.
struct Expectation {
  std::vector<std::string> lines;
  std::uint32_t first = 0, last = 0;
};

Expectation expectation_after(const ir::ParsedFunction& function) {
  Expectation out;
  for (const ir::AttachedComment& comment : function.comments) {
    if (comment.line <= function.end_line || comment.text.starts_with(";;")) continue;
    if (out.first == 0) out.first = comment.line;
    out.last = comment.line;
    std::string_view line = comment.text;
    line.remove_prefix(line.starts_with("; ") ? 2 : 1);
    out.lines.push_back(without_trailing_space(std::string(line)));
  }
  while (!out.lines.empty() && out.lines.back().empty()) out.lines.pop_back();
  return out;
}

std::optional<std::string> first_difference(const std::vector<std::string>& expected,
                                            const std::vector<std::string>& found) {
  for (std::size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    const std::string want = i < expected.size() ? expected[i] : "(end)";
    const std::string have = i < found.size() ? found[i] : "(end)";
    if (want != have) {
      return "line " + std::to_string(i + 1) + " of the output: expected \"" + want +
             "\", found \"" + have + "\"";
    }
  }
  return std::nullopt;
}

std::optional<std::string> compare(const std::vector<std::string>& expected,
                                   const std::vector<std::string>& found, Precision precision) {
  const std::optional<std::string> lines = first_difference(expected, found);
  if (!lines || precision == Precision::Lines) return lines;
  const Result<ir::Function> want = ir::parse_function(joined(expected));
  const Result<ir::Function> have = ir::parse_function(joined(found));
  if (!want || !have) return lines;
  return difference(*want, *have);
}

void check_precise(const FileTest& test, const ir::ParsedFunction& function,
                   const std::string& text, Precision precision, Collector& out) {
  Expectation expected = expectation_after(function);
  const std::vector<std::string> found = lines_of(text);
  const std::optional<std::string> differs = compare(expected.lines, found, precision);
  if (!differs) return;
  if (test.options.bless) {
    Edit edit;
    edit.first = expected.first == 0 ? function.end_line + 1 : expected.first;
    edit.last = expected.first == 0 ? function.end_line : expected.last;
    if (expected.first == 0) edit.lines.push_back("");
    for (const std::string& line : found) edit.lines.push_back(line.empty() ? ";" : "; " + line);
    out.bless(std::move(edit));
    return;
  }
  out.fail(function_name(function.func) + ": " + *differs + "\nfound:\n" + joined(found));
}

/// New directives for the whole text, where the old ones are a block of literal lines.
bool bless_directives(const ir::ParsedFunction& function, const std::string& text, Collector& out) {
  Edit edit;
  for (const ir::AttachedComment& comment : function.comments) {
    const FileCheck::Kind kind = FileCheck::kind_of(comment.text);
    if (kind == FileCheck::Kind::None) continue;
    const bool is_plain = kind == FileCheck::Kind::Check || kind == FileCheck::Kind::SameLine ||
                          kind == FileCheck::Kind::NextLine;
    if (!is_plain || comment.text.find('$') != std::string::npos) return false;
    if (comment.line <= function.end_line) return false;
    if (edit.first == 0) edit.first = comment.line;
    if (edit.last != 0 && comment.line != edit.last + 1) return false;
    edit.last = comment.line;
  }
  if (edit.first == 0) return false;
  for (const std::string& line : lines_of(text)) {
    std::string escaped;
    for (const char c : line) escaped += c == '$' ? std::string("$$") : std::string(1, c);
    const std::string directive = edit.lines.empty() ? "; sameln: " : "; nextln: ";
    edit.lines.push_back(without_trailing_space(directive + escaped));
  }
  out.bless(std::move(edit));
  return true;
}

}  // namespace

void check_text(const FileTest& test, const ir::ParsedFunction& function, Words words,
                const std::string& text, Collector& out, Precision precision) {
  if (has_word(words, "precise-output")) {
    check_precise(test, function, text, precision, out);
    return;
  }
  FileCheck check;
  const auto add = [&](const std::vector<ir::AttachedComment>& comments) {
    for (const ir::AttachedComment& comment : comments) {
      if (!is_directive(comment.text)) continue;
      if (const auto error = check.add(comment.text)) out.fail(line_text(comment.line, *error));
    }
  };
  add(test.file.comments);
  add(function.comments);
  const std::optional<std::string> failure = check.run(text);
  if (!failure) return;
  if (test.options.bless && bless_directives(function, text, out)) return;
  out.fail(function_name(function.func) + ": " + *failure);
}

}  // namespace hoistdev
