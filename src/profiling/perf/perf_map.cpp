// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/perf/perf_map.hpp"

#include <fmt/format.h>

#include <iterator>
#include <mutex>
#include <utility>

#include "platform/clocks.hpp"
#include "platform/files.hpp"

namespace hoist::profiling {
namespace {

/// Engines write to one file.
constinit std::mutex file_mutex;

class PerfMapAgent final : public CodeListener {
 public:
  explicit PerfMapAgent(std::string path) : path_(std::move(path)) {}

  /// A profile is a convenience: a full disk does not stop the program.
  void on_load(const LoadedCode& code) noexcept override {
    const std::string lines = perf_map_lines(code);
    const std::lock_guard<std::mutex> lock(file_mutex);
    static_cast<void>(platform::append_file(path_, lines));
  }
  void on_unload(const LoadedCode&) noexcept override {}

 private:
  std::string path_;
};

}  // namespace

std::string perf_map_lines(const LoadedCode& code) {
  std::string out;
  for (std::size_t i = 0; i < code.piece_count(); ++i) {
    const CodePiece piece = code.piece(i);
    if (piece.size == 0) continue;
    fmt::format_to(std::back_inserter(out), "{:x} {:x} ",
                   reinterpret_cast<std::uintptr_t>(piece.address), piece.size);
    for (const char c : piece.name) out += c == '\n' || c == '\r' ? '_' : c;
    out += '\n';
  }
  return out;
}

Result<std::shared_ptr<CodeListener>> make_perf_map_agent() {
  std::string path = fmt::format("/tmp/perf-{}.map", platform::process_id());
  HOIST_TRY_VOID(platform::append_file(path, ""));
  return std::shared_ptr<CodeListener>(std::make_shared<PerfMapAgent>(std::move(path)));
}

}  // namespace hoist::profiling
