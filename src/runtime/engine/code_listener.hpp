// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CodeListener: told about each piece of machine code as it is loaded. Implemented by profilers.

#include <cstdint>
#include <span>
#include <string>

namespace hoist::runtime {

struct CodeSymbol {
  std::string name;  ///< "fib", "func[3]", "entry trampoline (i32) -> (i32)"
  const void* address = nullptr;
  std::uint64_t size = 0;
};

/// Any thread; the listener locks.
class CodeListener {
 public:
  virtual ~CodeListener() = default;
  virtual void on_code_loaded(std::span<const CodeSymbol> symbols) = 0;
};

}  // namespace hoist::runtime
