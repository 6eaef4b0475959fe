// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// InstancePlan: what instances of a module have in common, worked out once: function references,
/// values of globals, elements. MemoryImages: the same of memories, where that pays. Both are
/// immutable; any thread.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/containers/bit_set.hpp"
#include "image/layout/vm_layout.hpp"
#include "runtime/memory/memory_image.hpp"
#include "wasm/format/module.hpp"

namespace hoist::runtime {

class ModuleCode;

class InstancePlan {
 public:
  explicit InstancePlan(const ModuleCode& code);

  std::uint64_t id() const { return id_; }

  /// By number. `ctx` is null, and for an imported function also `code`.
  const std::vector<image::VmFuncRef>& func_refs() const { return func_refs_; }
  /// Imported functions that escape.
  const std::vector<std::uint32_t>& imported_refs() const { return imported_refs_; }

  struct Global {
    std::uint32_t index = 0;  ///< in the module
    std::uint64_t bits = 0;
    bool is_constant = false;  ///< else to be evaluated in each instance
  };
  const std::vector<Global>& globals() const { return globals_; }

  /// Elements of a segment as offsets of function references in the instance, 0 for null. Empty if
  /// it has items of other kinds.
  const std::vector<std::int32_t>& elements(std::uint32_t segment) const {
    return elements_[segment];
  }

  /// Bytes of the active data segments.
  std::uint64_t data_bytes() const { return data_bytes_; }
  /// Segments that are dropped once instantiation has succeeded.
  const base::BitSet& dropped_data() const { return dropped_data_; }
  const base::BitSet& dropped_elements() const { return dropped_elements_; }

 private:
  void plan_functions(const ModuleCode& code);
  void plan_globals(const wasm::Module& module);
  void plan_elements(const ModuleCode& code);
  void plan_data(const wasm::Module& module);

  std::uint64_t id_;
  std::vector<image::VmFuncRef> func_refs_;
  std::vector<std::uint32_t> imported_refs_;
  std::vector<Global> globals_;
  std::vector<std::vector<std::int32_t>> elements_;
  std::uint64_t data_bytes_ = 0;
  base::BitSet dropped_data_;
  base::BitSet dropped_elements_;
};

class MemoryImages {
 public:
  /// Instances of their own memory copy less than this: to map a file takes longer.
  static constexpr std::uint64_t kCopied = std::uint64_t{16} << 10;

  /// None: all segments are to be copied.
  MemoryImages() = default;
  explicit MemoryImages(const wasm::Module& module);

  /// Null for memories that start as zeros, and for imported ones.
  std::shared_ptr<const MemoryImage> of(std::uint32_t memory) const {
    return memory < images_.size() ? images_[memory] : nullptr;
  }
  /// Active data segments below this number are in the images.
  std::uint32_t segments() const { return segments_; }

 private:
  std::vector<std::shared_ptr<const MemoryImage>> images_;  // empty or one for each memory
  std::uint32_t segments_ = 0;
};

}  // namespace hoist::runtime
