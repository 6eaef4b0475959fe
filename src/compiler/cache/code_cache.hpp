// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CodeCache: images of modules that were compiled before, as files of one directory
/// (docs/cache.md).
///
/// A cache never fails: a directory that cannot be used, an entry that is damaged or a full disk
/// only mean that modules are compiled. Any number of threads and processes share a directory.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "image/hash.hpp"
#include "image/image.hpp"
#include "wasm/format/module.hpp"

namespace hoist::compiler {

class CodeCache {
 public:
  /// Nothing is touched before the first use. `limit_bytes`: of all entries together.
  CodeCache(std::string directory, std::uint64_t limit_bytes);

  /// Names an entry: module, settings, and the build of Hoist.
  struct Key {
    image::Hash128 hash;
    image::CodeSettings settings;
    std::string file_name() const;
  };
  Key key(std::span<const std::uint8_t> module, const image::CodeSettings& settings,
          wasm::Features features = {}) const;

  /// The image of exactly this module and these settings. What is there and not right is removed.
  std::optional<image::Image> find(const Key& key, const wasm::Module& module) const;
  /// Then removes what was not used for longest, if all is larger than the limit.
  void store(const Key& key, const wasm::Module& module, const image::Image& image) const;

  struct Usage {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
  };
  /// @error Io: why the directory is not used; one that is missing is empty
  Result<Usage> usage() const;
  /// Removes all entries; returns what there was. @error Io
  Result<Usage> clear() const;

 private:
  void evict() const;

  std::string directory_;
  std::uint64_t limit_bytes_;
  image::Hash128 build_;
};

}  // namespace hoist::compiler
