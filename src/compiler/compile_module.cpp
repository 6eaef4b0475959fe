// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work queue and the link. Threads take functions in order, a few at a time; what they make
// stays in their stores, and the calling thread, which works too, places everything in the order of
// the keys. So neither the image nor the error depends on who did what: after an error at function
// f only functions below f are still compiled, and the lowest error wins.
#include "compiler/compile_module.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/worker_thread.hpp"
#include "compiler/worker.hpp"
#include "platform/clocks.hpp"
#include "platform/cpu_features.hpp"
#include "platform/threads.hpp"

namespace hoist::compiler {

namespace {

using platform::Clock;
using platform::now_ns;

/// Functions that a thread takes at once: few, so that threads end together.
constexpr std::uint32_t kBatch = 8;
/// Bytes of code section that keep one more thread busy long enough to be worth starting.
constexpr std::uint64_t kBytesPerThread = 32 * 1024;
constexpr std::uint64_t kProgressInterval_ns = 50'000'000;

class Compilation {
 public:
  Compilation(const wasm::Module& module, const CompilerOptions& options, const Progress* progress)
      : module_(module), options_(options), env_(module, options.code), progress_(progress) {
    env_.has_fma =
        platform::CpuFeatures::from_bits(options.code.cpu_features).has(platform::CpuFeature::Fma);
    count_ = module.num_defined_functions();
    functions_.resize(count_);
    error_index_ = count_;
  }

  Result<image::Image> run(CompileStats& stats) {
    const std::uint64_t start = now_ns(Clock::Monotonic);
    stats.threads = thread_count();
    for (unsigned i = 0; i < stats.threads; ++i) {
      workers_.push_back(std::make_unique<Worker>(env_, options_));
    }
    compile_functions(stats);
    if (error_) return std::move(*error_);
    const std::uint64_t cpu_start = now_ns(Clock::ThreadCpu);
    HOIST_TRY_VOID(compile_trampolines());
    const std::uint64_t link_start = now_ns(Clock::ThreadCpu);
    HOIST_TRY(image::Image image, link());
    const std::uint64_t end = now_ns(Clock::ThreadCpu);
    stats.link_ns = end - link_start;
    stats.cpu_ns += end - cpu_start;
    stats.wall_ns = now_ns(Clock::Monotonic) - start;
    stats.functions = count_;
    stats.trampolines = trampolines_.size();
    stats.wasm_bytes = module_.bytes.span().size();
    stats.code_section_bytes = module_.code_section.size;
    stats.text_bytes = image.text().size();
    stats.peak_rss_bytes = platform::peak_resident_bytes();
    for (const auto& worker : workers_) worker->add_times(stats);
    return image;
  }

 private:
  unsigned thread_count() const {
    const unsigned wanted = options_.threads != 0 ? options_.threads : platform::usable_cores();
    const std::uint64_t useful = std::min<std::uint64_t>(
        1 + module_.code_section.size / kBytesPerThread, 1 + count_ / kBatch);
    return static_cast<unsigned>(std::clamp<std::uint64_t>(useful, 1, std::max(wanted, 1u)));
  }

  void compile_functions(CompileStats& stats) {
    struct Share {
      Compilation* self;
      Worker* worker;
      std::uint64_t cpu_ns = 0;
    };
    const std::size_t others = workers_.size() - 1;
    std::vector<Share> shares;
    for (std::size_t i = 1; i <= others; ++i) shares.push_back({this, workers_[i].get()});
    const auto compile_share = [](void* argument) {
      auto& share = *static_cast<Share*>(argument);
      const std::uint64_t begin = now_ns(Clock::ThreadCpu);
      share.self->work(*share.worker, nullptr);
      share.cpu_ns = now_ns(Clock::ThreadCpu) - begin;
    };
    const std::uint64_t start = now_ns(Clock::ThreadCpu);
    {
      // Workers take batches from one queue: one that the system refuses to start is not missed.
      std::vector<base::WorkerThread> threads(others);
      for (std::size_t i = 0; i < others; ++i) {
        if (!threads[i].start(compile_share, &shares[i])) break;
      }
      work(*workers_[0], progress_);
    }
    std::uint64_t cpu = 0;
    for (const Share& share : shares) cpu += share.cpu_ns;
    stats.cpu_ns = cpu + (now_ns(Clock::ThreadCpu) - start);
  }

