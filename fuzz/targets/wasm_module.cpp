// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes to the decoder and validator; what they accept is decoded again with one thread and
// with two, which must agree.
#include <cstdint>

#include "base/check.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/feature_list.hpp"
#include "wasm/validate/validator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hoist;
  auto module = wasm::decode(wasm::ModuleBytes::borrow({data, size}), wasm::all_features());
  if (!module) return 0;
  const auto one = wasm::validate_all(*module, 1);
  const auto two = wasm::validate_all(*module, 2);
  HOIST_CHECK(one.has_value() == two.has_value(),
              "the number of threads does not change the answer");
  if (!one) {
    HOIST_CHECK(one.error().message() == two.error().message() &&
                    one.error().offset() == two.error().offset(),
                "the number of threads does not change the error");
  }
  return 0;
}
