// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes to the text of a CLIF program of several functions (native/random_clif_test_support.hpp:
// other operations and shapes than gen/ir_program has): read, interpreted, and compared with native
// code at opt levels 0 and 2. Input: two bytes that seed the arguments, then two bytes a choice.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/support/compare_native.hpp"
#include "ir/text/reader.hpp"
#include "ir/verify/verifier.hpp"
#include "native/random_clif_test_support.hpp"

using namespace hoist;  // NOLINT: a fuzz target, not a library

namespace {

struct ChoiceStream {
  fuzz::ByteSource& in;
  std::uint64_t state = 0;
  std::uint64_t next() {
    const std::uint64_t high = in.u8();
    // Long after the end the choices go on, else every program would end in the same way.
    if (in.done()) return state = state * 6364136223846793005u + 1442695040888963407u, state >> 33;
    return state = high << 8 | in.u8();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteSource in({data, size});
  const std::uint64_t seed = in.u8() | std::uint64_t{in.u8()} << 8;
  ChoiceStream stream{in};
  const std::string text = native::RandomClif<ChoiceStream>(stream).program();
  auto file = ir::parse_file(text);
  std::vector<ir::Function> functions;
  const Error* error = file ? nullptr : &file.error();
  Result<void> verified;
  for (std::size_t i = 0; file && i < file->functions.size(); ++i) {
    ir::ParsedFunction& parsed = file->functions[i];
    verified = ir::verify(parsed.func);
    if (!verified) error = &verified.error();
    if (error != nullptr) break;
    functions.push_back(std::move(parsed.func));
  }
  if (error != nullptr) {
    std::fprintf(stderr, "%s\n%s\n", text.c_str(), error->message().c_str());
    std::abort();
  }
  const fuzz::ArgumentSets sets = fuzz::argument_sets(functions.back().signature, seed, 4);
  const auto expected = fuzz::interpret(functions, sets);
  const bool baseline_cpu = (seed & 7) == 0;
  fuzz::compare_native(functions, sets, expected, 0, baseline_cpu);
  fuzz::compare_native(functions, sets, expected, 2, baseline_cpu);
  return 0;
}
