// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Globals, tables and memories. What may ask the embedder about growth is a call: a store that it
// deletes ends afterwards.
#include <algorithm>
#include <cstring>
#include <limits>

#include "api/c/objects.hpp"
#include "api/c/types.hpp"

namespace c_api = hoist::c_api;

extern "C" {

// ---- Globals.

wasm_global_t* wasm_global_new(wasm_store_t* store, const wasm_globaltype_t* type,
                               const wasm_val_t* value) {
  if (!c_api::is_alive(store) || type == nullptr || value == nullptr) return nullptr;
  const c_api::CallScope scope(*store);
  const hoist::GlobalType wanted = c_api::to_cpp(*type);
  auto init = c_api::to_val(*store, *value, wanted.content.kind());
  if (!init) return nullptr;
  auto made = hoist::Global::create(store->store, wanted, *init);
  return made ? c_api::reference(*store, *made) : nullptr;
}
wasm_globaltype_t* wasm_global_type(const wasm_global_t* global) {
  return c_api::store_of(global) == nullptr ? nullptr : c_api::new_type(global->global.type());
}
void wasm_global_get(const wasm_global_t* global, wasm_val_t* out) {
  if (out == nullptr) return;
  *out = c_api::zero(hoist::ValKind::I32);
  if (wasm_store_t* store = c_api::store_of(global)) {
    const hoist::HandleScope scope(store->store);
    *out = c_api::from_val(*store, global->global.get());
  }
}
void wasm_global_set(wasm_global_t* global, const wasm_val_t* value) {
  wasm_store_t* store = c_api::store_of(global);
  if (store == nullptr || value == nullptr) return;
  const c_api::CallScope scope(*store);
  auto wanted = c_api::to_val(*store, *value, global->global.type().content.kind());
  if (!wanted) return;
  [[maybe_unused]] const hoist::Result<void> done = global->global.set(*wanted);
}

bool hoist_global_get_v128(const wasm_global_t* global, uint8_t* out) {
  if (c_api::store_of(global) == nullptr || out == nullptr) return false;
  const hoist::Val value = global->global.get();
  if (value.kind() != hoist::ValKind::V128) return false;
  std::memcpy(out, value.v128().bytes.data(), 16);
  return true;
}
bool hoist_global_set_v128(wasm_global_t* global, const uint8_t* value) {
  if (c_api::store_of(global) == nullptr || value == nullptr) return false;
  hoist::V128 vector;
  std::memcpy(vector.bytes.data(), value, 16);
  return global->global.set(hoist::Val(vector)).has_value();
}

// ---- Tables.

wasm_table_t* wasm_table_new(wasm_store_t* store, const wasm_tabletype_t* type, wasm_ref_t* init) {
  if (!c_api::is_alive(store) || type == nullptr) return nullptr;
  const c_api::CallScope scope(*store);
  const hoist::TableType wanted = c_api::to_cpp(*type);
  auto element = c_api::element(*store, init, wanted.element.kind());
  if (!element) return nullptr;
  auto made = hoist::Table::create(store->store, wanted, *element);
  return made ? c_api::reference(*store, *made) : nullptr;
}
wasm_tabletype_t* wasm_table_type(const wasm_table_t* table) {
  return c_api::store_of(table) == nullptr ? nullptr : c_api::new_type(table->table.type());
}
wasm_ref_t* wasm_table_get(const wasm_table_t* table, wasm_table_size_t index) {
  return hoist_table_get(table, index);
}
bool wasm_table_set(wasm_table_t* table, wasm_table_size_t index, wasm_ref_t* ref) {
  return hoist_table_set(table, index, ref);
}
bool wasm_table_grow(wasm_table_t* table, wasm_table_size_t delta, wasm_ref_t* init) {
  return hoist_table_grow(table, delta, init);
}
wasm_ref_t* hoist_table_get(const wasm_table_t* table, uint64_t index) {
  wasm_store_t* store = c_api::store_of(table);
  if (store == nullptr) return nullptr;
  const hoist::HandleScope scope(store->store);
  auto found = table->table.get(index);
  return found ? c_api::from_val(*store, *found).of.ref : nullptr;
}
bool hoist_table_set(wasm_table_t* table, uint64_t index, wasm_ref_t* ref) {
  wasm_store_t* store = c_api::store_of(table);
  if (store == nullptr) return false;
  const c_api::CallScope scope(*store);
  auto element = c_api::element(*store, ref, table->table.type().element.kind());
  return element && table->table.set(index, *element);
}
uint64_t hoist_table_size(const wasm_table_t* table) {
  return table == nullptr ? 0 : table->table.size();
}
wasm_table_size_t wasm_table_size(const wasm_table_t* table) {
  if (table == nullptr) return 0;
  constexpr std::uint64_t kMost = std::numeric_limits<wasm_table_size_t>::max();
  return static_cast<wasm_table_size_t>(std::min(table->table.size(), kMost));
}
bool hoist_table_grow(wasm_table_t* table, uint64_t delta, wasm_ref_t* init) {
  wasm_store_t* store = c_api::store_of(table);
  if (store == nullptr) return false;
  const c_api::CallScope scope(*store);
  auto element = c_api::element(*store, init, table->table.type().element.kind());
  return element && table->table.grow(delta, *element);
}

// ---- Memories.

wasm_memory_t* wasm_memory_new(wasm_store_t* store, const wasm_memorytype_t* type) {
  if (!c_api::is_alive(store) || type == nullptr) return nullptr;
  const c_api::CallScope scope(*store);
  auto made = hoist::Memory::create(store->store, c_api::to_cpp(*type));
  return made ? c_api::reference(*store, *made) : nullptr;
}
wasm_memorytype_t* wasm_memory_type(const wasm_memory_t* memory) {
  return c_api::store_of(memory) == nullptr ? nullptr : c_api::new_type(memory->memory.type());
}
byte_t* wasm_memory_data(wasm_memory_t* memory) {
  return memory == nullptr ? nullptr : reinterpret_cast<byte_t*>(memory->memory.data().data());
}
size_t wasm_memory_data_size(const wasm_memory_t* memory) {
  return memory == nullptr ? 0 : memory->memory.size_bytes();
}
wasm_memory_pages_t wasm_memory_size(const wasm_memory_t* memory) {
  if (memory == nullptr) return 0;
  constexpr std::uint64_t kMost = std::numeric_limits<wasm_memory_pages_t>::max();
  return static_cast<wasm_memory_pages_t>(std::min(memory->memory.pages(), kMost));
}
uint64_t hoist_memory_pages(const wasm_memory_t* memory) {
  return memory == nullptr ? 0 : memory->memory.pages();
}
bool wasm_memory_grow(wasm_memory_t* memory, wasm_memory_pages_t delta) {
  return hoist_memory_grow(memory, delta);
}
bool hoist_memory_grow(wasm_memory_t* memory, uint64_t delta) {
  wasm_store_t* store = c_api::store_of(memory);
  if (store == nullptr) return false;
  const c_api::CallScope scope(*store);
  return memory->memory.grow(delta).has_value();
}

bool hoist_memory_read(const wasm_memory_t* memory, uint64_t address, void* to, size_t size) {
  if (memory == nullptr || (to == nullptr && size != 0)) return false;
  return memory->memory.read(address, {static_cast<std::uint8_t*>(to), size}).has_value();
}
bool hoist_memory_write(wasm_memory_t* memory, uint64_t address, const void* from, size_t size) {
  if (memory == nullptr || (from == nullptr && size != 0)) return false;
  return memory->memory.write(address, {static_cast<const std::uint8_t*>(from), size}).has_value();
}

}  // extern "C"
