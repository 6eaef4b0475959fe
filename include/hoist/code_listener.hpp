// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CodeListener: told about machine code as it is loaded and before it goes. What Hoist's own
/// profiling agents are made of; an embedder's own is set with Config::code_listener.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hoist {

enum class CodeKind : std::uint8_t {
  Function,           ///< of the WebAssembly module, or of a user of the IR
  EntryTrampoline,    ///< from the host into a function of one signature
  ExitTrampoline,     ///< from WebAssembly to host functions of one signature
  BuiltinTrampoline,  ///< from WebAssembly to a function of Hoist
  Other
};

/// One function or trampoline.
struct CodePiece {
  std::string name;  ///< one line, for people: demangled unless Config::demangle is off
  CodeKind kind = CodeKind::Other;
  std::uint32_t index = 0;  ///< of a Function: its index in the module
  const void* address = nullptr;
  std::uint64_t size = 0;       ///< bytes, constants behind the code included
  std::uint64_t code_size = 0;  ///< of instructions
};

/// From `offset` on, up to the next line's, code belongs to this place.
struct CodeLine {
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};
  std::uint32_t offset = 0;                 ///< from the piece's address
  std::uint64_t module_offset = kNoOffset;  ///< in the WebAssembly module
  std::string_view file;                    ///< from the module's DWARF; empty if it does not say
  std::uint32_t line = 0;                   ///< 0 if it does not say
};

/// A call that was inlined into a piece, or into another one of its list.
struct InlinedCode {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Range {
    std::uint32_t begin = 0;  ///< offsets from the piece's address
    std::uint32_t end = 0;
  };
  std::string name;
  std::uint32_t index = 0;         ///< of the function that was inlined
  std::uint32_t parent = kNone;    ///< a smaller number in the list; kNone: the piece itself
  CodeLine call;                   ///< where it was called from
  std::vector<Range> ranges = {};  ///< ascending; calls inlined into this one are left out
};

/// Code that is loaded and goes as a whole: that of a module, or a single trampoline. Valid during
/// the call that it is given to; nothing is computed before it is asked for.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  /// Never the same twice in a process.
  virtual std::uint64_t id() const noexcept = 0;
  /// "module" if it has no name.
  virtual std::string module_name() const noexcept = 0;
  virtual const void* address() const noexcept = 0;
  virtual std::uint64_t size() const noexcept = 0;
  /// By address.
  virtual std::size_t piece_count() const noexcept = 0;
  virtual CodePiece piece(std::size_t number) const noexcept = 0;
  /// Lines of a piece, by offset. Clears `out`.
  virtual void lines(std::size_t number, std::vector<CodeLine>& out) const noexcept = 0;
  /// What was inlined into a piece. Clears `out`.
  virtual void inlined(std::size_t number, std::vector<InlinedCode>& out) const noexcept = 0;
  /// A `.eh_frame` section for the code, where it is: one CIE, then one FDE for each piece. May be
  /// empty.
  virtual std::span<const std::uint8_t> unwind_info() const noexcept = 0;
};

/// Hears of all code of the engines that it is given to, from their creation to their end. Called
/// from any thread, also from several at once, on the thread that loads or drops the code.
/// Must not use the engine. A listener can be that of several engines.
class CodeListener {
 public:
  virtual ~CodeListener() = default;
  /// Before the code runs for the first time.
  virtual void on_load(const LoadedCode& code) noexcept = 0;
  /// The code does not run any more; afterwards its addresses may be given to other code.
  virtual void on_unload(const LoadedCode& code) noexcept = 0;
};

}  // namespace hoist
