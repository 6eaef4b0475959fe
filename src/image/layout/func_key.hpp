// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// FuncKey names every piece of machine code: one-to-one with the IR's `uNAMESPACE:INDEX` names,
/// used by relocations, symbols, profiles and tables. A new kind of trampoline is a new kind here
/// and nothing in the linker.

#include <compare>
#include <cstdint>

namespace hoist::image {

enum class FuncKind : std::uint8_t {
  WasmFunction = 0,       ///< index: function index in its module (imports counted)
  EntryTrampoline = 1,    ///< host to WebAssembly; index: type index
  ExitTrampoline = 2,     ///< WebAssembly to host function; index: type index
  BuiltinTrampoline = 3,  ///< WebAssembly to a runtime builtin; index: Builtin
  User = 4,               ///< functions of users of the IR
};

class FuncKey {
 public:
  constexpr FuncKey() = default;
  constexpr FuncKey(FuncKind kind, std::uint32_t module, std::uint32_t index)
      : name_space_(static_cast<std::uint32_t>(kind) << 24 | (module & 0xff'ffff)), index_(index) {}
  static constexpr FuncKey from_name(std::uint32_t name_space, std::uint32_t index) {
    FuncKey key;
    key.name_space_ = name_space;
    key.index_ = index;
    return key;
  }
  constexpr FuncKind kind() const { return static_cast<FuncKind>(name_space_ >> 24); }
  constexpr std::uint32_t module() const { return name_space_ & 0xff'ffff; }
  constexpr std::uint32_t name_space() const { return name_space_; }
  constexpr std::uint32_t index() const { return index_; }
  friend constexpr auto operator<=>(FuncKey, FuncKey) = default;

 private:
  std::uint32_t name_space_ = 0;
  std::uint32_t index_ = 0;
};

}  // namespace hoist::image
