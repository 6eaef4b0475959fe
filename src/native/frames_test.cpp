// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Unwind information, read by somebody else: the system's unwinder (libgcc) walks from every
/// single instruction of compiled code, which runs with the trap flag set, to the function that
/// called it.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include <ucontext.h>
#include <unwind.h>

#include "ir/text/reader.hpp"
#include "native/jit_module.hpp"
#include "platform/machine_context.hpp"

// Sanitizers keep their own idea of what is on the stack.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOIST_SKIP_FRAMES_TEST
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HOIST_SKIP_FRAMES_TEST
#endif

#if defined(__x86_64__) && !defined(HOIST_SKIP_FRAMES_TEST)

namespace hoist::native {
namespace {

constexpr const char* kFunctions = R"(
function %leaf(i64) -> i64 fast {
block0(v0: i64):
    v1 = iadd v0, v0
    return v1
}
function %saved(i64) preserve_all {
    fn0 = %leaf(i64) -> i64 fast
block0(v0: i64):
    v1 = call fn0(v0)
    v2 = fcvt_from_sint.f64 v1
    v3 = fadd v2, v2
    v4 = fcvt_to_sint.i64 v3
    trapz v4, user1
    return
}
function %thrower(i64) -> i64 tail {
    sig0 = (i64) -> i64 fast
    fn0 = %leaf sig0
    sig1 = (i64) -> i64 tail
    fn1 = %quiet sig1
block0(v0: i64):
    try_call fn1(v0), sig1, block1(ret0), [ default: block2(exn0) ]
block1(v1: i64):
    v2 = call fn0(v1)
    brif v2, block3, block4
block2(v3: i64):
    return v3
block3:
    v5 = iadd v2, v0
    return v5
block4:
    v6 = iconst.i64 1
    return v6
}
function %quiet(i64) -> i64 tail {
block0(v0: i64):
    return v0
}
function %main(i64) -> i64 system_v {
    ss0 = explicit_slot 20000
    fn0 = %leaf(i64) -> i64 fast
    fn1 = %saved(i64) preserve_all
    fn2 = %thrower(i64) -> i64 tail
block0(v0: i64):
    v1 = iadd v0, v0
    v2 = imul v1, v0
    v3 = call fn0(v0)
    call fn1(v3)
    v4 = call fn2(v3)
    v5 = iadd v4, v1
    v6 = iadd v5, v2
    brif v6, block1, block2
block1:
    v7 = call fn0(v6)
    return v7
block2:
    return v6
}
)";

constexpr std::size_t kMaxSteps = 200'000;
struct Steps {
  std::uintptr_t code_begin = 0;
  std::uintptr_t code_end = 0;
  std::uintptr_t caller = 0;  ///< start of the function that entered the code
  std::uint64_t rbx = 0;      ///< that the caller has
  std::uint64_t in_code = 0;
  std::uint64_t reached = 0;
  std::uint64_t total = 0;
  std::uintptr_t first_bad = 0;
};
Steps steps;

struct Walk {
  bool in_code = false;
  bool reached = false;
  unsigned depth = 0;
};

_Unwind_Reason_Code on_frame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  if (++walk.depth > 40) return _URC_END_OF_STACK;
  const std::uintptr_t pc = _Unwind_GetIP(context);
  if (pc >= steps.code_begin && pc < steps.code_end) walk.in_code = true;
  if (!walk.in_code || _Unwind_GetRegionStart(context) != steps.caller) return _URC_NO_REASON;
  // The first frame behind the code is the caller's, with its callee-saved register.
  walk.reached = _Unwind_GetGR(context, 3) == steps.rbx;
  return _URC_END_OF_STACK;
}

void on_step(int, siginfo_t*, void* raw) {
  const auto pc =
      static_cast<std::uintptr_t>(static_cast<ucontext_t*>(raw)->uc_mcontext.gregs[REG_RIP]);
  if (++steps.total > kMaxSteps || pc < steps.code_begin || pc >= steps.code_end) return;
  ++steps.in_code;
  Walk walk;
  _Unwind_Backtrace(on_frame, &walk);
  if (walk.reached) {
    ++steps.reached;
  } else if (steps.first_bad == 0) {
    steps.first_bad = pc - steps.code_begin;
  }
}

/// Calls with a known value in rbx and the trap flag set.
__attribute__((noinline)) HOIST_CALLS_MACHINE_CODE std::uint64_t stepped_call(const void* code,
                                                                              std::uint64_t x) {
  std::uint64_t result = x;
  register std::uint64_t mark __asm__("rbx") = 0x1234'5678'9abc'def1;
  steps.rbx = mark;
  __asm__ volatile(
      "pushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
      "call *%[code]\n\t"
      "pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\t"
      : "=a"(result), "+r"(mark), "+D"(x)
      : [code] "r"(code)
      : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15");
  return result;
}

class Frames : public testing::TestWithParam<unsigned> {};

TEST_P(Frames, EveryInstructionLeadsToTheCaller) {
  JitOptions options;
  options.opt_level = GetParam();
  auto module = JitModule::create(options);
  ASSERT_TRUE(module);
  const Result<ir::ParsedFile> file = ir::parse_file(kFunctions);
  ASSERT_TRUE(file) << file.error().message();
  for (const ir::ParsedFunction& f : file->functions) {
    const Result<void> defined = (*module)->define(f.func);
    ASSERT_TRUE(defined) << defined.error().message();
  }
  ASSERT_TRUE((*module)->finalise());
  const Result<void> registered = (*module)->register_frames();
  ASSERT_TRUE(registered) << registered.error().message();
  steps = Steps();
  steps.code_begin = reinterpret_cast<std::uintptr_t>((*module)->code()->base());
  steps.code_end = steps.code_begin + (*module)->code()->image().text().size();
  steps.caller = reinterpret_cast<std::uintptr_t>(&stepped_call);

  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGTRAP, &action, &before), 0);
  const void* main = (*module)->address(ir::ExternalName::testcase("main"));
  const std::uint64_t result = stepped_call(main, 3);
  ASSERT_EQ(sigaction(SIGTRAP, &before, nullptr), 0);
  // leaf 6; thrower: 12 + 6; v5 = 18 + 6; v6 = 24 + 18; twice that
  EXPECT_EQ(result, 84u);
  EXPECT_GT(steps.in_code, 60u);
  EXPECT_EQ(steps.reached, steps.in_code) << "first lost at text offset " << steps.first_bad;
}

INSTANTIATE_TEST_SUITE_P(Levels, Frames, testing::Values(0u, 2u));

}  // namespace
}  // namespace hoist::native

#endif
