// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The JIT profiling interface of Intel's Instrumentation and Tracing Technology, as far as Hoist
/// speaks it: a collector is a shared library with two functions, named by an environment variable.
///
/// Source: "JIT Profiling API Reference" of the Intel VTune Profiler user guide; names and values
/// of jitprofiling.h.

#include <cstddef>

namespace hoist::profiling::itt {

/// Where the collector is named, in this order.
inline constexpr const char* kVariables[] = {"INTEL_JIT_PROFILER64", "INTEL_LIBITTNOTIFY64"};
/// unsigned Initialize(): 0 is "nobody listens".
inline constexpr const char* kInitialize = "Initialize";
/// int NotifyEvent(unsigned event, void* data)
inline constexpr const char* kNotifyEvent = "NotifyEvent";

enum Event : unsigned {
  kShutdown = 2,             ///< no data
  kUnloadStart = 14,         ///< MethodId
  kInlineLoadFinished = 16,  ///< MethodInlineLoad
  kLoadFinishedV2 = 21       ///< MethodLoadV2
};

/// Code up to `offset` (exclusive; from where the entry before ends) belongs to the line.
struct LineNumber {
  unsigned offset;
  unsigned line;
};

struct MethodLoadV2 {
  unsigned method_id;  ///< 0 is none
  char* method_name;
  void* load_address;
  unsigned method_size;
  unsigned line_count;  ///< entries
  LineNumber* lines;
  unsigned class_id;
  char* class_file_name;
  char* source_file_name;
  char* module_name;
};

struct MethodInlineLoad {
  unsigned method_id;
  unsigned parent_method_id;
  char* method_name;
  unsigned line_count;
  LineNumber* lines;  ///< offsets from the outermost method; line 0: not part of this one
  unsigned class_id;
  char* class_file_name;
  char* source_file_name;
};

struct MethodId {
  unsigned method_id;
};

}  // namespace hoist::profiling::itt
