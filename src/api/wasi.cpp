// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// add_wasi_to_linker: the table of src/wasi/p1 as host functions. The guest's memory is what the
// calling instance exports as "memory", as WASI says.
#include "hoist/wasi.hpp"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>

#include "api/impl.hpp"
#include "base/result.hpp"
#include "platform/embedder_call.hpp"
#include "platform/sockets.hpp"
#include "runtime/store/store.hpp"
#include "wasi/p1/context.hpp"

namespace hoist {

namespace {

struct Closure {
  std::shared_ptr<wasi::Context> context;
  const wasi::Function* function;
};

FuncType type_of(const wasi::Function& function) {
  std::vector<ValType> params;
  for (const char* p = function.params; *p != '\0'; ++p) {
    params.push_back(*p == 'l' ? ValKind::I64 : ValKind::I32);
  }
  std::vector<ValType> results;
  if (function.has_result) results.push_back(ValKind::I32);
  return {std::move(params), std::move(results)};
}

/// The memory that an instance exports, for looking at again after code of the embedder has run.
std::span<std::uint8_t> look_at(const void* memory) {
  return static_cast<const Memory*>(memory)->data();
}

bool invoke(void* opaque, detail::HostCall& call) noexcept {
  const auto& closure = *static_cast<const Closure*>(opaque);
  const wasi::Function& function = *closure.function;
  std::uint64_t args[wasi::kMaxParams];
  for (std::size_t i = 0; function.params[i] != '\0'; ++i) args[i] = call.slots()[i].bits[0];
  const Caller caller(call);
  const std::optional<Memory> memory = caller.memory();
  if (!memory) {
    call.fail(Error(ErrorKind::Host,
                    fmt::format("{} was called by a module that exports no memory named \"memory\"",
                                function.name)));
    return false;
  }
  runtime::Store* store = api::Access::store(call.store());
  const std::shared_ptr<wasi::Context> context = closure.context;
  wasi::Context::Call running{std::unique_lock<std::recursive_mutex>(context->mutex), {}};
  // A call that another one's callback makes leaves these as it found them.
  auto* const outer_call = std::exchange(context->call, &running);
  auto* const outer_wake = std::exchange(context->wake, &store->wake());
  auto outcome = wasi::Outcome::Return;
  const wasi::GuestMemory::Source source{look_at, &*memory};
  const wasi::Errno error =
      function.call(*context, wasi::GuestMemory(memory->data(), &source), args, outcome);
  context->call = outer_call;
  context->wake = outer_wake;
  switch (outcome) {
    case wasi::Outcome::Return: break;
    case wasi::Outcome::Interrupted: store->set_interrupted(); return false;
    case wasi::Outcome::Exit: {
      const std::uint32_t status = context->exit_status.value_or(0);
      Error exit(ErrorKind::Exit, fmt::format("the program ended with status {}", status));
      exit.with_code(static_cast<std::int32_t>(status));
      call.fail(std::move(exit));
      return false;
    }
  }
  if (function.has_result) call.slots()[0].bits[0] = static_cast<std::uint64_t>(error);
  return true;
}

class CallbackStream final : public wasi::HostStream {
 public:
  explicit CallbackStream(const WasiStream& stream)
      : read_(stream.read), write_(stream.write), user_(stream.user) {}
  wasi::Errno read(std::span<std::uint8_t> into, std::size_t& count) override {
    if (read_ == nullptr) return wasi::Errno::Badf;
    count = platform::embedder_call([&] { return read_(user_, into.data(), into.size()); });
    return count == WasiStream::kFailed ? wasi::Errno::Io : wasi::Errno::Success;
  }
  wasi::Errno write(std::span<const std::uint8_t> from, std::size_t& count) override {
    if (write_ == nullptr) return wasi::Errno::Badf;
    count = platform::embedder_call([&] { return write_(user_, from.data(), from.size()); });
    return count == WasiStream::kFailed ? wasi::Errno::Io : wasi::Errno::Success;
  }

