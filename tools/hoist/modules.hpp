// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Module files of the command line.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hoist/result.hpp"

namespace hoist::cli {

/// Whether a module is in the binary format, by its first bytes.
bool is_binary_module(std::span<const std::uint8_t> bytes);

/// The bytes of the module in `path`, assembled if the file is text. "-" is the standard input.
/// @error BadArgument: it is an image
Result<std::vector<std::uint8_t>> read_module_file(const std::string& path);

}  // namespace hoist::cli
