// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Dispatch of the commands of a test file, and what they share.
#include <algorithm>

#include "hoistdev/filetest_command.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

std::string line_text(std::uint32_t line, const std::string& message) {
  return "line " + std::to_string(line) + ": " + message;
}

std::string error_text(const Error& error) {
  if (error.line() == 0) return error.message();
  return std::to_string(error.line()) + ":" + std::to_string(error.column()) + ": " +
         error.message();
}

std::string function_name(const ir::Function& func) {
  base::Printer out;
  out << func.name;
  return out.take();
}

bool verify_all(const FileTest& test, Collector& out) {
  bool ok = true;
  for (const ir::ParsedFunction& f : test.file.functions) {
    if (const Result<void> result = ir::verify(f.func); !result) {
      out.fail(function_name(f.func) + ": " + result.error().message());
      ok = false;
    }
  }
  return ok;
}

bool has_word(Words words, std::string_view word) {
  return std::ranges::any_of(words, [&](const std::string& other) { return other == word; });
}

const TargetSettings* FileTest::x64() const {
  for (const TargetSettings& target : targets) {
    if (target.is_x64) return &target;
  }
  return targets[0].name.empty() ? &targets[0] : nullptr;
}

unsigned FileTest::opt_level(const TargetSettings& target) const {
  if (options.opt_level >= 0) return static_cast<unsigned>(options.opt_level);
  return target.flag("opt_level", "speed") == "none" ? 0 : 2;
}

// ---- Outcomes.

void Collector::fail(const std::string& reason) {
  if (report_.status != Status::Failed) report_.reason.clear();
  report_.status = Status::Failed;
  if (!report_.reason.empty()) report_.reason += "\n    ";
  report_.reason += reason;
}

void Collector::refuse(const Error& error, const std::string& where) {
  if (error.kind() == ErrorKind::Unsupported) {
    unsupported(error.message());
  } else {
    fail(where + error_text(error));
  }
}

void Collector::weaker(Status status, const std::string& reason) {
  if (report_.status != Status::Passed) return;
  report_.status = status;
  report_.reason = reason;
}

void Collector::aside(Collector& other) {
  CommandReport report = other.take();
  if (report.status == Status::Failed) {
    report.status = Status::Skipped;
    report.reason = "the text is of another optimiser or compiler";
  }
  asides_.push_back(std::move(report));
}

// ---- Dispatch.

namespace {

struct CommandRow {
  std::string_view text;
  void (*run)(const FileTest&, Words, Collector&);
};
constexpr CommandRow kCommandRows[] = {
#define HOIST_FILETEST_COMMAND(name, text, meaning) {text, filetest_##name},
#include "hoistdev/filetest_commands.def"
};

/// The file with the edits, which do not overlap.
std::string edited(std::string_view text, std::vector<Edit>& edits) {
  std::ranges::sort(edits, {}, [](const Edit& edit) { return std::pair(edit.first, edit.last); });
  std::string out;
  std::uint32_t line = 1;
  auto edit = edits.begin();
  for (;; ++line) {
    for (; edit != edits.end() && edit->first == line; ++edit) {
      for (const std::string& added : edit->lines) out += added + "\n";
      // Skip what is replaced; two commands may want the same lines: the first has its way.
      for (; line <= edit->last && !text.empty(); ++line) {
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
      }
      while (edit + 1 != edits.end() && (edit + 1)->first < line) ++edit;
    }
    if (text.empty()) break;
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.append(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace

FileReport run_file(std::string_view text, const FileTestOptions& options) {
  FileReport report;
  const auto give_up = [&](const char* stage, Status status, std::string reason) {
    report.commands.push_back({stage, status, std::move(reason), 0});
    return std::move(report);
  };
  const Result<ir::ParsedFile> file = ir::parse_file(text);
  if (!file) return give_up("read", Status::Failed, error_text(file.error()));
  if (file->tests.empty()) return give_up("read", Status::Failed, "the file has no test line");
  for (const ir::ParsedLine& feature : file->features) {
    // Features name optional parts of another code generator; all of Hoist is always there.
    if (!feature.words.empty() && feature.words[0].starts_with("!")) {
      return give_up("settings", Status::Skipped, "only without feature " + feature.words[0]);
    }
  }
  const Result<std::vector<TargetSettings>> targets = parse_settings(*file);
  if (!targets) {
    const bool unknown = targets.error().kind() == ErrorKind::Unsupported;
    return give_up("settings", unknown ? Status::Skipped : Status::Failed,
                   error_text(targets.error()));
  }
  const FileTest test{*file, options, *targets};
  std::vector<Edit> edits;
  for (const ir::ParsedLine& line : file->tests) {
    if (!options.only.empty() && options.only != line.words[0]) continue;
    Collector out(line.words[0]);
    const auto row = std::ranges::find_if(
        kCommandRows, [&](const CommandRow& known) { return known.text == line.words[0]; });
    if (row != std::end(kCommandRows)) {
      row->run(test, Words(line.words).subspan(1), out);
    } else {
      out.skip("command " + line.words[0] + " does not exist");
    }
    edits.insert(edits.end(), out.edits().begin(), out.edits().end());
    report.commands.push_back(out.take());
    for (CommandReport& aside : out.asides()) report.commands.push_back(std::move(aside));
  }
  if (!edits.empty()) report.blessed = edited(text, edits);
  return report;
}

}  // namespace hoistdev
