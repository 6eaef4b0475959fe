// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WASI in the C API.
#include "hoist/wasi.hpp"

#include <string>
#include <utility>

#include "api/c/objects.hpp"

namespace c_api = hoist::c_api;

struct hoist_wasi_config_t {
  hoist::WasiConfig config;
  std::string input;
};

namespace hoist::c_api {

static void set_stream(hoist_wasi_config_t* config, unsigned stream, WasiStream chosen) {
  if (config == nullptr || stream > 2) return;
  WasiStream* const streams[] = {&config->config.in, &config->config.out, &config->config.err};
  *streams[stream] = std::move(chosen);
}

/// A function of the embedder's as one that throws nothing, which C cannot say; one that throws
/// ends the process (docs/c-api.md).
template <typename NoThrow, typename Function>
static NoThrow without_exceptions(Function function) {
  static_assert(std::is_convertible_v<NoThrow, Function>);
  return reinterpret_cast<NoThrow>(function);
}

}  // namespace hoist::c_api

extern "C" {

hoist_wasi_config_t* hoist_wasi_config_new(void) {
  auto* out = new hoist_wasi_config_t;
  out->config.in = out->config.out = out->config.err = hoist::WasiStream::null();
  return out;
}
void hoist_wasi_config_delete(hoist_wasi_config_t* config) {
  delete config;
}
void hoist_wasi_config_add_arg(hoist_wasi_config_t* config, const char* arg) {
  if (config != nullptr && arg != nullptr) config->config.args.emplace_back(arg);
}
void hoist_wasi_config_add_env(hoist_wasi_config_t* config, const char* name, const char* value) {
  if (config == nullptr || name == nullptr || value == nullptr) return;
  config->config.env.emplace_back(name, value);
}
void hoist_wasi_config_add_directory(hoist_wasi_config_t* config, const char* host_path,
                                     const char* guest_path, bool read_only) {
  if (config == nullptr || host_path == nullptr || guest_path == nullptr) return;
  config->config.directories.push_back({host_path, guest_path, read_only});
}
void hoist_wasi_config_inherit_stdio(hoist_wasi_config_t* config) {
  if (config == nullptr) return;
  config->config.in = config->config.out = config->config.err = hoist::WasiStream::inherit();
}
void hoist_wasi_config_set_stream(hoist_wasi_config_t* config, unsigned stream, int descriptor) {
  c_api::set_stream(config, stream, hoist::WasiStream::host_descriptor(descriptor));
}
void hoist_wasi_config_set_stream_kind(hoist_wasi_config_t* config, unsigned stream, uint8_t kind) {
  switch (kind) {
    case HOIST_STREAM_INHERIT:
      return c_api::set_stream(config, stream, hoist::WasiStream::inherit());
    case HOIST_STREAM_NULL: return c_api::set_stream(config, stream, hoist::WasiStream::null());
    case HOIST_STREAM_CLOSED: return c_api::set_stream(config, stream, hoist::WasiStream::closed());
    default: return;  // any number of the embedder's
  }
}
void hoist_wasi_config_set_stream_file(hoist_wasi_config_t* config, unsigned stream,
                                       const char* path, bool append) {
  if (path != nullptr) c_api::set_stream(config, stream, hoist::WasiStream::file(path, append));
}
void hoist_wasi_config_set_input(hoist_wasi_config_t* config, const wasm_byte_vec_t* bytes) {
  if (config == nullptr || bytes == nullptr) return;
  config->input.assign(bytes->data == nullptr ? "" : bytes->data,
                       bytes->data == nullptr ? 0 : bytes->size);
  config->config.in = hoist::WasiStream::to(config->input);
}
void hoist_wasi_config_set_reader(hoist_wasi_config_t* config, hoist_wasi_read_t read,
                                  void* context) {
  if (read == nullptr) return;
  c_api::set_stream(
      config, 0,
      hoist::WasiStream::reader(c_api::without_exceptions<hoist::WasiStream::Read>(read), context));
}
void hoist_wasi_config_set_writer(hoist_wasi_config_t* config, unsigned stream,
                                  hoist_wasi_write_t write, void* context) {
  if (write == nullptr || stream == 0) return;
  c_api::set_stream(config, stream,
                    hoist::WasiStream::writer(
                        c_api::without_exceptions<hoist::WasiStream::Write>(write), context));
}
void hoist_wasi_config_set_clock(hoist_wasi_config_t* config, hoist_wasi_clock_t now_ns,
                                 void* context) {
  if (config == nullptr) return;
  config->config.clock.now_ns =
      c_api::without_exceptions<decltype(hoist::WasiClock::now_ns)>(now_ns);
  config->config.clock.user = context;
}
void hoist_wasi_config_set_random(hoist_wasi_config_t* config, hoist_wasi_random_t fill,
                                  void* context) {
  if (config == nullptr) return;
  config->config.random.fill = c_api::without_exceptions<decltype(hoist::WasiRandom::fill)>(fill);
  config->config.random.user = context;
}
void hoist_wasi_config_set_listen_callback(hoist_wasi_config_t* config,
                                           hoist_wasi_listen_callback_t callback, void* context) {
  if (config == nullptr) return;
  config->config.on_listen =
      c_api::without_exceptions<decltype(hoist::WasiConfig::on_listen)>(callback);
  config->config.on_listen_user = context;
}
void hoist_wasi_config_add_listener(hoist_wasi_config_t* config, const char* address) {
  if (config != nullptr && address != nullptr) config->config.listen.emplace_back(address);
}
void hoist_wasi_config_add_descriptor(hoist_wasi_config_t* config, int descriptor) {
  if (config != nullptr) config->config.descriptors.push_back(descriptor);
}
void hoist_wasi_config_set_exit_on_broken_pipe(hoist_wasi_config_t* config, bool on) {
  if (config != nullptr) config->config.exit_on_broken_pipe = on;
}

void hoist_wasi_config_set_max_descriptors(hoist_wasi_config_t* config, uint32_t count) {
  if (config != nullptr) config->config.max_descriptors = count;
}
bool hoist_linker_define_wasi(hoist_linker_t* linker, hoist_wasi_config_t* config,
                              hoist_error_t** error) {
  if (!c_api::check(error, linker, config)) {
    hoist_wasi_config_delete(config);
    return false;
  }
  // The text of an input is copied there.
  auto done = hoist::add_wasi_to_linker(linker->linker, std::move(config->config));
  hoist_wasi_config_delete(config);
  return c_api::finish(std::move(done), error);
}

}  // extern "C"
