// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WASI preview 1 for guests: what a guest may see of its host is what is listed here, nothing
/// else. The functions, error numbers and limits are described in docs/wasi.md.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hoist/linker.hpp"

namespace hoist {

/// Where one of the guest's standard streams goes.
struct WasiStream {
  enum class Kind : std::uint8_t {
    Inherit,     ///< the process's own
    Null,        ///< reads end at once, writes vanish
    Closed,      ///< not open: every access fails with BADF
    Buffer,      ///< `buffer`: read from its front, or appended to
    File,        ///< `path`: read; or written, from the start or, with `append`, at the end
    Descriptor,  ///< `descriptor`, which stays open and the caller's
    Callback     ///< `read` or `write`
  };
  /// Fills up to `size` bytes at `into`; returns how many, 0 at the end, kFailed for an error (IO).
  /// The guest waits meanwhile.
  using Read = std::size_t (*)(void* user, std::uint8_t* into, std::size_t size) noexcept;
  /// Takes up to `size` bytes; returns how many, or kFailed.
  using Write = std::size_t (*)(void* user, const std::uint8_t* from, std::size_t size) noexcept;
  static constexpr std::size_t kFailed = ~std::size_t{0};

  Kind kind = Kind::Inherit;
  bool append = false;
  std::string* buffer = nullptr;  ///< must live as long as guests run
  int descriptor = -1;
  std::string path;
  Read read = nullptr;
  Write write = nullptr;
  void* user = nullptr;

  static WasiStream inherit() { return {}; }
  static WasiStream null() { return of(Kind::Null); }
  static WasiStream closed() { return of(Kind::Closed); }
  static WasiStream to(std::string& buffer) {
    WasiStream stream = of(Kind::Buffer);
    stream.buffer = &buffer;
    return stream;
  }
  static WasiStream file(std::string path, bool append = false) {
    WasiStream stream = of(Kind::File);
    stream.path = std::move(path);
    stream.append = append;
    return stream;
  }
  static WasiStream host_descriptor(int descriptor) {
    WasiStream stream = of(Kind::Descriptor);
    stream.descriptor = descriptor;
    return stream;
  }
  static WasiStream reader(Read read, void* user) {
    WasiStream stream = of(Kind::Callback);
    stream.read = read;
    stream.user = user;
    return stream;
  }
  static WasiStream writer(Write write, void* user) {
    WasiStream stream = of(Kind::Callback);
    stream.write = write;
    stream.user = user;
    return stream;
  }

 private:
  static WasiStream of(Kind kind) {
    WasiStream stream;
    stream.kind = kind;
    return stream;
  }
};

/// A directory of the host that the guest sees, with all that is below it and nothing above.
struct WasiDirectory {
  std::string host_path;
  std::string guest_path;
  bool read_only = false;
};

/// Where a guest's time comes from. For the clocks 0 (real time) and 1 (monotonic); waiting still
/// takes real time.
struct WasiClock {
  std::uint64_t (*now_ns)(void* user, std::uint32_t clock) noexcept = nullptr;
  void* user = nullptr;
};
/// Where a guest's random bytes come from.
struct WasiRandom {
  void (*fill)(void* user, std::uint8_t* out, std::size_t size) noexcept = nullptr;
  void* user = nullptr;
};

/// Descriptors are numbered: 0 to 2 the standard streams, from 3 on `listen`, then `descriptors`,
/// then `directories`, each in its order.
struct WasiConfig {
  std::vector<std::string> args;  ///< the first is the program's name
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<WasiDirectory> directories;
  WasiStream in;
  WasiStream out;
  WasiStream err;
  /// TCP addresses to listen on, ADDR:PORT with a numeric address ("127.0.0.1:8080", "[::1]:80").
  std::vector<std::string> listen;
  /// Told of each of them as it is listened on, in their order: the port of `address` is the one
  /// that the system chose where `wanted` has port 0.
  void (*on_listen)(void* user, const char* wanted, const char* address) noexcept = nullptr;
  void* on_listen_user = nullptr;
  /// Open descriptors of the process (sockets, pipes, files) that the guest may use. They stay open
  /// and the caller's. Directories are given by path instead.
  std::vector<int> descriptors;
  /// Descriptors that the guest may have open at a time; more fails with MFILE.
  std::uint32_t max_descriptors = 1024;
  /// A write to standard output whose reader has gone fails with PIPE, which many programs ignore:
  /// this ends one that goes on writing, with status 141, as SIGPIPE ends others.
  bool exit_on_broken_pipe = false;
  WasiClock clock;    ///< default: the system's
  WasiRandom random;  ///< default: the system's
};

/// Defines "wasi_snapshot_preview1" and "wasi_unstable", its older form. Opens the directories and
/// files and listens. All instances that the linker makes share the state: descriptors, positions.
/// proc_exit ends the entering call with an Error of kind Exit whose code() is the status. A guest
/// that waits (for input, a connection, time) stops waiting when its store is interrupted.
/// @error Io: a directory or file cannot be opened, an address not listened on; BadArgument: a name
/// with a zero byte, a bad address, a descriptor that is not open, or defined already.
HOIST_API Result<void> add_wasi_to_linker(Linker& linker, WasiConfig config) noexcept;

}  // namespace hoist
