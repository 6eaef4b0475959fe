// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What a sampling profiler has seen: a tree of calls with weights, and when each thread was where.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace hoist::profiling {

enum class FrameKind : std::uint8_t {
  Guest,
  Inlined,     ///< in the frame that comes after it
  Host,        ///< a host function or the runtime, called by the guest
  Trampoline,  ///< code of Hoist between guest and host
  Gap          ///< frames that are left out
};
inline constexpr const char* kFrameKinds[] = {"guest", "inlined", "host", "trampoline", "gap"};

struct ProfileFrame {
  std::string function;
  std::string module;
  std::string file;
  std::uint32_t line = 0;
  FrameKind kind = FrameKind::Guest;
};

struct Profile {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  /// One way to get somewhere; parents have smaller numbers.
  struct Node {
    std::uint32_t parent = kNone;
    std::uint32_t frame = 0;
    std::uint64_t self = 0;  ///< weight of samples that end here
  };
  struct Sample {
    std::uint64_t time_ns = 0;  ///< since the start
    std::uint32_t node = 0;
    std::uint32_t weight = 1;
  };
  struct Thread {
    std::uint32_t id = 0;
    std::string name;  ///< may be empty
    std::vector<Sample> samples;
  };

  std::uint64_t interval_ns = 0;
  std::uint64_t start_unix_ms = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t samples = 0;  ///< weights
  std::uint64_t lost = 0;
  std::uint64_t untimed = 0;  ///< samples beyond what is kept with their times
  bool wall_clock = false;
  std::vector<ProfileFrame> frames;  ///< some may occur in no node
  std::vector<Node> nodes;
  std::vector<Thread> threads;
};

/// Functions, or lines, with the weight that they have themselves and with what they call, by self,
/// then name.
struct Spot {
  std::uint32_t frame = 0;  ///< one of those that are the same here
  std::uint64_t self = 0;
  std::uint64_t total = 0;
};
std::vector<Spot> hot_functions(const Profile& profile);
std::vector<Spot> hot_lines(const Profile& profile);

// ---- Forms of a profile.

/// The processed profile format of the Firefox profiler.
std::string firefox_json(const Profile& profile, const std::string& title);
/// Lines "outer;inner 42", sorted.
std::string collapsed(const Profile& profile, bool by_line);
/// One page that needs nothing else.
std::string flame_graph_html(const Profile& profile, const std::string& title);

// ---- What they share.

/// "fd_write [host]", "main.c:12" behind the name if `with_line`.
std::string frame_label(const ProfileFrame& frame, bool with_line);
/// Of each frame its function; with " [module]" where functions of several modules have one name,
/// so that these are never taken for one.
std::vector<std::string> function_names(const Profile& profile);
/// Of each frame whether a node has it.
std::vector<bool> used_frames(const Profile& profile);
/// "main", "wasi thread 3", "thread 4711".
std::string thread_label(const Profile::Thread& thread);
/// In quotes.
std::string json_string(std::string_view text);

}  // namespace hoist::profiling
