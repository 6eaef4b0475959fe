// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/validate/used_features.hpp"

#include <optional>
#include <string_view>

#include "wasm/decode/decoder.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist::wasm {

namespace {

std::optional<Error> first_error(const ModuleBytes& bytes, Features features) {
  auto module = decode(ModuleBytes::borrow(bytes.span()), features);
  if (!module) return std::move(module).error();
  auto valid = validate_all(*module, 0);
  if (!valid) return std::move(valid).error();
  return std::nullopt;
}

/// The feature whose absence is the error, if it says so.
std::optional<Feature> named_in(const Error& error) {
  constexpr std::string_view kBefore = "unsupported feature: ";
  const std::string_view message = error.message();
  const std::size_t at = message.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view name = message.substr(at + kBefore.size());
  return find_feature(name.substr(0, name.find(' ')));
}

bool is_same(const Error& a, const Error& b) {
  return a.kind() == b.kind() && a.offset() == b.offset() && a.message() == b.message();
}

/// One that makes a difference to an error that names none: it changes a rule.
std::optional<Feature> that_changes(const Error& error, const ModuleBytes& bytes, Features used,
                                    Features accepted) {
  for (const Feature feature : kFeatures) {
    if (used.has(feature) || !accepted.has(feature)) continue;
    const std::optional<Error> other = first_error(bytes, used.with(feature));
    if (!other || !is_same(*other, error)) return feature;
  }
  return std::nullopt;
}

}  // namespace

Features used_features(const ModuleBytes& module, Features accepted) {
  Features used = accepted;
  for (const Feature feature : kFeatures) {
    if (status(feature) != FeatureStatus::Always) used = used.without(feature);
  }
  // Each turn adds one.
  while (const std::optional<Error> error = first_error(module, used)) {
    std::optional<Feature> missing = named_in(*error);
    const bool helps = missing && accepted.has(*missing) && !used.has(*missing);
    if (!helps) missing = that_changes(*error, module, used, accepted);
    if (!missing) return accepted;
    used = used.with(*missing);
  }
  return used;
}

}  // namespace hoist::wasm
