// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Calls of functions and libcalls.
#include <cstring>

#include "ir/interp/interpreter.hpp"
#include "ir/text/printer.hpp"

namespace hoist::ir {

using interp::Evaluated;

namespace {
/// Function addresses fit 32 bits and are far from stack addresses.
constexpr std::uint64_t kFunctionAddress = 0xe000'0000;
constexpr std::uint64_t kLibcallAddress = 0xd000'0000;

/// Walks the frames up to the entry and resumes at the first handler that matches.
constexpr std::string_view kThrow = "__cranelift_throw";

constexpr std::string_view kLibcalls[] = {
    "CeilF32",    "CeilF64", "FloorF32", "FloorF64", "TruncF32", "TruncF64", "NearestF32", "FmaF32",
    "NearestF64", "FmaF64",  "Memcpy",   "Memmove",  "Memset",   "Memcmp",   kThrow};
}  // namespace

interp::U128 Interpreter::function_address(std::uint32_t code) const {
  return kFunctionAddress + std::uint64_t{code} * 16;
}

Result<interp::U128> Interpreter::address_of_callee(Inst inst) {
  const std::string& name = func().ext_funcs[FuncRef(func().data(inst).a)].name.text;
  HOIST_TRY(const std::uint32_t code, callee(inst));
  if (code != kLibcall) return function_address(code);
  for (std::size_t i = 0; i < std::size(kLibcalls); ++i) {
    if (kLibcalls[i] == name) return U128{kLibcallAddress + i * 16};
  }
  return Error(ErrorKind::Link, "unknown function %" + name);
}

/// The code that a FuncRef of the current function names; kLibcall for a name that no function has.
Result<std::uint32_t> Interpreter::callee(Inst inst) {
  const FuncRef ref(func().data(inst).a);
  std::vector<std::uint32_t>& known = codes_[frames_.back().code].callees;
  if (known.size() < func().ext_funcs.size()) known.resize(func().ext_funcs.size(), kNotLookedUp);
  std::uint32_t& code = known[ref.index()];
  if (code == kNotLookedUp) {
    base::Printer text;
    text << func().ext_funcs[ref].name;
    const auto found = by_name_.find(std::string(text.view()));
    code = found != by_name_.end() ? found->second : kLibcall;
  }
  const ExternalName& name = func().ext_funcs[ref].name;
  if (code != kLibcall || name.kind == ExternalName::Kind::Testcase) return code;
  base::Printer text;
  text << "unknown function " << name;
  return Error(ErrorKind::Link, text.take());
}

Result<Interpreter::Step> Interpreter::call(Inst inst) {
  const InstData& data = func().data(inst);
  std::vector<U128> args;
  for (const Value v : func().arg_list(inst)) args.push_back(value(v));
  const bool is_direct = format(data.op) == Format::Call || format(data.op) == Format::TryCall;
  std::uint32_t code = 0;
  const Signature* signature = nullptr;
  if (is_direct) {
    HOIST_TRY(code, callee(inst));
    const ExtFunc& ext = func().ext_funcs[FuncRef(data.a)];
    if (code == kLibcall) {
      if (data.op == Op::ReturnCall) return unsupported(inst);
      return libcall(inst, ext.name.text, args);
    }
    signature = &func().signatures[ext.signature];
  } else {
    const U128 offset = args.front() - kFunctionAddress;
    const U128 libcall_offset = args.front() - kLibcallAddress;
    args.erase(args.begin());
    if (libcall_offset % 16 == 0 && libcall_offset / 16 < std::size(kLibcalls)) {
      if (data.op == Op::ReturnCallIndirect) return unsupported(inst);
      return libcall(inst, kLibcalls[static_cast<std::size_t>(libcall_offset / 16)], args);
    }
    if (offset % 16 != 0 || offset / 16 >= codes_.size()) {
      return Error(ErrorKind::Invalid,
                   "a call through a pointer that is no function's address in `" +
                       to_string(func(), inst) + "`");
    }
    code = static_cast<std::uint32_t>(offset / 16);
    signature = &func().signatures[func().call_signature(inst)];
  }
  const Signature& actual = codes_[code].func->signature;
  const auto types_differ = [](const std::vector<AbiParam>& a, const std::vector<AbiParam>& b) {
    if (a.size() != b.size()) return true;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].type != b[i].type) return true;
    }
    return false;
  };
  if (types_differ(actual.params, signature->params) ||
      types_differ(actual.returns, signature->returns)) {
    return Error(ErrorKind::Invalid,
                 "the callee has another signature than `" + to_string(func(), inst) + "` says");
  }
  if (is_terminator(data.op) && !is_try(data.op)) pop_frame();
  return enter(code, args);
}

