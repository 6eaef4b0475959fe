// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Sets of features as text: "+legacy-exceptions,-threads" on top of the defaults.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "wasm/format/features.hpp"

namespace hoist::wasm {

/// What differs from `base`: names of features.def behind + (on) or - (off), separated by commas;
/// "all" stands for all that can be switched. Empty is `base`.
/// @error BadArgument: a name that is none, lists them; a feature that cannot be switched so.
Result<Features> parse_features(std::string_view text, Features base = {});
/// Names of the features that can be switched, separated by commas.
std::string feature_names();
/// Everything that this build has. For modules that were accepted before.
Features all_features();
/// One bit for each feature, in the order of features.def.
std::uint64_t bits_of(Features features);
/// The other way; bits of no feature say nothing.
Features features_of_bits(std::uint64_t bits);
/// Names of the features among such bits that can be switched, separated by commas.
std::string switchable_names(std::uint64_t bits);

}  // namespace hoist::wasm
