// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Loaded code as listeners see it (hoist/code_listener.hpp), and whose it is. All code goes this
/// way: that of a WebAssembly module, a trampoline made on the fly, functions of users of the IR.
/// With no listener and no sampler nothing here runs but a look at two words.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hoist/code_listener.hpp"
#include "image/image.hpp"

namespace hoist::jit {

class LoadedImage;

/// What the code of an image is called and where it comes from: what LoadedCode::owner points to.
/// The layers above derive from it. Any thread may ask.
class CodeOwner {
 public:
  /// A place in the source. Valid as long as the owner.
  struct Place {
    std::uint64_t module_offset = CodeLine::kNoOffset;
    std::string_view file;
    std::uint32_t line = 0;
  };

  virtual ~CodeOwner() = default;
  CodeOwner(const CodeOwner&) = delete;
  CodeOwner& operator=(const CodeOwner&) = delete;

  /// Never the same twice in a process.
  std::uint64_t id() const { return id_; }
  /// Which layer's: each has an address of its own for this.
  const void* layer() const { return layer_; }
  virtual std::string module_name() const = 0;
  /// Of a function of the image, or one that was inlined into one: one line, for people.
  virtual std::string name(image::FuncKey key) const = 0;
  virtual CodeKind kind(image::FuncKey key) const = 0;
  /// What a source number of the image's address map stands for; not asked for kNone.
  virtual Place place(std::uint32_t source) const = 0;

 protected:
  explicit CodeOwner(const void* layer);

 private:
  std::uint64_t id_;
  const void* layer_;
};

/// A view for the time of a call.
class CodeView final : public hoist::LoadedCode {
 public:
  CodeView(const CodeOwner& owner, const LoadedImage& code) : owner_(owner), code_(code) {}
  std::uint64_t id() const noexcept override { return owner_.id(); }
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
  const LoadedImage& code_;
};

using CodeListeners = std::vector<std::shared_ptr<hoist::CodeListener>>;

/// Before the code runs.
void tell_loaded(const CodeListeners& listeners, const CodeOwner& owner, const LoadedImage& code);
/// When it does not run any more, while everything of `owner` is still there.
void tell_unloading(const CodeListeners& listeners, const CodeOwner& owner,
                    const LoadedImage& code);

/// Called before code goes, if set: the sampler of the process names what it has seen of it.
extern constinit std::atomic<void (*)()> before_unload;

}  // namespace hoist::jit
