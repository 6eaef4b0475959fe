// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Demangling through libiberty's callback interface, which keeps everything on the stack. Its
// output can be exponential in its input, and it has no way to stop it: the callback leaves by
// longjmp once there is enough. No frame in between owns anything (they are C, and the callback
// interface allocates nothing but, for a Rust name with a punycode part, one small array that is
// lost then).
#include "demangle/demangle.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstring>

#include "base/text/printable.hpp"
#include "demangle/short_name.hpp"
#include "platform/threads.hpp"

#ifdef HOIST_HAS_IBERTY
extern "C" {
// Of libiberty/demangle.h, which cannot be included from C++ without warnings.
using DemangleCallback = void (*)(const char* text, std::size_t size, void* opaque);
int cplus_demangle_v3_callback(const char* mangled, int options, DemangleCallback callback,
                               void* opaque);
int rust_demangle_callback(const char* mangled, int options, DemangleCallback callback,
                           void* opaque);
}
#endif

namespace hoist::demangle {

/// What is shown of a name in one line.
static constexpr std::size_t kMaxShown = 1024;

#ifdef HOIST_HAS_IBERTY

namespace {

// Values of libiberty's interface.
constexpr int kParams = 1 << 0;
constexpr int kAnsi = 1 << 1;

struct Output {
  std::jmp_buf enough;
  std::size_t size = 0;
  char text[kMaxDemangled];
};

void append(const char* text, std::size_t size, void* opaque) {
  auto* out = static_cast<Output*>(opaque);
  const std::size_t room = kMaxDemangled - out->size;
  const std::size_t taken = std::min(size, room);
  if (taken != 0) std::memcpy(out->text + out->size, text, taken);  // libiberty sends null
  out->size += taken;
  if (taken != size) std::longjmp(out->enough, 1);
}

using Demangler = int (*)(const char*, int, DemangleCallback, void*);

/// 0: not mangled this way; 1: done; 2: done, but cut. Owns nothing: it may be left by longjmp.
int run(Demangler demangler, const char* name, Output& out) {
  out.size = 0;
  if (setjmp(out.enough) != 0) return 2;
  return demangler(name, kParams | kAnsi, append, &out) != 0 ? 1 : 0;
}

/// libiberty takes up to about this much for a name: tables of 64 bytes for each character, a
/// recursion as deep as the name is long, and for C++ copies of templates for each reference in it.
std::uint64_t stack_needed(std::size_t length) {
  return std::uint64_t{length} * length * 3 / 2 + std::uint64_t{length} * 1024 + (32U << 10) +
         sizeof(Output);
}

bool has_stack(std::uint64_t bytes) {
  const platform::StackBounds stack = platform::thread_stack();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return stack.contains(here) && here - stack.low > bytes;
}

bool looks_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("__Z") ||
         name.starts_with("__R");
}

}  // namespace

bool is_available() {
  return true;
}

std::string demangled(std::string_view name) {
  if (!looks_mangled(name) || name.size() > kMaxMangled ||
      name.find('\0') != std::string_view::npos || !has_stack(stack_needed(name.size()))) {
    return std::string(name);
  }
  const std::string terminated(name.substr(name[1] == '_' ? 1 : 0));
  Output out;
  // Legacy Rust names are C++ names with a hash at the end, which Rust's demangler drops.
  int done = run(rust_demangle_callback, terminated.c_str(), out);
  if (done == 0) done = run(cplus_demangle_v3_callback, terminated.c_str(), out);
  if (done == 0) return std::string(name);
  std::string result(out.text, out.size);
  if (done == 2) result += "...";
  return result;
}

#else

bool is_available() {
  return false;
}

std::string demangled(std::string_view name) {
  return std::string(name);
}

#endif

std::string display_name(std::string_view name, bool raw) {
  if (raw || !name.starts_with('_')) return base::printable(name, kMaxShown);
  const std::string full = demangled(name);
  // What is cut off at the end may be all that tells it from others.
  return base::printable(full.size() > kMaxShown ? short_name(full) : full, kMaxShown);
}

}  // namespace hoist::demangle
