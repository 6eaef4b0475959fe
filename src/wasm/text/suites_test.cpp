// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every script of the test suites, found through HOIST_SUITES or beside the source tree: each must
// parse, its modules assemble, and decoder and validator decide as the script says. A module that
// needs a feature that this build does not have may be rejected as Unsupported.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "wasm/decode/decoder.hpp"
#include "wasm/text/wast_script.hpp"
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

Verdict check(const ScriptModule& module, std::string& message) {
  if (module.error) {
    message = module.error->message();
    return verdict_of(*module.error);
  }
  Result<Module> decoded = decode(ModuleBytes::own(module.bytes));
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

void check_command(const fs::path& file, const Command& command, Counts& counts) {
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
  for (const Command& nested : command.nested) check_command(file, nested, counts);
  if (!has_module && !malformed && !invalid && !custom) return;
  std::string message;
  const Verdict verdict = check(command.module, message);
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
  if (ok) {
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

void check_suite(const char* name, bool needs_assembly) {
  const fs::path folder = suites_root() / name;
  const std::vector<fs::path> files = scripts_under(folder);
  if (files.empty()) GTEST_SKIP() << "no scripts under " << folder << ": set HOIST_SUITES";
  Counts total;
  for (const fs::path& file : files) {
    const std::string text = read_file(file);
    const Script script = parse_script(text);
    EXPECT_FALSE(script.commands.empty() && text.find('(') != std::string::npos) << file;
    for (const Command& command : script.commands) {
      check_command(file, command, total);
      // No module that must load is beyond the assembler.
      const bool plain = command.kind == CommandKind::Module ||
                         command.kind == CommandKind::ModuleDefinition ||
                         command.kind == CommandKind::AssertInvalid;
      if (needs_assembly && plain && command.module.error &&
          command.module.form == ModuleForm::Text) {
        ADD_FAILURE() << file << ':' << command.line
                      << ": not assembled: " << command.module.error->message();
      }
    }
  }
  std::printf("%s: %zu files, modules: %d as expected, %d unsupported, %d wrong\n", name,
              files.size(), total.passed, total.unsupported, total.failed);
}

TEST(Suites, SpecModulesAreAcceptedOrRejectedAsExpected) {
  check_suite("spec", true);
}
TEST(Suites, EngineTestModulesAreAcceptedOrRejectedAsExpected) {
  check_suite("wast", true);
}

}  // namespace
}  // namespace hoist::wasm
