// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every script of the test suites, found through HOIST_SUITES or beside the source tree: each must
// parse, its modules assemble, and decoder and validator decide as the script says, in the words of
// the official suite. A module that needs a feature that this build does not have may be rejected
// as Unsupported. Every module that can be printed reads back.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "wasm/decode/decoder.hpp"
#include "wasm/format/feature_list.hpp"
#include "wasm/text/script_settings.hpp"
#include "wasm/text/wast_script.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/text/wat_printer.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist::wasm {
namespace {

namespace fs = std::filesystem;

fs::path suites_root() {
  if (const char* given = std::getenv("HOIST_SUITES")) return given;
  // <root>/src/wasm/text/suites_test.cpp
  const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  return root.parent_path() / "shared" / "suites";
}

std::vector<fs::path> scripts_under(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder, ignored), end; it != end;
       it.increment(ignored)) {
    if (it->path().extension() == ".wast") out.push_back(it->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string read_file(const fs::path& path) {
  std::string out;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return out;
  char buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file))
    out.append(buffer, got);
  std::fclose(file);
  return out;
}

enum class Verdict { Accepted, Malformed, Invalid, Unsupported, Other };

Verdict verdict_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::Malformed: return Verdict::Malformed;
    case ErrorKind::Invalid: return Verdict::Invalid;
    case ErrorKind::Unsupported: return Verdict::Unsupported;
    default: return Verdict::Other;
  }
}

Verdict check(const ScriptModule& module, Features features, std::string& message) {
  if (module.error) {
    message = module.error->message();
    return verdict_of(*module.error);
  }
  Result<Module> decoded = decode(ModuleBytes::own(module.bytes), features);
  if (!decoded) {
    message = decoded.error().message();
    return verdict_of(decoded.error());
  }
  if (Result<void> valid = validate_all(*decoded); !valid) {
    message = valid.error().message();
    return verdict_of(valid.error());
  }
  return Verdict::Accepted;
}

struct Counts {
  int passed = 0;
  int unsupported = 0;
  int failed = 0;
};

/// How the scripts of a suite are read.
struct Suite {
  bool official = false;  ///< messages are the specification's
  Features features;
};

void check_command(const fs::path& file, const Suite& suite, const Command& command,
                   Counts& counts) {
  const bool has_module = command.kind == CommandKind::Module ||
                          command.kind == CommandKind::ModuleDefinition ||
                          command.kind == CommandKind::AssertTrapModule ||
                          command.kind == CommandKind::AssertUnlinkable;
  const bool malformed = command.kind == CommandKind::AssertMalformed;
  const bool invalid = command.kind == CommandKind::AssertInvalid;
  const bool custom = command.kind == CommandKind::AssertMalformedCustom ||
                      command.kind == CommandKind::AssertInvalidCustom;
  if (command.kind == CommandKind::Broken) {
    ++counts.failed;
    ADD_FAILURE() << file.string() << ':' << command.error->line() << ": "
                  << command.error->message();
  }
  for (const Command& nested : command.nested) check_command(file, suite, nested, counts);
  if (!has_module && !malformed && !invalid && !custom) return;
  std::string message;
  const Verdict verdict = check(command.module, suite.features, message);
  bool ok = false;
  if (has_module) ok = verdict == Verdict::Accepted;
  // The threads suite was written when sizes in the text had 32 bits; now they have 64 and a memory
  // that is too large is invalid.
  const bool old_size = command.message == "i32 constant out of range";
  if (malformed) ok = verdict == Verdict::Malformed || (old_size && verdict == Verdict::Invalid);
  // ... and when there was one table at most.
  const bool lifted = command.message == "multiple tables";
  if (invalid) ok = verdict == Verdict::Invalid || (lifted && verdict == Verdict::Accepted);
  if (custom) ok = verdict == Verdict::Malformed || verdict == Verdict::Invalid;
  // The message contains the specification's words.
  const bool other_words = suite.official && !has_module && !old_size &&
                           verdict != Verdict::Accepted &&
                           message.find(command.message) == std::string::npos;
  if (ok && !other_words) {
    ++counts.passed;
  } else if (verdict == Verdict::Unsupported) {
    ++counts.unsupported;
  } else {
    ++counts.failed;
    ADD_FAILURE() << file.string() << ':' << command.line << ": " << to_string(command.kind)
                  << (command.message.empty() ? "" : " \"" + command.message + "\"") << " got "
                  << (message.empty() ? "accepted" : message)
                  << (verdict == Verdict::Malformed ? " (malformed)" : "");
  }
}

