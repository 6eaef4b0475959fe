// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/code_memory.hpp"

#include <fmt/core.h>

#include <cstring>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "platform/machine_context.hpp"

namespace hoist::jit {

using platform::Access;
using platform::PageRegion;

/// Fresh pages with a copy of `bytes`, writable.
static Result<PageRegion> copy_of(std::span<const std::uint8_t> bytes) {
  HOIST_TRY(PageRegion out, PageRegion::reserve(bytes.size()));
  HOIST_TRY_VOID(out.protect(0, out.bytes(), Access::ReadWrite));
  std::memcpy(out.base(), bytes.data(), bytes.size());
  return out;
}

static Error not_executable(const Error& reason) {
  return {ErrorKind::Unsupported,
          fmt::format("the system does not let memory become executable ({}); a security policy "
                      "may forbid it",
                      reason.message())};
}

Result<CodeMapping> CodeMapping::map(std::span<const std::uint8_t> code) {
  CodeMapping out;
  if (code.empty()) return out;
  HOIST_TRY(out.region_, copy_of(code));
  platform::flush_instruction_cache(out.region_.base(), out.region_.base() + code.size());
  if (auto done = out.region_.protect(0, out.region_.bytes(), Access::ReadExecute); !done) {
    return not_executable(done.error());
  }
  out.base_ = out.region_.base();
  out.size_ = code.size();
  return out;
}

Result<CodeMapping> CodeMapping::map(image::Image& image) {
  const std::span<const std::uint8_t> text = image.text();
  const std::size_t page = platform::page_bytes();
  const std::uint64_t text_bytes = base::align_up(std::uint64_t{text.size()}, page);
  if (text.empty()) return CodeMapping();
  // Pages of another size than the image was made for, or a file system without executable files:
  // the code alone moves.
  if (page > image::kImagePage) return map(text);
  CodeMapping out;
  if (image.is_mapped()) {
    if (!platform::protect_pages(text.data(), text_bytes, Access::ReadExecute)) return map(text);
    out.base_ = text.data();
  } else {
    const std::uint64_t text_at = static_cast<std::uint64_t>(text.data() - image.bytes().data());
    HOIST_TRY(out.region_, copy_of(image.bytes()));
    PageRegion& pages = out.region_;
    image = image.moved_to({pages.base(), image.bytes().size()}, nullptr);
    platform::flush_instruction_cache(pages.base(), pages.base() + pages.bytes());
    HOIST_TRY_VOID(pages.protect(0, pages.bytes(), Access::Read));
    if (auto done = pages.protect(text_at, text_bytes, Access::ReadExecute); !done) {
      return not_executable(done.error());
    }
    out.base_ = pages.base() + text_at;
  }
  out.size_ = text.size();
  return out;
}

Result<void> CodeMapping::unpublish() {
  return platform::protect_pages(base_, base::align_up(size_, platform::page_bytes()),
                                 Access::ReadWrite);
}

void CodeMapping::publish() {
  platform::flush_instruction_cache(writable(), writable() + size_);
  const Result<void> done = platform::protect_pages(
      base_, base::align_up(size_, platform::page_bytes()), Access::ReadExecute);
  HOIST_CHECK(done.has_value(), "code can be made executable again");
}

}  // namespace hoist::jit
