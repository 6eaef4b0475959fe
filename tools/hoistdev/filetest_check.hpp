// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Pattern directives in comments, matched against printed text:
///
///   check: PATTERN      anywhere after the previous match
///   sameln: PATTERN     on the line of the previous match, after it
///   nextln: PATTERN     on the line after the previous match
///   unordered: PATTERN  anywhere after the previous ordered match
///   not: PATTERN        nowhere between the matches around it
///   regex: NAME=RE      names a regular expression
///
/// A pattern is literal text with $NAME (a name defined by regex, or captured before), $(NAME=RE)
/// or
/// $(NAME=$OTHER) (matches and captures), $$ (a dollar sign). Words at its ends match whole words.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hoistdev {

class FileCheck {
 public:
  enum class Kind : unsigned char { None, Check, SameLine, NextLine, Unordered, Not, Regex };
  /// The directive that a comment (from ';' on) is, or None.
  static Kind kind_of(std::string_view comment);
  /// Takes a comment (from ';' on). An error message for a directive that is malformed.
  std::optional<std::string> add(std::string_view comment);
  bool empty() const { return directives_.empty(); }
  /// The failure, with the pattern and the text around, or nothing.
  std::optional<std::string> run(const std::string& text) const;

 private:
  struct Directive {
    Kind kind;
    std::string pattern;
  };
  std::vector<Directive> directives_;
};

}  // namespace hoistdev
