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
#include "image/tables/eh_frame_reader.hpp"
#include "platform/clocks.hpp"
#include "platform/dump_file.hpp"
#include "platform/private_dir.hpp"
#include "platform/threads.hpp"
#include "profiling/agent.hpp"

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

/// What is buffered before it is written: a module of 50,000 functions takes a few writes. Code of
/// more than a quarter of it is written from where it is.
constexpr std::size_t kChunk = std::size_t{1} << 20;

template <typename T>
void put(Bytes& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  base::store_le(&out[at], value);
}
void put_text(Bytes& out, std::string_view text) {
  // Strings end with a zero byte: there is none in them.
  text = text.substr(0, text.find('\0'));
  out.insert(out.end(), text.begin(), text.end());
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
  static Dump& the_dump() {
    static Dump& dump = *new Dump;
    return dump;
  }

  /// The process that the caller is a user in.
  Result<std::uint32_t> open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_.is_open() && process_ != platform::process_id()) {
      // A child of a fork: the file is its parent's.
      file_.close();
      users_ = 0;
    }
    if (!file_.is_open()) HOIST_TRY_VOID(create());
    if (closed_) file_.truncate(file_.size() - kCloseBytes);
    closed_ = false;
    ++users_;
    return process_;
  }

  void close(std::uint32_t process) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (process != process_ || --users_ != 0 || platform::process_id() != process_) return;
    end_record(out_, begin_record(out_, kCodeClose, platform::now_ns(Clock::Monotonic)));
    closed_ = !broken_ && file_.append(out_);
    Bytes().swap(out_);
  }

  /// The records of all its pieces: a few writes, and no memory but one buffer.
  void append(const LoadedCode& code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (platform::process_id() != process_ || broken_) return;
    image::FrameReader frames(code.unwind_info());
    const std::string file = file_of(code.module_name());
    time_ = platform::now_ns(Clock::Monotonic);
    thread_ = platform::thread_id();
    const std::size_t count = code.piece_count();
    for (std::size_t i = 0; i < count && !broken_; ++i) {
      const image::FrameRecord frame = frames.next();
      append_piece(code, i, frame, file);
    }
    flush({});
    if (out_.capacity() > 2 * kChunk) Bytes().swap(out_);
  }

 private:
  static constexpr std::uint64_t kCloseBytes = 16;

  void append_piece(const LoadedCode& code, std::size_t number, const image::FrameRecord& frame,
                    const std::string& file) {
    const CodePiece piece = code.piece(number);
    if (piece.size == 0) return;
    const auto address = reinterpret_cast<std::uintptr_t>(piece.address);
    const std::span bytes(static_cast<const std::uint8_t*>(piece.address),
                          static_cast<std::size_t>(piece.size));
    if (piece.kind == CodeKind::Function) {
      code.lines(number, lines_);
      put_debug_info(address, piece.code_size, file);
    }
    put_unwinding_info(piece, frame);
    const std::size_t at = begin_record(out_, kCodeLoad, time_);
    put(out_, process_);
    put(out_, thread_);
    put<std::uint64_t>(out_, address);
    put<std::uint64_t>(out_, address);
    put<std::uint64_t>(out_, piece.size);
    put(out_, index_++);
    put_text(out_, piece.name);
    const bool is_long = bytes.size() > kChunk / 4;
    if (!is_long) put_bytes(out_, bytes);
    base::store_le(&out_[at + 4],
                   static_cast<std::uint32_t>(out_.size() - at + (is_long ? bytes.size() : 0)));
    if (is_long) {
      flush(bytes);
    } else if (out_.size() >= kChunk) {
      flush({});
    }
  }

  /// What is buffered, and `more` behind it.
  void flush(std::span<const std::uint8_t> more) {
    // A full disk ends the profile, not the program; what is there stays whole.
    if (!broken_) broken_ = !file_.append(out_, more);
    if (broken_) note_unwritten();
    out_.clear();
  }

  /// perf's line table ends at the last entry: that is there once more at the end of the code.
  void put_debug_info(std::uint64_t address, std::uint64_t code_size,
                      const std::string& module_file) {
    const std::size_t at = begin_record(out_, kDebugInfo, time_);
    put<std::uint64_t>(out_, address);
    const std::size_t count_at = out_.size();
    put<std::uint64_t>(out_, 0);
    std::uint64_t count = 0;
    const auto put_line = [&](const CodeLine& line, std::uint64_t offset) {
      const bool has_line = line.line != 0;
      put<std::uint64_t>(out_, address + offset);
      put<std::uint32_t>(out_,
                         has_line ? line.line : static_cast<std::uint32_t>(line.module_offset));
      put<std::uint32_t>(out_, 0);
      put_text(out_, has_line && !line.file.empty() ? line.file : std::string_view(module_file));
      ++count;
    };
    const CodeLine* last = nullptr;
    for (const CodeLine& line : lines_) {
      if (line.line == 0 && line.module_offset == CodeLine::kNoOffset) continue;
      put_line(line, line.offset);
      last = &line;
    }
    if (last == nullptr) {
      out_.resize(at);
      return;
    }
    put_line(*last, code_size);
    base::store_le(&out_[count_at], count);
    end_record(out_, at);
  }

  /// The piece's own `.eh_frame` and `.eh_frame_hdr`, as if they lay behind its code at the next
  /// multiple of 8, in the file that perf makes for it. A perf that unwinds with libunwind looks
  /// for entries of the search table in memory behind the code, where other code is: an empty table
  /// makes it follow the frame pointers instead. With libdw it reads the frames from the file.
  void put_unwinding_info(const CodePiece& piece, const image::FrameRecord& frame) {
    if (frame.bytes.empty()) return;
    const std::size_t at = begin_record(out_, kUnwindingInfo, time_);
    const std::size_t sizes = out_.size();
    put<std::uint64_t>(out_, 0);
    put<std::uint64_t>(out_, image::kSingleEhFrameHdr);
    put<std::uint64_t>(out_, 0);  // it is not mapped behind the code
    const std::size_t begin = out_.size();
    const auto distance = static_cast<std::int64_t>(base::align_up(piece.size, 8));
    if (!image::append_single_eh_frame(out_, frame, distance)) {
      out_.resize(at);
      return;
    }
    base::store_le(&out_[sizes], std::uint64_t{out_.size() - begin});
    out_.resize(at + base::align_up(out_.size() - at, 8));
    end_record(out_, at);
  }

  Result<void> create() {
    static const bool guarded = [] {
      platform::at_fork([] { the_dump().mutex_.lock(); }, [] { the_dump().mutex_.unlock(); },
                        [] { the_dump().mutex_.unlock(); });
      return true;
    }();
    static_cast<void>(guarded);
    process_ = platform::process_id();
    broken_ = closed_ = false;
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
    Result<void> made = Error(ErrorKind::Io, "the jitdump file cannot be written");
    if (file_.append(out)) made = file_.map_marker();
    if (!made) file_.close();
    return made;
  }

  std::mutex mutex_;
  platform::DumpFile file_;
  std::uint32_t users_ = 0;
  std::uint32_t process_ = 0;
  std::uint64_t index_ = 0;
  bool broken_ = false;
  bool closed_ = false;  ///< the last record is "close"
  // Of the code that is being told about.
  Bytes out_;
  std::vector<CodeLine> lines_;
  std::uint64_t time_ = 0;
  std::uint32_t thread_ = 0;
};

class JitDumpAgent final : public CodeListener {
 public:
  explicit JitDumpAgent(std::uint32_t process) : process_(process) {}
  ~JitDumpAgent() override { Dump::the_dump().close(process_); }
  void on_load(const LoadedCode& code) noexcept override { Dump::the_dump().append(code); }
  /// Later code at the same addresses has a later time.
  void on_unload(const LoadedCode&) noexcept override {}

 private:
  std::uint32_t process_;
};

}  // namespace

Result<std::shared_ptr<CodeListener>> make_jitdump_agent() {
  HOIST_TRY(const std::uint32_t process, Dump::the_dump().open());
  return std::shared_ptr<CodeListener>(std::make_shared<JitDumpAgent>(process));
}

}  // namespace hoist::profiling
