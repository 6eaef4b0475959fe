// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// add_wasi_to_linker: the table of src/wasi/p1 as host functions. The guest's memory is what the
// calling instance exports as "memory", as WASI says.
#include "hoist/wasi.hpp"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "base/result.hpp"
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

bool invoke(void* opaque, detail::HostCall& call) noexcept {
  const auto& closure = *static_cast<const Closure*>(opaque);
  const wasi::Function& function = *closure.function;
  std::uint64_t args[16];
  for (std::size_t i = 0; function.params[i] != '\0'; ++i) args[i] = call.slots()[i].bits[0];
  const Caller caller(call);
  const std::optional<Memory> memory = caller.memory();
  if (!memory) {
    call.fail(Error(ErrorKind::Host,
                    fmt::format("{} was called by a module that exports no memory named \"memory\"",
                                function.name)));
    return false;
  }
  auto outcome = wasi::Outcome::Return;
  const wasi::Errno error =
      function.call(*closure.context, wasi::GuestMemory(memory->data()), args, outcome);
  if (outcome == wasi::Outcome::Exit) {
    const std::uint32_t status = closure.context->exit_status.value_or(0);
    Error exit(ErrorKind::Exit, fmt::format("the program ended with status {}", status));
    exit.with_code(static_cast<std::int32_t>(status));
    call.fail(std::move(exit));
    return false;
  }
  if (function.has_result) call.slots()[0].bits[0] = static_cast<std::uint64_t>(error);
  return true;
}

bool append_to_buffer(void* user, const std::uint8_t* data, std::size_t size) {
  static_cast<std::string*>(user)->append(reinterpret_cast<const char*>(data), size);
  return true;
}
bool discard(void*, const std::uint8_t*, std::size_t) {
  return true;
}

void attach(wasi::Context& context, std::uint32_t number, const WasiStream& stream) {
  switch (stream.kind) {
    case WasiStream::Kind::Inherit: context.set_host_fd(number, static_cast<int>(number)); break;
    case WasiStream::Kind::Descriptor: context.set_host_fd(number, stream.descriptor); break;
    case WasiStream::Kind::Null:
      if (number == 0) {
        context.set_input("");
      } else {
        context.set_output(number, {discard, nullptr});
      }
      break;
    case WasiStream::Kind::Buffer:
      if (number == 0) {
        context.set_input(stream.buffer != nullptr ? *stream.buffer : std::string());
      } else {
        context.set_output(number, {append_to_buffer, stream.buffer});
      }
      break;
  }
}

Result<std::shared_ptr<wasi::Context>> make_context(WasiConfig config) {
  auto context = std::make_shared<wasi::Context>();
  for (const std::string& arg : config.args) {
    if (arg.find('\0') != std::string::npos) {
      return Error(ErrorKind::BadArgument, "a WASI argument contains a zero byte");
    }
  }
  context->args = std::move(config.args);
  for (const auto& [key, value] : config.env) {
    const std::string entry = key + "=" + value;
    if (key.empty() || key.find('=') != std::string::npos ||
        entry.find('\0') != std::string::npos) {
      return Error(ErrorKind::BadArgument,
                   fmt::format("'{}' cannot be the name of a WASI environment variable", key));
    }
    context->env.push_back(entry);
  }
  attach(*context, 0, config.in);
  attach(*context, 1, config.out);
  attach(*context, 2, config.err);
  for (const WasiDirectory& directory : config.directories) {
    HOIST_TRY_VOID(
        context->preopen(directory.host_path, directory.guest_path, directory.read_only));
  }
  return context;
}

}  // namespace

Result<void> add_wasi_to_linker(Linker& linker, WasiConfig config) noexcept {
  HOIST_TRY(const std::shared_ptr<wasi::Context> context, make_context(std::move(config)));
  for (const char* module : {"wasi_snapshot_preview1", "wasi_unstable"}) {
    for (const wasi::Function& function : wasi::functions()) {
      // The older module has other numbers for some structures: what does not agree is left out.
      const std::string_view name = function.name;
      const bool differs = name == "fd_filestat_get" || name == "path_filestat_get" ||
                           name == "fd_seek" || name == "poll_oneoff" || name == "sock_accept";
      if (module[5] == 'u' && differs) continue;
      detail::HostFuncSpec spec{type_of(function), invoke, new Closure{context, &function},
                                [](void* closure) { delete static_cast<Closure*>(closure); }};
      HOIST_TRY_VOID(linker.define_host(module, name, std::move(spec)));
    }
  }
  return {};
}

}  // namespace hoist
