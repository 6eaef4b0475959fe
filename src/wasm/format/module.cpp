// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/format/module.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace hoist::wasm {

std::string_view text(ExternKind kind) {
  switch (kind) {
    case ExternKind::Func: return "function";
    case ExternKind::Table: return "table";
    case ExternKind::Memory: return "memory";
    case ExternKind::Global: return "global";
    case ExternKind::Tag: return "tag";
  }
  HOIST_UNREACHABLE("an extern kind is one of five");
}

std::span<const BranchHint> Module::branch_hints_of(std::uint32_t func) const {
  if (branch_hints.empty()) return {};
  const Range range = body(func);
  const auto at = [](const BranchHint& hint) { return hint.offset; };
  const auto first = std::ranges::lower_bound(branch_hints, range.offset, {}, at);
  const auto last = std::ranges::lower_bound(branch_hints, range.end(), {}, at);
  return {first, last};
}

const Export* Module::find_export(std::string_view name) const {
  for (const Export& item : exports) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

}  // namespace hoist::wasm
