// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules and instances.
#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "api/c/objects.hpp"
#include "api/c/types.hpp"

namespace hoist::c_api {

static std::span<const std::uint8_t> bytes_of(const wasm_byte_vec_t& vec) {
  return {reinterpret_cast<const std::uint8_t*>(vec.data), vec.data == nullptr ? 0 : vec.size};
}

static wasm_module_t* finish(wasm_store_t* store, Result<Module> made, hoist_error_t** error) {
  if (made) return new wasm_module_t(store->store.ref(), *std::move(made));
  set_error(error, std::move(made).error());
  return nullptr;
}

/// The bytes of an image, into an empty vector.
static bool give_image(Result<std::vector<std::uint8_t>> image, wasm_byte_vec_t* out,
                       hoist_error_t** error) {
  if (!image) {
    set_error(error, std::move(image).error());
    return false;
  }
  wasm_byte_vec_new(out, image->size(), reinterpret_cast<const wasm_byte_t*>(image->data()));
  if (out->size == image->size()) return true;
  set_error(error, {ErrorKind::OutOfMemory,
                    fmt::format("no memory for an image of {} bytes", image->size())});
  return false;
}

static constexpr const char* kNullOrDeleted = "a null pointer or a deleted store was passed";

/// False: a null pointer or a store that is gone; `error` says so.
static bool check_store(const wasm_store_t* store, const void* input, hoist_error_t** error) {
  if (error != nullptr) *error = nullptr;
  if (is_alive(store) && input != nullptr) return true;
  set_error(error, Error(ErrorKind::BadArgument, kNullOrDeleted));
  return false;
}

bool can_instantiate(const wasm_store_t* store, bool has_all_else, wasm_trap_t** trap) {
  if (trap != nullptr) *trap = nullptr;
  if (is_alive(store) && has_all_else) return true;
  if (trap != nullptr) *trap = misuse({}, kNullOrDeleted);
  return false;
}

wasm_instance_t* instance_or_trap(wasm_store_t& store, Result<Instance> made, wasm_trap_t** trap) {
  if (made) return reference(store, *made);
  wasm_trap_t* failed = new_trap(store, std::move(made).error());
  if (trap != nullptr) {
    *trap = failed;
  } else {
    drop_reference(failed);
  }
  return nullptr;
}

}  // namespace hoist::c_api

namespace c_api = hoist::c_api;

