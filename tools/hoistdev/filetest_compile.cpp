// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The commands lower (machine IR before register allocation, not optimised before) and compile
/// (assembly), for the first x86_64 target.
#include "hoistdev/compile.hpp"
#include "hoistdev/filetest_command.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

static void compile_all(const FileTest& test, Words words, bool lowered, Collector& out) {
  const TargetSettings* target = test.x64();
  if (target == nullptr) {
    out.skip("no target is x86_64");
    return;
  }
  // Machine IR has a form of its own, so `lower` is always about Hoist.
  const bool insists = lowered || test.options.strict;
  Collector text_only(out.command() + " (text)");
  for (const ir::ParsedFunction& f : test.file.functions) {
    const Result<CompileText> text =
        compile_to_text(f.func, lowered ? 0 : test.opt_level(*target), target->features,
                        target->is_on("enable_pinned_reg"));
    if (text) {
      check_text(test, f, words, lowered ? text->lowered : text->assembly,
                 insists ? out : text_only);
    } else {
      out.refuse(text.error(), function_name(f.func) + ": ");
    }
  }
  for (Edit& edit : text_only.edits()) out.bless(std::move(edit));
  if (!insists) out.aside(text_only);
}

void filetest_lower(const FileTest& test, Words words, Collector& out) {
  compile_all(test, words, true, out);
}

void filetest_compile(const FileTest& test, Words words, Collector& out) {
  compile_all(test, words, false, out);
}

}  // namespace hoistdev
