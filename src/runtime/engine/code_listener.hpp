// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Code as listeners see it (hoist/code_listener.hpp), and whose it is. A module as a whole and a
/// single trampoline go the same way. With no listener and no sampler nothing here runs but a look
/// at two words.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hoist/code_listener.hpp"
#include "image/image.hpp"

namespace hoist::jit {
class LoadedImage;
}
namespace hoist::wasm {
class LineTable;
}

namespace hoist::runtime {

class ModuleCode;

/// What LoadedCode::owner of the layer below points to for code of this layer.
struct CodeOwner {
  const ModuleCode* module = nullptr;  ///< null: a trampoline that no module brought
  std::string signature;               ///< of that trampoline
  std::uint64_t id = 0;                ///< never the same twice in a process
  bool raw_names = false;

  static std::uint64_t next_id();
  /// "fib", "wasm[module]::function[3]", "entry trampoline [i32] -> [i32]": one line, for people.
  std::string name(image::FuncKey key) const;
  std::string module_name() const;
  /// Where an offset in the module comes from; null: no module or nothing known.
  const wasm::LineTable* lines() const;
};

/// A view for the time of a call.
class CodeView final : public LoadedCode {
 public:
  CodeView(const CodeOwner& owner, const jit::LoadedImage& code) : owner_(owner), code_(code) {}
  std::uint64_t id() const noexcept override { return owner_.id; }
  std::string module_name() const noexcept override { return owner_.module_name(); }
  const void* address() const noexcept override;
  std::uint64_t size() const noexcept override;
  std::size_t piece_count() const noexcept override;
  CodePiece piece(std::size_t number) const noexcept override;
  void lines(std::size_t number, std::vector<CodeLine>& out) const noexcept override;
  void inlined(std::size_t number, std::vector<InlinedCode>& out) const noexcept override;
  std::span<const std::uint8_t> unwind_info() const noexcept override;

 private:
  CodeLine line_at(std::uint32_t offset, std::uint32_t source) const;
  const CodeOwner& owner_;
  const jit::LoadedImage& code_;
};

using CodeListeners = std::vector<std::shared_ptr<hoist::CodeListener>>;

void tell_loaded(const CodeListeners& listeners, const CodeOwner& owner,
                 const jit::LoadedImage& code);
/// While everything of `owner` is still there.
void tell_unloading(const CodeListeners& listeners, const CodeOwner& owner,
                    const jit::LoadedImage& code);

/// Called before code goes, if set: the sampler of the process names what it has seen of it.
extern constinit std::atomic<void (*)()> before_unload;

}  // namespace hoist::runtime
