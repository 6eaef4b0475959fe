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
  kUnloadStart = 14,         ///< MethodLoad
  kInlineLoadFinished = 16,  ///< MethodInlineLoad
  kLoadFinishedV2 = 21       ///< MethodLoadV2
};

/// Code up to `offset` (exclusive; from where the entry before ends) belongs to the line.
struct LineNumber {
  unsigned offset;
  unsigned line;
};

/// Code of one method.
struct MethodLoad {
  unsigned method_id;  ///< those below 999 are the interface's own
  char* method_name;   ///< never null
  void* load_address;
  unsigned method_size;
  unsigned line_count;  ///< entries
  LineNumber* lines;    ///< offsets from load_address
  unsigned class_id;    ///< not used, as those behind source_file_name
  char* class_file_name;
  char* source_file_name;
  void* user_data;
  unsigned user_data_size;
  unsigned environment;
};

/// The same with the module's name; it has no class_id.
struct MethodLoadV2 {
  unsigned method_id;
  char* method_name;
  void* load_address;
  unsigned method_size;
  unsigned line_count;
  LineNumber* lines;
  char* class_file_name;
  char* source_file_name;
  char* module_name;
};

/// One stretch of code within its parent's, in which that called this method. Those of one parent
/// do not overlap.
struct MethodInlineLoad {
  unsigned method_id;
  unsigned parent_method_id;
  char* method_name;
  void* load_address;
  unsigned method_size;
  unsigned line_count;
  LineNumber* lines;  ///< offsets from load_address
  char* class_file_name;
  char* source_file_name;
};

// As compilers lay out those of jitprofiling.h.
static_assert(offsetof(MethodLoad, source_file_name) == 56 && sizeof(MethodLoad) == 80);
static_assert(offsetof(MethodLoadV2, class_file_name) == 40 && sizeof(MethodLoadV2) == 64);
static_assert(offsetof(MethodInlineLoad, load_address) == 16 && sizeof(MethodInlineLoad) == 56);

}  // namespace hoist::profiling::itt
