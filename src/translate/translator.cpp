// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one place where the body decoder is instantiated for the IR sink.
#include "translate/translator.hpp"

#include "translate/ir_sink.hpp"
#include "wasm/decode/body_decoder_inl.hpp"

template class hoist::wasm::BodyDecoder<hoist::translate::IrSink>;

namespace hoist::translate {

struct Translator::State {
  State(const ModuleEnv& env, ir::SimplifyFn simplify) : env(env), sink(env), simplify(simplify) {}
  const ModuleEnv& env;
  IrSink sink;
  wasm::BodyDecoder<IrSink> decoder;
  ir::SimplifyFn simplify;
};

Translator::Translator(const ModuleEnv& env, ir::SimplifyFn simplify)
    : state_(std::make_unique<State>(env, simplify)) {}
Translator::~Translator() = default;

Result<void> Translator::translate(std::uint32_t func, ir::Function& out) {
  out.clear();
  state_->sink.reset(out, state_->simplify);
  HOIST_TRY_VOID(state_->decoder.decode(state_->env.module, func, state_->sink));
  if (!state_->sink.finish()) {
    return Error(ErrorKind::Limit,
                 "function is too complex: its locals need more than 8000000 merge points",
                 state_->env.module.body(func).offset);
  }
  return {};
}

}  // namespace hoist::translate
