// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/script_settings.hpp"

#include <fmt/core.h>

namespace hoist::wasm {

namespace {

/// Folders of the official suite whose scripts expect other features than the defaults. Proposals
/// that are not here run with the defaults.
struct FolderFeatures {
  std::string_view folder;
  std::string_view features;
};
constexpr FolderFeatures kFolders[] = {
    {"spec", "-custom-page-sizes"},  // their flag is a wrong one there
    {"proposals/custom-page-sizes", "+custom-page-sizes"},
    {"proposals/threads", "-multi-memory"},  // its base is older than several memories
    {"legacy", "+legacy-exceptions"},
};

/// Keys of headers that name a feature.
struct HeaderFeature {
  std::string_view key;
  std::string_view feature;
};
constexpr HeaderFeature kHeaders[] = {
    {"bulk_memory", "bulk-memory"},
    {"reference_types", "reference-types"},
    {"multi_value", "multi-value"},
    {"simd", "simd"},
    {"relaxed_simd", "relaxed-simd"},
    {"tail_call", "tail-calls"},
    {"function_references", "function-references"},
    {"gc", "gc"},
    {"exceptions", "exceptions"},
    {"legacy_exceptions", "legacy-exceptions"},
    {"multi_memory", "multi-memory"},
    {"memory64", "memory64"},
    {"threads", "threads"},
    {"custom_page_sizes", "custom-page-sizes"},
    {"wide_arithmetic", "wide-arithmetic"},
    {"extended_const", "extended-const"},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

/// Whether `path` has the folders of `folder`, in a row.
bool is_under(std::string_view path, std::string_view folder) {
  const std::string inner = fmt::format("/{}/", folder);
  return path.find(inner) != std::string_view::npos ||
         path.starts_with(std::string_view(inner).substr(1));
}

void add_feature(ScriptSettings& settings, std::string_view item) {
  if (!settings.features.empty()) settings.features += ',';
  settings.features += item;
}

/// What is wrong, or empty.
std::string header(ScriptSettings& settings, std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return "is not of the form key = value";
  const std::string_view key = trimmed(line.substr(0, equals));
  const std::string_view value = trimmed(line.substr(equals + 1));
  if (value != "true" && value != "false") return "has another value than true or false";
  const bool on = value == "true";
  if (key == "nan_canonicalization") {
    settings.canonical_nans = on;
    return {};
  }
  if (key == "hogs_memory") {
    settings.hogs_memory = on;
    return {};
  }
  if (key == "branch_hinting") return {};  // hints are always read
  for (const HeaderFeature& row : kHeaders) {
    if (row.key != key) continue;
    add_feature(settings, fmt::format("{}{}", on ? '+' : '-', row.feature));
    return {};
  }
  return "has an unknown key";
}

}  // namespace

ScriptSettings script_settings(std::string_view path, std::string_view text) {
  ScriptSettings settings;
  for (const FolderFeatures& row : kFolders) {
    if (is_under(path, row.folder)) add_feature(settings, row.features);
  }
  std::uint32_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && !line.starts_with(";;")) break;  // headers come first
    if (!line.starts_with(";;!")) continue;
    if (const std::string wrong = header(settings, line.substr(3)); !wrong.empty()) {
      settings.problems.push_back(
          {number, fmt::format("header '{}' {}", trimmed(line.substr(3, 64)), wrong)});
    }
  }
  return settings;
}

}  // namespace hoist::wasm