  void work(Worker& worker, const Progress* progress) {
    std::uint64_t reported = now_ns(Clock::Monotonic);
    for (;;) {
      const std::uint32_t first = next_.fetch_add(kBatch, std::memory_order_relaxed);
      if (first >= count_) return;
      const std::uint32_t end = std::min(first + kBatch, count_);
      for (std::uint32_t i = first; i < end; ++i) {
        if (i >= error_index_.load(std::memory_order_relaxed)) return;
        Result<StoredFunction> made = worker.function(module_.num_imported_functions + i);
        if (!made) {
          fail(i, std::move(made).error());
          return;
        }
        functions_[i] = *made;
      }
      done_.fetch_add(end - first, std::memory_order_relaxed);
      if (progress == nullptr) continue;
      const std::uint64_t now = now_ns(Clock::Monotonic);
      if (now - reported < kProgressInterval_ns) continue;
      reported = now;
      (*progress)(done_.load(std::memory_order_relaxed), count_);
    }
  }

  void fail(std::uint32_t index, Error error) {
    const std::lock_guard lock(mutex_);
    if (index >= error_index_.load(std::memory_order_relaxed)) return;
    error_index_.store(index, std::memory_order_relaxed);
    error_ = std::move(error);
  }

  /// Flags of the canonical types that need an entry and an exit trampoline.
  void wanted_types(std::vector<bool>& entries, std::vector<bool>& exits) const {
    entries.assign(module_.types.size(), false);
    exits.assign(module_.types.size(), false);
    const auto canonical = [&](std::uint32_t func) {
      return module_.canonical_type(module_.functions[func].type_index);
    };
    module_.escaping_functions.for_each([&](std::size_t func) {
      if (func < module_.functions.size()) {
        entries[canonical(static_cast<std::uint32_t>(func))] = true;
      }
    });
    if (module_.start) entries[canonical(*module_.start)] = true;
    for (std::uint32_t f = 0; f < module_.num_imported_functions; ++f) exits[canonical(f)] = true;
  }

  Result<void> compile_trampolines() {
    std::vector<bool> entries;
    std::vector<bool> exits;
    wanted_types(entries, exits);
    Worker& worker = *workers_[0];
    for (std::uint32_t type = 0; type < entries.size(); ++type) {
      if (!entries[type]) continue;
      HOIST_TRY(const StoredFunction made, worker.entry_trampoline(module_.types[type], type));
      trampolines_.push_back(made);
    }
    for (std::uint32_t type = 0; type < exits.size(); ++type) {
      if (!exits[type]) continue;
      HOIST_TRY(const StoredFunction made, worker.exit_trampoline(module_.types[type], type));
      trampolines_.push_back(made);
    }
    std::uint64_t builtins = 0;
    for (const auto& each : workers_) builtins |= each->store().builtins();
    for (std::uint32_t b = 0; b < image::kBuiltinCount; ++b) {
      if (((builtins >> b) & 1) == 0) continue;
      HOIST_TRY(const StoredFunction made,
                worker.builtin_trampoline(static_cast<image::Builtin>(b)));
      trampolines_.push_back(made);
    }
    return {};
  }

  Result<image::Image> link() {
    std::uint64_t bytes = 0;
    for (const StoredFunction& function : functions_)
      bytes += function.code.size() + function.align;
    for (const StoredFunction& function : trampolines_)
      bytes += function.code.size() + function.align;
    image::ImageBuilder builder;
    if (bytes > kMaxText) return too_large(bytes);
    builder.reserve(bytes, functions_.size() + trampolines_.size());
    image::CodeSettings settings = options_.code;
    settings.opt_level = static_cast<std::uint8_t>(options_.opt_level);
    builder.set_target(options_.target->name(), settings);
    for (const StoredFunction& function : functions_) place(builder, function);
    for (const StoredFunction& function : trampolines_) place(builder, function);
    if (!builder.fits()) return too_large(bytes);
    return builder.finish();
  }

  static constexpr std::uint64_t kMaxText = 0x7fff'ffff;
  static Error too_large(std::uint64_t bytes) {
    return Error(ErrorKind::Limit, "machine code of " + std::to_string(bytes) +
                                       " bytes is larger than the limit of 2147483647");
  }

  const wasm::Module& module_;
  const CompilerOptions& options_;
  translate::ModuleEnv env_;
  const Progress* progress_;
  std::uint32_t count_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<StoredFunction> functions_;
  std::vector<StoredFunction> trampolines_;
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> done_{0};
  std::atomic<std::uint32_t> error_index_{0};
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace

/// Constant expressions are evaluated by the runtime, which has no heap objects.
static Result<void> check_constants(const wasm::Module& module) {
  for (const wasm::ConstOp& op : module.const_pool) {
    if (!wasm::is_const_heap(op.op)) continue;
    return Error(ErrorKind::Unsupported,
                 "unsupported instruction: " + std::string(wasm::text(op.op)), op.offset);
  }
  return {};
}

Result<image::Image> compile_module(const wasm::Module& module, const CompilerOptions& options,
                                    CompileStats* stats, const Progress* progress) {
  HOIST_TRY_VOID(check_constants(module));
  CompileStats ignored;
  return Compilation(module, options, progress).run(stats != nullptr ? *stats : ignored);
}

}  // namespace hoist::compiler
