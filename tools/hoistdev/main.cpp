// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev: what developers of Hoist need, one subcommand per stage.
#include <cstdio>
#include <cstring>

#include "hoistdev/command.hpp"

namespace {

constexpr hoistdev::Command kCommands[] = {
    {"bisect", "find the function, pass and rewrite that break a CLIF file", hoistdev::bisect_main},
    {"clif", "verify, optimise, compile or run a CLIF file", hoistdev::clif_main},
    {"compile", "compile CLIF text and print machine IR and assembly", hoistdev::compile_main},
    {"filetest", "run test files of CLIF text", hoistdev::filetest_main},
    {"fuzz", "random programs: interpreter against native code", hoistdev::fuzz_main},
    {"module", "compile a WebAssembly module: counts and times", hoistdev::module_main},
    {"reduce", "shrink a CLIF file that shows a mistake", hoistdev::reduce_main},
    {"translate", "translate WebAssembly and print the IR", hoistdev::translate_main},
};

void usage(std::FILE* to) {
  std::fputs("usage: hoistdev COMMAND ...\n\ncommands:\n", to);
  for (const hoistdev::Command& command : kCommands) {
    std::fprintf(to, "  %-12s %s\n", command.name, command.summary);
  }
  std::fputs("\nhoistdev COMMAND --help tells more.\n", to);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    usage(stderr);
    return 1;
  }
  if (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0) {
    usage(stdout);
    return 0;
  }
  for (const hoistdev::Command& command : kCommands) {
    if (std::strcmp(argv[1], command.name) == 0) return command.run(argc - 1, argv + 1);
  }
  std::fprintf(stderr, "hoistdev: unknown command %s\n", argv[1]);
  usage(stderr);
  return 1;
}
