// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The inliner: a policy decides, call by call, the mechanics copy bodies (docs/inliner.md).
///
/// Assumes: caller and bodies passed the verifier. Guarantees: so does the result, which behaves
/// the same; linear time and memory; bounded growth whatever the policy says.

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "ir/function.hpp"

namespace hoist::opt {

/// A call that may be inlined: a call, return_call or try_call of a declared function that is not
/// patchable.
struct InlineSite {
  const ir::Function& caller;
  ir::Inst call;
  ir::FuncRef callee;
  /// Number of inlined calls around it: 0 in the caller's own code.
  unsigned depth = 0;
  /// The innermost of them, or none.
  ir::InlineFrame frame;
};

struct InlineDecision {
  /// The body to put in place of the call; null: keep the call. It stays alive and unchanged until
  /// the run ends.
  const ir::Function* body = nullptr;
  /// Offer the calls in the copy as well?
  bool visit_callee = false;
};

class InlinePolicy {
 public:
  virtual ~InlinePolicy() = default;
  virtual InlineDecision decide(const InlineSite& site) = 0;
};

/// Hard bounds of one run.
struct InlineLimits {
  unsigned max_depth = 16;
  /// Instructions added, with the handlers, stack map entries and tags that they carry.
  std::uint64_t max_growth = 100'000;
};

struct InlineReport {
  std::uint32_t inlined = 0;
  std::uint32_t kept_by_limits = 0;  ///< the policy said inline
  std::uint32_t kept_by_rules = 0;   ///< the policy said inline; see docs/inliner.md
  bool changed() const { return inlined != 0; }
};

/// Is the function `name` among those that `site` is already inside of, the caller included? For
/// policies that do not want to unroll recursion. Cost: O(depth).
bool is_recursive(const InlineSite& site, const ir::ExternalName& name);

/// Keeps its memory from run to run; one per thread.
class Inliner {
 public:
  Inliner();
  ~Inliner();
  Inliner(const Inliner&) = delete;
  Inliner& operator=(const Inliner&) = delete;

  /// Walks `caller` and inlines what `policy` says. After an error (Limit: sets of memory flags ran
  /// out; Malformed: a body of another signature than the call's) `caller` is of no use.
  Result<InlineReport> run(ir::Function& caller, InlinePolicy& policy,
                           const InlineLimits& limits = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hoist::opt
