// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/perf/perf_map.hpp"

#include <fmt/core.h>

#include <mutex>
#include <utility>

#include "platform/clocks.hpp"
#include "platform/files.hpp"

namespace hoist::profiling {
namespace {

/// Engines write to one file.
constinit std::mutex file_mutex;

class PerfMapListener final : public runtime::CodeListener {
 public:
  explicit PerfMapListener(std::string path) : path_(std::move(path)) {}

  /// A profile is a convenience: a full disk does not stop the program.
  void on_code_loaded(std::span<const runtime::CodeSymbol> symbols) override {
    const std::string lines = perf_map_lines(symbols);
    const std::lock_guard<std::mutex> lock(file_mutex);
    static_cast<void>(platform::append_file(path_, lines));
  }

 private:
  std::string path_;
};

}  // namespace

std::string perf_map_lines(std::span<const runtime::CodeSymbol> symbols) {
  std::string out;
  for (const runtime::CodeSymbol& symbol : symbols) {
    if (symbol.size == 0) continue;
    out += fmt::format("{:x} {:x} ", reinterpret_cast<std::uintptr_t>(symbol.address), symbol.size);
    for (const char c : symbol.name) out += c == '\n' || c == '\r' ? '_' : c;
    out += '\n';
  }
  return out;
}

Result<std::unique_ptr<runtime::CodeListener>> make_perf_map_listener() {
  std::string path = fmt::format("/tmp/perf-{}.map", platform::process_id());
  HOIST_TRY_VOID(platform::append_file(path, ""));
  return std::unique_ptr<runtime::CodeListener>(new PerfMapListener(std::move(path)));
}

}  // namespace hoist::profiling
