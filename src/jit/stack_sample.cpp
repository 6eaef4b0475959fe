// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/stack_sample.hpp"

#include "jit/code_registry.hpp"
#include "jit/trap_handler.hpp"

namespace hoist::jit {
namespace {

using namespace sample_word;  // NOLINT: marks of one small file

/// Frames that a walk passes at most: it costs about a nanosecond each.
constexpr std::uint32_t kMostFrames = 10'000;
constexpr std::uint32_t kMostActivations = 64;
/// On a stack that the embedder has made, nothing says where it ends: entries are not further away.
constexpr std::uintptr_t kMostForeignStack = std::uintptr_t{64} << 20;

/// What a store context says of its innermost activation, or said when a further one began.
struct Place {
  std::uintptr_t exit_fp = 0;
  std::uintptr_t exit_pc = 0;
  std::uintptr_t entry_fp = 0;
  const std::uint32_t* exit_context = nullptr;
};

/// The interrupted thread may be anywhere, also between two of these.
std::uint64_t read(const std::uint64_t& word) {
  return *static_cast<const volatile std::uint64_t*>(&word);
}

Place place_of(const Activation& wanted, const Activation* innermost) {
  const Activation* inner = nullptr;
  for (const Activation* at = innermost; at != &wanted && at != nullptr; at = at->outer) {
    if (at->context == wanted.context) inner = at;
  }
  if (inner != nullptr) {
    return {inner->outer_exit_fp, inner->outer_exit_pc, inner->outer_entry_fp,
            inner->outer_exit_context};
  }
  const image::StoreContext& context = *wanted.context;
  return {read(context.exit_fp), read(context.exit_pc), read(context.entry_fp),
          *static_cast<const std::uint32_t* const volatile*>(&context.exit_context)};
}

/// The mark of a call out of compiled code. Contexts live as long as their store.
std::uint64_t host_mark(const std::uint32_t* exit_context) {
  if (exit_context == nullptr || *exit_context != image::VmHostContext::kMagic) return kHost;
  const auto* host = reinterpret_cast<const image::VmHostContext*>(exit_context);
  return kHostFunction | reinterpret_cast<std::uintptr_t>(host->host);
}

/// A word of the interrupted stack, which AddressSanitizer takes for no variable of ours.
__attribute__((no_sanitize("address"))) std::uint64_t word_at(std::uintptr_t address) {
  return *reinterpret_cast<const volatile std::uint64_t*>(address);
}

class StackSampler {
 public:
  StackSampler(const platform::MachineRegisters& at, base::FunctionRef<void(std::uint64_t)> put)
      : at_(at), put_(put) {
    const platform::StackBounds& stack = thread_state.stack;
    high_ = stack.contains(at.sp) ? stack.high : at.sp + kMostForeignStack;
  }

  bool run() {
    const Activation* innermost = thread_state.innermost;
    if (innermost == nullptr) return false;
    const Activation* activation = innermost;
    if (in_code()) {
      put_(kInCode);
      put_(at_.pc);
      put_(word_at(at_.sp));
      put_(word_at(at_.sp + 8));
      any_ = true;
      const Place place = place_of(*activation, innermost);
      // In an entry trampoline, the frame pointer is the host's, and the store may not know of the
      // entry yet.
      if (!in_entry_ && is_end(place.entry_fp)) walk(at_.fp, at_.sp, place.entry_fp);
      activation = activation->outer;
    } else if (!is_entered(*activation, innermost)) {
      activation = activation->outer;
    }
    for (std::uint32_t n = 0; activation != nullptr && n < kMostActivations; ++n) {
      const Place place = place_of(*activation, innermost);
      activation = activation->outer;
      // Of an exit that has ended, only a place below the present stack pointer is left.
      if (!is_end(place.entry_fp) || place.exit_fp <= at_.sp || place.exit_fp > place.entry_fp)
        continue;
      add(host_mark(place.exit_context));
      add(place.exit_pc);
      any_ = true;
      walk(place.exit_fp, at_.sp, place.entry_fp);
    }
    flush();
    return any_;
  }

 private:
  bool in_code() {
    const CodeLookup lookup;
    const LoadedCode* loaded = lookup.find(at_.pc);
    if (loaded == nullptr) return false;
    const image::FunctionEntry* entry = loaded->image->find_function(loaded->offset_of(at_.pc));
    in_entry_ = entry == nullptr || entry->key.kind() == image::FuncKind::EntryTrampoline;
    return true;
  }

  bool is_end(std::uintptr_t entry_fp) const { return entry_fp > at_.sp && entry_fp < high_; }

  /// False before an entry and after its end, when the store context says what it said outside.
  bool is_entered(const Activation& activation, const Activation* innermost) const {
    const std::uintptr_t outside = activation.outer == nullptr ? 0 : activation.outer_entry_fp;
    return place_of(activation, innermost).entry_fp != outside;
  }

  /// Return addresses of the frames from `fp` to `end`.
  void walk(std::uintptr_t fp, std::uintptr_t low, std::uintptr_t end) {
    while (fp != end) {
      if (fp < low || fp > end - 16 || fp % 8 != 0 || frames_ >= kMostFrames) {
        add(kGap);
        return;
      }
      const std::uintptr_t next = word_at(fp);
      // The outermost frame's return address leads into the entry trampoline.
      if (next == end) return;
      const std::uint64_t address = word_at(fp + 8);
      // What looks like a mark is no address: this is no frame.
      if (address <= kLastMark || (address & kHostFunction) != 0) {
        add(kGap);
        return;
      }
      add(address);
      low = fp + 16;
      fp = next;
      ++frames_;
    }
  }

  void add(std::uint64_t word) {
    if (added_ < kSampleInnermost) {
      put_(word);
    } else {
      last_[added_ % kSampleOutermost] = word;
    }
    ++added_;
  }

  void flush() {
    if (added_ <= kSampleInnermost) return;
    const std::uint64_t more = added_ - kSampleInnermost;
    std::uint64_t first = kSampleInnermost;
    if (more > kSampleOutermost) {
      put_(kGap);
      first = added_ - kSampleOutermost;
    }
    for (std::uint64_t i = first; i < added_; ++i) put_(last_[i % kSampleOutermost]);
  }

  const platform::MachineRegisters& at_;
  base::FunctionRef<void(std::uint64_t)> put_;
  std::uintptr_t high_ = 0;
  bool in_entry_ = false;
  bool any_ = false;
  std::uint32_t frames_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t last_[kSampleOutermost];
};

}  // namespace

bool sample_stack(const platform::MachineRegisters& at,
                  base::FunctionRef<void(std::uint64_t word)> put) {
  return StackSampler(at, put).run();
}

}  // namespace hoist::jit
