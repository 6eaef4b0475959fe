// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The state of one WASI preview 1 program: arguments, environment, descriptors. Used by one thread
/// at a time: each call holds `mutex`, and lets go of it where it waits in the system. The guest
/// reaches nothing but what was put in here.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "platform/file_ops.hpp"
#include "platform/wake.hpp"
#include "wasi/p1/abi.hpp"

namespace hoist::wasi {

/// A stream in host memory or host code instead of a descriptor; it behaves like a pipe. Never
/// waits for the guest.
class HostStream {
 public:
  virtual ~HostStream() = default;
  /// Up to `into.size()` bytes; 0 is the end.
  virtual Errno read(std::span<std::uint8_t> into, std::size_t& count);
  virtual Errno write(std::span<const std::uint8_t> from, std::size_t& count);
  /// Bytes that can be read now, as far as known.
  virtual std::uint64_t available() const { return 0; }
};

/// Reads the front of a text; "" is the end at once.
class TextInput final : public HostStream {
 public:
  explicit TextInput(std::string text) : text_(std::move(text)) {}
  Errno read(std::span<std::uint8_t> into, std::size_t& count) override;
  std::uint64_t available() const override { return text_.size() - at_; }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

/// Appends to a string; without one, what is written vanishes.
class TextOutput final : public HostStream {
 public:
  explicit TextOutput(std::string* text) : text_(text) {}
  Errno write(std::span<const std::uint8_t> from, std::size_t& count) override;

 private:
  std::string* text_;
};

/// One open descriptor of the guest.
struct Descriptor : std::enable_shared_from_this<Descriptor> {
  enum class Kind : std::uint8_t {
    File,       ///< regular files and devices: never waited for
    Directory,  ///<
    Stream,     ///< pipes and terminals: waited for before each access
    Socket,     ///< connected, or to be accepted from
    Hosted      ///< `stream`
  };
  Kind kind = Kind::File;
  bool owned = true;     ///< false: a descriptor of the host process, not closed
  bool preopen = false;  ///< a directory with a `guest_path`, or a socket that was there at first
  platform::Fd fd;       ///< all but Hosted
  std::uint32_t flags = 0;  ///< fdflags as the guest sees them
  std::uint64_t rights_base = 0;
  std::uint64_t rights_inheriting = 0;
  std::string guest_path;
  std::shared_ptr<HostStream> stream;
  /// Snapshot for fd_readdir, taken when the guest asks from the start; cookies are numbers in it.
  std::vector<platform::DirEntry> listing;
  int poll_item = -1;  ///< while poll_oneoff runs

  Descriptor() = default;
  Descriptor(Descriptor&&) noexcept = default;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  bool is_host() const { return kind != Kind::Hosted; }
  bool nonblocking() const { return (flags & fdflags::kNonblock) != 0; }
};

class Context {
 public:
  static constexpr std::uint32_t kDefaultMaxDescriptors = 1024;
  /// Bytes that the snapshot of one directory may take.
  static constexpr std::size_t kMaxListingBytes = std::size_t{64} << 20;

  std::vector<std::string> args;
  std::vector<std::string> env;  ///< "KEY=VALUE"
  /// Status given to proc_exit; set when a call answered with Outcome::Exit.
  std::optional<std::uint32_t> exit_status;
  std::uint32_t max_descriptors = kDefaultMaxDescriptors;
  /// Writing to standard output that nobody reads any more fails once; a program that goes on
  /// ends (Outcome::Exit).
  bool exits_on_broken_pipe = false;
  bool knows_of_broken_pipe = false;  ///< it has failed
  /// Raised to make a call that waits give up (Outcome::Interrupted); null: nobody does. Set before
  /// each call to the flag of the store that calls.
  platform::WakeFlag* wake = nullptr;
  /// Nanoseconds of WASI's clock 0 (realtime) or 1 (monotonic) instead of the system's.
  std::uint64_t (*clock)(void* user, std::uint32_t id) noexcept = nullptr;
  void* clock_user = nullptr;
  /// Random bytes instead of the system's.
  void (*random)(void* user, std::uint8_t* out, std::size_t size) noexcept = nullptr;
  void* random_user = nullptr;

