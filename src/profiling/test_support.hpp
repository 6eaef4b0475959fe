// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For tests: loaded code that is not there.

#include <string>
#include <utility>
#include <vector>

#include "hoist/code_listener.hpp"

namespace hoist::profiling {

class FakeCode final : public LoadedCode {
 public:
  struct Piece {
    std::string name;
    std::uintptr_t address;
    std::uint64_t size;
  };
  FakeCode(std::uint64_t id, std::vector<Piece> pieces) : id_(id), pieces_(std::move(pieces)) {}
  std::uint64_t id() const noexcept override { return id_; }
  std::string module_name() const noexcept override { return "fake"; }
  const void* address() const noexcept override { return nullptr; }
  std::uint64_t size() const noexcept override { return 0; }
  std::size_t piece_count() const noexcept override { return pieces_.size(); }
  CodePiece piece(std::size_t number) const noexcept override {
    const Piece& from = pieces_[number];
    CodePiece out;
    out.name = from.name;
    out.address = reinterpret_cast<const void*>(from.address);
    out.size = out.code_size = from.size;
    return out;
  }
  void lines(std::size_t, std::vector<CodeLine>& out) const noexcept override { out.clear(); }
  void inlined(std::size_t, std::vector<InlinedCode>& out) const noexcept override { out.clear(); }
  std::span<const std::uint8_t> unwind_info() const noexcept override { return {}; }

 private:
  std::uint64_t id_;
  std::vector<Piece> pieces_;
};

}  // namespace hoist::profiling
