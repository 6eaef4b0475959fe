// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/vtune/vtune.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/dynamic_library.hpp"
#include "platform/private_dir.hpp"
#include "profiling/vtune/itt_api.hpp"
#include "profiling/vtune/method_tables.hpp"

namespace hoist::profiling {
namespace {

using Initialize = unsigned (*)();
using NotifyEvent = int (*)(unsigned event, void* data);

/// The collector's structures have pointers to char; it copies what they point to.
char* text_of(const std::string& text) {
  return const_cast<char*>(text.c_str());
}

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
    std::vector<Method>& methods = methods_[code.id()];
    const std::string module = code.module_name();
    for (std::size_t i = 0; i < code.piece_count(); ++i) {
      const unsigned id = load_piece(code, i, module);
      if (id != 0) methods.push_back({id, static_cast<std::uint32_t>(i)});
    }
  }

  void unload(const LoadedCode& code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = methods_.find(code.id());
    if (found == methods_.end()) return;
    for (const Method& method : found->second) {
      const CodePiece piece = code.piece(method.piece);
      itt::MethodLoad data{};
      data.method_id = method.id;
      data.method_name = text_of(piece.name);
      data.load_address = const_cast<void*>(piece.address);
      data.method_size = narrow(piece.size);
      notify_(itt::kUnloadStart, &data);
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

  /// The method's id; 0: the collector does not want to know.
  unsigned load_piece(const LoadedCode& code, std::size_t number, const std::string& module) {
    const CodePiece piece = code.piece(number);
    if (piece.size == 0) return 0;
    tables_.clear();
    if (piece.kind == CodeKind::Function) tables_.read(code, number);
    entries_.clear();
    const std::string_view file =
        tables_.put_lines(MethodTables::kItself, 0, piece.code_size, entries_);
    const std::string source(file);
    itt::MethodLoadV2 method{};
    method.method_id = next_id();
    method.method_name = text_of(piece.name);
    method.load_address = const_cast<void*>(piece.address);
    method.method_size = narrow(piece.size);
    method.line_count = narrow(entries_.size());
    method.lines = entries_.empty() ? nullptr : entries_.data();
    method.class_file_name = text_of(module);
    method.source_file_name = source.empty() ? nullptr : text_of(source);
    method.module_name = text_of(module);
    if (notify_(itt::kLoadFinishedV2, &method) == 0) return 0;
    load_inlined(piece, module, method.method_id);
    return method.method_id;
  }

  void load_inlined(const CodePiece& piece, const std::string& module, unsigned outer) {
    const std::span<MethodTables::Region> regions = tables_.regions();
    for (MethodTables::Region& region : regions) {
      const InlinedCode& call = tables_.call(region.call);
      region.id = next_id();
      entries_.clear();
      const std::string source(tables_.put_lines(region.call, region.begin, region.end, entries_));
      itt::MethodInlineLoad method{};
      method.method_id = region.id;
      method.parent_method_id =
          region.parent == MethodTables::kItself ? outer : regions[region.parent].id;
      method.method_name = text_of(call.name);
      method.load_address =
          const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(piece.address) + region.begin);
      method.method_size = region.end - region.begin;
      method.line_count = narrow(entries_.size());
      method.lines = entries_.empty() ? nullptr : entries_.data();
      method.class_file_name = text_of(module);
      method.source_file_name = source.empty() ? nullptr : text_of(source);
      notify_(itt::kInlineLoadFinished, &method);
    }
  }

  /// 0 and the numbers before 1000 are the interface's own.
  unsigned next_id() { return next_id_++; }

  std::mutex mutex_;
  NotifyEvent notify_ = nullptr;
  unsigned next_id_ = 1000;
  struct Method {
    unsigned id;
    std::uint32_t piece;
  };
  std::unordered_map<std::uint64_t, std::vector<Method>> methods_;  // of loaded code
  // Of the piece that is being told about.
  MethodTables tables_;
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
