// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WASI preview 1 for guests: what a guest may see of its host is what is listed here, nothing
/// else.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hoist/linker.hpp"

namespace hoist {

/// Where one of the guest's standard streams goes.
struct WasiStream {
  enum class Kind : std::uint8_t {
    Inherit,    ///< the process's own
    Null,       ///< reads end at once, writes vanish
    Buffer,     ///< `buffer`: read from its front, or appended to
    Descriptor  ///< `descriptor`, which stays open and the caller's
  };
  Kind kind = Kind::Inherit;
  std::string* buffer = nullptr;  ///< must live as long as guests run
  int descriptor = -1;

  static WasiStream inherit() { return {}; }
  static WasiStream null() { return {Kind::Null, nullptr, -1}; }
  static WasiStream to(std::string& buffer) { return {Kind::Buffer, &buffer, -1}; }
};

/// A directory of the host that the guest sees, with all that is below it and nothing above.
struct WasiDirectory {
  std::string host_path;
  std::string guest_path;
  bool read_only = false;
};

struct WasiConfig {
  std::vector<std::string> args;  ///< the first is the program's name
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<WasiDirectory> directories;
  WasiStream in;
  WasiStream out;
  WasiStream err;
};

/// Defines "wasi_snapshot_preview1" (and "wasi_unstable", its older name, where they agree). Opens
/// the directories. All instances that the linker makes share the state: descriptors, positions.
/// proc_exit ends the entering call with an Error of kind Exit whose code() is the status.
/// @error Io: a directory cannot be opened; BadArgument: a name with a zero byte, or defined
/// already.
HOIST_API Result<void> add_wasi_to_linker(Linker& linker, WasiConfig config) noexcept;

}  // namespace hoist
