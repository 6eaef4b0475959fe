// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/vtune/vtune.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/dynamic_library.hpp"
#include "platform/private_dir.hpp"
#include "profiling/vtune/itt_api.hpp"

namespace hoist::profiling {
namespace {

using Initialize = unsigned (*)();
using NotifyEvent = int (*)(unsigned event, void* data);

/// The collector's structures have pointers to char; it copies what they point to.
char* text_of(const std::string& text) {
  return const_cast<char*>(text.c_str());
}

/// Nothing of a code's offsets above 4 GiB is ever told.
unsigned narrow(std::uint64_t value) {
  return static_cast<unsigned>(std::min<std::uint64_t>(value, ~0U));
}

/// The collector of the process. Never destroyed.
class Collector {
 public:
  Result<void> open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (notify_ != nullptr) return {};
    HOIST_TRY_VOID(find());
    // After this the collector hears nothing more: at the end of the process, not of an engine.
    static_cast<void>(std::atexit(shut_down));
    return {};
  }

  void load(const LoadedCode& code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<unsigned>& ids = methods_[code.id()];
    for (std::size_t i = 0; i < code.piece_count(); ++i) load_piece(code, i, ids);
  }

  void unload(const LoadedCode& code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = methods_.find(code.id());
    if (found == methods_.end()) return;
    for (const unsigned id : found->second) {
      itt::MethodId method{id};
      notify_(itt::kUnloadStart, &method);
    }
    methods_.erase(found);
  }

 private:
  static void shut_down();

  Result<void> find() {
    for (const char* variable : itt::kVariables) {
      const std::string path = platform::environment_variable(variable);
      if (path.empty()) continue;
      HOIST_TRY(void* library, platform::load_library(path));
      const auto initialize =
          reinterpret_cast<Initialize>(platform::library_symbol(library, itt::kInitialize));
      const auto notify =
          reinterpret_cast<NotifyEvent>(platform::library_symbol(library, itt::kNotifyEvent));
      if (initialize == nullptr || notify == nullptr) continue;
      if (initialize() == 0) {
        return Error(ErrorKind::Unsupported, path + ": the collector of VTune does not listen");
      }
      notify_ = notify;
      return {};
    }
    return Error(ErrorKind::Unsupported,
                 "no collector of VTune is there: run the program under `vtune -collect hotspots` "
                 "(it sets INTEL_JIT_PROFILER64)");
  }

  /// Ends of entries, as the interface wants them: each line holds up to the next one's beginning.
  void put_lines(const std::vector<CodeLine>& lines, std::uint64_t size) {
    entries_.clear();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::uint64_t end = i + 1 < lines.size() ? lines[i + 1].offset : size;
      if (lines[i].line != 0) entries_.push_back({narrow(end), lines[i].line});
    }
  }

  void load_piece(const LoadedCode& code, std::size_t number, std::vector<unsigned>& ids) {
    const CodePiece piece = code.piece(number);
    if (piece.size == 0) return;
    const std::string module = code.module_name();
    lines_.clear();
    inlined_.clear();
    if (piece.kind == CodeKind::Function) {
      code.lines(number, lines_);
      code.inlined(number, inlined_);
    }
    // One source file a method: the one it begins in.
    std::string file;
    for (const CodeLine& line : lines_) {
      if (file.empty()) file = line.file;
    }
    std::vector<CodeLine> own = lines_;
    for (const InlinedCode& call : inlined_) cover_inlined(call, own);
    put_lines(own, piece.code_size);
    itt::MethodLoadV2 method{};
    method.method_id = next_id();
    method.method_name = text_of(piece.name);
    method.load_address = const_cast<void*>(piece.address);
    method.method_size = narrow(piece.size);
    method.line_count = narrow(entries_.size());
    method.lines = entries_.empty() ? nullptr : entries_.data();
    method.class_file_name = text_of(module);
    method.source_file_name = file.empty() ? nullptr : text_of(file);
    method.module_name = text_of(module);
    if (notify_(itt::kLoadFinishedV2, &method) == 0) return;  // it does not want to know
    ids.push_back(method.method_id);
    load_inlined(piece, module, method.method_id);
  }

  /// In what was inlined, the function itself is at the line of the (outermost) call.
  void cover_inlined(const InlinedCode& call, std::vector<CodeLine>& lines) const {
    const InlinedCode* outermost = &call;
    while (outermost->parent < inlined_.size()) outermost = &inlined_[outermost->parent];
    for (const InlinedCode::Range& range : call.ranges) {
      for (CodeLine& line : lines) {
        if (line.offset < range.begin || line.offset >= range.end) continue;
        line.line = outermost->call.line;
        line.file = outermost->call.file;
      }
    }
  }

  void load_inlined(const CodePiece& piece, const std::string& module, unsigned outer) {
    std::vector<unsigned> numbers;
    for (const InlinedCode& call : inlined_) {
      itt::MethodInlineLoad method{};
      method.method_id = next_id();
      method.parent_method_id = call.parent < numbers.size() ? numbers[call.parent] : outer;
      numbers.push_back(method.method_id);
      // Lines in the ranges of this call, 0 elsewhere.
      std::string file;
      entries_.clear();
      std::uint64_t end = 0;
      for (const InlinedCode::Range& range : call.ranges) {
        if (range.begin > end) entries_.push_back({range.begin, 0});
        for (std::size_t i = 0; i < lines_.size(); ++i) {
          const std::uint64_t next = i + 1 < lines_.size() ? lines_[i + 1].offset : piece.code_size;
          if (next <= range.begin || lines_[i].offset >= range.end) continue;
          if (file.empty()) file = lines_[i].file;
          entries_.push_back({narrow(std::min<std::uint64_t>(next, range.end)), lines_[i].line});
        }
        end = range.end;
      }
      method.method_name = text_of(call.name);
      method.line_count = narrow(entries_.size());
      method.lines = entries_.empty() ? nullptr : entries_.data();
      method.class_file_name = text_of(module);
      method.source_file_name = file.empty() ? nullptr : text_of(file);
      notify_(itt::kInlineLoadFinished, &method);
    }
  }

  /// 0 and the numbers before 1000 are the interface's own.
  unsigned next_id() { return next_id_++; }

  std::mutex mutex_;
  NotifyEvent notify_ = nullptr;
  unsigned next_id_ = 1000;
  std::unordered_map<std::uint64_t, std::vector<unsigned>> methods_;  // of loaded code
  std::vector<CodeLine> lines_;
  std::vector<InlinedCode> inlined_;
  std::vector<itt::LineNumber> entries_;
};

Collector& the_collector() {
  static Collector& collector = *new Collector;
  return collector;
}

void Collector::shut_down() {
  the_collector().notify_(itt::kShutdown, nullptr);
}

class VTuneAgent final : public CodeListener {
 public:
  void on_load(const LoadedCode& code) noexcept override { the_collector().load(code); }
  void on_unload(const LoadedCode& code) noexcept override { the_collector().unload(code); }
};

}  // namespace

Result<std::shared_ptr<CodeListener>> make_vtune_agent() {
  HOIST_TRY_VOID(the_collector().open());
  return std::shared_ptr<CodeListener>(std::make_shared<VTuneAgent>());
}

}  // namespace hoist::profiling
