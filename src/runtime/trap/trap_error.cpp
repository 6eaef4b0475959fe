// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/trap/trap_error.hpp"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/text/printable.hpp"
#include "demangle/demangle.hpp"
#include "image/inlined_frames.hpp"
#include "jit/code_registry.hpp"
#include "runtime/engine/module_code.hpp"
#include "runtime/trap/thrown.hpp"

namespace hoist::runtime {

static bool has_frames(hoist::detail::ErrorDetail::Kind kind) {
  using Kind = hoist::detail::ErrorDetail::Kind;
  return kind == Kind::Trap || kind == Kind::Thrown;
}

TrapDetail::TrapDetail(hoist::Trap::Parts parts)
    : ErrorDetail(Kind::Trap, [](ErrorDetail* self) { delete static_cast<TrapDetail*>(self); }),
      trap(std::move(parts)) {}

static hoist::TrapCode to_public(image::TrapCode code) {
  return static_cast<hoist::TrapCode>(static_cast<std::uint8_t>(code));
}

Error trap_error(image::TrapCode code, std::string what) {
  std::string message = image::trap_message(code);
  if (!what.empty()) message += ": " + what;
  Error error(ErrorKind::Trap, std::move(message));
  hoist::Trap::Parts parts;
  parts.what = std::move(what);
  parts.code = to_public(code);
  error.with_code(static_cast<std::int32_t>(code));
  error.with_detail(hoist::detail::ErrorDetailRef(new TrapDetail(std::move(parts))));
  return error;
}

/// `source` is where `func` is.
static hoist::Frame make_frame(const ModuleCode& code, std::uint32_t func, std::uint32_t source) {
  hoist::Frame out;
  out.module = code.names().module();
  out.function = code.names().function(func);
  out.function_index = func;
  out.code = &code;
  out.lines = code.line_source();
  const wasm::Module& module = code.module();
  if (source != image::kAbsent && func < module.num_functions() &&
      !module.is_imported_function(func)) {
    out.module_offset = source;
    const std::uint32_t begin = module.body(func).offset;
    if (source >= begin) out.function_offset = source - begin;
  }
  return out;
}

/// Calls put(frame) for each function that the source has there, innermost first: none for code
/// that is not of a WebAssembly function.
template <typename Put>
static void describe(std::uintptr_t pc, bool is_return_address, Put&& put) {
  // A return address may lie behind the end of the calling function.
  const std::uintptr_t at = is_return_address ? pc - 1 : pc;
  const jit::CodeLookup lookup;
  const jit::LoadedCode* loaded = lookup.find(at);
  const CodeOwner* owner = loaded == nullptr ? nullptr : CodeOwner::of(loaded->owner);
  if (owner == nullptr || owner->module == nullptr) return;
  const std::uint32_t offset = loaded->offset_of(at);
  const image::FunctionEntry* entry = loaded->image->find_function(offset);
  if (entry == nullptr || entry->key.kind() != image::FuncKind::WasmFunction) return;
  std::optional<hoist::Frame> inner;
  image::for_each_source_frame(*loaded->image, offset,
                               [&](image::FuncKey key, std::uint32_t source) {
                                 if (key.kind() != image::FuncKind::WasmFunction) return;
                                 if (inner) {
                                   inner->is_inlined = true;
                                   put(*std::move(inner));
                                 }
                                 inner = make_frame(*owner->module, key.index(), source);
                                 inner->raw_names = owner->raw_names;
                               });
  if (inner) put(*std::move(inner));
}

/// Keeps the first and the last frames.
static void append_frame(hoist::Trap::Parts& parts, hoist::Frame frame) {
  parts.frames.push_back(std::move(frame));
  if (parts.frames.size() <= kMostFrames) return;
  if (parts.omitted == 0) parts.omitted_at = kMostFrames / 2;
  parts.frames.erase(parts.frames.begin() + static_cast<std::ptrdiff_t>(parts.omitted_at));
  ++parts.omitted;
}

void append_frames(hoist::Trap::Parts& parts, const jit::RawTrace& trace) {
  for (std::uint32_t i = 0; i < trace.kept(); ++i) {
    if (i == jit::RawTrace::kEnds && trace.omitted() != 0) {
      // What follows comes after the gap: what is there now and does not fit goes into it.
      const std::size_t room = kMostFrames - jit::RawTrace::kEnds;
      if (parts.omitted == 0) parts.omitted_at = std::min(room, parts.frames.size());
      parts.omitted += trace.omitted() + (parts.frames.size() - parts.omitted_at);
      parts.frames.resize(parts.omitted_at);
    }
    describe(trace.pc(i), i != 0,
             [&](hoist::Frame frame) { append_frame(parts, std::move(frame)); });
  }
}

Error with_frames(Error error, const jit::RawTrace& trace) {
  using hoist::detail::ErrorDetail;
  if (error.kind() == ErrorKind::Exit) return error;
  hoist::Trap::Parts parts;
  parts.is_guest_trap = error.kind() == ErrorKind::Trap;
  if (const ErrorDetail* detail = error.detail()) {
    if (!has_frames(detail->kind)) return error;
    const hoist::Trap& before = static_cast<const TrapDetail*>(detail)->trap;
    parts.code = before.code();
    parts.what = before.what();
    parts.is_guest_trap = before.is_guest_trap();
    parts.frames.assign(before.frames().begin(), before.frames().end());
    parts.omitted = before.omitted();
    parts.omitted_at = before.omitted_at();
  }
  append_frames(parts, trace);
  const ThrownDetail* thrown = thrown_of(error);
  TrapDetail* made = thrown == nullptr ? new TrapDetail(std::move(parts))
                                       : new ThrownDetail(std::move(parts), thrown->store,
                                                          thrown->exception, thrown->hold);
  error.with_detail(hoist::detail::ErrorDetailRef(made));
  return error;
}

}  // namespace hoist::runtime

