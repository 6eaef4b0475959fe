// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/code_registry.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/check.hpp"
#include "platform/threads.hpp"

namespace hoist::jit {
namespace {

struct Entry {
  std::uintptr_t begin;
  std::uintptr_t end;
  const LoadedCode* code;
};

/// Sorted by address; never changed once published.
struct Table {
  std::vector<Entry> entries;
};

constinit std::mutex writers;
constinit std::atomic<const Table*> current{nullptr};
/// Readers inside a CodeLookup. A writer publishes a new table and then waits until there has been
/// a moment without readers: whoever comes later sees the new table.
constinit std::atomic<std::uint64_t> readers{0};

const Table* replace_table(Table* fresh) {
  const Table* old = current.exchange(fresh, std::memory_order_seq_cst);
  while (readers.load(std::memory_order_seq_cst) != 0) ::sched_yield();
  return old;
}

}  // namespace

/// A child of a fork has one thread: what others were doing here never ends.
static void prepare_for_forks() {
  static const bool done = [] {
    platform::at_fork([] { writers.lock(); }, [] { writers.unlock(); },
                      [] {
                        readers.store(0, std::memory_order_seq_cst);
                        writers.unlock();
                      });
    return true;
  }();
  static_cast<void>(done);
}

void register_code(const LoadedCode& code) {
  prepare_for_forks();
  HOIST_CHECK(code.code.size() != 0, "registered code is not empty");
  const std::lock_guard<std::mutex> lock(writers);
  const Table* before = current.load(std::memory_order_relaxed);
  auto* fresh = new Table;
  if (before != nullptr) {
    fresh->entries.reserve(before->entries.size() + 1);
    fresh->entries = before->entries;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(code.code.base());
  const Entry entry{begin, begin + code.code.size(), &code};
  fresh->entries.insert(
      std::upper_bound(fresh->entries.begin(), fresh->entries.end(), entry,
                       [](const Entry& a, const Entry& b) { return a.begin < b.begin; }),
      entry);
  delete replace_table(fresh);
}

void unregister_code(const LoadedCode& code) {
  const std::lock_guard<std::mutex> lock(writers);
  const Table* before = current.load(std::memory_order_relaxed);
  HOIST_CHECK(before != nullptr, "code was registered");
  auto* fresh = new Table{before->entries};
  const std::size_t removed =
      std::erase_if(fresh->entries, [&](const Entry& entry) { return entry.code == &code; });
  HOIST_CHECK(removed == 1, "code was registered once");
  if (fresh->entries.empty()) {
    delete fresh;
    fresh = nullptr;
  }
  delete replace_table(fresh);
}

CodeLookup::CodeLookup() {
  readers.fetch_add(1, std::memory_order_seq_cst);
  table_ = current.load(std::memory_order_seq_cst);
}

CodeLookup::~CodeLookup() {
  readers.fetch_sub(1, std::memory_order_seq_cst);
}

const LoadedCode* CodeLookup::find(std::uintptr_t pc) const {
  const auto* table = static_cast<const Table*>(table_);
  if (table == nullptr) return nullptr;
  std::size_t low = 0;
  std::size_t high = table->entries.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (table->entries[middle].end <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == table->entries.size() || pc < table->entries[low].begin) return nullptr;
  return table->entries[low].code;
}

}  // namespace hoist::jit
