// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Whole files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hoist::platform {

/// Reads a file, a pipe or a device to its end; "-" is not special.
/// @error Io: names the path and the reason (missing, a directory, no permission, larger than
///        `max_bytes`).
Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::uint64_t max_bytes);

/// Do both paths name one file that exists?
bool is_same_file(const std::string& a, const std::string& b);

/// Appends to a text file, creating it for its owner alone; one write. @error Io
Result<void> append_file(const std::string& path, std::string_view text);

/// Whether it is gone or never was is for the next to find out.
void remove_file(const std::string& path);

}  // namespace hoist::platform
