// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/profiler.hpp"

#include <fmt/core.h>

#include <span>
#include <utility>

#include "platform/private_dir.hpp"
#include "profiling/sampler/profile.hpp"
#include "profiling/sampler/sampler.hpp"

namespace hoist {

namespace detail {
struct ProfilerImpl {
  ~ProfilerImpl() {
    if (running) static_cast<void>(profiling::stop_sampler());
  }
  bool running = true;
};
struct ProfileImpl {
  profiling::Profile profile;
};
}  // namespace detail

GuestProfile::GuestProfile(std::shared_ptr<const detail::ProfileImpl> impl) noexcept
    : impl_(std::move(impl)) {}

static const profiling::Profile& profile_of(const detail::ProfileImpl* impl) {
  static const profiling::Profile& none = *new profiling::Profile;
  return impl == nullptr ? none : impl->profile;
}

std::uint64_t GuestProfile::interval_ns() const noexcept {
  return profile_of(impl_.get()).interval_ns;
}
std::uint64_t GuestProfile::samples() const noexcept {
  return profile_of(impl_.get()).samples;
}
std::uint64_t GuestProfile::lost() const noexcept {
  return profile_of(impl_.get()).lost;
}

static std::vector<HotSpot> to_public(const profiling::Profile& profile,
                                      const std::vector<profiling::Spot>& spots, bool by_line) {
  std::vector<HotSpot> out;
  out.reserve(spots.size());
  for (const profiling::Spot& spot : spots) {
    profiling::ProfileFrame frame = profile.frames[spot.frame];
    if (frame.kind == profiling::FrameKind::Inlined) frame.kind = profiling::FrameKind::Guest;
    HotSpot& made = out.emplace_back();
    made.function = profiling::frame_label(frame, false);
    made.module = frame.module;
    if (by_line) made.file = frame.file;
    if (by_line) made.line = frame.line;
    made.self = spot.self;
    made.total = spot.total;
  }
  return out;
}

std::vector<HotSpot> GuestProfile::functions() const noexcept {
  const profiling::Profile& profile = profile_of(impl_.get());
  return to_public(profile, profiling::hot_functions(profile), false);
}
std::vector<HotSpot> GuestProfile::lines() const noexcept {
  const profiling::Profile& profile = profile_of(impl_.get());
  return to_public(profile, profiling::hot_lines(profile), true);
}

std::string GuestProfile::to_string(ProfileFormat format, const std::string& title) const noexcept {
  const profiling::Profile& profile = profile_of(impl_.get());
  switch (format) {
    case ProfileFormat::Firefox: return profiling::firefox_json(profile, title);
    case ProfileFormat::Collapsed: return profiling::collapsed(profile, false);
    case ProfileFormat::CollapsedLines: return profiling::collapsed(profile, true);
    case ProfileFormat::FlameGraph: return profiling::flame_graph_html(profile, title);
  }
  return {};
}

Result<void> GuestProfile::write(const std::string& path, ProfileFormat format,
                                 const std::string& title) const noexcept {
  const std::string text = to_string(format, title);
  return platform::replace_file(
      path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, false);
}

Result<ProfileFormat> GuestProfile::format_of(const std::string& path) noexcept {
  std::string name = path;
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (name.ends_with(".json")) return ProfileFormat::Firefox;
  if (name.ends_with(".txt") || name.ends_with(".collapsed")) return ProfileFormat::Collapsed;
  if (name.ends_with(".html")) return ProfileFormat::FlameGraph;
  return Error(
      ErrorKind::BadArgument,
      fmt::format("{}: the name of a profile ends with .html (flame graph), .json (Firefox "
                  "profiler), .txt or .collapsed (collapsed stacks)",
                  path));
}

GuestProfiler::GuestProfiler(GuestProfiler&&) noexcept = default;
GuestProfiler& GuestProfiler::operator=(GuestProfiler&&) noexcept = default;
GuestProfiler::~GuestProfiler() = default;

Result<GuestProfiler> GuestProfiler::start(const ProfilerOptions& options) noexcept {
  profiling::SamplerOptions inner;
  inner.interval_ns = options.interval_ns;
  inner.clock = options.clock == ProfilerOptions::Clock::Cpu ? profiling::SampleClock::Cpu
                                                             : profiling::SampleClock::Wall;
  HOIST_TRY_VOID(profiling::start_sampler(inner));
  GuestProfiler out;
  out.impl_ = std::make_unique<detail::ProfilerImpl>();
  return out;
}

GuestProfile GuestProfiler::stop() noexcept {
  if (impl_ == nullptr || !impl_->running) return {};
  impl_->running = false;
  return GuestProfile(
      std::make_shared<const detail::ProfileImpl>(detail::ProfileImpl{profiling::stop_sampler()}));
}

}  // namespace hoist
