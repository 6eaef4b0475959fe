// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/wast_values.hpp"

#include <fmt/core.h>

#include "hoist/func.hpp"

namespace hoist::cli {

namespace {

using wasm::NanPattern;
using wasm::ScriptType;
using wasm::ScriptValue;

/// Bytes of abstract heap types of functions and of host references, and of their empty subtypes.
enum HeapByte : std::uint8_t { kFunc = 0x70, kNoFunc = 0x73, kExtern = 0x6f, kNoExtern = 0x72 };

Error unsupported(const char* feature) {
  return {ErrorKind::Unsupported, fmt::format("unsupported feature: {}", feature)};
}

/// Host references are never followed; number 0 must not be the null reference.
ExternRef extern_ref(std::uint64_t number) {
  return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(number + 1))};
}

Result<Val> argument(const ScriptValue& value) {
  switch (value.type) {
    case ScriptType::I32: return Val(static_cast<std::uint32_t>(value.low));
    case ScriptType::I64: return Val(value.low);
    case ScriptType::F32: return Val::f32_bits(static_cast<std::uint32_t>(value.low));
    case ScriptType::F64: return Val::f64_bits(value.low);
    case ScriptType::RefExtern: return Val(extern_ref(value.low));
    case ScriptType::RefNull:
      if (value.heap == kFunc || value.heap == kNoFunc) return Val::null(ValKind::FuncRef);
      if (value.heap == kExtern || value.heap == kNoExtern) return Val::null(ValKind::ExternRef);
      return unsupported("gc");
    case ScriptType::V128: return unsupported("simd");
    case ScriptType::RefExn: return unsupported("exceptions");
    case ScriptType::RefFunc:
    case ScriptType::RefHost:
    case ScriptType::RefAny:
    case ScriptType::RefEq:
    case ScriptType::RefI31:
    case ScriptType::RefStruct:
    case ScriptType::RefArray:
    case ScriptType::Either: break;
  }
  return unsupported("gc");
}

bool matches_float(std::uint64_t bits, const ScriptValue& expected, unsigned width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const std::uint64_t canonical = width == 32 ? 0x7fc0'0000u : 0x7ff8'0000'0000'0000u;
  switch (expected.nan[0]) {
    case NanPattern::None: return bits == expected.low;
    case NanPattern::Canonical: return (bits & ~sign) == canonical;
    case NanPattern::Arithmetic: return (bits & canonical) == canonical;
  }
  return false;
}

bool matches(const Val& found, const ScriptValue& expected) {
  switch (expected.type) {
    case ScriptType::I32:
      return found.kind() == ValKind::I32 &&
             static_cast<std::uint32_t>(found.i32()) == expected.low;
    case ScriptType::I64:
      return found.kind() == ValKind::I64 &&
             static_cast<std::uint64_t>(found.i64()) == expected.low;
    case ScriptType::F32:
      return found.kind() == ValKind::F32 && matches_float(found.f32_bits(), expected, 32);
    case ScriptType::F64:
      return found.kind() == ValKind::F64 && matches_float(found.f64_bits(), expected, 64);
    case ScriptType::RefNull:
      if (!found.is_null()) return false;
      if (expected.heap == kFunc || expected.heap == kNoFunc)
        return found.kind() == ValKind::FuncRef;
      if (expected.heap == kExtern || expected.heap == kNoExtern) {
        return found.kind() == ValKind::ExternRef;
      }
      return expected.heap == 0;
    case ScriptType::RefFunc: return found.kind() == ValKind::FuncRef && !found.is_null();
    case ScriptType::RefExtern:
      if (found.kind() != ValKind::ExternRef || found.is_null()) return false;
      return !expected.has_number || found.externref() == extern_ref(expected.low);
    case ScriptType::Either:
      for (const ScriptValue& alternative : expected.alternatives) {
        if (matches(found, alternative)) return true;
      }
      return false;
    case ScriptType::V128:
    case ScriptType::RefHost:
    case ScriptType::RefAny:
    case ScriptType::RefEq:
    case ScriptType::RefI31:
    case ScriptType::RefStruct:
    case ScriptType::RefArray:
    case ScriptType::RefExn: return false;  // no value of these kinds exists yet
  }
  return false;
}

std::string nan_text(NanPattern nan) {
  return nan == NanPattern::Canonical ? "nan:canonical" : "nan:arithmetic";
}

std::string shown(const ScriptValue& value) {
  switch (value.type) {
    case ScriptType::I32: return to_string(Val(static_cast<std::uint32_t>(value.low)));
    case ScriptType::I64: return to_string(Val(value.low));
    case ScriptType::F32:
      if (value.nan[0] != NanPattern::None) return "f32:" + nan_text(value.nan[0]);
      return to_string(Val::f32_bits(static_cast<std::uint32_t>(value.low)));
    case ScriptType::F64:
      if (value.nan[0] != NanPattern::None) return "f64:" + nan_text(value.nan[0]);
      return to_string(Val::f64_bits(value.low));
    case ScriptType::V128: return fmt::format("v128:0x{:016x}{:016x}", value.high, value.low);
    case ScriptType::RefNull: return "a null reference";
    case ScriptType::RefFunc: return "a function reference";
    case ScriptType::RefExtern:
      return value.has_number ? fmt::format("host reference {}", value.low) : "a host reference";
    case ScriptType::Either: {
      std::string out = "one of";
      for (const ScriptValue& alternative : value.alternatives) out += ' ' + shown(alternative);
      return out;
    }
    case ScriptType::RefHost:
    case ScriptType::RefAny:
    case ScriptType::RefEq:
    case ScriptType::RefI31:
    case ScriptType::RefStruct:
    case ScriptType::RefArray:
    case ScriptType::RefExn: return "a reference";
  }
  return "?";
}

/// Bits too: most differences of floats do not show in decimal.
std::string shown(const Val& value) {
  if (value.kind() == ValKind::F32) {
    return fmt::format("{} (0x{:08x})", to_string(value), value.f32_bits());
  }
  if (value.kind() == ValKind::F64) {
    return fmt::format("{} (0x{:016x})", to_string(value), value.f64_bits());
  }
  if (value.kind() == ValKind::ExternRef && !value.is_null()) {
    return fmt::format("host reference {}",
                       reinterpret_cast<std::uintptr_t>(value.externref().host) - 1);
  }
  return to_string(value);
}

}  // namespace

Result<std::vector<Val>> script_arguments(std::span<const ScriptValue> values) {
  std::vector<Val> out;
  for (const ScriptValue& value : values) {
    auto converted = argument(value);
    if (!converted) return std::move(converted).error();
    out.push_back(*converted);
  }
  return out;
}

std::string compare_results(std::span<const ScriptValue> expected, std::span<const Val> found) {
  if (expected.size() != found.size()) {
    return fmt::format("expected {} result{}, found {}", expected.size(),
                       expected.size() == 1 ? "" : "s", found.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (matches(found[i], expected[i])) continue;
    const std::string place = expected.size() == 1 ? "" : fmt::format("result {}: ", i + 1);
    return fmt::format("{}expected {}, found {}", place, shown(expected[i]), shown(found[i]));
  }
  return {};
}

}  // namespace hoist::cli
