// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/type_reader.hpp"

#include "wasm/format/limits.hpp"
#include "wasm/format/type_bytes.hpp"

namespace hoist::wasm {

static bool is_abstract_heap_type(std::uint8_t byte) {
  return byte >= HeapType::Exn && byte <= HeapType::NoExn;
}

static Feature feature_of(HeapType::Abstract heap) {
  switch (heap) {
    case HeapType::Func:
    case HeapType::Extern: return Feature::ReferenceTypes;
    case HeapType::Bot: break;
    case HeapType::NoExn:
    case HeapType::Exn: return Feature::Exceptions;
    case HeapType::NoFunc:
    case HeapType::NoExtern:
    case HeapType::None:
    case HeapType::Any:
    case HeapType::Eq:
    case HeapType::I31:
    case HeapType::Struct:
    case HeapType::Array: return Feature::Gc;
  }
  return Feature::Core;
}

TypeRead read_heap_type(ByteReader& in, HeapType& out, Feature& needs) {
  needs = Feature::Core;
  const std::uint8_t byte = in.peek();
  if (is_abstract_heap_type(byte)) {
    const auto heap = static_cast<HeapType::Abstract>(byte);
    out = HeapType(heap);
    needs = feature_of(heap);
    return in.skip(1) ? TypeRead::Ok : TypeRead::ReadFault;
  }
  bool exact = false;
  if (byte == kExact) {
    exact = true;
    if (!in.skip(1)) return TypeRead::ReadFault;
  }
  std::int64_t index = 0;
  if (!in.s33(index)) return TypeRead::ReadFault;
  if (index < 0) return TypeRead::NotAType;
  // An index beyond the limit names no type; what it becomes here is out of range too.
  const auto type_index = static_cast<std::uint32_t>(index < kMaxTypes ? index : kMaxTypes);
  out = HeapType::concrete(type_index);
  needs = exact ? Feature::CustomDescriptors : Feature::FunctionReferences;
  return TypeRead::Ok;
}

TypeRead read_val_type(ByteReader& in, ValType& out, Feature& needs) {
  needs = Feature::Core;
  std::uint8_t byte = 0;
  if (!in.u8(byte)) return TypeRead::ReadFault;
  switch (byte) {
    case static_cast<std::uint8_t>(TypeKind::I32):
    case static_cast<std::uint8_t>(TypeKind::I64):
    case static_cast<std::uint8_t>(TypeKind::F32):
    case static_cast<std::uint8_t>(TypeKind::F64): out = static_cast<TypeKind>(byte); break;
    case static_cast<std::uint8_t>(TypeKind::V128):
      out = TypeKind::V128;
      needs = Feature::Simd;
      break;
    case kRef:
    case kRefNull: {
      HeapType heap(HeapType::Func);
      const TypeRead read = read_heap_type(in, heap, needs);
      if (read != TypeRead::Ok) return read;
      out = ValType::ref(heap, byte == kRefNull);
      if (byte == kRef && needs == Feature::ReferenceTypes) needs = Feature::FunctionReferences;
      break;
    }
    default:
      if (!is_abstract_heap_type(byte)) return TypeRead::NotAType;
      out = ValType::ref(HeapType(static_cast<HeapType::Abstract>(byte)), true);
      needs = feature_of(static_cast<HeapType::Abstract>(byte));
  }
  return TypeRead::Ok;
}

}  // namespace hoist::wasm
