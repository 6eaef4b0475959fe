// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hand-assembled x86-64 code, so that this layer is tested without a compiler.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "image/image_builder.hpp"
#include "jit/code_events.hpp"
#include "jit/code_registry.hpp"
#include "jit/loaded_image.hpp"
#include "jit/trap_handler.hpp"
#include "platform/machine_context.hpp"
#include "platform/signals.hpp"

namespace hoist::jit {
namespace {

using image::FuncKey;
using image::FuncKind;
using image::TrapCode;
using Bytes = std::vector<std::uint8_t>;

constexpr FuncKey key(std::uint32_t index) {
  return FuncKey(FuncKind::User, 0, index);
}

struct Piece {
  Bytes code;
  std::vector<image::TrapEntry> traps;
};

class NamelessOwner final : public CodeOwner {
 public:
  NamelessOwner() : CodeOwner(nullptr) {}
  std::string module_name() const override { return {}; }
  std::string name(FuncKey) const override { return {}; }
  CodeKind kind(FuncKey) const override { return CodeKind::Other; }
  Place place(std::uint32_t) const override { return {}; }
};

std::unique_ptr<LoadedImage> load(const std::vector<Piece>& pieces,
                                  const CodeOwner* owner = nullptr) {
  image::ImageBuilder builder;
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    image::FunctionEntry entry;
    entry.key = key(i);
    entry.size = static_cast<std::uint32_t>(pieces[i].code.size());
    builder.add_function(entry, 16, pieces[i].code, {}, pieces[i].traps, {});
  }
  auto loaded = LoadedImage::load(builder.finish(), owner);
  EXPECT_TRUE(loaded);
  return *std::move(loaded);
}

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

HOIST_CALLS_MACHINE_CODE int call(const void* code) {
  return reinterpret_cast<int (*)()>(number(code))();
}

TEST(CodeMemory, RunsAndIsNeverWritable) {
  const auto image = load({{{0xb8, 42, 0, 0, 0, 0xc3}, {}}});  // mov eax, 42; ret
  const void* at = image->address(key(0));
  EXPECT_EQ(call(at), 42);
  std::ifstream maps("/proc/self/maps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    const std::uintptr_t begin = std::stoull(line, nullptr, 16);
    const std::uintptr_t end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    if (number(at) < begin || number(at) >= end) continue;
    found = true;
    EXPECT_EQ(line.substr(line.find(' ') + 1, 4), "r-xp");
  }
  EXPECT_TRUE(found);
}

TEST(CodeRegistry, FindsTheImageOfAnAddress) {
  const NamelessOwner owner_a;
  const NamelessOwner owner_b;
  auto a = load({{Bytes(100, 0x90), {}}}, &owner_a);
  const auto b = load({{Bytes(100, 0x90), {}}}, &owner_b);
  const std::uintptr_t in_a = number(a->base()) + 50;
  {
    const CodeLookup lookup;
    ASSERT_NE(lookup.find(in_a), nullptr);
    EXPECT_EQ(lookup.find(in_a)->owner, &owner_a);
    EXPECT_EQ(lookup.find(number(b->base()))->owner, &owner_b);
    EXPECT_EQ(lookup.find(number(b->base()) + 100), nullptr);
    EXPECT_EQ(lookup.find(number(b->base()) - 1), nullptr);
    EXPECT_EQ(lookup.find(0), nullptr);
  }
  a.reset();
  EXPECT_EQ(CodeLookup().find(in_a), nullptr);
}

TEST(CodeRegistry, ReadersDuringChanges) {
  const NamelessOwner owner;
  const auto fixed = load({{Bytes(64, 0x90), {}}}, &owner);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!stop.load()) {
      const CodeLookup lookup;
      const LoadedCode* found = lookup.find(number(fixed->base()) + 1);
      if (found == nullptr || found->owner != &owner) ++wrong;
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto one = load({{Bytes(64, 0x90), {}}});
    const auto two = load({{Bytes(64, 0x90), {}}});
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

// ---- Walks.

TEST(RawTrace, KeepsBothEnds) {
  RawTrace trace;
  for (std::uintptr_t i = 0; i < 10; ++i) trace.add(i);
  EXPECT_EQ(trace.kept(), 10U);
  EXPECT_EQ(trace.omitted(), 0U);
  EXPECT_EQ(trace.pc(9), 9U);
  trace.clear();
  const std::uintptr_t total = 1001;
  for (std::uintptr_t i = 0; i < total; ++i) trace.add(i);
  const std::uint32_t ends = RawTrace::kEnds;
  EXPECT_EQ(trace.kept(), 2 * ends);
  EXPECT_EQ(trace.omitted(), total - 2 * ends);
  EXPECT_EQ(trace.pc(ends - 1), ends - 1);
  EXPECT_EQ(trace.pc(ends), total - ends);
  EXPECT_EQ(trace.pc(2 * ends - 1), total - 1);
}

TEST(FrameWalk, FollowsTheChainAndStopsAtItsEnd) {
  std::uintptr_t stack[6] = {};
  stack[0] = number(&stack[2]);
  stack[1] = 0x1111;
  stack[2] = number(&stack[4]);
  stack[3] = 0x2222;
  std::vector<std::uintptr_t> pcs;
  walk_frames(0x1000, number(&stack[0]), number(&stack[4]),
              [&](std::uintptr_t pc) { pcs.push_back(pc); });
  EXPECT_EQ(pcs, (std::vector<std::uintptr_t>{0x1000, 0x1111}));
  pcs.clear();
  stack[2] = number(&stack[0]);  // a loop
  walk_frames(0x1000, number(&stack[0]), number(&stack[4]),
              [&](std::uintptr_t pc) { pcs.push_back(pc); });
  EXPECT_EQ(pcs.size(), 2U);
}

// ---- Faults.

// The contract of codegen::Target::entry_trampoline for a function without values.
const Bytes& kEntry = *new Bytes{0x55,                    // push rbp
                                 0x48, 0x89, 0xe5,        // mov rbp, rsp
                                 0x48, 0x89, 0x62, 0x08,  // mov [rdx + resume_sp], rsp
                                 0x48, 0x89, 0x6a, 0x10,  // mov [rdx + resume_fp], rbp
                                 0x48, 0x89, 0x6a, 0x38,  // mov [rdx + entry_fp], rbp
                                 0x48, 0x8d, 0x05, 0x0a, 0x00, 0x00, 0x00,  // lea rax, [resume]
                                 0x48, 0x89, 0x42, 0x18,        // mov [rdx + resume_pc], rax
                                 0xff, 0xd7,                    // call rdi
                                 0x31, 0xc0,                    // xor eax, eax
                                 0x5d, 0xc3,                    // pop rbp; ret
                                 0xb8, 0x01, 0x00, 0x00, 0x00,  // resume: mov eax, 1
                                 0x5d, 0xc3};                   // pop rbp; ret
// push rbp; mov rbp, rsp; ud2
const Piece& kTraps =
    *new Piece{{0x55, 0x48, 0x89, 0xe5, 0x0f, 0x0b}, {{4, TrapCode::Unreachable}}};
// push rbp; mov rbp, rsp; call rsi (the context); pop rbp; ret
const Piece& kCalls = *new Piece{{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3}, {}};
// push rbp; mov rbp, rsp; mov eax, [rsi]; pop rbp; ret
const Piece& kLoads =
    *new Piece{{0x55, 0x48, 0x89, 0xe5, 0x8b, 0x06, 0x5d, 0xc3}, {{4, TrapCode::HeapOutOfBounds}}};
// push rbp; mov rbp, rsp; mov eax, [rsi]: not in the table
const Piece& kBroken = *new Piece{{0x55, 0x48, 0x89, 0xe5, 0x8b, 0x06}, {}};

struct Runner {
  std::unique_ptr<LoadedImage> image = load({{kEntry, {}}, kTraps, kCalls, kLoads, kBroken});
  image::StoreContext context;
  TrapRecord record;
  std::uintptr_t guest_memory = 0;

  HOIST_CALLS_MACHINE_CODE std::uint64_t run(std::uint32_t function, const void* ctx) {
    using Entry = std::uint64_t (*)(const void*, const void*, image::StoreContext*, void*);
    install_trap_handler();
    platform::ensure_signal_stack();
    Activation activation;
    activation.outer = current_activation();
    activation.context = &context;
    activation.record = &record;
    activation.owner = this;
    activation.is_guest_memory = [](const Activation& self, std::uintptr_t address) {
      return address == static_cast<const Runner*>(self.owner)->guest_memory;
    };
    set_current_activation(&activation);
    const auto entry = reinterpret_cast<Entry>(number(image->address(key(0))));
    const std::uint64_t left = entry(image->address(key(function)), ctx, &context, nullptr);
    set_current_activation(activation.outer);
    return left;
  }
};

TEST(TrapHandler, ReturnsToTheEntryWithTheFrames) {
  Runner runner;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(runner.run(2, runner.image->address(key(1))), 1U);
    EXPECT_EQ(runner.record.code, TrapCode::Unreachable);
    ASSERT_EQ(runner.record.trace.kept(), 2U);
    EXPECT_EQ(runner.record.trace.pc(0), number(runner.image->address(key(1))) + 4);
    EXPECT_EQ(runner.record.trace.pc(1), number(runner.image->address(key(2))) + 6);
  }
}

TEST(TrapHandler, MemoryFaultsOfTheGuestOnly) {
  Runner runner;
  runner.guest_memory = 0x10;
  EXPECT_EQ(runner.run(3, reinterpret_cast<const void*>(runner.guest_memory)), 1U);
  EXPECT_EQ(runner.record.code, TrapCode::HeapOutOfBounds);
  EXPECT_EQ(runner.record.address, 0x10U);
}

TEST(TrapHandlerDeathTest, OtherAddressesGoToTheHandlerBefore) {
  EXPECT_DEATH(
      {
        Runner runner;
        runner.guest_memory = 0x10;
        runner.run(3, reinterpret_cast<const void*>(0x20));
      },
      "compiled code accessed memory that is not the guest's");
}

TEST(TrapHandlerDeathTest, InstructionsThatCannotTrapAreABug) {
  EXPECT_DEATH(
      {
        Runner runner;
        runner.guest_memory = 0x10;
        runner.run(4, reinterpret_cast<const void*>(0x10));
      },
      "a fault in compiled code at an instruction that cannot trap");
}

}  // namespace
}  // namespace hoist::jit
