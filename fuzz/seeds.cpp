// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeds for the fuzz targets from test files: `fuzz-seeds CORPUS FILE...`. A script (.wast) gives
// itself, the text of each of its modules and their bytes; .clif and .wasm files give themselves.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "wasm/text/wast_script.hpp"

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

constexpr std::size_t kMaxSeedBytes = 64 * 1024;

std::string read_file(const std::string& path) {
  std::string text;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) != 0;) {
    text.append(buffer, got);
  }
  std::fclose(file);
  return text;
}

class Seeds {
 public:
  explicit Seeds(std::string corpus) : corpus_(std::move(corpus)) {}

  void add(const char* target, std::string_view bytes) {
    if (bytes.empty() || bytes.size() > kMaxSeedBytes) return;
    const std::string path = corpus_ + "/fuzz_" + target + "/seed-" +
                             std::to_string(std::hash<std::string_view>{}(bytes));
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return;
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    ++count_;
  }
  void add_module(std::string_view bytes) {
    add("wasm_module", bytes);
    add("wasm_compile", bytes);
    add("wat_print", bytes);
  }
  void add_script(std::string_view text) {
    add("wast_script", text);
    for (const wasm::Command& command : wasm::parse_script(text).commands) {
      const std::vector<std::uint8_t>& bytes = command.module.bytes;
      add_module({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    // Test files start each command at the left margin.
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t next = std::min(text.find("\n(", at), text.size());
      const std::string_view form = text.substr(at, next - at);
      if (form.starts_with("(module")) add("wat_text", form);
      at = next + 1;
    }
  }
  std::size_t count() const { return count_; }

 private:
  std::string corpus_;
  std::size_t count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: fuzz-seeds CORPUS FILE...\n", stderr);
    return 1;
  }
  Seeds seeds(argv[1]);
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    const std::string text = read_file(path);
    if (path.ends_with(".wast")) seeds.add_script(text);
    if (path.ends_with(".wasm")) seeds.add_module(text);
    if (path.ends_with(".clif")) seeds.add("clif_text", text);
  }
  std::printf("%zu seeds\n", seeds.count());
  return 0;
}
