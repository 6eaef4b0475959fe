// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API's part of profiling.
#include <memory>
#include <utility>

#include "api/c/objects.hpp"
#include "hoist.h"
#include "hoist/code_listener.hpp"
#include "hoist/profiler.hpp"
#include "platform/embedder_call.hpp"

namespace c_api = hoist::c_api;

struct hoist_profiler_t {
  hoist::GuestProfiler profiler;
  hoist::GuestProfile profile = {};
  bool stopped = false;

  const hoist::GuestProfile& stop() {
    if (!stopped) profile = profiler.stop();
    stopped = true;
    return profile;
  }
};

namespace hoist::c_api {
namespace {

class CallbackListener final : public CodeListener {
 public:
  CallbackListener(hoist_code_callback_t callback, void* context)
      : callback_(callback), context_(context) {}
  void on_load(const LoadedCode& code) noexcept override { tell(code, true); }
  void on_unload(const LoadedCode& code) noexcept override { tell(code, false); }

 private:
  void tell(const LoadedCode& code, bool loaded) const {
    const std::string module = code.module_name();
    for (std::size_t i = 0; i < code.piece_count(); ++i) {
      const CodePiece piece = code.piece(i);
      const hoist_code_t told{piece.name.c_str(), module.c_str(),
                              piece.address,      piece.size,
                              code.id(),          static_cast<std::uint8_t>(piece.kind)};
      platform::embedder_call([&] { callback_(context_, &told, loaded); });
    }
  }
  hoist_code_callback_t callback_;
  void* context_;
};

}  // namespace
}  // namespace hoist::c_api

extern "C" {

void hoist_config_set_code_callback(wasm_config_t* config, hoist_code_callback_t callback,
                                    void* context) {
  if (config == nullptr) return;
  config->config.code_listener.reset();
  if (callback != nullptr) {
    config->config.code_listener = std::make_shared<c_api::CallbackListener>(callback, context);
  }
}

hoist_profiler_t* hoist_profiler_start(uint64_t interval_ns, bool wall, hoist_error_t** error) {
  hoist::ProfilerOptions options;
  if (interval_ns != 0) options.interval_ns = interval_ns;
  using Clock = hoist::ProfilerOptions::Clock;
  options.clock = wall ? Clock::Wall : Clock::Cpu;
  if (error != nullptr) *error = nullptr;
  auto profiler = hoist::GuestProfiler::start(options);
  if (!profiler) {
    c_api::set_error(error, std::move(profiler).error());
    return nullptr;
  }
  return new hoist_profiler_t{*std::move(profiler)};
}

bool hoist_profiler_write(hoist_profiler_t* profiler, const char* path, hoist_error_t** error) {
  if (error != nullptr) *error = nullptr;
  if (profiler == nullptr || path == nullptr) {
    c_api::set_error(error,
                     hoist::Error(hoist::ErrorKind::BadArgument, "a null pointer was given"));
    return false;
  }
  const hoist::GuestProfile& profile = profiler->stop();
  auto format = hoist::GuestProfile::format_of(path);
  auto written = format ? profile.write(path, *format) : hoist::Result<void>(format.error());
  if (written) return true;
  c_api::set_error(error, std::move(written).error());
  return false;
}

uint64_t hoist_profiler_samples(hoist_profiler_t* profiler) {
  return profiler == nullptr ? 0 : profiler->stop().samples();
}

void hoist_profiler_delete(hoist_profiler_t* profiler) {
  delete profiler;
}

}  // extern "C"
