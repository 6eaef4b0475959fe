// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The process-wide table of loaded code: address to image. Readers take no lock and may run in a
/// signal handler; writers wait for each other and for readers of the table that they replace.

#include <cstdint>

#include "image/image.hpp"
#include "jit/code_memory.hpp"

namespace hoist::jit {

class CodeOwner;

/// A mapped image. Lives as long as it is registered.
struct LoadedCode {
  CodeMapping code;
  const image::Image* image = nullptr;
  const CodeOwner* owner = nullptr;  ///< whose code this is (code_events.hpp); null: nobody's

  std::uint32_t offset_of(std::uintptr_t pc) const {
    return static_cast<std::uint32_t>(pc - reinterpret_cast<std::uintptr_t>(code.base()));
  }
};

/// `code` must not be empty and stays where it is until removed.
void register_code(const LoadedCode& code);
/// Afterwards no reader holds on to `code`.
void unregister_code(const LoadedCode& code);

/// Keeps the entries it finds alive while it exists: keep it short.
class CodeLookup {
 public:
  CodeLookup();
  ~CodeLookup();
  CodeLookup(const CodeLookup&) = delete;
  CodeLookup& operator=(const CodeLookup&) = delete;
  /// The code that covers `pc`, or null.
  const LoadedCode* find(std::uintptr_t pc) const;

 private:
  const void* table_;
};

}  // namespace hoist::jit
