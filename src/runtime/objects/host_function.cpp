// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/objects/host_function.hpp"

#include <utility>

#include "runtime/gc/reference_types.hpp"
#include "runtime/objects/types.hpp"
#include "runtime/store/store.hpp"

namespace hoist::runtime {

constinit std::atomic<void (*)()> before_host_function_goes{nullptr};

static std::vector<std::uint32_t> collected_params(const hoist::FuncType& type) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < type.params().size(); ++i) {
    if (is_collected(to_wasm(type.params()[i]))) out.push_back(static_cast<std::uint32_t>(i));
  }
  return out;
}

HostFunction::HostFunction(std::shared_ptr<Engine> engine, hoist::detail::HostFuncSpec spec,
                           std::string name)
    : engine_(std::move(engine)),
      spec_(std::move(spec)),
      type_id_(engine_->types().acquire(to_wasm(spec_.type))),
      name_(std::move(name)),
      reference_params_(collected_params(spec_.type)) {}

HostFunction::HostFunction(std::shared_ptr<Engine> engine, hoist::detail::HostFuncSpec spec,
                           std::uint32_t type_id, std::string name)
    : engine_(std::move(engine)),
      spec_(std::move(spec)),
      type_id_(type_id),
      name_(std::move(name)),
      reference_params_(collected_params(spec_.type)) {
  engine_->types().hold(type_id);
}

HostFunction::~HostFunction() {
  if (const auto hook = before_host_function_goes.load(std::memory_order_acquire)) [[unlikely]]
    hook();
  if (spec_.destroy != nullptr) spec_.destroy(spec_.closure);
  engine_->types().release(type_id_);
}

}  // namespace hoist::runtime

namespace hoist::detail {

void HostCall::fail(Error error) noexcept {
  static_cast<runtime::Store*>(host_)->set_error(std::move(error));
}

}  // namespace hoist::detail
