// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/perf/jitdump.hpp"

#include <fmt/core.h>

#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bits.hpp"
#include "image/elf.hpp"
#include "image/tables/eh_frame.hpp"
#include "image/tables/eh_frame_reader.hpp"
#include "platform/clocks.hpp"
#include "platform/dump_file.hpp"
#include "platform/private_dir.hpp"
#include "platform/threads.hpp"

namespace hoist::profiling {
namespace {

using Bytes = std::vector<std::uint8_t>;
using platform::Clock;

constexpr std::uint32_t kMagic = 0x4a69'5444;  // "JiTD"
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kHeaderBytes = 40;

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = image::elf::kMachineX64;
#else
constexpr std::uint32_t kMachine = image::elf::kMachineAArch64;
#endif

enum RecordId : std::uint32_t { kCodeLoad = 0, kDebugInfo = 2, kCodeClose = 3, kUnwindingInfo = 4 };

/// What is buffered before it is written: a module of 50,000 functions takes a few writes.
constexpr std::size_t kChunk = std::size_t{4} << 20;
template <typename T>
void put(Bytes& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  base::store_le(&out[at], value);
}
void put_text(Bytes& out, std::string_view text) {
  // Strings end with a zero byte: there is none in them.
  for (const char c : text.substr(0, text.find('\0'))) out.push_back(static_cast<std::uint8_t>(c));
  out.push_back(0);
}
void put_bytes(Bytes& out, std::span<const std::uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::size_t begin_record(Bytes& out, RecordId id, std::uint64_t time) {
  const std::size_t at = out.size();
  put<std::uint32_t>(out, id);
  put<std::uint32_t>(out, 0);
  put<std::uint64_t>(out, time);
  return at;
}
void end_record(Bytes& out, std::size_t at) {
  base::store_le(&out[at + 4], static_cast<std::uint32_t>(out.size() - at));
}

/// What stands for the source of code without lines.
std::string file_of(std::string module) {
  if (!module.ends_with(".wasm")) module += ".wasm";
  return module;
}

/// The file of the process. Never destroyed: an engine may end after static objects do.
class Dump {
 public:
  Result<void> open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (users_ == 0 && file_.is_open()) file_.truncate(file_.size() - kCloseBytes);
    if (!file_.is_open()) {
      if (auto made = create(); !made) return made;
    }
    ++users_;
    return {};
  }

  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--users_ != 0 || platform::process_id() != process_) return;
    Bytes out;
    end_record(out, begin_record(out, kCodeClose, platform::now_ns(Clock::Monotonic)));
    if (!broken_) file_.append(out);
  }

  /// The records of all its pieces.
  void append(const LoadedCode& code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (platform::process_id() != process_) return;
    Bytes out;
    const std::uint32_t thread = platform::thread_id();
    PieceWriter writer(code);
    for (std::size_t i = 0; i < code.piece_count() && !broken_; ++i) {
      writer.write(out, i, process_, thread, index_++);
      if (out.size() >= kChunk || i + 1 == code.piece_count()) {
        // A full disk ends the profile, not the program; what is there stays whole.
        broken_ = !file_.append(out);
        out.clear();
      }
    }
  }

 private:
  static constexpr std::uint64_t kCloseBytes = 16;

  /// Makes the records of one module's pieces.
  class PieceWriter {
   public:
    explicit PieceWriter(const LoadedCode& code)
        : code_(code), frames_(code.unwind_info()), file_(file_of(code.module_name())) {}

    void write(Bytes& out, std::size_t number, std::uint32_t process, std::uint32_t thread,
               std::uint64_t index) {
      const CodePiece piece = code_.piece(number);
      const auto address = reinterpret_cast<std::uintptr_t>(piece.address);
      const std::uint64_t time = platform::now_ns(Clock::Monotonic);
      if (piece.kind == CodeKind::Function) debug_info(out, number, address, time);
      unwinding_info(out, piece, time);
      const std::size_t at = begin_record(out, kCodeLoad, time);
      put(out, process);
      put(out, thread);
      put<std::uint64_t>(out, address);
      put<std::uint64_t>(out, address);
      put<std::uint64_t>(out, piece.size);
      put(out, index);
      put_text(out, piece.name);
      put_bytes(out, {static_cast<const std::uint8_t*>(piece.address),
                      static_cast<std::size_t>(piece.size)});
      end_record(out, at);
    }

