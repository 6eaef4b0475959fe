// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Module: validated, compiled WebAssembly, ready to be instantiated any number of times.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hoist/engine.hpp"
#include "hoist/types.hpp"

namespace hoist {

namespace detail {
struct ModuleImpl;
}

/// Where compilation is; called from the compiling thread a few times per second at most.
struct CompileProgress {
  std::uint32_t functions_done = 0;
  std::uint32_t functions = 0;
};

struct CompileOptions {
  /// May be null. `context` is passed through.
  void (*on_progress)(void* context, const CompileProgress& progress) = nullptr;
  void* context = nullptr;
};

/// What a compilation cost. Times in nanoseconds; CPU times are summed over all threads.
struct CompileStats {
  std::uint64_t decode_ns = 0;   ///< wall: header to section ends, and text to binary
  std::uint64_t compile_ns = 0;  ///< wall: validation and code generation
  std::uint64_t load_ns = 0;     ///< wall: mapping the code
  std::uint64_t compile_cpu_ns = 0;
  std::uint64_t translate_cpu_ns = 0;  ///< decoding bodies, validation, making IR
  std::uint64_t optimise_cpu_ns = 0;
  std::uint64_t lower_cpu_ns = 0;
  std::uint64_t regalloc_cpu_ns = 0;
  std::uint64_t emit_cpu_ns = 0;
  std::uint64_t link_cpu_ns = 0;
  bool from_cache = false;  ///< or from an image: nothing was compiled
  std::uint32_t functions = 0;
  std::uint64_t module_bytes = 0;
  std::uint64_t code_section_bytes = 0;
  std::uint64_t machine_code_bytes = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< of the process
};

/// A counted handle; copies name the same module. Immutable: any thread may use it at any time.
class HOIST_API Module {
 public:
  /// Compiles a binary module. The bytes are copied.
  /// @error Malformed, Invalid: with the byte offset; the one at the lowest offset is reported.
  /// @error Unsupported: needs a feature that this build lacks, which the message names.
  /// @error Limit: beyond a documented limit. OutOfMemory: no memory for the code.
  static Result<Module> compile(const Engine& engine, std::span<const std::uint8_t> bytes,
                                const CompileOptions& options = {}) noexcept;
  /// The same, without a copy: `bytes` must stay as they are as long as any copy of the module, and
  /// any instance of it, lives.
  static Result<Module> compile_borrowed(const Engine& engine, std::span<const std::uint8_t> bytes,
                                         const CompileOptions& options = {}) noexcept;
  /// Compiles a module in text form (WAT). Error::line and column say where a text is wrong.
  static Result<Module> from_text(const Engine& engine, std::string_view text,
                                  const CompileOptions& options = {}) noexcept;
  /// Reads and compiles a file: binary if it begins with the bytes "\0asm", else text.
  /// @error Io: unreadable, a directory, or larger than 1 GiB.
  static Result<Module> from_file(const Engine& engine, const std::string& path,
                                  const CompileOptions& options = {}) noexcept;
  /// Binary or text, told apart by the first four bytes. The bytes are copied.
  static Result<Module> load(const Engine& engine, std::span<const std::uint8_t> bytes,
                             const CompileOptions& options = {}) noexcept;
  /// Compiles a module, binary or text, for an engine that need not be able to run it
  /// (Config::cpu); the result is what `serialize` gives. Errors as `compile` and `from_text`.
  static Result<std::vector<std::uint8_t>> precompile(const Engine& engine,
                                                      std::span<const std::uint8_t> bytes,
                                                      const CompileOptions& options = {}) noexcept;
  /// A module as `serialize` wrote it, for an engine of the same settings. Its machine code is
  /// trusted as that of a shared library is: whoever made the bytes can do whatever this process
  /// can. Bytes that are damaged or not an image are an error, nothing else. The bytes are copied.
  /// @error Malformed: no image, cut off, damaged. Unsupported: another version of Hoist, another
  ///        CPU or other settings than the engine's; the message names them.
  static Result<Module> deserialize(const Engine& engine,
                                    std::span<const std::uint8_t> image) noexcept;
  /// The same for a file, which is mapped, not copied: replace it, never write into it.
  /// @error Io besides
  static Result<Module> deserialize_file(const Engine& engine, const std::string& path) noexcept;
  /// Whether the bytes begin as an image does (and are neither WebAssembly nor text).
  static bool is_image(std::span<const std::uint8_t> bytes) noexcept;
  /// Decodes and validates a binary module without generating code. Errors as `compile`.
  static Result<void> validate(std::span<const std::uint8_t> bytes) noexcept;
  /// The same with other language features than the defaults: see Config::features.
  static Result<void> validate(std::span<const std::uint8_t> bytes,
                               std::string_view features) noexcept;

  Module(const Module&) noexcept;
  Module(Module&&) noexcept;
  Module& operator=(const Module&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  /// The image: machine code, tables and the module itself, an ELF file that objdump, nm and
  /// debuggers read (docs/images.md).
  Result<std::vector<std::uint8_t>> serialize() const noexcept;
  /// The same into a file, which is replaced at once and is then executable, or is left as it was.
  /// @error Io
  Result<void> serialize_to_file(const std::string& path) const noexcept;

  Engine engine() const noexcept;
  /// In the order of the module; its length is that of the list that Instance::create takes.
  std::vector<ImportType> imports() const noexcept;
  std::vector<ExportType> exports() const noexcept;
  std::optional<ExternType> find_export(std::string_view name) const noexcept;
  /// From the name section; empty if there is none.
  std::string_view name() const noexcept;
  /// Has a start function, which runs at instantiation?
  bool has_start() const noexcept;
  /// Contents of the custom sections of that name, in order. Valid as long as the module.
  std::vector<std::span<const std::uint8_t>> custom_sections(std::string_view name) const noexcept;
  const CompileStats& stats() const noexcept;

  explicit Module(std::shared_ptr<detail::ModuleImpl> impl) noexcept;
  const std::shared_ptr<detail::ModuleImpl>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::ModuleImpl> impl_;
};

}  // namespace hoist
