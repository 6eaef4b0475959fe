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
  if (type.kind() != ValKind::FuncRef || bits == 0) return bits;
  if (Access::val_store(value) != store.ref()) {
    return Error(ErrorKind::BadArgument, fmt::format("{} is a function of another store", what));
  }
  auto& ref = *reinterpret_cast<image::VmFuncRef*>(static_cast<std::uintptr_t>(bits));
  HOIST_TRY_VOID(store.prepare_func_ref(ref));
  return bits;
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
    case ValKind::V128: return "v128";
    case ValKind::FuncRef:
      if (const std::optional<Func> func = value.funcref()) return "funcref:" + func->name();
      return "funcref:null";
    case ValKind::ExternRef:
      if (value.is_null()) return "externref:null";
      return fmt::format("externref:{}", value.externref().host);
  }
  HOIST_UNREACHABLE("a ValKind");
}

}  // namespace hoist
