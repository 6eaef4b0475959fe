// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/perf/perf_map.hpp"

#include <fmt/format.h>

#include <iterator>
#include <mutex>
#include <utility>

#include "platform/clocks.hpp"
#include "platform/files.hpp"
#include "platform/threads.hpp"
#include "profiling/agent.hpp"

namespace hoist::profiling {
namespace {

/// Engines write to one file.
constinit std::mutex file_mutex;
/// The process that has begun its file.
constinit std::uint32_t owner = 0;

class PerfMapAgent final : public CodeListener {
 public:
  PerfMapAgent(std::string path, std::uint32_t process)
      : path_(std::move(path)), process_(process) {}

  /// A profile is a convenience: a full disk does not stop the program.
  void on_load(const LoadedCode& code) noexcept override {
    // A child of a fork: the file is its parent's.
    if (platform::process_id() != process_) return;
    const std::string lines = perf_map_lines(code);
    const std::lock_guard<std::mutex> lock(file_mutex);
    if (!platform::append_file(path_, lines)) note_unwritten();
  }
  void on_unload(const LoadedCode&) noexcept override {}

 private:
  std::string path_;
  std::uint32_t process_;
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
  static const bool guarded = [] {
    platform::at_fork([] { file_mutex.lock(); }, [] { file_mutex.unlock(); },
                      [] { file_mutex.unlock(); });
    return true;
  }();
  static_cast<void>(guarded);
  const std::uint32_t process = platform::process_id();
  std::string path = fmt::format("/tmp/perf-{}.map", process);
  {
    const std::lock_guard<std::mutex> lock(file_mutex);
    // What an earlier process of the same number has left names other code.
    if (std::exchange(owner, process) != process) platform::remove_file(path);
    HOIST_TRY_VOID(platform::append_file(path, ""));
  }
  return std::shared_ptr<CodeListener>(std::make_shared<PerfMapAgent>(std::move(path), process));
}

}  // namespace hoist::profiling