Result<Interpreter::Step> Interpreter::libcall(Inst inst, std::string_view name,
                                               std::span<const U128> args) {
  if (name.starts_with("Mem")) return memory_libcall(inst, name, args);
  if (name == kThrow) return throw_exception(inst, args);
  const Evaluated result = interp::evaluate_libcall(name, args.data(), args.size());
  if (!result.supported || func().signatures[func().call_signature(inst)].returns.size() != 1) {
    return Error(ErrorKind::Link, "unknown function %" + std::string(name));
  }
  return return_to(inst, std::span(&result.value, 1));
}

/// Arguments: the entry's frame pointer, frame pointer and pc of the thrower, tag, two payload
/// words. A frame handles what its call's table names: tags in order, or `default`. The entry's
/// frame is the last one asked; the thrower's own, which has called the routine that throws, is
/// not. Without a handler the routine returns.
Result<Interpreter::Step> Interpreter::throw_exception(Inst inst, std::span<const U128> args) {
  if (args.size() != 6) {
    return Error(ErrorKind::Invalid, "%__cranelift_throw takes 6 arguments");
  }
  const auto entry = static_cast<std::uint64_t>(args[0]);
  for (std::size_t at = frames_.size() - 1; at-- > 0 && frame_pointer(at) <= entry;) {
    const Frame& frame = frames_[at];
    const Function& func = *codes_[frame.code].func;
    if (!is_try(func.op(frame.at))) continue;
    for (const ExceptionItem& item : func.exception_items(frame.at)) {
      if (item.kind == ExceptionItem::Kind::Context) continue;
      if (item.kind == ExceptionItem::Kind::Tag && item.tag != args[3]) continue;
      while (frames_.size() > at + 1) pop_frame();
      for (const Value v : func.call_args(item.target)) {
        const ValueData& data = func.value(v);
        if (data.kind == ValueKind::TryException) value(v) = args[4 + data.number];
      }
      return go_to(item.target);
    }
  }
  if (!func().signatures[func().call_signature(inst)].returns.empty()) return unsupported(inst);
  return return_to(inst, {});
}

Result<Interpreter::Step> Interpreter::memory_libcall(Inst inst, std::string_view name,
                                                      std::span<const U128> args) {
  const Error unknown(ErrorKind::Link, "unknown function %" + std::string(name));
  if (args.size() != 3) return unknown;
  const auto size = static_cast<std::uint64_t>(args[2]);
  std::uint8_t* to = find(static_cast<std::uint64_t>(args[0]), size);
  const bool is_set = name == "Memset";
  const std::uint8_t* from = is_set ? to : find(static_cast<std::uint64_t>(args[1]), size);
  if (size != 0 && (to == nullptr || from == nullptr)) return trap(TrapCode::HeapOutOfBounds);
  U128 result = args[0];
  if (name == "Memcpy" || name == "Memmove") {
    if (size != 0) std::memmove(to, from, static_cast<std::size_t>(size));
  } else if (is_set) {
    if (size != 0)
      std::memset(to, static_cast<int>(args[1] & 0xff), static_cast<std::size_t>(size));
  } else if (name == "Memcmp") {
    const int order = size == 0 ? 0 : std::memcmp(to, from, static_cast<std::size_t>(size));
    result = order < 0 ? 0xffff'ffffu : order > 0 ? 1u : 0u;
  } else {
    return unknown;
  }
  const std::vector<AbiParam>& returns = func().signatures[func().call_signature(inst)].returns;
  if (!returns.empty()) result &= interp::mask(returns[0].type.bits());
  // Callers may leave the result of a copy undeclared.
  return return_to(inst, std::span(&result, returns.empty() ? 0 : 1));
}

}  // namespace hoist::ir
