// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Makes targets by name.

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "codegen/target.hpp"

namespace hoist::isa {

/// CPU features beyond a target's baseline; bits of masm::x64::FeatureSet for "x86_64". Detecting
/// those of the running machine is the platform layer's affair.
using FeatureSet = std::uint32_t;

/// "x86_64". Errors: Unsupported for any other name (the message lists the known ones), and for a
/// feature set below the baseline (SSE4.1 with SSSE3).
/// `pins_register`: one register (x86_64: r15) is left to get_pinned_reg and set_pinned_reg, in all
/// functions of the program.
Result<std::unique_ptr<codegen::Target>> make_target(std::string_view name, FeatureSet features,
                                                     bool pins_register = false);

/// The features named, separated by spaces: "avx2 fma". Errors: Malformed for a name
/// that the target does not know; the message lists the known ones.
Result<FeatureSet> features_by_name(std::string_view target, std::string_view names);

/// What every supported CPU of the target has.
FeatureSet baseline_features(std::string_view name);

}  // namespace hoist::isa