  /// For programs of several threads. Recursive: code of the embedder that a call runs may call the
  /// guest.
  std::recursive_mutex mutex;
  struct Call {
    std::unique_lock<std::recursive_mutex> lock;
    std::vector<std::shared_ptr<const Descriptor>> pins;
  };
  Call* call = nullptr;  ///< the one that runs; null where there is one thread only
  /// The descriptor lives until the present call ends, even if another one closes it meanwhile.
  void pin(const Descriptor& descriptor) {
    if (call == nullptr) return;
    if (!call->pins.empty() && call->pins.back().get() == &descriptor) return;
    call->pins.push_back(descriptor.shared_from_this());
  }
  /// Runs `wait(flag)` without the lock. What is used afterwards is to be pinned before.
  template <typename F>
  auto waiting(F&& wait) {
    platform::WakeFlag* const own_wake = wake;
    Call* const own_call = call;
    if (own_call != nullptr) own_call->lock.unlock();
    const auto result = wait(own_wake);
    if (own_call != nullptr) own_call->lock.lock();
    call = own_call;
    wake = own_wake;
    return result;
  }

  /// Descriptor numbers are given out from the lowest free one. Mfile at the limit.
  Errno add(Descriptor descriptor, std::uint32_t& number);
  bool is_full() const { return open_ >= max_descriptors; }
  /// Places `descriptor` at `number` (0, 1, 2 for the standard streams).
  void set(std::uint32_t number, Descriptor descriptor);
  Descriptor* find(std::uint32_t number);
  bool close(std::uint32_t number);
  /// Both must be open; `to` is closed and becomes `from`.
  bool renumber(std::uint32_t from, std::uint32_t to);
  std::uint32_t open_descriptors() const { return open_; }

  /// A descriptor of the host process as standard stream `number`; it stays the host's. One that is
  /// not open, or gives no access (O_PATH), is a closed stream of the guest.
  void set_host_fd(std::uint32_t number, int fd);
  void set_stream(std::uint32_t number, std::shared_ptr<HostStream> stream);
  /// A file of the host as a standard stream: read as number 0, else written. Errors: Io.
  Result<void> set_file(std::uint32_t number, const std::string& path, bool append);
  /// Makes host directory `host` visible as `guest`. Errors: Io names the directory and the reason.
  Result<void> preopen(const std::string& host, const std::string& guest, bool read_only = false);
  /// An open descriptor of any kind but a directory, at the next number after the standard streams;
  /// sockets can be used, listening ones accepted from. Without `owned` it stays the host's.
  Result<void> preopen_fd(platform::Fd fd, bool owned);

 private:
  void reserve_standard_streams();

  std::vector<std::shared_ptr<Descriptor>> table_;
  std::uint32_t lowest_free_ = 0;  ///< no number below is free
  std::uint32_t open_ = 0;
};

/// Kind, flags and rights of a descriptor of the host, from what the system says. False: not open.
bool describe_host_fd(Descriptor& descriptor);

/// What a call did besides its results.
enum class Outcome : std::uint8_t {
  Return,
  Exit,        ///< proc_exit, proc_raise
  Interrupted  ///< it waited and Context::wake was raised
};

struct Function {
  const char* name;
  const char* params;  ///< i, l as in functions.def
  bool has_result;     ///< an errno; proc_exit has none
  const char* meaning;
  /// `args`: one 64-bit slot per parameter (i32 zero-extended).
  Errno (*call)(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome);
};
/// The modules that programs import WASI from.
enum class Version : std::uint8_t {
  Preview1,  ///< wasi_snapshot_preview1
  Unstable   ///< wasi_unstable, its older form
};
/// All functions of a module, in the order of functions.def.
std::span<const Function> functions(Version version = Version::Preview1);
inline constexpr std::size_t kMaxParams = 9;

}  // namespace hoist::wasi
