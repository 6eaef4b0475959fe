// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Mangled names of C++ (Itanium ABI) and Rust (legacy and v0) as their source has them.
///
/// Names are untrusted. Whatever a name is, the work and the result are bounded, and the stack that
/// is used is there: a name that would take more stays as it is. Any thread.

#include <cstddef>
#include <string>
#include <string_view>

namespace hoist::demangle {

/// Longer names are not demangled; longer results are cut and end in "...".
inline constexpr std::size_t kMaxMangled = 1500;
inline constexpr std::size_t kMaxDemangled = std::size_t{32} << 10;

/// Whether this build can do it.
bool is_available();

/// The demangled name, or `name` itself if it is not mangled. A module prefix as in "mod!_Zfoo" is
/// none of its business. Contents are as hostile as the name: for a terminal or a line of a file,
/// see base::printable.
std::string demangled(std::string_view name);

/// `demangled` or, with `raw`, the name; made fit for one line: control characters and bytes that
/// are no UTF-8 are escaped; of too long ones there is `short_name`, and the rest is cut.
std::string display_name(std::string_view name, bool raw = false);

}  // namespace hoist::demangle
