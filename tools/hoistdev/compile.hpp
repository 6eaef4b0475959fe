// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the back end makes of a function, as text: for `hoistdev compile` and for test files.

#include <string>

#include "base/result.hpp"
#include "ir/function.hpp"
#include "ir/text/reader.hpp"
#include "isa/registry.hpp"

namespace hoistdev {

struct CompileText {
  std::string lowered;    ///< machine IR before register allocation
  std::string allocated;  ///< the same with registers and copies
  std::string assembly;   ///< disassembled code with traps and relocations
};

/// Compiles for x86_64; `opt_level` as in codegen::CompileOptions. The register allocation is
/// proved.
hoist::Result<CompileText> compile_to_text(hoist::ir::Function func, unsigned opt_level,
                                           hoist::isa::FeatureSet features,
                                           bool pins_register = false);

/// What the first `target x86_64 has_bmi2 …` line asks for (see filetest_settings.hpp); without
/// one, or with settings that are wrong, the baseline.
hoist::isa::FeatureSet features_of(const hoist::ir::ParsedFile& file);
/// Does its first x86_64 target have enable_pinned_reg?
bool pins_register(const hoist::ir::ParsedFile& file);

}  // namespace hoistdev