extern "C" {

wasm_module_t* hoist_module_new(wasm_store_t* store, const wasm_byte_vec_t* binary,
                                hoist_error_t** error) {
  if (!c_api::check_store(store, binary, error)) return nullptr;
  return c_api::finish(
      store, hoist::Module::compile(store->store.engine(), c_api::bytes_of(*binary)), error);
}
wasm_module_t* hoist_module_from_text(wasm_store_t* store, const char* text, size_t size,
                                      hoist_error_t** error) {
  if (!c_api::check_store(store, text, error)) return nullptr;
  return c_api::finish(store, hoist::Module::from_text(store->store.engine(), {text, size}), error);
}
wasm_module_t* hoist_module_from_file(wasm_store_t* store, const char* path,
                                      hoist_error_t** error) {
  if (!c_api::check_store(store, path, error)) return nullptr;
  return c_api::finish(store, hoist::Module::from_file(store->store.engine(), path), error);
}
bool hoist_module_validate(const wasm_byte_vec_t* binary, hoist_error_t** error) {
  if (!c_api::check(error, binary)) return false;
  auto valid = hoist::Module::validate(c_api::bytes_of(*binary));
  if (!valid) c_api::set_error(error, std::move(valid).error());
  return valid.has_value();
}

wasm_module_t* wasm_module_new(wasm_store_t* store, const wasm_byte_vec_t* binary) {
  return hoist_module_new(store, binary, nullptr);
}
bool wasm_module_validate(wasm_store_t* store, const wasm_byte_vec_t* binary) {
  return store != nullptr && hoist_module_validate(binary, nullptr);
}

void wasm_module_imports(const wasm_module_t* module, wasm_importtype_vec_t* out) {
  if (out == nullptr) return;
  const auto imports =
      module == nullptr ? std::vector<hoist::ImportType>() : module->module.imports();
  wasm_importtype_vec_new_uninitialized(out, imports.size());
  for (std::size_t i = 0; i < out->size; ++i) {
    auto* made = new wasm_importtype_t{{}, {}, c_api::new_type(imports[i].type)};
    c_api::set_name(made->module, imports[i].module);
    c_api::set_name(made->name, imports[i].field);
    out->data[i] = made;
  }
}
void wasm_module_exports(const wasm_module_t* module, wasm_exporttype_vec_t* out) {
  if (out == nullptr) return;
  const auto exports =
      module == nullptr ? std::vector<hoist::ExportType>() : module->module.exports();
  wasm_exporttype_vec_new_uninitialized(out, exports.size());
  for (std::size_t i = 0; i < out->size; ++i) {
    auto* made = new wasm_exporttype_t{{}, c_api::new_type(exports[i].type)};
    c_api::set_name(made->name, exports[i].name);
    out->data[i] = made;
  }
}

bool hoist_module_serialize(const wasm_module_t* module, wasm_byte_vec_t* out,
                            hoist_error_t** error) {
  wasm_byte_vec_new_empty(out);
  if (!c_api::check(error, module, out)) return false;
  return c_api::give_image(module->module.serialize(), out, error);
}
wasm_module_t* hoist_module_deserialize(wasm_store_t* store, const wasm_byte_vec_t* image,
                                        hoist_error_t** error) {
  if (!c_api::check_store(store, image, error)) return nullptr;
  return c_api::finish(
      store, hoist::Module::deserialize(store->store.engine(), c_api::bytes_of(*image)), error);
}
bool hoist_module_serialize_to_file(const wasm_module_t* module, const char* path,
                                    hoist_error_t** error) {
  if (!c_api::check(error, module, path)) return false;
  return c_api::finish(module->module.serialize_to_file(path), error);
}
wasm_module_t* hoist_module_deserialize_file(wasm_store_t* store, const char* path,
                                             hoist_error_t** error) {
  if (!c_api::check_store(store, path, error)) return nullptr;
  return c_api::finish(store, hoist::Module::deserialize_file(store->store.engine(), path), error);
}
bool hoist_module_precompile(const wasm_engine_t* engine, const wasm_byte_vec_t* module,
                             wasm_byte_vec_t* out, hoist_error_t** error) {
  wasm_byte_vec_new_empty(out);
  if (!c_api::check(error, engine, module, out)) return false;
  return c_api::give_image(hoist::Module::precompile(engine->engine, c_api::bytes_of(*module)), out,
                           error);
}
bool hoist_module_validate_features(const wasm_byte_vec_t* binary, const char* features,
                                    hoist_error_t** error) {
  if (!c_api::check(error, binary)) return false;
  return c_api::finish(
      hoist::Module::validate(c_api::bytes_of(*binary), features == nullptr ? "" : features),
      error);
}
void wasm_module_serialize(const wasm_module_t* module, wasm_byte_vec_t* out) {
  hoist_module_serialize(module, out, nullptr);
}
wasm_module_t* wasm_module_deserialize(wasm_store_t* store, const wasm_byte_vec_t* image) {
  return hoist_module_deserialize(store, image, nullptr);
}

// ---- Sharing between threads.

wasm_shared_module_t* wasm_module_share(const wasm_module_t* module) {
  return module == nullptr ? nullptr : new wasm_shared_module_t{module->module};
}
wasm_module_t* wasm_module_obtain(wasm_store_t* store, const wasm_shared_module_t* shared) {
  if (!c_api::is_alive(store) || shared == nullptr) return nullptr;
  if (!(shared->module.engine() == store->store.engine())) return nullptr;
  return new wasm_module_t(store->store.ref(), shared->module);
}
void wasm_shared_module_delete(wasm_shared_module_t* shared) {
  delete shared;
}

// ---- Instances.

wasm_instance_t* wasm_instance_new(wasm_store_t* store, const wasm_module_t* module,
                                   const wasm_extern_vec_t* imports, wasm_trap_t** trap) {
  if (!c_api::can_instantiate(store, module != nullptr, trap)) return nullptr;
  const c_api::CallScope scope(*store);
  std::vector<hoist::Extern> items;
  const std::size_t count = imports == nullptr || imports->data == nullptr ? 0 : imports->size;
  for (std::size_t i = 0; i < count; ++i) {
    if (imports->data[i] == nullptr) {
      return c_api::instance_or_trap(
          *store,
          hoist::Error(hoist::ErrorKind::Link, fmt::format("import {} is a null pointer", i)),
          trap);
    }
    items.push_back(c_api::extern_of(*imports->data[i]));
  }
  return c_api::instance_or_trap(
      *store, hoist::Instance::create_raw(store->store, module->module, items), trap);
}

void wasm_instance_exports(const wasm_instance_t* instance, wasm_extern_vec_t* out) {
  if (out == nullptr) return;
  wasm_extern_vec_new_empty(out);
  wasm_store_t* store = c_api::store_of(instance);
  if (store == nullptr) return;
  const auto exports = instance->instance.exports();
  wasm_extern_vec_new_uninitialized(out, exports.size());
  for (std::size_t i = 0; i < out->size; ++i) {
    out->data[i] = c_api::reference(*store, exports[i].second);
  }
}

wasm_extern_t* hoist_instance_export(const wasm_instance_t* instance, const char* name) {
  wasm_store_t* store = c_api::store_of(instance);
  if (store == nullptr || name == nullptr) return nullptr;
  const auto found = instance->instance.get(name);
  return found ? c_api::reference(*store, *found) : nullptr;
}

}  // extern "C"
