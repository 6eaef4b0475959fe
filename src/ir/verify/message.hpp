// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Builds a verifier message from printable parts.

#include <string>

#include "base/text/printer.hpp"

namespace hoist::ir::verify_detail {

template <typename... Parts>
std::string message(const Parts&... parts) {
  base::Printer out;
  static_cast<void>((out << ... << parts));
  return out.take();
}

}  // namespace hoist::ir::verify_detail
