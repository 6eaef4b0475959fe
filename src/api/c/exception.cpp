// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tags, and exceptions as traps.
#include <vector>

#include "api/c/objects.hpp"
#include "api/c/types.hpp"

namespace c_api = hoist::c_api;

extern "C" {

wasm_tag_t* wasm_tag_new(wasm_store_t* store, const wasm_tagtype_t* type) {
  if (!c_api::is_alive(store) || type == nullptr) return nullptr;
  const hoist::FuncType wanted = c_api::to_cpp(*wasm_tagtype_functype(type));
  if (!wanted.results().empty()) return nullptr;
  auto made = hoist::Tag::create(store->store, {wanted.params().begin(), wanted.params().end()});
  return made ? c_api::reference(*store, *made) : nullptr;
}
wasm_tagtype_t* wasm_tag_type(const wasm_tag_t* tag) {
  if (c_api::store_of(tag) == nullptr) return nullptr;
  return wasm_tagtype_new(c_api::new_type(tag->tag.type()));
}

wasm_trap_t* hoist_exception_new(const wasm_tag_t* tag, const wasm_val_vec_t* payload) {
  wasm_store_t* store = c_api::store_of(tag);
  if (store == nullptr || payload == nullptr) return nullptr;
  const hoist::HandleScope scope(store->store);
  const hoist::FuncType type = tag->tag.type();
  if (payload->size != type.params().size()) return nullptr;
  std::vector<hoist::Val> values;
  for (std::size_t i = 0; i < payload->size; ++i) {
    auto value = c_api::to_val(*store, payload->data[i], type.params()[i].kind());
    if (!value) return nullptr;
    values.push_back(*value);
  }
  auto made = hoist::Exception::create(tag->tag, values);
  return made ? new wasm_trap_t(store->store.ref(), made->error()) : nullptr;
}

wasm_tag_t* hoist_exception_tag(const wasm_trap_t* trap) {
  wasm_store_t* store = c_api::store_of(trap);
  if (store == nullptr) return nullptr;
  const auto thrown = hoist::Exception::of(trap->error);
  return thrown ? c_api::reference(*store, thrown->tag()) : nullptr;
}

void hoist_exception_payload(const wasm_trap_t* trap, wasm_val_vec_t* out) {
  if (out == nullptr) return;
  wasm_val_vec_new_empty(out);
  wasm_store_t* store = c_api::store_of(trap);
  if (store == nullptr) return;
  const hoist::HandleScope scope(store->store);
  const auto thrown = hoist::Exception::of(trap->error);
  if (!thrown) return;
  const std::vector<hoist::Val> values = thrown->payload();
  wasm_val_vec_new_uninitialized(out, values.size());
  for (std::size_t i = 0; i < out->size; ++i) out->data[i] = c_api::from_val(*store, values[i]);
}

}  // extern "C"
