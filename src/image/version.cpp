// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image/version.hpp"

#include <hoist_layout_hash.hpp>

namespace hoist::image {

LayoutHash layout_hash() {
  return {HOIST_LAYOUT_HASH};
}

std::string_view version_text() {
  return HOIST_VERSION_TEXT;
}

}  // namespace hoist::image
