// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries appear by renaming and are never changed, so readers need no lock: an entry that is
// removed while mapped stays readable. A name is a hash that nobody has to trust: the entry holds
// the whole module, which is compared.
#include "compiler/cache/code_cache.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bits.hpp"
#include "image/image_file.hpp"
#include "image/image_open.hpp"
#include "platform/build_id.hpp"
#include "platform/clocks.hpp"
#include "platform/cpu_features.hpp"
#include "platform/private_dir.hpp"
#include "runtime/engine/image_check.hpp"
#include "runtime/engine/symbol_names.hpp"
#include "wasm/format/feature_list.hpp"

namespace hoist::compiler {

using platform::PrivateDir;

namespace {

constexpr std::string_view kSuffix = ".hoist";
/// A temporary file as old as this belongs to nobody any more.
constexpr std::uint64_t kAbandoned_ns = std::uint64_t{3600} * 1'000'000'000;

template <typename T>
std::span<const std::uint8_t> bytes_of(const T& value) {
  static_assert(std::has_unique_object_representations_v<T>);
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof(T)};
}

image::Hash128 build_hash() {
  image::Hash128 out;
  platform::visit_build(
      [](void* context, platform::BuildPieces pieces) {
        *static_cast<image::Hash128*>(context) = image::hash(pieces);
      },
      &out);
  return out;
}

bool is_entry(const PrivateDir::Entry& entry) {
  return entry.name.ends_with(kSuffix);
}
bool is_temporary(const PrivateDir::Entry& entry) {
  return entry.name.starts_with(PrivateDir::kTemporary);
}

}  // namespace

CodeCache::CodeCache(std::string directory, std::uint64_t limit_bytes)
    : directory_(std::move(directory)), limit_bytes_(limit_bytes), build_(build_hash()) {}

std::string CodeCache::Key::file_name() const {
  return fmt::format("{:016x}{:016x}{}", hash.high, hash.low, kSuffix);
}

CodeCache::Key CodeCache::key(std::span<const std::uint8_t> module,
                              const image::CodeSettings& settings, wasm::Features features) const {
  // The header holds the settings without padding, and the format and layout.
  image::ImageHeader header = {};
  image::store_settings(header, settings);
  header.format = image::kImageFormat;
  const image::Hash128 content = image::hash(module);
  // Bodies of what is found are not validated again.
  const std::uint64_t language = wasm::bits_of(features);
  const std::span<const std::uint8_t> pieces[] = {bytes_of(build_.low),  bytes_of(build_.high),
                                                  bytes_of(content.low), bytes_of(content.high),
                                                  bytes_of(language),    bytes_of(header)};
  return {image::hash(pieces), settings};
}

std::optional<image::Image> CodeCache::find(const Key& key, const wasm::Module& module) const {
  const auto dir = PrivateDir::open(directory_, false);
  if (!dir || !dir->is_open()) return std::nullopt;
  const std::string name = key.file_name();
  auto mapped = dir->map(name.c_str());
  if (!mapped) return std::nullopt;
  const auto file = std::make_shared<const platform::MappedFile>(*std::move(mapped));
  image::OpenOptions options;
  options.target = platform::cpu_architecture();
  options.is_mapped = true;
  auto image = image::open_image({file->data(), file->size()}, file, options);
  const std::span<const std::uint8_t> wanted = module.bytes.span();
  const bool is_right = image && image->settings() == key.settings &&
                        std::ranges::equal(image->section(image::kKeySection), bytes_of(build_)) &&
                        image->section(image::kModuleSection).size() == wanted.size() &&
                        (wanted.empty() || std::memcmp(image->section(image::kModuleSection).data(),
                                                       wanted.data(), wanted.size()) == 0) &&
                        runtime::check_image(module, *image);
  if (!is_right) {
    dir->remove(name.c_str());
    return std::nullopt;
  }
  dir->touch(name.c_str());
  return *std::move(image);
}

void CodeCache::store(const Key& key, const wasm::Module& module, const image::Image& image) const {
  const std::span<const std::uint8_t> bytes = module.bytes.span();
  // Larger than all that may be kept: not worth the writing.
  if (bytes.size() + image.bytes().size() > limit_bytes_) return;
  const auto dir = PrivateDir::open(directory_, true);
  if (!dir) return;
  const std::vector<image::ImageSymbol> symbols = runtime::image_symbols(module, image);
  image::ImageFileParts parts;
  parts.module = bytes;
  parts.symbols = symbols;
  parts.key = bytes_of(build_);
  // If the disk is full, what is evicted makes room for the next time.
  static_cast<void>(dir->write(key.file_name().c_str(), image::image_file(image, parts)));
  evict();
}

void CodeCache::evict() const {
  const auto dir = PrivateDir::open(directory_, false);
  if (!dir || !dir->is_open()) return;
  auto listed = dir->list();
  if (!listed) return;
  std::vector<PrivateDir::Entry>& entries = *listed;
  const std::uint64_t now = platform::now_ns(platform::Clock::Realtime);
  std::uint64_t total = 0;
  for (const PrivateDir::Entry& entry : entries) {
    if (is_entry(entry)) total += entry.bytes;
    if (is_temporary(entry) && now > entry.modified_ns && now - entry.modified_ns > kAbandoned_ns) {
      dir->remove(entry.name.c_str());
    }
  }
  if (total <= limit_bytes_) return;
  std::erase_if(entries, [](const PrivateDir::Entry& entry) { return !is_entry(entry); });
  std::sort(entries.begin(), entries.end(),
            [](const PrivateDir::Entry& a, const PrivateDir::Entry& b) {
              return std::pair(a.modified_ns, std::string_view(a.name)) <
                     std::pair(b.modified_ns, std::string_view(b.name));
            });
  for (const PrivateDir::Entry& entry : entries) {
    if (total <= limit_bytes_) return;
    dir->remove(entry.name.c_str());
    total -= entry.bytes;
  }
}

Result<CodeCache::Usage> CodeCache::usage() const {
  Usage out;
  HOIST_TRY(const PrivateDir dir, PrivateDir::open(directory_, false));
  if (!dir.is_open()) return out;
  HOIST_TRY(const std::vector<PrivateDir::Entry> entries, dir.list());
  for (const PrivateDir::Entry& entry : entries) {
    if (!is_entry(entry) || !entry.is_file) continue;
    ++out.entries;
    out.bytes += entry.bytes;
  }
  return out;
}

Result<CodeCache::Usage> CodeCache::clear() const {
  HOIST_TRY(const Usage before, usage());
  HOIST_TRY(const PrivateDir dir, PrivateDir::open(directory_, false));
  if (!dir.is_open()) return before;
  HOIST_TRY(const std::vector<PrivateDir::Entry> entries, dir.list());
  for (const PrivateDir::Entry& entry : entries) {
    if (is_entry(entry) || is_temporary(entry)) dir.remove(entry.name.c_str());
  }
  return before;
}

}  // namespace hoist::compiler
