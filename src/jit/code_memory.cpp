// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/code_memory.hpp"

#include <fmt/core.h>

#include <cstring>

#include "platform/machine_context.hpp"

namespace hoist::jit {

Result<CodeMapping> CodeMapping::map(std::span<const std::uint8_t> code) {
  CodeMapping out;
  if (code.empty()) return out;
  HOIST_TRY(out.region_, platform::PageRegion::reserve(code.size()));
  const std::uint64_t bytes = out.region_.bytes();
  HOIST_TRY_VOID(out.region_.protect(0, bytes, platform::Access::ReadWrite));
  std::memcpy(out.region_.base(), code.data(), code.size());
  platform::flush_instruction_cache(out.region_.base(), out.region_.base() + code.size());
  if (auto done = out.region_.protect(0, bytes, platform::Access::ReadExecute); !done) {
    return Error(ErrorKind::Unsupported,
                 fmt::format("the system does not let memory become executable ({}); a security "
                             "policy may forbid it",
                             done.error().message()));
  }
  out.size_ = code.size();
  return out;
}

}  // namespace hoist::jit
