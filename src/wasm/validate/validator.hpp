// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Validation of a decoded module: everything outside of bodies, single bodies, or all of it.

#include <memory>

#include "base/result.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

/// Checks everything but the bodies: types, limits, imports, exports, start function, constant
/// expressions, segments. The error is the one at the lowest offset.
Result<void> validate_module(const Module& module);

/// Memory that validation of bodies reuses; one thread at a time.
class BodyScratch {
 public:
  BodyScratch();
  ~BodyScratch();
  BodyScratch(BodyScratch&&) noexcept;
  BodyScratch& operator=(BodyScratch&&) noexcept;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Checks the body of one defined function of a module that `validate_module` accepted.
Result<void> validate_body(const Module& module, std::uint32_t func, BodyScratch& scratch);

/// Both of the above, bodies on `threads` threads (0: as many as there are processors). The error
/// is the one at the lowest offset, whatever the number of threads.
Result<void> validate_all(const Module& module, unsigned threads = 1);

}  // namespace hoist::wasm
