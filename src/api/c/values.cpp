// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of wasm.h to and from slots. An externref is the address of the object behind the
// reference: as it is, if the store keeps that anyway; else in an object of the collector, which
// then owns one reference.
#include <fmt/core.h>

#include <bit>
#include <utility>

#include "api/c/objects.hpp"
#include "api/c/types.hpp"
#include "api/impl.hpp"

namespace hoist::c_api {

using detail::Access;
using detail::Slot;

static std::string type_text(wasm_valkind_t kind) {
  ValKind known = ValKind::I32;
  if (!to_cpp(kind, known)) return fmt::format("unknown kind {}", kind);
  return std::string(name(ValType(known)));
}

static std::string place_text(const char* what, std::size_t number) {
  return number == kNoNumber ? std::string(what) : fmt::format("{} {}", what, number);
}

static Error other_type(const char* what, std::size_t number, const std::string& found,
                        ValKind wanted) {
  return {ErrorKind::BadArgument, fmt::format("{} is {}, but must be {}", place_text(what, number),
                                              found, name(ValType(wanted)))};
}

/// No guest holds the object any more: the collector has found so, or the store ends, which is the
/// end of what guests could see of it too.
static void lose(void* host) {
  auto* ref = static_cast<wasm_ref_t*>(host);
  ref->kept = false;
  ref->word = 0;
  if (ref->references == 0) {
    destroy(ref);
  } else if (!ref->store.alive() && ref->finalizer != nullptr) {
    std::exchange(ref->finalizer, nullptr)(ref->host_info);
  }
}

static Result<std::uint64_t> extern_bits(wasm_store_t& store, wasm_ref_t* ref) {
  runtime::Heap& heap = Access::store(store.store.ref())->heap();
  heap.push(ref->word);
  if (ref->word != 0) return ref->word;
  if (ref->kept) return std::uint64_t{reinterpret_cast<std::uintptr_t>(ref)} | image::kHostWord;
  HOIST_TRY(const image::VmObject* object, heap.new_object(ref, lose));
  ref->kept = true;
  ref->word = runtime::word_of(*object);
  return ref->word;
}

/// A reference as bits of kind FuncRef or ExternRef.
static Result<std::uint64_t> ref_bits(wasm_store_t& store, const wasm_ref_t* ref, ValKind kind,
                                      const char* what, std::size_t number) {
  if (ref == nullptr) return std::uint64_t{0};
  if (!is_of(ref, store)) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("{} is a reference of another store", place_text(what, number)));
  }
  if (kind == ValKind::ExternRef) {
    return extern_bits(store, const_cast<wasm_ref_t*>(ref));
  }
  if (ref->kind != RefKind::Func) {
    return other_type(what, number, "a reference to something else than a function", kind);
  }
  const Func& func = static_cast<const wasm_func_t*>(ref)->func;
  Slot slot;
  if (detail::func_to_slot(func, store.store.ref(), slot)) return slot.bits[0];
  return api::to_bits(*Access::store(store.store.ref()), func, kind, place_text(what, number));
}

Result<Slot> to_slot(wasm_store_t& store, const wasm_val_t& value, ValKind kind, const char* what,
                     std::size_t number) {
  if (value.kind != to_c(kind)) return other_type(what, number, type_text(value.kind), kind);
  Slot slot;
  switch (kind) {
    case ValKind::I32: slot.bits[0] = static_cast<std::uint32_t>(value.of.i32); break;
    case ValKind::I64: slot.bits[0] = static_cast<std::uint64_t>(value.of.i64); break;
    case ValKind::F32: slot.bits[0] = std::bit_cast<std::uint32_t>(value.of.f32); break;
    case ValKind::F64: slot.bits[0] = std::bit_cast<std::uint64_t>(value.of.f64); break;
    case ValKind::V128: return Error(ErrorKind::Unsupported, "wasm.h has no values of type v128");
    case ValKind::ExnRef:
    case ValKind::AnyRef:
      if (value.of.ref == nullptr) break;
      return Error(ErrorKind::Unsupported,
                   fmt::format("hoist.h has no values of type {} but null", name(ValType(kind))));
    case ValKind::FuncRef:
    case ValKind::ExternRef: {
      HOIST_TRY(slot.bits[0], ref_bits(store, value.of.ref, kind, what, number));
      break;
    }
  }
  return slot;
}

