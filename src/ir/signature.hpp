// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Signatures, external names and the declarations of a function's preamble.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/entities.hpp"
#include "ir/types.hpp"

namespace hoist::ir {

/// Calling conventions of CLIF. `Fast` and `Tail` are Hoist's own and may use more registers.
enum class CallConv : std::uint8_t {
  Fast,
  Tail,
  SystemV,
  WindowsFastcall,
  AppleAarch64,
  Probestack,
  Winch,
  PreserveAll
};

/// May a try_call call functions of this convention?
constexpr bool supports_exceptions(CallConv conv) {
  return conv == CallConv::Tail || conv == CallConv::SystemV || conv == CallConv::Winch ||
         conv == CallConv::PreserveAll || conv == CallConv::AppleAarch64;
}
/// Number of `exnN`, words of pointer size, that a handler receives.
constexpr unsigned exception_payload_words(CallConv conv) {
  return supports_exceptions(conv) && conv != CallConv::Winch ? 2 : 0;
}

enum class ArgExtension : std::uint8_t { None, Uext, Sext };
enum class ArgPurpose : std::uint8_t { Normal, StructReturn, VmCtx, StructArgument };

struct AbiParam {
  Type type;
  ArgExtension extension = ArgExtension::None;
  ArgPurpose purpose = ArgPurpose::Normal;
  std::uint32_t struct_bytes = 0;  ///< StructArgument only
  friend bool operator==(const AbiParam&, const AbiParam&) = default;
};

struct Signature {
  std::vector<AbiParam> params;
  std::vector<AbiParam> returns;
  CallConv call_conv = CallConv::Fast;
  friend bool operator==(const Signature&, const Signature&) = default;
};

/// Name of a function or symbol outside of the function: `u0:7`, `%name`. A User name is one-to-one
/// with a FuncKey (image/layout/func_key.hpp).
struct ExternalName {
  enum class Kind : std::uint8_t { User, Testcase };
  Kind kind = Kind::User;
  std::uint32_t name_space = 0;
  std::uint32_t index = 0;
  std::string text;  ///< Testcase only, without '%'; also libcall names such as "FloorF32"

  static ExternalName user(std::uint32_t name_space, std::uint32_t index) {
    return {Kind::User, name_space, index, {}};
  }
  static ExternalName testcase(std::string text) { return {Kind::Testcase, 0, 0, std::move(text)}; }
  friend bool operator==(const ExternalName&, const ExternalName&) = default;
};

struct ExtFunc {
  ExternalName name;
  SigRef signature;
  /// In the same image: reachable by a near relative call.
  bool colocated = false;
  bool patchable = false;
};

struct StackSlotData {
  std::uint32_t bytes = 0;
  std::uint8_t align_log2 = 0;
  bool has_key = false;
  std::uint64_t key = 0;
};

/// A vector of `scale` times `base`; its values have the type `base` with the dynamic flag.
struct DynamicTypeData {
  Type base;
  GlobalValue scale;
};

struct DynamicStackSlotData {
  DynamicType type;
};

struct GlobalValueData {
  enum class Kind : std::uint8_t { VmContext, Load, IaddImm, Symbol, DynScale };
  Kind kind = Kind::VmContext;
  GlobalValue base;         ///< Load, IaddImm
  std::int64_t offset = 0;  ///< Load (i32), IaddImm, Symbol
  Type type;                ///< Load, IaddImm; DynScale: the fixed vector that is scaled
  MemFlagsRef flags;        ///< Load
  ExternalName name;        ///< Symbol
  bool colocated = false;
  bool tls = false;
};

}  // namespace hoist::ir
