// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the public handles of include/hoist point to, and the steps that their bodies share.

#include <memory>
#include <optional>

#include "hoist/hoist.hpp"
#include "runtime/linker/linker.hpp"
#include "runtime/store/store_slot.hpp"
#include "wasm/format/features.hpp"

namespace hoist::detail {

struct EngineImpl {
  Config config;
  std::shared_ptr<runtime::Engine> engine;
  wasm::Features features;  ///< that modules may use
};

struct ModuleImpl {
  Engine engine;
  std::shared_ptr<const runtime::ModuleCode> code;
  CompileStats stats;
};

struct LinkerImpl {
  Engine engine;
  runtime::Linker linker;
};

struct SharedMemoryImpl {
  std::shared_ptr<runtime::Engine> engine;
  std::shared_ptr<runtime::LinearMemory> memory;
};

}  // namespace hoist::detail

namespace hoist::api {

using detail::Access;

/// For a module compiled with `options`, which outlive the request, as `context` does. The threads
/// of a program must be able to end each other, so that all that may have some look for it.
runtime::CompileRequest compile_request(const wasm::Module& module, const CompileOptions& options,
                                        const CompileOptions*& context);
/// Whether the module imports "wasi" "thread-spawn".
bool spawns_threads(const wasm::Module& module);

/// @error Unsupported: names what this machine lacks of `features` (bits of CodeSettings)
Result<void> check_cpu(std::uint64_t features);

/// The answer of whatever is asked of a store that is gone.
Error store_gone();
/// The answer of a moved-from "engine", "module", "linker".
Error moved_from(const char* what);

/// `value` as compiled code of `store` takes it, if it has type `type`. Makes a host function
/// callable from compiled code. `what` begins the message: "argument 2".
/// @error BadArgument: another type, or a function of another store.
Result<std::uint64_t> to_bits(runtime::Store& store, const Val& value, ValType type,
                              const std::string& what);
/// The same with all that a type says, in numbers of the engine's type registry.
Result<std::uint64_t> to_bits(runtime::Store& store, const Val& value, wasm::ValType type,
                              const std::string& what);
/// Whether the type's values are all those of its general kind, null included.
inline bool is_general(wasm::ValType type) {
  return !type.is_ref() || (type.is_nullable() && type.heap().is_abstract() &&
                            (type.heap().abstract() == wasm::HeapType::Func ||
                             type.heap().abstract() == wasm::HeapType::Extern ||
                             type.heap().abstract() == wasm::HeapType::Exn));
}
/// A reference that is no function, not null. @error BadArgument: of another store, or it has ended
Result<std::uint64_t> reference_bits(runtime::Store& store, const Val& value,
                                     const std::string& what);
/// A reference that the store owns becomes a scoped root.
Val from_reference(runtime::Store& store, ValType type, std::uint64_t bits);
inline Val from_bits(runtime::Store& store, ValType type, std::uint64_t bits) {
  if (type.is_ref()) [[unlikely]]
    return from_reference(store, type, bits);
  return Access::val<Val>(type, bits, StoreRef());
}
/// What a slot or a global's cell holds.
inline Val from_slot(runtime::Store& store, ValType type, const std::uint64_t* bits) {
  Val out = from_bits(store, type, bits[0]);
  if (type == ValKind::V128) Access::set_upper(out, bits[1]);
  return out;
}
/// A value of any type to a slot.
inline Result<void> to_words(runtime::Store& store, const Val& value, wasm::ValType type,
                             const std::string& what, image::VmGlobal& out) {
  auto bits = to_bits(store, value, type, what);
  if (!bits) return std::move(bits).error();
  out.bits[0] = *bits;
  out.bits[1] = type.is_vec() ? Access::upper(value) : 0;
  return {};
}
/// Whether `to_bits` of `value` is Access::bits of it, without a look at its store: numbers, null,
/// and externrefs that are only pointers.
inline bool is_plain(const Val& value, ValType type) {
  return value.type() == type &&
         (!type.is_ref() || (type.kind() == ValKind::ExternRef && Access::serial(value) == 0));
}

runtime::Extern to_runtime(const Extern& item);
Extern to_public(runtime::Store& store, const runtime::Extern& item);

/// The error of the call into `store` that has just failed.
Error failure(runtime::Store& store);

}  // namespace hoist::api
