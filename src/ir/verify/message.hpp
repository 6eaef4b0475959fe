// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Builds a verifier message from printable parts.

#include <string>

#include "base/text/printer.hpp"
#include "ir/types.hpp"

namespace hoist::ir::verify_detail {

template <typename... Parts>
std::string message(const Parts&... parts) {
  base::Printer out;
  static_cast<void>((out << ... << parts));
  return out.take();
}

inline bool is_address(Type type) {
  return type == I32 || type == I64;
}
inline bool same_lanes(Type a, Type b) {
  return a.log2_lane_count() == b.log2_lane_count() && a.is_dynamic() == b.is_dynamic();
}

}  // namespace hoist::ir::verify_detail
