// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the public handles of include/hoist point to, and the steps that their bodies share.

#include <memory>
#include <optional>

#include "hoist/hoist.hpp"
#include "runtime/linker/linker.hpp"
#include "runtime/store/store_slot.hpp"

namespace hoist::detail {

struct EngineImpl {
  Config config;
  std::shared_ptr<runtime::Engine> engine;
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

}  // namespace hoist::detail

namespace hoist::api {

using detail::Access;

/// Passes the progress of a compilation on; `options` and `context` outlive the sink.
runtime::ProgressSink progress_sink(const CompileOptions& options, const CompileOptions*& context);

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
inline Val from_bits(runtime::Store& store, ValType type, std::uint64_t bits) {
  const StoreRef ref = type.kind() == ValKind::FuncRef ? store.ref() : StoreRef();
  return Access::val<Val>(type, bits, ref);
}
/// Whether `to_bits` of `value` is Access::bits of it, without a look at its store.
inline bool is_plain(const Val& value, ValType type) {
  return value.type() == type && type.kind() != ValKind::FuncRef;
}

runtime::Extern to_runtime(const Extern& item);
Extern to_public(runtime::Store& store, const runtime::Extern& item);

/// The error of the call into `store` that has just failed.
Error failure(runtime::Store& store);

}  // namespace hoist::api
