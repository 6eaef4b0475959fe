// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that have no translation: a function that reaches one is refused by the name of the
// instruction.
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using wasm::Op;

IrSink::Value IrSink::unsupported(Op op) {
  return unsupported(wasm::text(op));
}

IrSink::Value IrSink::unsupported(std::string_view what) {
  if (!refusal_) refusal_ = {what, builder_.loc().bits};
  return {};
}

// ---- Heap objects and casts

void IrSink::heap(Op op, const wasm::HeapImm&, In, Out) {
  unsupported(op);
}

}  // namespace hoist::translate