   private:
    void debug_info(Bytes& out, std::size_t number, std::uint64_t address, std::uint64_t time) {
      code_.lines(number, lines_);
      if (lines_.empty()) return;
      const std::size_t at = begin_record(out, kDebugInfo, time);
      put<std::uint64_t>(out, address);
      const std::size_t count_at = out.size();
      put<std::uint64_t>(out, 0);
      std::uint64_t count = 0;
      for (const CodeLine& line : lines_) {
        const bool has_line = line.line != 0;
        if (!has_line && line.module_offset == CodeLine::kNoOffset) continue;
        const std::string_view file = has_line ? line.file : std::string_view(file_);
        put<std::uint64_t>(out, address + line.offset);
        put<std::uint32_t>(out,
                           has_line ? line.line : static_cast<std::uint32_t>(line.module_offset));
        put<std::uint32_t>(out, 0);
        put_text(out, file);
        ++count;
      }
      if (count == 0) {
        out.resize(at);
        return;
      }
      base::store_le(&out[count_at], count);
      end_record(out, at);
    }

    /// The piece's own `.eh_frame` and `.eh_frame_hdr`, as if they lay behind its code at the next
    /// multiple of 8.
    void unwinding_info(Bytes& out, const CodePiece& piece, std::uint64_t time) {
      const image::FrameRecord record = frames_.next();
      if (record.bytes.empty()) return;
      const std::uint64_t distance = base::align_up(piece.size, 8);
      Bytes frame = image::single_eh_frame(record, static_cast<std::int64_t>(distance));
      const Bytes header =
          image::make_eh_frame_hdr(frame, -static_cast<std::int64_t>(frame.size()));
      if (frame.empty() || header.empty()) return;
      const std::size_t at = begin_record(out, kUnwindingInfo, time);
      put<std::uint64_t>(out, frame.size() + header.size());
      put<std::uint64_t>(out, header.size());
      put<std::uint64_t>(out, 0);  // it is not mapped behind the code
      put_bytes(out, frame);
      put_bytes(out, header);
      while ((out.size() - at) % 8 != 0) out.push_back(0);
      end_record(out, at);
    }

    const LoadedCode& code_;
    image::FrameReader frames_;
    std::string file_;
    std::vector<CodeLine> lines_;
  };

  Result<void> create() {
    process_ = platform::process_id();
    const std::string set = platform::environment_variable("JITDUMPDIR");
    const std::string_view directory = set.empty() ? std::string_view(".") : set;
    HOIST_TRY_VOID(file_.create(fmt::format("{}/jit-{}.dump", directory, process_)));
    Bytes out;
    put(out, kMagic);
    put(out, kVersion);
    put(out, kHeaderBytes);
    put<std::uint32_t>(out, kMachine);
    put<std::uint32_t>(out, 0);
    put(out, process_);
    put(out, platform::now_ns(Clock::Monotonic));
    put<std::uint64_t>(out, 0);
    if (!file_.append(out)) return Error(ErrorKind::Io, "the jitdump file cannot be written");
    return file_.map_marker();
  }

  std::mutex mutex_;
  platform::DumpFile file_;
  std::uint32_t users_ = 0;
  std::uint32_t process_ = 0;
  std::uint64_t index_ = 0;
  bool broken_ = false;
};

Dump& the_dump() {
  static Dump& dump = *new Dump;
  return dump;
}

class JitDumpAgent final : public CodeListener {
 public:
  ~JitDumpAgent() override { the_dump().close(); }
  void on_load(const LoadedCode& code) noexcept override { the_dump().append(code); }
  /// Later code at the same addresses has a later time.
  void on_unload(const LoadedCode&) noexcept override {}
};

}  // namespace

Result<std::shared_ptr<CodeListener>> make_jitdump_agent() {
  HOIST_TRY_VOID(the_dump().open());
  return std::shared_ptr<CodeListener>(std::make_shared<JitDumpAgent>());
}

}  // namespace hoist::profiling
