// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of wasi.cpp in a library without WASI (HOIST_WASI=OFF).
#include "hoist/wasi.hpp"

namespace hoist {

Result<void> add_wasi_to_linker(Linker&, WasiConfig) noexcept {
  return Error(ErrorKind::Unsupported, "this build of Hoist has no WASI");
}

}  // namespace hoist
