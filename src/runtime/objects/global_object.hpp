// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// GlobalObject: names a global's cell, which lies in the defining instance, or here if the host
/// made it. Source: core specification, section 4.2.10.

#include "image/layout/vm_layout.hpp"
#include "wasm/format/types.hpp"

namespace hoist::runtime {

struct GlobalObject {
  image::VmGlobal* cell = nullptr;
  wasm::GlobalType type;
};

/// Stays where it is: `global.cell` is `&own`.
struct HostGlobal {
  HostGlobal() { global.cell = &own; }
  HostGlobal(const HostGlobal&) = delete;
  HostGlobal& operator=(const HostGlobal&) = delete;
  image::VmGlobal own;
  GlobalObject global;
};

}  // namespace hoist::runtime