/// Calls `visit(file, text, script)` for each script of the suite; false if there is none.
template <typename Visit>
bool for_each_script(const fs::path& folder, Visit visit) {
  const std::vector<fs::path> files = scripts_under(folder);
  for (const fs::path& file : files) {
    const std::string text = read_file(file);
    visit(file, text, parse_script(text));
  }
  return !files.empty();
}

void check_suite(const char* name, bool official) {
  const fs::path folder = suites_root() / name;
  Counts total;
  const auto check_script = [&](const fs::path& file, const std::string& text,
                                const Script& script) {
    // A proposal that is not finished.
    if (file.string().find("custom-descriptors") != std::string::npos) return;
    const ScriptSettings settings = script_settings(file.string(), text);
    EXPECT_TRUE(settings.problems.empty()) << file;
    const auto features = parse_features(settings.features);
    ASSERT_TRUE(features) << file << ": " << features.error().message();
    const Suite suite{.official = official, .features = *features};
    EXPECT_FALSE(script.commands.empty() && text.find('(') != std::string::npos) << file;
    for (const Command& command : script.commands) {
      check_command(file, suite, command, total);
      // No module that must load is beyond the assembler.
      const bool plain = command.kind == CommandKind::Module ||
                         command.kind == CommandKind::ModuleDefinition ||
                         command.kind == CommandKind::AssertInvalid;
      if (plain && command.module.error && command.module.form == ModuleForm::Text) {
        ADD_FAILURE() << file << ':' << command.line
                      << ": not assembled: " << command.module.error->message();
      }
    }
  };
  if (!for_each_script(folder, check_script)) {
    GTEST_SKIP() << "no scripts under " << folder << ": set HOIST_SUITES";
  }
  std::printf("%s: modules: %d as expected, %d unsupported, %d wrong\n", name, total.passed,
              total.unsupported, total.failed);
}

// ---- Printing.

/// Prints, reads, prints: the texts are equal, and so are the bytes of what came from text.
void check_print(const std::string& file, const Command& command, int& printed) {
  for (const Command& nested : command.nested) check_print(file, nested, printed);
  const ScriptModule& module = command.module;
  if (module.error || module.bytes.empty()) return;
  const std::string place = file + ":" + std::to_string(command.line);
  const Result<std::string> text = wat_text(module.bytes);
  if (!text) {
    // Only what is malformed for the decoder too need not be printed.
    const Result<Module> decoded = decode(ModuleBytes::own(module.bytes), all_features());
    const bool accepted = decoded && validate_all(*decoded);
    EXPECT_TRUE(module.form == ModuleForm::Binary && !accepted)
        << place << ": not printed: " << text.error().message();
    return;
  }
  ++printed;
  const Result<std::vector<std::uint8_t>> bytes = assemble_wat(*text);
  if (!bytes) {
    ADD_FAILURE() << place << ": not read back: " << bytes.error().message() << ", line "
                  << bytes.error().line() << "\n"
                  << text->substr(0, 4000);
    return;
  }
  if (module.form != ModuleForm::Binary) {
    EXPECT_TRUE(*bytes == module.bytes) << place << ": other bytes\n" << text->substr(0, 4000);
  }
  const Result<std::string> again = wat_text(*bytes);
  if (!again) {
    ADD_FAILURE() << place << ": not printed again: " << again.error().message();
    return;
  }
  EXPECT_EQ(*again, *text) << place;
}

void check_printing(const fs::path& folder) {
  int printed = 0;
  const auto print_all = [&](const fs::path& file, const std::string&, const Script& script) {
    for (const Command& command : script.commands) check_print(file.string(), command, printed);
  };
  if (!for_each_script(folder, print_all)) {
    GTEST_SKIP() << "no scripts under " << folder << ": set HOIST_SUITES";
  }
  std::printf("%s: %d modules printed\n", folder.filename().c_str(), printed);
}

TEST(Suites, SpecModulesPrint) {
  check_printing(suites_root() / "spec");
}
TEST(Suites, EngineTestModulesPrint) {
  check_printing(suites_root() / "wast");
}
TEST(Suites, OwnModulesPrint) {
  const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  const fs::path folder = root / "tests" / "wast";
  check_printing(fs::exists(folder) ? folder : fs::path("tests/wast"));
}

TEST(Suites, SpecModulesAreAcceptedOrRejectedAsExpected) {
  check_suite("spec", true);
}
TEST(Suites, EngineTestModulesAreAcceptedOrRejectedAsExpected) {
  check_suite("wast", false);
}

}  // namespace
}  // namespace hoist::wasm
