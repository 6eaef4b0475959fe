// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stand-in for VTune's collector, after the public JIT profiling API: writes each event as a line
// to the file that ITT_LOG names, and checks what a collector relies on. Exits with 99 on what must
// never be.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

// As jitprofiling.h has them. (iJIT_Method_Load alone has a class_id.)
struct Line {
  unsigned offset, number;
};
struct MethodLoad {
  unsigned method_id;
  char* method_name;
  void* load_address;
  unsigned method_size, line_count;
  Line* lines;
  unsigned class_id;
  char *class_file_name, *source_file_name;
  void* user_data;
  unsigned user_data_size, env;
};
struct MethodLoadV2 {
  unsigned method_id;
  char* method_name;
  void* load_address;
  unsigned method_size, line_count;
  Line* lines;
  char *class_file_name, *source_file_name, *module_name;
};
struct InlineLoad {
  unsigned method_id, parent_method_id;
  char* method_name;
  void* load_address;
  unsigned method_size, line_count;
  Line* lines;
  char *class_file_name, *source_file_name;
};

constexpr unsigned kMost = 1 << 20;
enum State : unsigned char { kNever, kLoaded, kUnloaded };
/// What is known of an id.
struct Method {
  State state;
  unsigned parent;
  std::uintptr_t begin, end;
  std::uintptr_t last_inlined;  // where the last call that was inlined into it ends
};

std::mutex& mutex() {
  static std::mutex& made = *new std::mutex;
  return made;
}
std::FILE* out = nullptr;
Method seen[kMost];

[[noreturn]] void wrong(const char* what, unsigned id) {
  std::fprintf(stderr, "itt_collector: %s (method %u)\n", what, id);
  std::_Exit(99);
}

void begin(unsigned id, unsigned parent, const void* address, unsigned size) {
  if (id < 999 || id >= kMost) wrong("bad method id", id);
  if (seen[id].state != kNever) wrong("a method id comes twice", id);
  if (address == nullptr || size == 0) wrong("no code", id);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  seen[id] = {kLoaded, parent, at, at + size, 0};
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

/// The bytes are there: a collector copies them.
unsigned sum_of(const void* code, unsigned size) {
  unsigned sum = 0;
  for (unsigned i = 0; i < size; ++i) sum = sum * 31 + static_cast<const unsigned char*>(code)[i];
  return sum;
}

void load(const MethodLoadV2& m) {
  begin(m.method_id, 0, m.load_address, m.method_size);
  std::fprintf(out, "load id=%u address=%p size=%u sum=%u module=%s source=%s class=%s name=%s",
               m.method_id, m.load_address, m.method_size, sum_of(m.load_address, m.method_size),
               text(m.module_name), text(m.source_file_name), text(m.class_file_name),
               m.method_name);
  put_lines(m.line_count, m.lines, m.method_size, m.method_id);
}

void load_inlined(const InlineLoad& m) {
  begin(m.method_id, m.parent_method_id, m.load_address, m.method_size);
  if (m.parent_method_id >= kMost || seen[m.parent_method_id].state != kLoaded)
    wrong("no such parent", m.method_id);
  Method& parent = seen[m.parent_method_id];
  const Method& self = seen[m.method_id];
  if (self.begin < parent.begin || self.end > parent.end)
    wrong("an inlined call outside of its parent", m.method_id);
  if (self.begin < parent.last_inlined) wrong("inlined calls overlap", m.method_id);
  parent.last_inlined = self.end;
  std::fprintf(out, "inline id=%u parent=%u address=%p size=%u source=%s class=%s name=%s",
               m.method_id, m.parent_method_id, m.load_address, m.method_size,
               text(m.source_file_name), text(m.class_file_name), m.method_name);
  put_lines(m.line_count, m.lines, m.method_size, m.method_id);
}

void unload(const MethodLoad& m) {
  const unsigned id = m.method_id;
  if (id >= kMost || seen[id].state != kLoaded || seen[id].parent != 0)
    wrong("unload of what is not loaded", id);
  if (reinterpret_cast<std::uintptr_t>(m.load_address) != seen[id].begin ||
      m.method_size != seen[id].end - seen[id].begin || m.method_name == nullptr)
    wrong("unload of other code", id);
  seen[id].state = kUnloaded;
  std::fprintf(out, "unload id=%u", id);
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
    unload(*static_cast<const MethodLoad*>(data));
  } else if (event == 2) {
    std::fprintf(out, "shutdown");
  } else {
    wrong("unknown event", event);
  }
  std::fprintf(out, "\n");
  // Between loads and whatever comes next, all of them are in the file.
  if (event == 14 || event == 2) std::fflush(out);
  return 1;
}