wasm_val_t from_slot(wasm_store_t& store, ValKind kind, const Slot& slot) {
  wasm_val_t out = zero(kind);
  const std::uint64_t bits = slot.bits[0];
  switch (kind) {
    case ValKind::I32: out.of.i32 = static_cast<std::int32_t>(bits); break;
    case ValKind::I64: out.of.i64 = static_cast<std::int64_t>(bits); break;
    case ValKind::F32: out.of.f32 = std::bit_cast<float>(static_cast<std::uint32_t>(bits)); break;
    case ValKind::F64: out.of.f64 = std::bit_cast<double>(bits); break;
    case ValKind::V128: break;
    case ValKind::FuncRef:
      if (const auto func = detail::func_from_slot(slot, store.store.ref())) {
        out.of.ref = reference(store, *func);
      }
      break;
    case ValKind::ExternRef:
      if (const image::VmObject* object = runtime::object_of(bits)) {
        out.of.ref = add_reference(static_cast<const wasm_ref_t*>(object->host));
      } else {
        out.of.ref = add_reference(reinterpret_cast<const wasm_ref_t*>(
            static_cast<std::uintptr_t>(bits & ~image::kHostWord)));
      }
      break;
    case ValKind::ExnRef:
    case ValKind::AnyRef: break;
  }
  return out;
}

wasm_val_t zero(ValKind kind) {
  wasm_val_t out{};
  out.kind = to_c(kind);
  out.of.i64 = 0;
  if (ValType(kind).is_ref()) out.of.ref = nullptr;
  return out;
}

/// A word as a Val of C++.
static Val val_of(wasm_store_t& store, ValKind kind, std::uint64_t bits) {
  return api::from_bits(*Access::store(store.store.ref()), kind, bits);
}

Result<Val> to_val(wasm_store_t& store, const wasm_val_t& value, ValKind kind) {
  HOIST_TRY(const Slot slot, to_slot(store, value, kind, "the value", kNoNumber));
  return val_of(store, kind, slot.bits[0]);
}

wasm_val_t from_val(wasm_store_t& store, const Val& value) {
  return from_slot(store, value.kind(), Slot{{Access::bits(value), 0}});
}

Result<Val> element(wasm_store_t& store, const wasm_ref_t* ref, ValKind kind) {
  if (kind != ValKind::FuncRef && kind != ValKind::ExternRef) {
    wasm_val_t value = zero(kind);
    value.of.ref = const_cast<wasm_ref_t*>(ref);
    return to_val(store, value, kind);
  }
  HOIST_TRY(const std::uint64_t bits, ref_bits(store, ref, kind, "the element", kNoNumber));
  return val_of(store, kind, bits);
}

/// Whether `value.of.ref` is the member that counts. Numbers above WASM_FUNCREF are no kind, though
/// wasm_valkind_is_ref takes them for one.
static bool holds_ref(const wasm_val_t& value) {
  return value.kind == WASM_EXTERNREF || value.kind == WASM_FUNCREF || value.kind == HOIST_EXNREF ||
         value.kind == HOIST_ANYREF;
}

}  // namespace hoist::c_api

extern "C" {

void wasm_val_delete(wasm_val_t* value) {
  if (value == nullptr || !hoist::c_api::holds_ref(*value)) return;
  wasm_ref_delete(value->of.ref);
  value->of.ref = nullptr;
}

void wasm_val_copy(wasm_val_t* out, const wasm_val_t* value) {
  if (out == nullptr) return;
  if (value == nullptr) {
    *out = hoist::c_api::zero(hoist::ValKind::I32);
    return;
  }
  *out = *value;
  if (hoist::c_api::holds_ref(*out)) out->of.ref = wasm_ref_copy(value->of.ref);
}

}  // extern "C"
