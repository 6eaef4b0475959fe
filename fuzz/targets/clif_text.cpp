// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text to the CLIF reader. What it reads prints, and the print reads back to the same print;
// the verifier takes whatever the reader makes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ir/text/printer.hpp"
#include "ir/text/reader.hpp"
#include "ir/verify/verifier.hpp"

using namespace hoist;  // NOLINT: a fuzz target, not a library

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = ir::parse_file({reinterpret_cast<const char*>(data), size});
  if (!file) return 0;
  ir::Verifier verifier;
  for (const ir::ParsedFunction& parsed : file->functions) {
    const bool is_valid = verifier.run(parsed.func).empty();
    if (!verifier.is_printable()) continue;
    const std::string first = ir::to_string(parsed.func);
    // An invalid function may print what is no function: a call without its callee's types.
    const auto again = ir::parse_function(first);
    if (!again && !is_valid) continue;
    if (again && ir::to_string(*again) == first) continue;
    std::fprintf(stderr, "%s\nreads back as\n%s\n", first.c_str(),
                 again ? ir::to_string(*again).c_str() : again.error().message().c_str());
    std::abort();
  }
  return 0;
}
