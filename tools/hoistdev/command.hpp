// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The subcommands of hoistdev; each is one file with one of these functions, which gets the
/// arguments from its own name on and returns the exit status.

namespace hoistdev {

int bisect_main(int argc, char** argv);
int clif_main(int argc, char** argv);
int compile_main(int argc, char** argv);
int filetest_main(int argc, char** argv);
int fuzz_main(int argc, char** argv);
int module_main(int argc, char** argv);
int reduce_main(int argc, char** argv);
int translate_main(int argc, char** argv);

struct Command {
  const char* name;
  const char* summary;
  int (*run)(int argc, char** argv);
};

}  // namespace hoistdev
