// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/profile.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "api/impl.hpp"
#include "base/text/printable.hpp"
#include "hoist/cli.hpp"
#include "wasm/debug/line_table.hpp"

namespace hoist::cli {

namespace {

constexpr std::size_t kReported = 20;

Error bad_argument(std::string message) {
  return {ErrorKind::BadArgument, std::move(message)};
}

/// "1ms", "250us", "2s".
Result<std::uint64_t> parse_interval(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "ns"   ? 1
                        : unit == "us" ? 1e3
                        : unit == "ms" ? 1e6
                        : unit == "s"  ? 1e9
                                       : 0;
  if (code != std::errc() || factor == 0 || !(value > 0) || value * factor > 1e15) {
    return bad_argument(
        fmt::format("--profile: interval={} is no time: it is a number with us, ms or s", text));
  }
  return static_cast<std::uint64_t>(value * factor);
}

/// Whether the file can be made or replaced, before anything has run for it.
Result<void> check_writable(const std::string& path) {
  const auto failed = [&] {
    return Error(ErrorKind::Io,
                 fmt::format("the profile cannot be written: {}: {}", path, std::strerror(errno)));
  };
  struct stat info = {};
  const bool is_there = ::stat(path.c_str(), &info) == 0;
  if (is_there && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return failed();
  }
  if (is_there && ::access(path.c_str(), W_OK) != 0) return failed();
  if (is_there && !S_ISREG(info.st_mode)) return {};
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return failed();
  return {};
}

std::string name_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  std::string name = file.substr(slash == std::string::npos ? 0 : slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot != 0) name.resize(dot);
  return name;
}

std::string spot_line(const HotSpot& spot, double all, const std::string& name) {
  return fmt::format("  {:>6.2f} {:>7.2f}  {}\n", 100 * static_cast<double>(spot.self) / all,
                     100 * static_cast<double>(spot.total) / all, base::printable(name, 300));
}

}  // namespace

void add_demangle_option(CLI::App& sub, std::string& on_off) {
  sub.add_option("--demangle", on_off,
                 "Show names of C++ and Rust functions as their source has them (default on)")
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("on|off");
}

void RunProfile::add_options(CLI::App& sub) {
  sub.add_option("--profile", option_,
                 "Tell a profiler about the code: perfmap (/tmp/perf-PID.map), jitdump "
                 "(jit-PID.dump for `perf "
                 "inject --jit`, in $JITDUMPDIR or here), vtune; or sample it without one: guest"
                 "[,interval=1ms][,out=FILE][,clock=wall|cpu][,lines] writes a flame graph "
                 "(FILE.html), JSON for the "
                 "Firefox profiler (.json) or collapsed stacks (.txt, .collapsed)")
      ->type_name("perfmap|jitdump|vtune|guest[,...]");
  add_demangle_option(sub, demangle_);
}

Result<void> RunProfile::parse_guest(const std::string& settings) {
  sampler_options_.clock = ProfilerOptions::Clock::Wall;
  std::size_t at = 0;
  while (at < settings.size()) {
    const std::size_t comma = std::min(settings.find(',', at), settings.size());
    const std::string item = settings.substr(at, comma - at);
    at = comma + 1;
    const std::size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    if (key == "interval") {
      auto interval = parse_interval(value);
      if (!interval) return std::move(interval).error();
      sampler_options_.interval_ns = *interval;
    } else if (key == "out" && !value.empty()) {
      out_ = value;
    } else if (item == "clock=cpu") {
      sampler_options_.clock = ProfilerOptions::Clock::Cpu;
    } else if (item == "clock=wall") {
      sampler_options_.clock = ProfilerOptions::Clock::Wall;
    } else if (item == "lines") {
      by_line_ = true;
    } else {
      return bad_argument(
          fmt::format("--profile=guest has no setting '{}': it has interval=TIME, out=FILE, "
                      "clock=wall, clock=cpu and lines",
                      item));
    }
  }
  return {};
}

