// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one place where the body decoder is instantiated for the IR sink.
#include "translate/translator.hpp"

#include <cstring>

#include "translate/body/body_scan.hpp"
#include "translate/ir_sink.hpp"
#include "wasm/decode/body_decoder_inl.hpp"

template class hoist::wasm::BodyDecoder<hoist::translate::IrSink>;

namespace hoist::translate {

namespace {
/// Smaller bodies cannot need many merge points for their locals.
constexpr std::uint32_t kScannedBytes = 8192;
/// Locals × regions from which on it pays to know the assignments.
constexpr std::uint64_t kManyMerges = 65'536;

/// Whether legacy exceptions are on and the byte of `try` occurs.
bool may_have_legacy_try(const wasm::Module& module, std::uint32_t func) {
  if (!module.features.has(wasm::Feature::LegacyExceptions)) return false;
  const std::span<const std::uint8_t> body = module.bytes_of(module.body(func));
  return !body.empty() && std::memchr(body.data(), 0x06, body.size()) != nullptr;
}
}  // namespace

struct Translator::State {
  State(const ModuleEnv& env, ir::SimplifyFn simplify) : env(env), sink(env), simplify(simplify) {}
  const ModuleEnv& env;
  IrSink sink;
  wasm::BodyDecoder<IrSink> decoder;
  BodyScan scan;
  wasm::BodyDecoder<BodyScan> scanner;
  ir::SimplifyFn simplify;
};

Translator::Translator(const ModuleEnv& env, ir::SimplifyFn simplify)
    : state_(std::make_unique<State>(env, simplify)) {}
Translator::~Translator() = default;

Result<void> Translator::translate(std::uint32_t func, ir::Function& out) {
  out.clear();
  ir::Assignments* assignments = nullptr;
  const LegacyTries* legacy = nullptr;
  const bool may_have_legacy = may_have_legacy_try(state_->env.module, func);
  if (state_->env.module.body(func).size >= kScannedBytes || may_have_legacy) {
    HOIST_TRY_VOID(state_->scanner.decode(state_->env.module, func, state_->scan));
    ir::Assignments& found = state_->scan.assignments;
    // Assignments know no control flow like that of legacy try blocks.
    if (!state_->scan.legacy.tries.empty()) {
      legacy = &state_->scan.legacy;
    } else if (std::uint64_t{found.variable_count()} * found.region_count() >= kManyMerges) {
      found.finish();
      assignments = &found;
    }
  }
  state_->sink.reset(out, state_->simplify, assignments, legacy);
  HOIST_TRY_VOID(state_->decoder.decode(state_->env.module, func, state_->sink));
  if (!state_->sink.finish()) {
    return Error(ErrorKind::Limit,
                 "function is too complex: its locals need more than 8000000 merge points",
                 state_->env.module.body(func).offset);
  }
  return {};
}

}  // namespace hoist::translate
