// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz/gen/ir_program.hpp"

#include "fuzz/gen/ir_generator.hpp"

namespace hoist::fuzz {

std::uint64_t interesting_value(ByteSource& source, Type type) {
  static constexpr std::uint64_t kIntEdges[] = {0,
                                                1,
                                                ~0ull,
                                                2,
                                                0x7f,
                                                0x80,
                                                0x7fff,
                                                0x8000,
                                                0x7fffffff,
                                                0x80000000,
                                                0xffffffff,
                                                0x7fffffffffffffff,
                                                0x8000000000000000,
                                                31,
                                                32,
                                                63,
                                                64};
  static constexpr std::uint64_t kF32[] = {
      0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
      0x7fc00000, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000,
      0x5f800000, 0x00000001, 0x3f000000, 0x4b000001, 0x43000000, 0xc3800000};
  static constexpr std::uint64_t kF64[] = {0,
                                           0x8000000000000000,
                                           0x3ff0000000000000,
                                           0xbff0000000000000,
                                           0x7ff0000000000000,
                                           0xfff0000000000000,
                                           0x7ff8000000000000,
                                           0x41e0000000000000,
                                           0xc1e0000000200000,
                                           0x41f0000000000000,
                                           0x43e0000000000000,
                                           0xc3e0000000000000,
                                           0x43f0000000000000,
                                           1,
                                           0x3fe0000000000000,
                                           0xc1e0000000000000,
                                           0x4060000000000000,
                                           0xc0e0000000000000};
  const unsigned pick = source.below(4);
  if (pick == 3) {
    const std::uint64_t bits = source.u64();
    // A random NaN is made the canonical one.
    if (type == ir::F32 && (bits & 0x7f800000) == 0x7f800000) return 0x7fc00000;
    if (type == ir::F64 && (bits & 0x7ff0000000000000) == 0x7ff0000000000000) {
      return 0x7ff8000000000000;
    }
    return type.bits() == 64 ? bits : bits & ((std::uint64_t{1} << type.bits()) - 1);
  }
  if (type == ir::F32) return source.one_of(kF32);
  if (type == ir::F64) return source.one_of(kF64);
  std::uint64_t bits = source.u8();
  if (pick < 2) bits = kIntEdges[bits % std::size(kIntEdges)];
  return type.bits() == 64 ? bits : bits & ((std::uint64_t{1} << type.bits()) - 1);
}

void generate_program(ByteSource& source, ir::SimplifyFn simplify,
                      std::vector<ir::Function>& functions, unsigned families) {
  functions.clear();
  functions.resize(1 + source.below(3));
  for (std::size_t i = 0; i < functions.size(); ++i) {
    Generator(source, simplify, functions, i, families).run();
  }
  if ((families & kExceptions) == 0) return;
  // One that starts it all: handlers are searched up to its frame.
  ir::Function& entry = functions.emplace_back();
  const ir::Function& main = functions[functions.size() - 2];
  entry.name = ir::ExternalName::testcase("f" + std::to_string(functions.size() - 1));
  entry.signature = main.signature;
  entry.signature.params.erase(entry.signature.params.begin());
  entry.signature.call_conv = ir::CallConv::SystemV;
  const ir::SigRef signature = entry.signatures.push(main.signature);
  const ir::FuncRef callee = entry.ext_funcs.push({.name = main.name, .signature = signature});
  ir::FunctionBuilder b(entry);
  const Block block = b.make_block();
  b.append_params_for_signature(block);
  b.switch_to(block);
  std::vector<Value> args = {b.nullary(Op::GetFramePointer, ir::I64)};
  const auto params = entry.block_params(block);
  args.insert(args.end(), params.begin(), params.end());
  const ir::Inst call = b.call(callee, args);
  const auto results = entry.results(call);
  b.ret(std::vector<Value>(results.begin(), results.end()));
  b.seal_all();
}

}  // namespace hoist::fuzz
