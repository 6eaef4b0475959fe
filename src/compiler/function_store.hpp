// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// FunctionStore: where one thread keeps the code that it made until all is linked. Grows in
/// chunks, never moves, frees nothing before its end.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "codegen/compiled_code.hpp"
#include "image/image_builder.hpp"

namespace hoist::compiler {

/// A finished function; spans lie in the store that made it.
struct StoredFunction {
  image::FunctionEntry entry;
  std::uint32_t align = 1;
  std::span<const std::uint8_t> code;
  std::span<const image::ImageBuilder::Reloc> relocs;
  std::span<const image::TrapEntry> traps;
  std::span<const image::AddressEntry> addresses;
  std::span<const image::UnwindOp> unwind;
  const image::FunctionTables* tables = nullptr;  ///< null where there is nothing in them
};

class FunctionStore {
 public:
  /// Copies what the code generator made. Internal error: the code refers to something that is no
  /// function of an image.
  Result<StoredFunction> add(image::FuncKey key, const codegen::CompiledCode& code);
  /// Bit b is set if stored code calls the trampoline of builtin b.
  std::uint64_t builtins() const { return builtins_; }

 private:
  /// Items of one kind in chunks.
  template <typename T>
  class Pool {
   public:
    std::span<T> allocate(std::size_t count) {
      if (count > free_) {
        free_ = count > kChunkItems ? count : kChunkItems;
        chunks_.push_back(std::make_unique<T[]>(free_));
        next_ = chunks_.back().get();
      }
      const std::span<T> out(next_, count);
      next_ += count;
      free_ -= count;
      return out;
    }

   private:
    static constexpr std::size_t kChunkItems = (std::size_t{1} << 18) / sizeof(T);
    std::vector<std::unique_ptr<T[]>> chunks_;
    T* next_ = nullptr;
    std::size_t free_ = 0;
  };

  Pool<std::uint8_t> code_;
  Pool<image::ImageBuilder::Reloc> relocs_;
  Pool<image::TrapEntry> traps_;
  Pool<image::AddressEntry> addresses_;
  Pool<image::UnwindOp> unwind_;
  std::vector<std::unique_ptr<image::FunctionTables>> tables_;
  std::uint64_t builtins_ = 0;
};

/// Adds a stored function to the image being built.
void place(image::ImageBuilder& builder, const StoredFunction& function);

}  // namespace hoist::compiler
