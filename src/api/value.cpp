// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/value.hpp"

#include <fmt/core.h>

#include "api/impl.hpp"
#include "base/check.hpp"
#include "runtime/objects/types.hpp"

namespace hoist {

namespace api {

Result<std::uint64_t> to_bits(runtime::Store& store, const Val& value, ValType type,
                              const std::string& what) {
  if (value.type() != type) {
    return Error(ErrorKind::BadArgument, fmt::format("{} is of type {}, but must be {}", what,
                                                     name(value.type()), name(type)));
  }
  const std::uint64_t bits = Access::bits(value);
  if (!type.is_ref() || bits == 0) return bits;
  if (type.kind() != ValKind::FuncRef) return reference_bits(store, value, what);
  if (Access::val_store(value) != store.ref()) {
    return Error(ErrorKind::BadArgument, fmt::format("{} is a function of another store", what));
  }
  auto& ref = *reinterpret_cast<image::VmFuncRef*>(static_cast<std::uintptr_t>(bits));
  HOIST_TRY_VOID(store.prepare_func_ref(ref));
  return bits;
}

Result<std::uint64_t> to_bits(runtime::Store& store, const Val& value, wasm::ValType type,
                              const std::string& what) {
  HOIST_TRY(const std::uint64_t bits, to_bits(store, value, runtime::to_public(type), what));
  if (is_general(type)) return bits;
  const runtime::TypeRegistry& types = store.engine()->types();
  bool fits = type.is_nullable();
  if (bits != 0) {
    const wasm::HeapType heap = type.heap();
    fits = heap.is_abstract() && heap.abstract() != wasm::HeapType::NoFunc &&
           heap.abstract() != wasm::HeapType::NoExtern && heap.abstract() != wasm::HeapType::NoExn;
    if (!heap.is_abstract()) {
      const auto& ref =
          *reinterpret_cast<const image::VmFuncRef*>(static_cast<std::uintptr_t>(bits));
      fits = types.matches(wasm::HeapType::concrete(ref.type_id), heap);
    }
  }
  if (fits) return bits;
  if (bits == 0) {
    return Error(ErrorKind::BadArgument, fmt::format("{} is null, but must not be", what));
  }
  if (type.heap().is_abstract()) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("{} is {}, but only null is a value of its type", what, to_string(value)));
  }
  return Error(ErrorKind::BadArgument,
               fmt::format("{} is {}, which is no function of type {}", what, to_string(value),
                           wasm::to_string(types.get(type.heap().type_index()))));
}

}  // namespace api

using api::Access;

Val::Val(const Func& func) noexcept : type_(ValKind::FuncRef), store_(func.store()) {
  bits_[0] = reinterpret_cast<std::uintptr_t>(Access::object(func));
}

std::optional<Func> Val::funcref() const noexcept {
  const std::uint64_t bits = get(ValKind::FuncRef);
  if (bits == 0) return std::nullopt;
  return Access::make<Func>(store_, reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits)));
}

std::string to_string(const Val& value) noexcept {
  switch (value.kind()) {
    case ValKind::I32: return fmt::format("i32:{}", value.i32());
    case ValKind::I64: return fmt::format("i64:{}", value.i64());
    case ValKind::F32: return fmt::format("f32:{}", value.f32());
    case ValKind::F64: return fmt::format("f64:{}", value.f64());
    case ValKind::V128: {
      const V128::Lanes<std::uint64_t> halves = value.v128().lanes<std::uint64_t>();
      return fmt::format("v128:0x{:016x}{:016x}", halves[1], halves[0]);
    }
    case ValKind::FuncRef:
      if (const std::optional<Func> func = value.funcref()) return "funcref:" + func->name();
      return "funcref:null";
    case ValKind::ExternRef:
      if (value.is_null()) return "externref:null";
      return fmt::format("externref:{}", value.externref().host);
    case ValKind::ExnRef: return value.is_null() ? "exnref:null" : "exnref";
    case ValKind::AnyRef: return value.is_null() ? "anyref:null" : "anyref";
  }
  HOIST_UNREACHABLE("a ValKind");
}

}  // namespace hoist
