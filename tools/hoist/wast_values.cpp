// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/wast_values.hpp"

#include <fmt/core.h>

#include "hoist/func.hpp"

namespace hoist::cli {

namespace {

using wasm::NanPattern;
using wasm::ScriptType;
using wasm::ScriptValue;

/// The kind of values that a heap type, as its byte, has.
ValKind kind_of_heap(std::uint8_t heap) {
  switch (heap) {
    case 0x6f:  // extern
    case 0x72: return ValKind::ExternRef;
    case 0x69:  // exn
    case 0x74: return ValKind::ExnRef;
    case 0x6e:  // any, eq, i31, struct, array, none
    case 0x6d:
    case 0x6c:
    case 0x6b:
    case 0x6a:
    case 0x71: return ValKind::AnyRef;
    default: return ValKind::FuncRef;
  }
}

Error unsupported(const char* feature) {
  return {ErrorKind::Unsupported, fmt::format("unsupported feature: {}", feature)};
}

/// Host references are never followed; number 0 must not be the null reference.
ExternRef extern_ref(std::uint64_t number) {
  return ExternRef(reinterpret_cast<void*>(static_cast<std::uintptr_t>(number + 1)));
}

Result<Val> argument(const ScriptValue& value) {
  switch (value.type) {
    case ScriptType::I32: return Val(static_cast<std::uint32_t>(value.low));
    case ScriptType::I64: return Val(value.low);
    case ScriptType::F32: return Val::f32_bits(static_cast<std::uint32_t>(value.low));
    case ScriptType::F64: return Val::f64_bits(value.low);
    case ScriptType::RefExtern: return Val(extern_ref(value.low));
    case ScriptType::RefNull: return Val::null(kind_of_heap(value.heap));
    case ScriptType::V128: return Val(V128::of<std::uint64_t>({value.low, value.high}));
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

bool matches_float(std::uint64_t bits, std::uint64_t expected, NanPattern nan, unsigned width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const std::uint64_t canonical = width == 32 ? 0x7fc0'0000u : 0x7ff8'0000'0000'0000u;
  switch (nan) {
    case NanPattern::None: return bits == expected;
    case NanPattern::Canonical: return (bits & ~sign) == canonical;
    case NanPattern::Arithmetic: return (bits & canonical) == canonical;
  }
  return false;
}

bool matches_vector(const V128& found, const ScriptValue& expected) {
  const V128 wanted = V128::of<std::uint64_t>({expected.low, expected.high});
  if (!expected.float_lanes) return found == wanted;
  const unsigned width = expected.lane_bits;
  for (unsigned lane = 0; lane < 128 / width; ++lane) {
    const auto bits = [&](const V128& v) -> std::uint64_t {
      return width == 32 ? v.lanes<std::uint32_t>()[lane] : v.lanes<std::uint64_t>()[lane];
    };
    if (!matches_float(bits(found), bits(wanted), expected.nan[lane], width)) return false;
  }
  return true;
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
      return found.kind() == ValKind::F32 &&
             matches_float(found.f32_bits(), expected.low, expected.nan[0], 32);
    case ScriptType::F64:
      return found.kind() == ValKind::F64 &&
             matches_float(found.f64_bits(), expected.low, expected.nan[0], 64);
    case ScriptType::RefNull:
      return found.is_null() && (expected.heap == 0 || found.kind() == kind_of_heap(expected.heap));
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
      return found.kind() == ValKind::V128 && matches_vector(found.v128(), expected);
    case ScriptType::RefExn: return found.kind() == ValKind::ExnRef && !found.is_null();
    case ScriptType::RefHost:
    case ScriptType::RefAny:
    case ScriptType::RefEq:
    case ScriptType::RefI31:
    case ScriptType::RefStruct:
    case ScriptType::RefArray: return false;  // no value of these kinds exists yet
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
    case ScriptType::V128: {
      std::string out = to_string(Val(V128::of<std::uint64_t>({value.low, value.high})));
      for (const NanPattern nan : value.nan) {
        if (nan != NanPattern::None) out += " " + nan_text(nan);
      }
      return out;
    }
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
