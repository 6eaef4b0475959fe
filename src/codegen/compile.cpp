// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The pipeline of one function: optimise, lower, allocate registers, emit.
#include "codegen/compile.hpp"

#include <string>

#include "codegen/regalloc/linear_scan.hpp"
#include "codegen/regalloc/simple.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/passes/reference_slots.hpp"
#include "opt/pipeline.hpp"

namespace hoist::codegen {

struct CompileContext::State {
  explicit State(const Target& the_target)
      : target(the_target), scratch(the_target.make_scratch()) {}

  const Target& target;
  std::unique_ptr<TargetScratch> scratch;
  opt::OptContext opt;
  opt::ReferenceSlots references;
  MachFunction mach;
  LinearScanAllocator linear_scan;
  SimpleAllocator simple;
  Allocation allocation;
};

namespace {

/// Adds the time since the last stage to a counter; does nothing without a clock.
class StageClock {
 public:
  explicit StageClock(ClockFn clock) : clock_(clock), last_(clock == nullptr ? 0 : clock()) {}
  void finish(std::uint64_t StageTimes::* stage, StageTimes* times) {
    if (clock_ == nullptr) return;
    const std::uint64_t now = clock_();
    times->*stage += now - last_;
    last_ = now;
  }

 private:
  ClockFn clock_;
  std::uint64_t last_;
};

/// Splits the locations that `out` carries into those of the source and the inlined calls around
/// them; see ir::Function::position.
void resolve_inlining(const ir::Function& func, CompiledCode& out) {
  image::FunctionTables& tables = out.tables;
  // Whatever is inlined into inlined code comes later, as its call site is a location of it.
  for (const ir::InlineFrameData& frame : func.inline_frames) {
    const ir::SourcePosition site = func.position(frame.call_site);
    image::InlineFrame& entry = tables.inline_frames.emplace_back();
    if (frame.callee.kind == ir::ExternalName::Kind::User) {
      entry.callee = image::FuncKey::from_name(frame.callee.name_space, frame.callee.index);
    }
    if (site.frame.is_some()) entry.parent = site.frame.index();
    entry.call_source = site.loc.bits;
    out.inline_callees.push_back(frame.callee);
  }
  std::uint32_t last = image::kAbsent;
  for (CompiledCode::LocEntry& loc : out.locs) {
    const ir::SourcePosition at = func.position(ir::SourceLoc{loc.loc});
    loc.loc = at.loc.bits;
    const std::uint32_t frame = at.frame.is_some() ? at.frame.index() : image::kAbsent;
    if (frame != last) tables.inline_ranges.push_back({loc.offset, frame});
    last = frame;
  }
}

}  // namespace

CompileContext::CompileContext(const Target& target) : state_(std::make_unique<State>(target)) {}
CompileContext::~CompileContext() = default;

Result<void> CompileContext::compile(ir::Function& func, const CompileOptions& options,
                                     CompiledCode& out) {
  State& s = *state_;
  StageClock stage(times == nullptr ? nullptr : clock);
  if (options.verify) HOIST_TRY_VOID(ir::verify(func));
  if (options.opt_level > 0) {
    s.opt.set_disabled(options.passes_off);
    s.opt.limit_rewrites(options.max_rewrites);
    opt::optimise(func, s.opt);
    if (options.verify) HOIST_TRY_VOID(ir::verify(func));
  }
  if (func.has_references()) {
    HOIST_TRY_VOID(s.references.run(func));
    if (options.verify) {
      HOIST_TRY_VOID(ir::verify(func));
      std::string wrong = opt::check_reference_slots(func);
      if (!wrong.empty()) {
        return Error(ErrorKind::Internal, "stack maps are wrong: " + std::move(wrong));
      }
    }
  }
  stage.finish(&StageTimes::optimise_ns, times);

  HOIST_TRY_VOID(s.target.lower(func, *s.scratch, s.mach));
  stage.finish(&StageTimes::lower_ns, times);

  const RegisterFile& registers = s.target.registers(s.mach.call_conv);
  bool allocated = false;
  if (options.opt_level == 0) {
    Result<void> done = s.simple.run(s.mach, registers, s.allocation);
    // It keeps every value that outlives a block in a slot of its own: a huge function can need
    // more slots than there are, and then takes the allocator that shares them.
    if (!done && done.error().kind() != ErrorKind::Limit) return std::move(done).error();
    allocated = done.has_value();
  }
  if (!allocated) HOIST_TRY_VOID(s.linear_scan.run(s.mach, registers, s.allocation));
  if (options.check_allocation) {
    std::string wrong = check_allocation(s.mach, registers, s.allocation);
    if (!wrong.empty()) {
      return Error(ErrorKind::Internal, "register allocation is wrong: " + std::move(wrong));
    }
  }
  stage.finish(&StageTimes::regalloc_ns, times);

  HOIST_TRY_VOID(s.target.emit(s.mach, s.allocation, *s.scratch, out));
  if (!func.inline_frames.empty()) resolve_inlining(func, out);
  stage.finish(&StageTimes::emit_ns, times);
  return {};
}

const MachFunction& CompileContext::last_mach() const {
  return state_->mach;
}
const Allocation& CompileContext::last_allocation() const {
  return state_->allocation;
}

}  // namespace hoist::codegen
