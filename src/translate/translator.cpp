// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one place where the body decoder is instantiated for the IR sink.
#include "translate/translator.hpp"

#include "translate/ir_sink.hpp"
#include "wasm/decode/body_decoder_inl.hpp"
#include "wasm/decode/null_sink.hpp"

template class hoist::wasm::BodyDecoder<hoist::translate::IrSink>;

namespace hoist::translate {

namespace {
/// Smaller bodies cannot need many merge points for their locals.
constexpr std::uint32_t kScannedBytes = 8192;
/// Locals × regions from which on it pays to know the assignments.
constexpr std::uint64_t kManyMerges = 65'536;

/// Finds out which parts of a function assign which locals.
class AssignmentScan : public wasm::NullSink {
 public:
  ir::Assignments assignments;

  void begin(const wasm::BodyInfo& info, Frame&) { assignments.start(info.num_locals); }
  void block(const wasm::BlockType&, Frame&) { assignments.open(ir::RegionKind::Plain); }
  void loop(const wasm::BlockType&, Frame&, Out) { assignments.open(ir::RegionKind::Loop); }
  void if_(const wasm::BlockType&, Frame&, Value, In) {
    assignments.open(ir::RegionKind::Choice);
    assignments.open(ir::RegionKind::Plain);
  }
  void else_(const wasm::BlockType&, Frame&, bool, In, bool) {
    assignments.close();
    assignments.open(ir::RegionKind::Plain);
  }
  void end(wasm::FrameKind kind, const wasm::BlockType&, Frame&, bool, bool, Out) {
    if (kind == wasm::FrameKind::Func) return;
    if (kind == wasm::FrameKind::If || kind == wasm::FrameKind::Else) assignments.close();
    assignments.close();
  }
  void local_set(std::uint32_t local, wasm::ValType, Value) {
    assignments.assign(ir::Variable(local));
  }
  Value local_tee(std::uint32_t local, wasm::ValType, Value) {
    assignments.assign(ir::Variable(local));
    return {};
  }
};
}  // namespace

struct Translator::State {
  State(const ModuleEnv& env, ir::SimplifyFn simplify) : env(env), sink(env), simplify(simplify) {}
  const ModuleEnv& env;
  IrSink sink;
  wasm::BodyDecoder<IrSink> decoder;
  AssignmentScan scan;
  wasm::BodyDecoder<AssignmentScan> scanner;
  ir::SimplifyFn simplify;
};

Translator::Translator(const ModuleEnv& env, ir::SimplifyFn simplify)
    : state_(std::make_unique<State>(env, simplify)) {}
Translator::~Translator() = default;

Result<void> Translator::translate(std::uint32_t func, ir::Function& out) {
  out.clear();
  ir::Assignments* assignments = nullptr;
  if (state_->env.module.body(func).size >= kScannedBytes) {
    HOIST_TRY_VOID(state_->scanner.decode(state_->env.module, func, state_->scan));
    ir::Assignments& found = state_->scan.assignments;
    if (std::uint64_t{found.variable_count()} * found.region_count() >= kManyMerges) {
      found.finish();
      assignments = &found;
    }
  }
  state_->sink.reset(out, state_->simplify, assignments);
  HOIST_TRY_VOID(state_->decoder.decode(state_->env.module, func, state_->sink));
  if (!state_->sink.finish()) {
    return Error(ErrorKind::Limit,
                 "function is too complex: its locals need more than 8000000 merge points",
                 state_->env.module.body(func).offset);
  }
  return {};
}

}  // namespace hoist::translate
