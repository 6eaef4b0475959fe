// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The validator of bodies: the decoder with a sink that does nothing.
#include "wasm/decode/body_decoder_inl.hpp"
#include "wasm/decode/null_sink.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist::wasm {

struct BodyScratch::Impl {
  BodyDecoder<NullSink> decoder;
  NullSink sink;
};

BodyScratch::BodyScratch() : impl_(std::make_unique<Impl>()) {}
BodyScratch::~BodyScratch() = default;
BodyScratch::BodyScratch(BodyScratch&&) noexcept = default;
BodyScratch& BodyScratch::operator=(BodyScratch&&) noexcept = default;

Result<void> validate_body(const Module& module, std::uint32_t func, BodyScratch& scratch) {
  return scratch.impl().decoder.decode(module, func, scratch.impl().sink);
}

}  // namespace hoist::wasm
