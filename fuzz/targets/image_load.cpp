// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images from hostile hands: the input is a list of changes to a good image, whose checksum is then
// put right. It must load and instantiate, or be an error. Code is trusted, so the text is put back
// and nothing with a start function runs.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/bits.hpp"
#include "hoist/hoist.hpp"
#include "image/image_file.hpp"
#include "image/image_open.hpp"

namespace hoist {

static constexpr const char* kText = R"((module $m
  (import "env" "f" (func (param i32) (result i32)))
  (import "env" "g" (global i32))
  (memory (export "memory") 1 3) (data (i32.const 8) "hello") (data "passive")
  (table (export "t") 4 funcref) (elem (i32.const 1) $a $b)
  (global (export "x") (mut i64) (i64.const 5))
  (func $a (export "a") (param i32) (result i32) (call $b (call 0 (local.get 0)) (f64.const 2)))
  (func $b (export "b") (param i32 f64) (result i32)
    (i32.load offset=4 (i32.trunc_f64_s (f64.mul (local.get 1) (f64.convert_i32_s (local.get 0))))))
  (func (export "c") (result i32) (memory.grow (i32.const 1)))))";

static const Engine& engine() {
  static const Engine& made = *new Engine(*Engine::create());
  return made;
}

static const std::vector<std::uint8_t>& good_image() {
  static const auto& made =
      *new std::vector<std::uint8_t>(*Module::from_text(engine(), kText)->serialize());
  return made;
}

/// Each change: two bytes of place (in words of two bytes), one that says how many bytes, then
/// they.
static std::vector<std::uint8_t> changed(std::span<const std::uint8_t> input) {
  std::vector<std::uint8_t> out = good_image();
  while (input.size() >= 3) {
    const std::size_t at = std::size_t{base::load_le<std::uint16_t>(input.data())} * 2 % out.size();
    const std::size_t count = std::min<std::size_t>(input[2] % 16, input.size() - 3);
    for (std::size_t i = 0; i < count && at + i < out.size(); ++i) out[at + i] = input[3 + i];
    // An even number of bytes, an odd one: one change is a cut.
    if (input[2] == 0xff) out.resize(std::max<std::size_t>(at, 1));
    input = input.subspan(3 + count);
  }
  return out;
}

static void look_at(const Module& module) {
  Store store(engine());
  Linker linker(engine());
  linker.unknown_imports(UnknownImports::Default);
  static_cast<void>(module.exports());
  static_cast<void>(module.imports());
  static_cast<void>(module.name());
  if (module.has_start()) return;
  const auto instance = linker.instantiate(store, module);
  static_cast<void>(instance);
  static_cast<void>(module.serialize());
}

}  // namespace hoist

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hoist;  // NOLINT: a fuzz target
  std::vector<std::uint8_t> bytes = changed({data, size});
  const std::vector<std::uint8_t>& good = good_image();
  // Code is trusted. Where it is, the tables say; that they say the right place is not.
  const std::size_t text_end = image::kTextAt + image::open_image(good, nullptr)->text().size();
  if (bytes.size() >= text_end) {
    std::memcpy(bytes.data() + image::kTextAt, good.data() + image::kTextAt,
                text_end - image::kTextAt);
  }
  if (bytes.size() >= image::kSegmentsAt) {
    // The size and the checksum are right, so that all else is looked at.
    const std::uint64_t file_bytes = bytes.size();
    base::store_le(bytes.data() + image::kHeaderAt + offsetof(image::ImageHeader, file_bytes),
                   file_bytes);
    image::seal_image_file(bytes);
  }
  const auto module = Module::deserialize(engine(), bytes);
  if (module) look_at(*module);
  return 0;
}
