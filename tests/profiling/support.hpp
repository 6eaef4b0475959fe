// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For tests of agents: a listener that checks and keeps what it hears, folders that go, and the
/// log of the stand-in collector.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "hoist/code_listener.hpp"

namespace hoist {

/// Removed with what is in it (files only).
class TempFolder {
 public:
  TempFolder() {
    char pattern[] = "/tmp/hoist-test-XXXXXX";
    const char* made = ::mkdtemp(pattern);
    EXPECT_NE(made, nullptr);
    if (made != nullptr) path_ = made;
  }
  ~TempFolder() {
    for (const std::string& file : files_) std::remove(file.c_str());
    ::rmdir(path_.c_str());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) {
    files_.insert(path_ + "/" + name);
    return path_ + "/" + name;
  }

 private:
  std::string path_;
  std::set<std::string> files_;
};

/// Ends a child process of EXPECT_EXIT: with 0 if nothing has failed in it. What has is on stderr,
/// as nobody else says it.
[[noreturn]] inline void exit_as_tested() {
  const testing::TestResult& result =
      *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.failed()) continue;
    std::fprintf(stderr, "%s:%d: %s\n", part.file_name(), part.line_number(), part.message());
  }
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

/// Checks that no two things that are loaded overlap, and that ids are new.
class Recorder final : public CodeListener {
 public:
  struct Piece {
    CodePiece code;
    std::vector<CodeLine> lines;
    std::vector<std::string> files;  // of the lines
    std::vector<InlinedCode> inlined;
    std::vector<std::string> call_files;  // of the inlined calls' lines
  };
  struct Code {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::string module;
    std::vector<Piece> pieces;
  };

  void on_load(const LoadedCode& code) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex);
    ++loads;
    EXPECT_TRUE(ever.insert(code.id()).second) << "an id comes twice";
    Code made;
    made.begin = reinterpret_cast<std::uintptr_t>(code.address());
    made.end = made.begin + code.size();
    made.module = code.module_name();
    for (const auto& [id, other] : live)
      EXPECT_TRUE(made.end <= other.begin || other.end <= made.begin) << "overlaps what is loaded";
    std::uintptr_t last = made.begin;
    for (std::size_t i = 0; i < code.piece_count(); ++i) {
      Piece& piece = made.pieces.emplace_back();
      piece.code = code.piece(i);
      ++names[piece.code.name];
      const auto begin = reinterpret_cast<std::uintptr_t>(piece.code.address);
      EXPECT_GE(begin, last);
      EXPECT_LE(begin + piece.code.size, made.end);
      EXPECT_LE(piece.code.code_size, piece.code.size);
      EXPECT_FALSE(piece.code.name.empty());
      last = begin + piece.code.size;
      code.lines(i, piece.lines);
      for (CodeLine& line : piece.lines) {
        piece.files.emplace_back(line.file);
        line.file = {};
      }
      code.inlined(i, piece.inlined);
      for (InlinedCode& call : piece.inlined) {
        piece.call_files.emplace_back(call.call.file);
        call.call.file = {};
      }
    }
    EXPECT_FALSE(code.unwind_info().empty());
    EXPECT_TRUE(live.emplace(code.id(), std::move(made)).second);
  }
  void on_unload(const LoadedCode& code) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = live.find(code.id());
    ASSERT_NE(found, live.end());
    // Everything is still there, and the same.
    ASSERT_EQ(code.piece_count(), found->second.pieces.size());
    for (std::size_t i = 0; i < code.piece_count(); ++i)
      EXPECT_EQ(code.piece(i).name, found->second.pieces[i].code.name);
    live.erase(found);
  }

  std::mutex mutex;
  std::map<std::uint64_t, Code> live;
  std::set<std::uint64_t> ever;
  std::map<std::string, int> names;
  int loads = 0;
};

/// One event of itt_collector.cpp.
using Event = std::map<std::string, std::string>;

inline std::vector<Event> read_log(const std::string& path) {
  std::vector<Event> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    Event& event = out.emplace_back();
    event["event"] = line.substr(0, line.find(' '));
    for (const char* key : {"id", "parent", "address", "size", "module", "source", "class"}) {
      const std::size_t at = line.find(std::string(" ") + key + "=");
      if (at == std::string::npos) continue;
      const std::size_t begin = at + std::string(key).size() + 2;
      event[key] = line.substr(begin, line.find(' ', begin) - begin);
    }
    const std::size_t name = line.find(" name=");
    const std::size_t lines = line.find(" lines=");
    if (name != std::string::npos) event["name"] = line.substr(name + 6, lines - name - 6);
    if (lines != std::string::npos) event["lines"] = line.substr(lines + 7);
  }
  return out;
}

}  // namespace hoist
