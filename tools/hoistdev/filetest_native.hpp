// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Native execution of the functions of one test file.

#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "ir/interp/interpreter.hpp"
#include "ir/text/reader.hpp"

namespace hoistdev {

class NativeFile {
 public:
  /// Compiles every function of the file that the reader supported, without the features of the
  /// CPU named in `without` (FileTestOptions::without).
  static hoist::Result<std::unique_ptr<NativeFile>> compile(const hoist::ir::ParsedFile& file,
                                                            unsigned opt_level,
                                                            std::string_view without = {});
  virtual ~NativeFile() = default;
  /// Calls function `index` of the file.
  virtual hoist::Result<hoist::ir::Interpreter::Outcome> run(
      std::size_t index, std::span<const hoist::ir::DataValue> args) = 0;
};

}  // namespace hoistdev