 private:
  WasiStream::Read read_;
  WasiStream::Write write_;
  void* user_;
};

Result<void> attach(wasi::Context& context, std::uint32_t number, const WasiStream& stream) {
  const bool input = number == 0;
  const auto text = [&](std::string* buffer) -> std::shared_ptr<wasi::HostStream> {
    if (!input) return std::make_shared<wasi::TextOutput>(buffer);
    return std::make_shared<wasi::TextInput>(buffer != nullptr ? *buffer : std::string());
  };
  switch (stream.kind) {
    case WasiStream::Kind::Inherit: context.set_host_fd(number, static_cast<int>(number)); break;
    case WasiStream::Kind::Descriptor: context.set_host_fd(number, stream.descriptor); break;
    case WasiStream::Kind::Closed: break;
    case WasiStream::Kind::Null: context.set_stream(number, text(nullptr)); break;
    case WasiStream::Kind::Buffer: context.set_stream(number, text(stream.buffer)); break;
    case WasiStream::Kind::Callback:
      context.set_stream(number, std::make_shared<CallbackStream>(stream));
      break;
    case WasiStream::Kind::File: return context.set_file(number, stream.path, stream.append);
  }
  return {};
}

bool has_zero(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

Result<void> add_strings(wasi::Context& context, WasiConfig& config) {
  for (const std::string& arg : config.args) {
    if (has_zero(arg)) return Error(ErrorKind::BadArgument, "a WASI argument contains a zero byte");
  }
  context.args = std::move(config.args);
  for (const auto& [key, value] : config.env) {
    std::string entry = key + "=" + value;
    if (key.empty() || key.find('=') != std::string::npos || has_zero(entry)) {
      return Error(ErrorKind::BadArgument,
                   fmt::format("'{}' cannot be the name of a WASI environment variable", key));
    }
    context.env.push_back(std::move(entry));
  }
  return {};
}

Result<void> add_sockets_and_files(wasi::Context& context, const WasiConfig& config) {
  for (const std::string& address : config.listen) {
    HOIST_TRY(platform::Fd socket, platform::listen_tcp(address));
    if (config.on_listen != nullptr) {
      platform::embedder_call([&] {
        config.on_listen(config.on_listen_user, address.c_str(),
                         platform::address_of(socket.get()).c_str());
      });
    }
    HOIST_TRY_VOID(context.preopen_fd(std::move(socket), true));
  }
  for (const int descriptor : config.descriptors)
    HOIST_TRY_VOID(context.preopen_fd(platform::Fd(descriptor), false));
  for (const WasiDirectory& directory : config.directories) {
    if (has_zero(directory.host_path) || has_zero(directory.guest_path)) {
      return Error(ErrorKind::BadArgument, "the name of a WASI directory contains a zero byte");
    }
    HOIST_TRY_VOID(context.preopen(directory.host_path, directory.guest_path, directory.read_only));
  }
  return {};
}

Result<std::shared_ptr<wasi::Context>> make_context(WasiConfig config) {
  auto context = std::make_shared<wasi::Context>();
  HOIST_TRY_VOID(add_strings(*context, config));
  HOIST_TRY_VOID(attach(*context, 0, config.in));
  HOIST_TRY_VOID(attach(*context, 1, config.out));
  HOIST_TRY_VOID(attach(*context, 2, config.err));
  HOIST_TRY_VOID(add_sockets_and_files(*context, config));
  context->max_descriptors = config.max_descriptors;
  context->exits_on_broken_pipe = config.exit_on_broken_pipe;
  context->clock = config.clock.now_ns;
  context->clock_user = config.clock.user;
  context->random = config.random.fill;
  context->random_user = config.random.user;
  return context;
}

}  // namespace

Result<void> add_wasi_to_linker(Linker& linker, WasiConfig config) noexcept {
  HOIST_TRY(const std::shared_ptr<wasi::Context> context, make_context(std::move(config)));
  constexpr std::pair<const char*, wasi::Version> kModules[] = {
      {"wasi_snapshot_preview1", wasi::Version::Preview1},
      {"wasi_unstable", wasi::Version::Unstable}};
  for (const auto& [module, version] : kModules) {
    for (const wasi::Function& function : wasi::functions(version)) {
      detail::HostFuncSpec spec{type_of(function), invoke, new Closure{context, &function},
                                [](void* closure) { delete static_cast<Closure*>(closure); }};
      HOIST_TRY_VOID(linker.define_host(module, function.name, std::move(spec)));
    }
  }
  return {};
}

}  // namespace hoist
