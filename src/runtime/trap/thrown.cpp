// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/trap/thrown.hpp"

#include <fmt/core.h>

#include <bit>
#include <utility>

#include "base/text/printable.hpp"
#include "runtime/engine/module_code.hpp"
#include "runtime/objects/tag_object.hpp"
#include "runtime/store/store.hpp"

namespace hoist::runtime {

using hoist::detail::ErrorDetail;

ThrownDetail::ThrownDetail(hoist::Trap::Parts parts, StoreRef its_store, image::VmException* thrown,
                           std::shared_ptr<const void> its_hold)
    : TrapDetail(std::move(parts)), store(its_store), exception(thrown), hold(std::move(its_hold)) {
  kind = Kind::Thrown;
  destroy = [](ErrorDetail* self) { delete static_cast<ThrownDetail*>(self); };
}

const ThrownDetail* thrown_of(const Error& error) {
  const ErrorDetail* detail = error.detail();
  if (detail == nullptr || detail->kind != ErrorDetail::Kind::Thrown) return nullptr;
  return static_cast<const ThrownDetail*>(detail);
}

std::string display_name(const TagObject& tag) {
  if (tag.code == nullptr) return "of the host";
  const wasm::Module& module = tag.code->module();
  std::string_view name = tag.code->names().tag(tag.index);
  for (const wasm::Export& item : module.exports) {
    if (!name.empty()) break;
    if (item.kind == wasm::ExternKind::Tag && item.index == tag.index) name = item.name;
  }
  constexpr std::size_t kMaxName = 256;
  if (name.empty()) return fmt::format("tag[{}]", tag.index);
  return base::printable(name, kMaxName);
}

static std::string value_text(wasm::ValType type, const image::VmGlobal& value) {
  const std::uint64_t bits = value.bits[0];
  const auto low = static_cast<std::uint32_t>(bits);
  switch (type.kind()) {
    case wasm::TypeKind::I32: return fmt::format("i32:{}", static_cast<std::int32_t>(low));
    case wasm::TypeKind::I64: return fmt::format("i64:{}", static_cast<std::int64_t>(bits));
    case wasm::TypeKind::F32: return fmt::format("f32:{}", std::bit_cast<float>(low));
    case wasm::TypeKind::F64: return fmt::format("f64:{}", std::bit_cast<double>(bits));
    case wasm::TypeKind::V128: return fmt::format("v128:0x{:016x}{:016x}", value.bits[1], bits);
    case wasm::TypeKind::FuncRef:
    case wasm::TypeKind::ExternRef:
    case wasm::TypeKind::Ref:
    case wasm::TypeKind::RefNull:
    case wasm::TypeKind::Bottom: break;
  }
  return wasm::to_string(type) + (bits == 0 ? ":null" : "");
}

Error exception_error(Store& store, image::VmException& exception) {
  const auto& tag = *static_cast<const TagObject*>(exception.tag);
  const std::span<const wasm::ValType> types = store.engine()->types().get(tag.type_id).params();
  std::string text = "uncaught exception: " + display_name(tag) + " (";
  constexpr std::size_t kShown = 16;
  for (std::size_t i = 0; i < types.size() && i < kShown; ++i) {
    if (i != 0) text += ", ";
    text += value_text(types[i], exception.payload()[i]);
  }
  text += types.size() > kShown ? ", …)" : ")";
  Error error(ErrorKind::Exception, std::move(text));
  hoist::Trap::Parts parts;
  parts.is_guest_trap = false;
  error.with_detail(hoist::detail::ErrorDetailRef(new ThrownDetail(
      std::move(parts), store.ref(), &exception, store.hold_exception(exception))));
  return error;
}

}  // namespace hoist::runtime
