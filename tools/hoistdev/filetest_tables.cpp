// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The commands unwind (how to find the caller's frame, step by step) and safepoint (calls with
/// references in the frame): tables beside the code for the first x86_64 target.
#include "codegen/compile.hpp"
#include "hoistdev/filetest_command.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

const char* register_name(std::uint8_t dwarf) {
  static constexpr const char* kNames[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                           "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                           "r12", "r13", "r14", "r15", "rip"};
  return dwarf < std::size(kNames) ? kNames[dwarf] : nullptr;
}

void print_register(base::Printer& out, std::uint8_t dwarf) {
  if (const char* name = register_name(dwarf)) {
    out << name;
  } else {
    out << "xmm" << static_cast<std::uint32_t>(dwarf) - 17;
  }
}

std::string unwind_text(const codegen::CompiledCode& code) {
  using Kind = image::UnwindOp::Kind;
  base::Printer out;
  for (const image::UnwindOp& op : code.tables.unwind) {
    out.hex(op.offset, 4);
    out << "  ";
    switch (op.kind) {
      case Kind::DefCfa:
        out << "cfa = ";
        print_register(out, op.reg);
        out << " + " << op.value;
        break;
      case Kind::DefCfaOffset: out << "cfa offset " << op.value; break;
      case Kind::DefCfaRegister:
        out << "cfa register ";
        print_register(out, op.reg);
        break;
      case Kind::Saved:
        print_register(out, op.reg);
        out << " at cfa - " << op.value;
        break;
      case Kind::Restore:
        out << "restore ";
        print_register(out, op.reg);
        break;
      case Kind::RememberState: out << "remember state"; break;
      case Kind::RestoreState: out << "restore state"; break;
    }
    out << "\n";
  }
  return out.take();
}

std::string safepoint_text(const codegen::CompiledCode& code) {
  base::Printer out;
  std::uint32_t slot = 0;
  for (const image::SafePoint& point : code.tables.safe_points) {
    out.hex(point.return_offset, 4);
    out << "  frame " << point.frame_bytes << ':';
    for (; slot < point.slot_end; ++slot) {
      const image::StackMapSlot& at = code.tables.stack_map[slot];
      out << ' ' << at.bytes << "@sp+" << at.sp_offset;
    }
    out << "\n";
  }
  return out.take();
}

void compile_tables(const FileTest& test, Words words,
                    std::string (*text)(const codegen::CompiledCode&), Collector& out) {
  const TargetSettings* settings = test.x64();
  if (settings == nullptr) return out.skip("no target is x86_64");
  const auto target =
      isa::make_target("x86_64", settings->features, settings->is_on("enable_pinned_reg"));
  if (!target) return out.refuse(target.error(), "");
  codegen::CompileContext context(**target);
  codegen::CompileOptions options;
  options.opt_level = test.opt_level(*settings);
  options.verify = options.check_allocation = true;
  codegen::CompiledCode code;
  Collector text_only(out.command() + " (text)");
  for (const ir::ParsedFunction& f : test.file.functions) {
    ir::Function func = f.func;
    if (const Result<void> done = context.compile(func, options, code); !done) {
      out.refuse(done.error(), function_name(f.func) + ": ");
      continue;
    }
    check_text(test, f, words, text(code), test.options.strict ? out : text_only);
  }
  for (Edit& edit : text_only.edits()) out.bless(std::move(edit));
  if (!test.options.strict) out.aside(text_only);
}

}  // namespace

void filetest_unwind(const FileTest& test, Words words, Collector& out) {
  compile_tables(test, words, unwind_text, out);
}

void filetest_safepoint(const FileTest& test, Words words, Collector& out) {
  compile_tables(test, words, safepoint_text, out);
}

}  // namespace hoistdev
