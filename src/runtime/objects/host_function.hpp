// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Host functions: the callable, shared by linkers and stores, and its appearances within a store.

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hoist/detail/host_call.hpp"
#include "image/layout/vm_layout.hpp"
#include "runtime/engine/engine.hpp"
#include "wasm/format/types.hpp"

namespace hoist::runtime {

/// Owns the closure. Immutable; stores of several threads may call it at once if the closure can
/// take that.
class HostFunction {
 public:
  /// `name` is for people: "env.f", or empty.
  HostFunction(std::shared_ptr<Engine> engine, hoist::detail::HostFuncSpec spec,
               std::string name = {});
  /// With a type that `spec` only shows the nearest of; a number of the engine's registry.
  HostFunction(std::shared_ptr<Engine> engine, hoist::detail::HostFuncSpec spec,
               std::uint32_t type_id, std::string name);
  ~HostFunction();
  HostFunction(const HostFunction&) = delete;
  HostFunction& operator=(const HostFunction&) = delete;

  const std::shared_ptr<Engine>& engine() const { return engine_; }
  const hoist::FuncType& public_type() const { return spec_.type; }
  std::uint32_t type_id() const { return type_id_; }
  const std::string& name() const { return name_; }
  /// The parameters that the collector may own.
  std::span<const std::uint32_t> reference_params() const { return reference_params_; }
  /// Nothing leaves it but a return (host_function_call.cpp).
  bool call(hoist::detail::HostCall& call) const noexcept;

 private:
  std::shared_ptr<Engine> engine_;
  hoist::detail::HostFuncSpec spec_;
  std::uint32_t type_id_;
  std::string name_;
  std::vector<std::uint32_t> reference_params_;
};

/// Called before a host function goes, if set: the sampler of the process names what it has seen of
/// it.
extern constinit std::atomic<void (*)()> before_host_function_goes;

/// A host function as a function reference of a store, without an importing instance. `ref.code`
/// and `ref.entry` are null until Store::prepare_func_ref.
struct HostFuncRef {
  std::shared_ptr<const HostFunction> function;
  image::VmHostContext context;
  image::VmFuncRef ref;
};

/// The context behind a function reference if it is a host function's, else null.
inline image::VmHostContext* host_context(const image::VmFuncRef& ref) {
  auto* context = static_cast<image::VmHostContext*>(ref.ctx);
  return context->magic == image::VmHostContext::kMagic ? context : nullptr;
}

}  // namespace hoist::runtime