Result<void> RunProfile::prepare(const std::string& file) {
  file_ = file;
  const std::size_t comma = option_.find(',');
  const std::string kind = option_.substr(0, comma);
  samples_ = kind == "guest" || (reports_ && kind == "none");
  if (kind == "perfmap") {
    agent_ = Profiler::PerfMap;
  } else if (kind == "jitdump") {
    agent_ = Profiler::JitDump;
  } else if (kind == "vtune") {
    agent_ = Profiler::VTune;
  } else if (kind != "none" && kind != "guest") {
    return bad_argument(fmt::format(
        "--profile: there is no profiler '{}': it is perfmap, jitdump, vtune or guest", kind));
  }
  if (reports_ && !samples_) {
    return bad_argument("hoist profile samples the guest: --profile is guest[,...] here");
  }
  if (comma != std::string::npos && !samples_)
    return bad_argument(fmt::format("--profile={} has no settings", kind));
  if (!samples_) return {};
  if (auto parsed = parse_guest(comma == std::string::npos ? "" : option_.substr(comma + 1));
      !parsed)
    return parsed;
  if (out_.empty()) out_ = name_of(file) + ".profile.html";
  auto format = GuestProfile::format_of(out_);
  if (!format) return std::move(format).error();
  format_ = *format;
  if (format_ == ProfileFormat::Collapsed && by_line_) format_ = ProfileFormat::CollapsedLines;
  return check_writable(out_);
}

void RunProfile::apply(Config& config) const {
  config.profiler = agent_;
  config.demangle = demangle_ == "on";
}

Result<void> RunProfile::start(const Module& module) {
  const runtime::ModuleCode& code = *module.impl()->code;
  if (samples_ || agent_ == Profiler::JitDump || agent_ == Profiler::VTune) {
    for (const std::string& problem :
         {code.lines().problem(), std::string(code.names().problem())}) {
      if (!problem.empty())
        note(fmt::format("hoist: {}: warning: {}\n", base::printable(file_),
                         base::printable(problem)));
    }
  }
  if (!samples_) return {};
  auto sampler = GuestProfiler::start(sampler_options_);
  if (!sampler) return std::move(sampler).error();
  sampler_.emplace(*std::move(sampler));
  return {};
}

void RunProfile::report(const GuestProfile& profile) const {
  const auto all = static_cast<double>(std::max<std::uint64_t>(profile.samples(), 1));
  std::string text =
      fmt::format("\n{}: {} samples, one every {} ms{}\n", base::printable(file_),
                  profile.samples(), static_cast<double>(profile.interval_ns()) / 1e6,
                  profile.lost() == 0 ? "" : fmt::format(" ({} lost)", profile.lost()));
  if (profile.samples() != 0) text += "  self %  total %  function\n";
  const std::vector<HotSpot> functions = profile.functions();
  for (std::size_t i = 0; i < std::min(kReported, functions.size()) && functions[i].self != 0; ++i)
    text += spot_line(functions[i], all, functions[i].function);
  const std::vector<HotSpot> lines = profile.lines();
  if (!lines.empty() && lines.front().self != 0) text += "\n  self %  total %  line\n";
  for (std::size_t i = 0; i < std::min(kReported, lines.size()) && lines[i].self != 0; ++i) {
    text += spot_line(lines[i], all,
                      fmt::format("{}:{}  {}", lines[i].file, lines[i].line, lines[i].function));
  }
  note(text);
}

bool RunProfile::finish() {
  if (!sampler_) return true;
  const GuestProfile profile = sampler_->stop();
  sampler_.reset();
  if (reports_) report(profile);
  if (auto written = profile.write(out_, format_, base::printable(name_of(file_))); !written) {
    fail(fmt::format("the profile cannot be written: {}", written.error().message()));
    return false;
  }
  note(fmt::format("{}profile: {}\n", reports_ ? "\n" : "hoist: ", base::printable(out_)));
  return true;
}

}  // namespace hoist::cli
