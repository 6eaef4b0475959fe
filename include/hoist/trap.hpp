// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Trap: why and where a guest was stopped. Reached through the Error (kind Trap) that a call into
/// WebAssembly returned: `if (const Trap* trap = Trap::of(error))`.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hoist/detail/export.hpp"
#include "hoist/result.hpp"

namespace hoist {

namespace detail {
class LineSource;
}

/// Error::code() of an error of kind Trap.
enum class TrapCode : std::uint8_t {
  Unreachable = 1,
  TableOutOfBounds = 2,
  UndefinedElement = 3,
  UninitializedElement = 4,
  IndirectCallTypeMismatch = 5,
  NullReference = 6,
  UnalignedAtomic = 7,
  Interrupted = 8,
  OutOfFuel = 9,
  UnknownImport = 10,
  ExpectedSharedMemory = 11,  ///< memory.atomic.wait in a memory that is not shared
  NullFunctionReference = 12,
  StackOverflow = 251,
  IntegerOverflow = 252,
  MemoryOutOfBounds = 253,
  IntegerDivideByZero = 254,
  BadConversionToInteger = 255
};

/// Where something is in the source of a guest.
struct SourcePlace {
  std::string file;        ///< as the compiler named it; empty: not known
  std::uint32_t line = 0;  ///< 0: not known
};

/// A function that the guest's source has at a place in its code.
struct SourceFunction {
  std::string name;  ///< for people: demangled unless Config::demangle is off; may be empty
  SourcePlace place;
};

/// One function on the guest's stack.
struct HOIST_API Frame {
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};
  std::string module;    ///< from the name section; may be empty
  std::string function;  ///< from the name section, else an export's name; may be empty
  std::uint32_t function_index = 0;
  std::uint64_t module_offset = kNoOffset;    ///< byte offset of the instruction in the module
  std::uint64_t function_offset = kNoOffset;  ///< the same from the start of the function's body
  /// For Hoist's own code: tells modules apart, is never followed.
  const void* code = nullptr;
  bool raw_names = false;   ///< shown as it is, not demangled (Config::demangle)
  bool is_inlined = false;  ///< its code is within that of the next frame
  /// For Hoist's own code: what `source` looks into.
  std::shared_ptr<detail::LineSource> lines = {};

  /// File and line, of modules that were built with DWARF (-g). The first frame of a module that is
  /// asked reads them. Also after the module has gone.
  SourcePlace source() const noexcept;
  /// The functions that the guest's own compiler had inlined here, innermost first, and last the
  /// frame's function itself: the first is at `source`, each other where it calls the one before.
  std::vector<SourceFunction> source_functions() const noexcept;
};

class HOIST_API Trap {
 public:
  Trap() = default;

  /// The trap behind an error; null if it is not one or has no frames. Valid as long as the error.
  /// An error of kind Host or Exit that crossed guest frames has them too (code Unreachable means
  /// nothing then: see `is_guest_trap`).
  static const Trap* of(const Error& error) noexcept;

  TrapCode code() const { return code_; }
  /// The specification's words: "out of bounds memory access".
  std::string message() const;
  /// More about it, such as the limit that was hit; may be empty.
  const std::string& what() const { return what_; }
  /// False for the frames of a host function's error.
  bool is_guest_trap() const { return is_guest_trap_; }
  /// Innermost first, through all nested calls between host and guest. Deep stacks are shortened
  /// in the middle: `omitted` frames are missing before frames()[omitted_at()].
  std::span<const Frame> frames() const& { return frames_; }
  std::vector<Frame> frames() && { return std::move(frames_); }
  std::uint64_t omitted() const { return omitted_; }
  std::size_t omitted_at() const { return omitted_at_; }
  /// Message and frames, one a line, the form that `hoist run` prints.
  std::string to_string() const;
  /// The frames alone; empty if there are none.
  std::string backtrace() const;

  /// For Hoist's own code.
  struct Parts {
    TrapCode code = TrapCode::Unreachable;
    bool is_guest_trap = true;
    std::vector<Frame> frames;
    std::uint64_t omitted = 0;
    std::size_t omitted_at = 0;
    std::string what = {};  ///< which limit, which segment
  };
  explicit Trap(Parts parts)
      : frames_(std::move(parts.frames)),
        what_(std::move(parts.what)),
        omitted_(parts.omitted),
        omitted_at_(parts.omitted_at),
        code_(parts.code),
        is_guest_trap_(parts.is_guest_trap) {}

 private:
  std::vector<Frame> frames_;
  std::string what_;
  std::uint64_t omitted_ = 0;
  std::size_t omitted_at_ = 0;
  TrapCode code_ = TrapCode::Unreachable;
  bool is_guest_trap_ = true;
};

/// The specification's message of a code.
HOIST_API const char* message(TrapCode code) noexcept;

/// An Error for a host function to return that traps like the guest's own instruction would.
HOIST_API Error make_trap(TrapCode code) noexcept;

}  // namespace hoist
