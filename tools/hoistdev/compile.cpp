// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev compile: CLIF text to machine IR and assembly.
#include "hoistdev/compile.hpp"

#include <capstone/capstone.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "asm/x64/regs.hpp"
#include "codegen/compile.hpp"
#include "codegen/mach/print.hpp"
#include "hoistdev/command.hpp"
#include "hoistdev/filetest_settings.hpp"
#include "ir/text/printer.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

void print_symbol(base::Printer& out, const ir::ExternalName& name) {
  if (name.kind == ir::ExternalName::Kind::User) {
    out << "u" << name.name_space << ":" << name.index;
  } else {
    out << "%" << std::string_view(name.text);
  }
}

/// One line per instruction: offset, text; then what the side tables say about it.
std::string disassemble(const codegen::CompiledCode& code) {
  base::Printer out;
  csh handle = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) return "capstone does not open\n";
  const std::uint8_t* at = code.bytes.data();
  std::size_t left = code.code_size;
  std::uint64_t address = 0;
  cs_insn* insn = cs_malloc(handle);
  std::size_t trap = 0;
  std::size_t reloc = 0;
  while (left != 0) {
    if (!cs_disasm_iter(handle, &at, &left, &address, insn)) {
      out.hex(address, 4);
      out << "  not an instruction\n";
      break;
    }
    out.hex(insn->address, 4);
    out << "  " << static_cast<const char*>(insn->mnemonic);
    if (insn->op_str[0] != 0) out << " " << static_cast<const char*>(insn->op_str);
    const std::uint64_t end = insn->address + insn->size;
    for (; reloc < code.relocs.size() && code.relocs[reloc].offset < end; ++reloc) {
      out << "  ; ";
      print_symbol(out, code.symbols[code.relocs[reloc].symbol]);
    }
    for (; trap < code.traps.size() && code.traps[trap].offset < end; ++trap) {
      out << "  ; trap: " << image::trap_message(code.traps[trap].code);
    }
    out << "\n";
  }
  cs_free(insn, 1);
  cs_close(&handle);
  if (code.bytes.size() != code.code_size) {
    out << "constants: " << code.bytes.size() - code.code_size << " bytes\n";
  }
  return out.take();
}

std::string machine_text(const codegen::Target& target, const codegen::MachFunction& mach,
                         const codegen::Allocation* alloc) {
  base::Printer out;
  codegen::print_function(out, mach, alloc, [&](base::Printer& to, const codegen::MachInst& inst) {
    target.print(to, mach, inst, alloc);
  });
  return out.take();
}

}  // namespace

Result<CompileText> compile_to_text(ir::Function func, unsigned opt_level, isa::FeatureSet features,
                                    bool pins_register) {
  HOIST_TRY(const std::unique_ptr<codegen::Target> target,
            isa::make_target("x86_64", features, pins_register));
  codegen::CompileContext context(*target);
  codegen::CompiledCode code;
  codegen::CompileOptions options;
  options.opt_level = opt_level;
  options.verify = true;
  options.check_allocation = true;
  CompileText text;
  const Result<void> compiled = context.compile(func, options, code);
  text.lowered = machine_text(*target, context.last_mach(), nullptr);
  if (!compiled) {
    Error error = compiled.error();
    error.message() += "\n" + text.lowered;
    return error;
  }
  text.allocated = machine_text(*target, context.last_mach(), &context.last_allocation());
  text.assembly = disassemble(code);
  return text;
}

isa::FeatureSet features_of(const ir::ParsedFile& file) {
  if (const auto targets = parse_settings(file)) {
    for (const TargetSettings& target : *targets) {
      if (target.is_x64) return target.features;
    }
  }
  return isa::baseline_features("x86_64");
}

bool pins_register(const ir::ParsedFile& file) {
  if (const auto targets = parse_settings(file)) {
    for (const TargetSettings& target : *targets) {
      if (target.is_x64) return target.is_on("enable_pinned_reg");
    }
  }
  return false;
}

int compile_main(int argc, char** argv) {
  CLI::App app("Compiles the functions of a CLIF file and prints machine IR and assembly.",
               "hoistdev compile");
  std::string path;
  unsigned opt_level = 2;
  std::string stage = "all";
  app.add_option("file", path, "CLIF text")->required();
  app.add_option("-O,--opt-level", opt_level, "0, 1 or 2")->check(CLI::Range(0, 2));
  app.add_option("--stage", stage, "what to print")
      ->check(CLI::IsMember({"lowered", "allocated", "assembly", "all"}));
  CLI11_PARSE(app, argc, argv);
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "hoistdev: cannot read %s\n", path.c_str());
    return 1;
  }
  const std::string text(std::istreambuf_iterator<char>(in), {});
  Result<ir::ParsedFile> file = ir::parse_file(text);
  if (!file) {
    std::fprintf(stderr, "%s:%u:%u: %s\n", path.c_str(), file.error().line(), file.error().column(),
                 file.error().message().c_str());
    return 1;
  }
  int status = 0;
  for (const ir::ParsedFunction& function : file->functions) {
    base::Printer name;
    name << function.func.name;
    std::printf("function %s\n", std::string(name.view()).c_str());
    const Result<CompileText> result =
        compile_to_text(function.func, opt_level, features_of(*file), pins_register(*file));
    if (!result) {
      std::printf("error: %s\n\n", result.error().message().c_str());
      status = 1;
      continue;
    }
    if (stage == "lowered" || stage == "all") std::printf("%s\n", result->lowered.c_str());
    if (stage == "allocated" || stage == "all") std::printf("%s\n", result->allocated.c_str());
    if (stage == "assembly" || stage == "all") std::printf("%s\n", result->assembly.c_str());
  }
  return status;
}

}  // namespace hoistdev
