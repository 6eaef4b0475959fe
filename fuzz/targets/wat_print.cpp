// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes to the text printer. What it prints of a valid module reads back; what reads back
// prints the same again, and its bytes are then the same too.
#include <cstdint>

#include "base/check.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/feature_list.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/text/wat_printer.hpp"
#include "wasm/validate/validator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hoist;
  const wasm::PrintOptions options{.max_bytes = 16u << 20};
  const auto module = wasm::decode(wasm::ModuleBytes::borrow({data, size}), wasm::all_features());
  const bool valid = module && wasm::validate_all(*module);
  const auto text = wasm::wat_text({data, size}, options);
  if (!text) {
    HOIST_CHECK(!valid || text.error().kind() == ErrorKind::Limit, "a valid module can be printed");
    return 0;
  }
  const auto bytes = wasm::assemble_wat(*text);
  HOIST_CHECK(bytes || !valid, "the text of a valid module reads back");
  if (!bytes) return 0;
  const auto again = wasm::wat_text(*bytes, options);
  HOIST_CHECK(again && *again == *text, "printing is a fixed point");
  const auto same = wasm::assemble_wat(*again);
  HOIST_CHECK(same && *same == *bytes, "equal texts have equal bytes");
  return 0;
}