// ---- The public class.
namespace hoist {

const Trap* Trap::of(const Error& error) noexcept {
  const detail::ErrorDetail* found = error.detail();
  if (found == nullptr || !runtime::has_frames(found->kind)) return nullptr;
  return &static_cast<const runtime::TrapDetail*>(found)->trap;
}

const char* message(TrapCode code) noexcept {
  return image::trap_message(static_cast<image::TrapCode>(static_cast<std::uint8_t>(code)));
}

std::string Trap::message() const {
  return hoist::message(code_);
}

Error make_trap(TrapCode code) noexcept {
  return runtime::trap_error(static_cast<image::TrapCode>(static_cast<std::uint8_t>(code)));
}

SourcePlace Frame::source() const noexcept {
  if (lines == nullptr || module_offset == kNoOffset) return {};
  const wasm::SourceLine found = lines->table().find(module_offset);
  return {std::string(found.file), found.line};
}

static constexpr std::size_t kMaxName = 256;  // bytes of a name in a backtrace

static std::string function_name(const Frame& frame) {
  return frame.raw_names ? frame.function : demangle::demangled(frame.function);
}

std::vector<SourceFunction> Frame::source_functions() const noexcept {
  std::vector<SourceFunction> out;
  if (lines != nullptr && module_offset != kNoOffset) {
    wasm::for_each_source_frame(lines->table(), lines->inlined_calls(), module_offset,
                                [&](const wasm::SourceFrame& frame) {
                                  const std::string mangled(frame.function);
                                  out.push_back({raw_names ? mangled : demangle::demangled(mangled),
                                                 {std::string(frame.at.file), frame.at.line}});
                                });
  }
  if (out.empty()) out.emplace_back();
  out.back().name = function_name(*this);
  return out;
}

static std::string place_text(const SourcePlace& place) {
  if (place.line == 0) return {};
  return fmt::format(" at {}:{}", base::printable(place.file, kMaxName), place.line);
}

/// A line for the frame, after one for each function that its module's compiler inlined there.
static std::string frame_lines(std::size_t number, const Frame& frame) {
  std::string out = fmt::format("  {:>3}: ", number);
  const std::vector<SourceFunction> functions = frame.source_functions();
  // Names are the guest's: they must neither move a terminal's cursor nor fill the screen.
  for (std::size_t i = 0; i + 1 < functions.size(); ++i) {
    out += base::printable(functions[i].name, kMaxName) + place_text(functions[i].place) +
           " (inlined)\n       ";
  }
  if (!frame.module.empty()) out += base::printable(frame.module, kMaxName) + "!";
  out += frame.function.empty() ? fmt::format("func[{}]", frame.function_index)
                                : base::printable(functions.back().name, kMaxName);
  if (frame.module_offset != Frame::kNoOffset) out += fmt::format(" @ 0x{:x}", frame.module_offset);
  out += place_text(functions.back().place);
  if (frame.is_inlined) out += " (inlined)";
  return out + "\n";
}

std::string Trap::to_string() const {
  std::string out;
  if (is_guest_trap_) out = message() + (what_.empty() ? "" : ": " + what_) + "\n";
  return out + backtrace();
}

std::string Trap::backtrace() const {
  if (frames_.empty()) return {};
  std::string out = "wasm backtrace:\n";
  std::size_t number = 0;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    if (i == omitted_at_ && omitted_ != 0) {
      out += fmt::format("       ... {} frames ...\n", omitted_);
      number += omitted_;
    }
    out += frame_lines(number++, frames_[i]);
  }
  return out;
}

}  // namespace hoist
