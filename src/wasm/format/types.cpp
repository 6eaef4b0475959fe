// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types as messages print them.
#include "wasm/format/types.hpp"

#include "base/text/printer.hpp"

namespace hoist::wasm {

static void print(base::Printer& out, HeapType heap) {
  if (!heap.is_abstract()) {
    out << heap.type_index();
    return;
  }
  switch (heap.abstract()) {
    case HeapType::Bot: out << "bot"; return;
    case HeapType::NoExn: out << "noexn"; return;
    case HeapType::NoFunc: out << "nofunc"; return;
    case HeapType::NoExtern: out << "noextern"; return;
    case HeapType::None: out << "none"; return;
    case HeapType::Func: out << "func"; return;
    case HeapType::Extern: out << "extern"; return;
    case HeapType::Any: out << "any"; return;
    case HeapType::Eq: out << "eq"; return;
    case HeapType::I31: out << "i31"; return;
    case HeapType::Struct: out << "struct"; return;
    case HeapType::Array: out << "array"; return;
    case HeapType::Exn: out << "exn"; return;
  }
}

static void print(base::Printer& out, ValType type) {
  switch (type.kind()) {
    case TypeKind::Bottom: out << "any"; return;
    case TypeKind::I32: out << "i32"; return;
    case TypeKind::I64: out << "i64"; return;
    case TypeKind::F32: out << "f32"; return;
    case TypeKind::F64: out << "f64"; return;
    case TypeKind::V128: out << "v128"; return;
    case TypeKind::FuncRef: out << "funcref"; return;
    case TypeKind::ExternRef: out << "externref"; return;
    case TypeKind::Ref:
    case TypeKind::RefNull:
      out << (type.kind() == TypeKind::Ref ? "(ref " : "(ref null ");
      print(out, type.heap());
      out << ')';
      return;
  }
}

static void print(base::Printer& out, std::span<const ValType> types) {
  out << '[';
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i != 0) out << ' ';
    // A message stays readable for types of a thousand values.
    if (i == 16) {
      out << "... " << types.size() - i << " more";
      break;
    }
    print(out, types[i]);
  }
  out << ']';
}

std::string to_string(HeapType type) {
  base::Printer out;
  print(out, type);
  return out.take();
}

std::string to_string(ValType type) {
  base::Printer out;
  print(out, type);
  return out.take();
}

std::string to_string(std::span<const ValType> types) {
  base::Printer out;
  print(out, types);
  return out.take();
}

std::string to_string(const FuncType& type) {
  base::Printer out;
  print(out, type.params());
  out << " -> ";
  print(out, type.results());
  return out.take();
}

}  // namespace hoist::wasm
