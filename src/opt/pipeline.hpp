// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The mid-end: one readable function from IR to better IR.

#include <cstdint>
#include <memory>

#include "ir/function.hpp"

namespace hoist::opt {

enum class Pass : std::uint8_t {
#define HOIST_OPT_PASS(name, text, description) name,
#include "opt/passes.def"
};
#define HOIST_OPT_PASS(...) +1
inline constexpr unsigned kPassCount = 0
#include "opt/passes.def"
    ;
struct PassInfo {
  const char* text;
  const char* description;
};
const PassInfo& info(Pass pass);

/// Memory of the passes, reused from function to function: no heap traffic in steady state. One per
/// thread.
class OptContext {
 public:
  OptContext();
  ~OptContext();
  OptContext(const OptContext&) = delete;
  OptContext& operator=(const OptContext&) = delete;

  /// After so many rewrites of the pass simplify (of all functions together) it changes nothing
  /// more: for bisection.
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  void limit_rewrites(std::uint64_t limit) { rewrite_limit_ = rewrites_left_ = limit; }
  std::uint64_t rewrites() const { return rewrite_limit_ - rewrites_left_; }
  std::uint64_t& rewrites_left() { return rewrites_left_; }
  /// Switches a pass off (for tests, bisection and `--opt-level`).
  void disable(Pass pass) { disabled_ |= std::uint32_t{1} << static_cast<unsigned>(pass); }
  void set_disabled(std::uint32_t passes) { disabled_ = passes; }
  bool enabled(Pass pass) const { return ((disabled_ >> static_cast<unsigned>(pass)) & 1) == 0; }
  /// How many things each pass changed since the context was made.
  std::uint64_t changes(Pass pass) const { return changes_[static_cast<unsigned>(pass)]; }
  void count(Pass pass, std::uint64_t changes) { changes_[static_cast<unsigned>(pass)] += changes; }

  struct State;
  State& state() { return *state_; }

 private:
  std::uint32_t disabled_ = 0;
  std::uint64_t rewrite_limit_ = kNoLimit;
  std::uint64_t rewrites_left_ = kNoLimit;
  std::uint64_t changes_[kPassCount] = {};
  std::unique_ptr<State> state_;
};

/// Runs all enabled passes. `func` is verified IR before and after; observable behaviour, traps
/// included and in the same order, stays. Near-linear in the size of the function. Returns whether
/// anything changed.
bool optimise(ir::Function& func, OptContext& context);

}  // namespace hoist::opt
