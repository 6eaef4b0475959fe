// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stand-in for VTune's collector, after the public JIT profiling API: writes each event as a line
// to the file that ITT_LOG names, and checks what a collector relies on. Exits with 99 on what must
// never be.
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

struct Line {
  unsigned offset, number;
};
struct MethodLoadV2 {
  unsigned method_id;
  char* method_name;
  void* load_address;
  unsigned method_size, line_count;
  Line* lines;
  unsigned class_id;
  char *class_file_name, *source_file_name, *module_name;
};
struct InlineLoad {
  unsigned method_id, parent_method_id;
  char* method_name;
  unsigned line_count;
  Line* lines;
  unsigned class_id;
  char *class_file_name, *source_file_name;
};

constexpr unsigned kMost = 1 << 20;
enum State : unsigned char { kNever, kLoaded, kUnloaded };

std::mutex& mutex() {
  static std::mutex& made = *new std::mutex;
  return made;
}
std::FILE* out = nullptr;
State seen[kMost];

[[noreturn]] void wrong(const char* what, unsigned id) {
  std::fprintf(stderr, "itt_collector: %s (method %u)\n", what, id);
  std::_Exit(99);
}

void begin(unsigned id) {
  if (id == 0 || id >= kMost) wrong("bad method id", id);
  if (seen[id] != kNever) wrong("a method id comes twice", id);
  seen[id] = kLoaded;
}

const char* text(const char* given) {
  return given == nullptr ? "-" : given;
}

void put_lines(unsigned count, const Line* lines, unsigned limit, unsigned id) {
  unsigned before = 0;
  std::fprintf(out, " lines=");
  for (unsigned i = 0; i < count; ++i) {
    if (lines[i].offset < before || lines[i].offset > limit)
      wrong("offsets of lines do not ascend within the code", id);
    before = lines[i].offset;
    std::fprintf(out, "%s%u:%u", i != 0 ? "," : "", lines[i].offset, lines[i].number);
  }
}

void load(const MethodLoadV2& m) {
  begin(m.method_id);
  if (m.load_address == nullptr || m.method_size == 0) wrong("no code", m.method_id);
  // The bytes are there: a collector copies them.
  unsigned sum = 0;
  for (unsigned i = 0; i < m.method_size; ++i)
    sum = sum * 31 + static_cast<const unsigned char*>(m.load_address)[i];
  std::fprintf(out, "load id=%u address=%p size=%u sum=%u module=%s source=%s name=%s", m.method_id,
               m.load_address, m.method_size, sum, m.module_name, text(m.source_file_name),
               m.method_name);
  put_lines(m.line_count, m.lines, m.method_size, m.method_id);
}

void load_inlined(const InlineLoad& m) {
  begin(m.method_id);
  if (m.parent_method_id >= kMost || seen[m.parent_method_id] != kLoaded)
    wrong("no such parent", m.method_id);
  std::fprintf(out, "inline id=%u parent=%u source=%s name=%s", m.method_id, m.parent_method_id,
               text(m.source_file_name), m.method_name);
  put_lines(m.line_count, m.lines, ~0U, m.method_id);
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) unsigned Initialize();
__attribute__((visibility("default"))) int NotifyEvent(unsigned event, void* data);
}

unsigned Initialize() {
  const char* path = std::getenv("ITT_LOG");
  out = path != nullptr ? std::fopen(path, "w") : nullptr;
  return std::getenv("ITT_OFF") == nullptr && out != nullptr ? 1 : 0;
}

int NotifyEvent(unsigned event, void* data) {
  const std::lock_guard<std::mutex> lock(mutex());
  if (event == 21) {
    load(*static_cast<const MethodLoadV2*>(data));
  } else if (event == 16) {
    load_inlined(*static_cast<const InlineLoad*>(data));
  } else if (event == 14) {
    const unsigned id = *static_cast<const unsigned*>(data);
    if (id >= kMost || seen[id] != kLoaded) wrong("unload of what is not loaded", id);
    seen[id] = kUnloaded;
    std::fprintf(out, "unload id=%u", id);
  } else if (event == 2) {
    std::fprintf(out, "shutdown");
  } else {
    wrong("unknown event", event);
  }
  std::fprintf(out, "\n");
  std::fflush(out);
  return 1;
}
