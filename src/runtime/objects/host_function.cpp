// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/objects/host_function.hpp"

#include <utility>

#include "runtime/objects/types.hpp"
#include "runtime/store/store.hpp"

namespace hoist::runtime {

HostFunction::HostFunction(std::shared_ptr<Engine> engine, hoist::detail::HostFuncSpec spec)
    : engine_(std::move(engine)),
      spec_(std::move(spec)),
      type_id_(engine_->types().acquire(to_wasm(spec_.type))) {}

HostFunction::~HostFunction() {
  if (spec_.destroy != nullptr) spec_.destroy(spec_.closure);
  engine_->types().release(type_id_);
}

}  // namespace hoist::runtime

namespace hoist::detail {

void HostCall::fail(Error error) noexcept {
  static_cast<runtime::Store*>(host_)->set_error(std::move(error));
}

}  // namespace hoist::detail
