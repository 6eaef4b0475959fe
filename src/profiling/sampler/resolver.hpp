// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// From raw stacks to the tree of calls of a Profile. Code that occurs in a stack must be loaded
/// while it is added.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "image/image.hpp"
#include "image/tables/eh_frame_reader.hpp"
#include "jit/code_events.hpp"
#include "profiling/sampler/profile.hpp"

namespace hoist::profiling {

class Resolver {
 public:
  explicit Resolver(Profile& profile) : profile_(profile) {}
  /// The node of a stack as jit::sample_stack gives it; kNone if there is nothing in it.
  std::uint32_t add(std::span<const std::uint64_t> words);
  /// Code is about to go: what addresses mean may change.
  void forget_addresses();
  /// The same of a host function. Those that occur in a stack live while it is added.
  void forget_host_functions();

 private:
  struct Key {
    std::uint64_t code = 0;
    std::uint64_t function = 0;
    std::uint32_t inlined = 0;  ///< number of the name, if the module's compiler inlined it
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };

  /// Frames at an instruction, innermost first.
  Range frames_at(std::uintptr_t pc);
  Range find_frames(std::uintptr_t pc);
  void add_frames_of(const jit::CodeOwner* owner, image::FuncKey key, std::uint32_t source,
                     bool inlined);
  /// Without what the module's compiler has inlined there: of code that is the function's own.
  void add_own_frame(const jit::CodeOwner* owner, image::FuncKey key, std::uint32_t source);
  /// `name` if the module's compiler inlined it, else empty.
  void add_frame(const jit::CodeOwner* owner, image::FuncKey key, std::string_view name,
                 const jit::CodeOwner::Place& place, bool inlined);
  std::uint32_t special(FrameKind kind, const std::string& name);
  /// `word` is the mark of a host call.
  std::uint32_t host_frame(std::uint64_t word, std::uintptr_t return_address);
  std::uint32_t host_function_frame(std::uint64_t word);
  /// The return address that a frame which is not set up holds, or 0.
  std::uintptr_t hidden_caller(std::uintptr_t pc, std::uint64_t at_sp, std::uint64_t above);
  /// Of a file or a name; 0 if it is empty.
  std::uint32_t text_number(std::string_view text);
  /// `node`, and what runs at an instruction.
  std::uint32_t add_frames(std::uint32_t node, std::uintptr_t pc);
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame);
  void forget_stack();

  Profile& profile_;
  std::unordered_map<Key, std::uint32_t, KeyHash> frames_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::unordered_map<std::string, std::uint32_t> specials_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // parent + 1 and frame to node
  std::unordered_map<std::uintptr_t, Range> by_pc_;
  // By return address; kNone: it calls what the mark says.
  std::unordered_map<std::uintptr_t, std::uint32_t> hosts_;
  std::unordered_map<std::uint64_t, std::uint32_t> host_functions_;
  std::unordered_map<const image::Image*, std::vector<image::FrameRecord>> records_;
  std::vector<std::uint32_t> pool_;
  // The stack before: its words, and the node that each leads to. Its first `begin_` words are the
  // innermost.
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> nodes_;
  std::size_t begin_ = 0;
};

}  // namespace hoist::profiling
