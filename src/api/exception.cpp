// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/exception.hpp"

#include <fmt/core.h>

#include <utility>

#include "api/impl.hpp"
#include "runtime/objects/types.hpp"
#include "runtime/trap/thrown.hpp"

namespace hoist {

using api::Access;
using runtime::TagObject;

// ---- Tag.

Result<Tag> Tag::create(StoreRef store, std::vector<ValType> payload) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  return Access::make<Tag>(store,
                           inner->new_tag(runtime::to_wasm(FuncType(std::move(payload), {}))));
}

FuncType Tag::type() const noexcept {
  const auto* tag = Access::live<TagObject>(*this);
  if (tag == nullptr) return {};
  return Access::store(store_)->engine()->types().get_public(tag->type_id);
}

std::string Tag::name() const noexcept {
  const auto* tag = Access::live<TagObject>(*this);
  return tag == nullptr ? "tag of a store that is gone" : runtime::display_name(*tag);
}

// ---- Exception.

std::optional<Exception> Exception::of(const Error& error) noexcept {
  const runtime::ThrownDetail* thrown = runtime::thrown_of(error);
  if (thrown == nullptr || !thrown->store.alive()) return std::nullopt;
  return Exception(error, thrown->store);
}

Result<Exception> Exception::create(const Tag& tag, std::span<const Val> payload) noexcept {
  const auto* object = Access::live<TagObject>(tag);
  if (object == nullptr) return api::store_gone();
  runtime::Store& store = *Access::store(tag.store());
  const std::span<const wasm::ValType> types =
      store.engine()->types().get(object->type_id).params();
  if (payload.size() != types.size()) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("exceptions with tag {} carry {} values, but {} were given",
                             runtime::display_name(*object), types.size(), payload.size()));
  }
  std::vector<image::VmGlobal> words(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string what = fmt::format("value {} of an exception", i);
    HOIST_TRY_VOID(api::to_words(store, payload[i], types[i], what, words[i]));
  }
  HOIST_TRY(image::VmException * made, store.new_exception(*object, true));
  for (std::size_t i = 0; i < words.size(); ++i) made->payload()[i] = words[i];
  return Exception(store.exception_error_of(*made), tag.store());
}

Tag Exception::tag() const noexcept {
  const runtime::ThrownDetail* thrown = runtime::thrown_of(error_);
  if (!store_.alive()) return Access::make<Tag>(store_, nullptr);
  return Access::make<Tag>(store_, const_cast<void*>(thrown->exception->tag));
}

std::vector<Val> Exception::payload() const noexcept {
  std::vector<Val> out;
  runtime::Store* store = Access::store(store_);
  if (store == nullptr) return out;
  const image::VmException& exception = *runtime::thrown_of(error_)->exception;
  const std::span<const wasm::ValType> types = store->payload_types(exception);
  for (std::size_t i = 0; i < types.size(); ++i) {
    out.push_back(
        api::from_slot(*store, runtime::to_public(types[i]), exception.payload()[i].bits));
  }
  return out;
}

const Trap& Exception::trace() const noexcept {
  return runtime::thrown_of(error_)->trap;
}

}  // namespace hoist
