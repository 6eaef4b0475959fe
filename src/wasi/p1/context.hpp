// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The state of one WASI preview 1 program: arguments, environment, descriptors. Belongs to one
/// Store and is used by one thread at a time. The guest reaches nothing but what was put in here.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "platform/file_ops.hpp"
#include "wasi/p1/abi.hpp"

namespace hoist::wasi {

/// An output stream handed to host code instead of a descriptor. Returns false to report EIO.
struct OutputSink {
  bool (*write)(void* user, const std::uint8_t* data, std::size_t size) = nullptr;
  void* user = nullptr;
};

/// One open descriptor of the guest.
struct Descriptor {
  enum class Kind : std::uint8_t { File, Directory, Input, Output };
  Kind kind = Kind::File;
  platform::Fd fd;    ///< File, Directory
  bool owned = true;  ///< false: a descriptor of the host process, not closed
  bool preopen = false;
  std::string guest_path;  ///< of a preopened directory
  std::uint64_t rights_base = 0;
  std::uint64_t rights_inheriting = 0;
  std::string input;  ///< Input: what is read
  std::size_t input_at = 0;
  OutputSink output;  ///< Output
  /// Snapshot for fd_readdir, taken when the guest asks from the start; cookies are numbers in it.
  std::vector<platform::DirEntry> listing;

  Descriptor() = default;
  Descriptor(Descriptor&&) noexcept = default;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
};

class Context {
 public:
  static constexpr std::size_t kMaxDescriptors = 65536;

  std::vector<std::string> args;
  std::vector<std::string> env;  ///< "KEY=VALUE"
  /// Status given to proc_exit; set when a call answered with Outcome::Exit.
  std::optional<std::uint32_t> exit_status;

  /// Descriptor numbers are given out from the lowest free one.
  Errno add(Descriptor descriptor, std::uint32_t& number);
  /// Places `descriptor` at `number` (0, 1, 2 for the standard streams).
  void set(std::uint32_t number, Descriptor descriptor);
  Descriptor* find(std::uint32_t number);
  bool close(std::uint32_t number);
  bool renumber(std::uint32_t from, std::uint32_t to);

  /// A descriptor of the host process as standard stream `number`; it stays the host's.
  void set_host_fd(std::uint32_t number, int fd);
  /// Standard input from host memory; "" is the end at once.
  void set_input(std::string content);
  void set_output(std::uint32_t number, OutputSink sink);
  /// Makes host directory `host` visible as `guest`. Errors: Io names the directory and the reason.
  Result<void> preopen(const std::string& host, const std::string& guest, bool read_only = false);

 private:
  std::vector<std::unique_ptr<Descriptor>> table_;
};

/// What a call did besides its results.
enum class Outcome : std::uint8_t { Return, Exit };

struct Function {
  const char* name;
  const char* params;  ///< i, l as in functions.def
  bool has_result;     ///< an errno; proc_exit has none
  /// `args`: one 64-bit slot per parameter (i32 zero-extended).
  Errno (*call)(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome);
};
/// All functions of wasi_snapshot_preview1, in the order of functions.def.
std::span<const Function> functions();

}  // namespace hoist::wasi
