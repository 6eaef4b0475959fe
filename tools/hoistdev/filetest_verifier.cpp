// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The verifier command: each error is expected by a comment at its entity, for each pointer type
/// among the targets.
#include "hoistdev/filetest_command.hpp"
#include "ir/verify/verifier.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

bool is_about(const ir::Function& func, ir::EntityRef error, ir::EntityRef comment) {
  if (error == comment) return true;
  // The signature of `fn0 = %f() -> i8` has no line of its own.
  return error.kind == ir::EntityKind::SigRef && comment.kind == ir::EntityKind::FuncRef &&
         func.ext_funcs[ir::FuncRef(comment.index)].signature == ir::SigRef(error.index);
}

void verify_one(const ir::ParsedFunction& f, ir::Type pointer_type, Collector& out) {
  ir::Verifier verifier;
  verifier.set_pointer_type(pointer_type);
  const std::span<const ir::VerifierError> errors = verifier.run(f.func);
  std::vector<bool> seen(errors.size());
  for (const ir::AttachedComment& comment : f.comments) {
    const std::size_t at = comment.text.find("error:");
    if (at == std::string::npos) continue;
    std::string expected = comment.text.substr(at + 6);
    expected.erase(0, expected.find_first_not_of(' '));
    while (!expected.empty() && (expected.back() == ' ' || expected.back() == '\r')) {
      expected.pop_back();
    }
    bool found = false;
    for (std::size_t i = 0; i < errors.size() && !found; ++i) {
      if (seen[i] || !is_about(f.func, errors[i].where, comment.owner)) continue;
      found = errors[i].message.find(expected) != std::string::npos;
      if (found) seen[i] = true;
    }
    if (!found) out.fail(line_text(comment.line, "missing error: " + expected));
  }
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (seen[i]) continue;
    base::Printer text;
    text << function_name(f.func) << ": unexpected error: " << errors[i].where << ": "
         << errors[i].message;
    out.fail(text.take());
  }
}

}  // namespace

void filetest_verifier(const FileTest& test, Words, Collector& out) {
  for (std::size_t i = 0; i < test.targets.size(); ++i) {
    bool seen = false;
    for (std::size_t other = 0; other < i; ++other) {
      seen = seen || test.targets[other].pointer_type == test.targets[i].pointer_type;
    }
    if (seen) continue;
    for (const ir::ParsedFunction& f : test.file.functions) {
      verify_one(f, test.targets[i].pointer_type, out);
    }
  }
}

}  // namespace hoistdev
