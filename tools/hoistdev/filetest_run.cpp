// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoistdev/filetest_run.hpp"

#include "base/bits.hpp"
#include "ir/text/data_value_text.hpp"
#include "ir/text/printer.hpp"

namespace hoistdev {

using hoist::Error;
using hoist::ErrorKind;
using hoist::Result;
using hoist::ir::DataValue;
using Outcome = hoist::ir::Interpreter::Outcome;

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

/// Splits at commas outside of brackets.
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  list = trim(list);
  if (list.empty()) return parts;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      parts.emplace_back(trim(list.substr(start, i - start)));
      start = i + 1;
    } else if (list[i] == '[') {
      ++depth;
    } else if (list[i] == ']') {
      --depth;
    }
  }
  return parts;
}

Error malformed(std::string_view directive, std::uint32_t line) {
  Error error(ErrorKind::Malformed, "malformed run directive: " + std::string(directive));
  error.at_line(line, 1);
  return error;
}

}  // namespace

std::optional<Result<RunDirective>> parse_run_directive(std::string_view comment,
                                                        std::uint32_t line) {
  while (comment.starts_with(';')) comment.remove_prefix(1);
  comment = trim(comment);
  RunDirective directive;
  directive.text = comment;
  directive.line = line;
  if (comment == "run") {
    directive.compare = RunDirective::Compare::NonZero;
    return directive;
  }
  const bool is_print = comment.starts_with("print:");
  if (!is_print && !comment.starts_with("run:")) return std::nullopt;
  std::string_view rest = trim(comment.substr(comment.find(':') + 1));
  if (rest.empty() && !is_print) {
    directive.compare = RunDirective::Compare::NonZero;
    return directive;
  }
  const std::size_t open = rest.find('(');
  const std::size_t close = rest.find(')');
  if (!rest.starts_with('%') || open == std::string_view::npos || close == std::string_view::npos ||
      close < open) {
    return Result<RunDirective>(malformed(comment, line));
  }
  directive.function = rest.substr(1, open - 1);
  directive.args = split(rest.substr(open + 1, close - open - 1));
  rest = trim(rest.substr(close + 1));
  if (is_print) return directive;
  if (rest.empty()) {
    directive.compare = RunDirective::Compare::NonZero;
    return directive;
  }
  if (rest.starts_with("==")) {
    directive.compare = RunDirective::Compare::Equal;
  } else if (rest.starts_with("!=")) {
    directive.compare = RunDirective::Compare::NotEqual;
  } else if (rest.starts_with("traps ")) {
    directive.compare = RunDirective::Compare::Traps;
    rest = trim(rest.substr(5));
    directive.expected.emplace_back(rest.substr(0, rest.find_first_of(" ;")));
    return directive;
  } else {
    return Result<RunDirective>(malformed(comment, line));
  }
  std::string_view values = trim(rest.substr(2));
  // A comment may follow the value.
  if (const std::size_t semicolon = values.find(';'); semicolon != std::string_view::npos) {
    values = trim(values.substr(0, semicolon));
  }
  // "[a, b]" is a list of results; "[1 2 3 4]" one vector.
  if (values.starts_with('[') && values.ends_with(']') &&
      (values.find(',') != std::string_view::npos ||
       trim(values.substr(1, values.size() - 2)).find(' ') == std::string_view::npos)) {
    values = values.substr(1, values.size() - 2);
  }
  directive.expected = split(values);
  return directive;
}

Result<std::vector<DataValue>> parse_values(const std::vector<std::string>& texts,
                                            const std::vector<hoist::ir::AbiParam>& params) {
  for (const hoist::ir::AbiParam& param : params) {
    if (!param.type.is_dynamic() && param.type.bits() <= 128) continue;
    hoist::base::Printer text;
    text << "values of type " << param.type;
    return Error(ErrorKind::Unsupported, "unsupported: " + text.take());
  }
  if (texts.size() != params.size()) {
    return Error(ErrorKind::Malformed, "expected " + std::to_string(params.size()) +
                                           " values, found " + std::to_string(texts.size()));
  }
  std::vector<DataValue> values;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::optional<DataValue> value = parse_data_value(texts[i], params[i].type);
    if (!value) {
      hoist::base::Printer text;
      text << "\"" << texts[i] << "\" is no value of type " << params[i].type;
      return Error(ErrorKind::Malformed, text.take());
    }
    values.push_back(*value);
  }
  return values;
}

std::string outcome_text(const Outcome& outcome) {
  hoist::base::Printer out;
  switch (outcome.kind) {
    case Outcome::Kind::OutOfFuel: return "out of fuel";
    case Outcome::Kind::Trapped:
      out << "trap ";
      hoist::ir::print(out, outcome.trap);
      break;
    case Outcome::Kind::Returned:
      out << '[';
      for (std::size_t i = 0; i < outcome.values.size(); ++i) {
        out << (i == 0 ? "" : ", ") << outcome.values[i];
      }
      out << ']';
      break;
  }
  return out.take();
}

std::optional<std::string> check_outcome(const RunDirective& directive,
                                         const std::vector<DataValue>& expected,
                                         const Outcome& found) {
  bool holds = found.kind == Outcome::Kind::Returned;
  const std::vector<DataValue>& values = found.values;
  switch (directive.compare) {
    case RunDirective::Compare::None: break;
    case RunDirective::Compare::Equal: holds = holds && values == expected; break;
    case RunDirective::Compare::NotEqual: holds = holds && values != expected; break;
    case RunDirective::Compare::NonZero:
      holds = holds && values.size() == 1 && (values[0].lo | values[0].hi) != 0;
      break;
    case RunDirective::Compare::Traps:
      holds = found.kind == Outcome::Kind::Trapped &&
              outcome_text(found) == "trap " + directive.expected[0];
      break;
  }
  if (holds) return std::nullopt;
  return directive.text + ": got " + outcome_text(found);
}

namespace {

bool is_nan(const DataValue& value) {
  if (value.type == hoist::ir::F16) return (value.lo & 0x7fff) > 0x7c00;
  if (value.type == hoist::ir::F32) return (value.lo & 0x7fff'ffff) > 0x7f80'0000;
  if (value.type != hoist::ir::F64) return false;
  return (value.lo & 0x7fff'ffff'ffff'ffff) > 0x7ff0'0000'0000'0000;
}

/// Lane by lane.
bool same_value(const DataValue& a, const DataValue& b) {
  if (a == b || (is_nan(a) && is_nan(b))) return true;
  if (a.type != b.type || !a.type.is_vector()) return false;
  const unsigned bits = a.type.lane_bits();
  for (unsigned at = 0; at < a.type.bits(); at += bits) {
    const auto lane = [&](const DataValue& v) {
      const std::uint64_t shifted = (at < 64 ? v.lo : v.hi) >> (at % 64);
      return DataValue{v.type.lane_type(), hoist::base::zero_extend(shifted, bits), 0};
    };
    if (lane(a) != lane(b) && !(is_nan(lane(a)) && is_nan(lane(b)))) return false;
  }
  return true;
}

}  // namespace

bool same_outcome(const Outcome& a, const Outcome& b) {
  if (a.kind != b.kind || a.trap != b.trap || a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (!same_value(a.values[i], b.values[i])) return false;
  }
  return true;
}

}  // namespace hoistdev
