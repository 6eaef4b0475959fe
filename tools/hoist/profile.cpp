// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/profile.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "api/impl.hpp"
#include "base/text/printable.hpp"
#include "hoist/cli.hpp"
#include "hoist/profile_report.hpp"
#include "platform/clocks.hpp"
#include "platform/private_dir.hpp"
#include "profiling/agent.hpp"
#include "wasm/debug/line_table.hpp"

namespace hoist::cli {

namespace {

/// "-": the standard output.
constexpr std::string_view kStandardOutput = "-";

constexpr std::string_view kKinds[] = {"none", "perfmap", "jitdump", "vtune", "guest"};

bool is_kind(std::string_view text) {
  return std::find(std::begin(kKinds), std::end(kKinds), text) != std::end(kKinds);
}

const char* name_of(ProfileFormat format) {
  switch (format) {
    case ProfileFormat::Firefox: return "JSON for the Firefox profiler";
    case ProfileFormat::Collapsed:
    case ProfileFormat::CollapsedLines: return "collapsed stacks";
    case ProfileFormat::FlameGraph: return "a flame graph, HTML";
  }
  return "";
}

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
  if (code != std::errc() || factor == 0 || !(value > 0)) {
    return bad_argument(
        fmt::format("--profile: interval={} is no time: it is a number with us, ms or s", text));
  }
  const double ns = value * factor;
  if (ns < 1e5 || ns > 1e10) {
    return bad_argument(
        fmt::format("--profile: interval={} is too {}: it must be from 100us to 10s", text,
                    ns < 1e5 ? "short" : "long"));
  }
  return static_cast<std::uint64_t>(ns);
}

/// Whether the file can be made or replaced, before anything has run for it.
Result<void> check_writable(const std::string& path) {
  auto checked = platform::check_replaceable(path);
  if (checked) return checked;
  return Error(ErrorKind::Io, "the profile cannot be written: " + checked.error().message());
}

/// "html" and the like, where the file's name does not say it.
Result<ProfileFormat> parse_format(const std::string& text) {
  auto format = GuestProfile::format_of("." + text);
  if (format) return format;
  return bad_argument(
      fmt::format("--profile: there is no format '{}': it is html, json, collapsed or txt", text));
}

std::string base_name(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return file.substr(slash == std::string::npos ? 0 : slash + 1);
}

/// Without its extension.
std::string stem_of(const std::string& file) {
  std::string name = base_name(file);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot != 0) name.resize(dot);
  return name == kStandardOutput ? "stdin" : name;
}

}  // namespace

void add_demangle_option(CLI::App& sub, std::string& on_off) {
  sub.add_option("--demangle", on_off,
                 "Show names of C++ and Rust functions as their source has them (default on)")
      ->check(CLI::IsMember({"on", "off"}).description(""))
      ->type_name("on|off");
}

void RunProfile::add_options(CLI::App& sub) {
  sub.add_option(
         "--profile", option_,
         "Tell a profiler about the code: perfmap (/tmp/perf-PID.map), jitdump "
         "(jit-PID.dump for `perf "
         "inject --jit`, in $JITDUMPDIR or here), vtune; or sample it without one: guest"
         "[,interval=1ms][,out=FILE][,format=...][,clock=wall|cpu][,lines] writes a flame graph "
         "(FILE.html), JSON for the "
         "Firefox profiler (.json) or collapsed stacks (.txt, .collapsed), also when Ctrl-C "
         "ends the program; out=- is the standard output")
      ->type_name("perfmap|jitdump|vtune|guest[,...]");
  add_demangle_option(sub, demangle_);
}

Result<void> RunProfile::parse_guest(const std::string& settings) {
  sampler_options_.clock = ProfilerOptions::Clock::Wall;
  std::size_t at = 0;
  while (at < settings.size()) {
    const std::size_t comma = std::min(settings.find(',', at), settings.size());
    if (auto parsed = parse_setting(settings.substr(at, comma - at)); !parsed) return parsed;
    at = comma + 1;
  }
  return {};
}

Result<void> RunProfile::parse_setting(const std::string& item) {
  const std::size_t equals = item.find('=');
  const std::string key = item.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
  if (key == "interval") {
    auto interval = parse_interval(value);
    if (!interval) return std::move(interval).error();
    sampler_options_.interval_ns = *interval;
  } else if (key == "out" && !value.empty()) {
    out_ = value;
  } else if (key == "out") {
    return bad_argument(
        "--profile: out= names no file: it is out=FILE, or out=- for the standard "
        "output");
  } else if (key == "format") {
    auto format = parse_format(value);
    if (!format) return std::move(format).error();
    format_ = *format;
    has_format_ = true;
  } else if (item == "clock=cpu") {
    sampler_options_.clock = ProfilerOptions::Clock::Cpu;
  } else if (item == "clock=wall") {
    sampler_options_.clock = ProfilerOptions::Clock::Wall;
  } else if (item == "lines") {
    by_line_ = true;
  } else {
    return bad_argument(
        fmt::format("--profile=guest has no setting '{}': it has interval=TIME, out=FILE, "
                    "format=FORMAT, clock=wall, clock=cpu and lines",
                    item));
  }
  return {};
}

Result<void> RunProfile::prepare(const std::vector<std::string>& command) {
  file_ = command.front();
  title_ = base_name(file_);
  for (std::size_t i = 1; i < command.size(); ++i) title_ += " " + command[i];
  title_ = base::printable(title_, 300);
  const std::size_t comma = option_.find(',');
  const std::string kind = option_.substr(0, comma);
  const std::string settings = comma == std::string::npos ? "" : option_.substr(comma + 1);
  samples_ = kind == "guest" || (reports_ && kind == "none");
  if (!is_kind(kind)) {
    return bad_argument(fmt::format(
        "--profile: there is no profiler '{}': it is perfmap, jitdump, vtune or guest", kind));
  }
  if (is_kind(settings.substr(0, settings.find(',')))) {
    return bad_argument(fmt::format("--profile={}: there is one profiler at a time", option_));
  }
  if (kind == "perfmap") agent_ = Profiler::PerfMap;
  if (kind == "jitdump") agent_ = Profiler::JitDump;
  if (kind == "vtune") agent_ = Profiler::VTune;
  if (reports_ && !samples_) {
    return bad_argument("hoist profile samples the guest: --profile is guest[,...] here");
  }
  if (comma != std::string::npos && !samples_)
    return bad_argument(fmt::format("--profile={} has no settings", kind));
  if (!samples_) return {};
  if (auto parsed = parse_guest(settings); !parsed) return parsed;
  return choose_output();
}

Result<void> RunProfile::choose_output() {
  if (out_.empty()) {
    const char* ending = format_ == ProfileFormat::Firefox     ? ".profile.json"
                         : format_ == ProfileFormat::Collapsed ? ".profile.txt"
                                                               : ".profile.html";
    out_ = stem_of(file_) + ending;
  } else if (!has_format_ && out_ != kStandardOutput) {
    auto format = GuestProfile::format_of(out_);
    if (!format) return std::move(format).error();
    format_ = *format;
  }
  if (format_ == ProfileFormat::Collapsed && by_line_) format_ = ProfileFormat::CollapsedLines;
  return out_ == kStandardOutput ? Result<void>() : check_writable(out_);
}

void RunProfile::apply(Config& config) const {
  config.profiler = agent_;
  config.demangle = demangle_ == "on";
}

Result<void> RunProfile::start(const Module& module, Store& store) {
  const runtime::ModuleCode& code = *module.impl()->code;
  if (samples_ || agent_ == Profiler::JitDump || agent_ == Profiler::VTune) {
    for (const std::string& problem : {code.lines().problem(), code.inlined_calls().problem(),
                                       std::string(code.names().problem())}) {
      if (!problem.empty())
        note(fmt::format("hoist: {}: warning: {}\n", base::printable(file_),
                         base::printable(problem)));
    }
  }
  if (!samples_) return {};
  auto sampler = GuestProfiler::start(sampler_options_);
  if (!sampler) return std::move(sampler).error();
  sampler_.emplace(*std::move(sampler));
  is_sampling_ = true;
  started_ns_ = platform::now_ns(platform::Clock::Monotonic);
  interrupt_ = store.interrupt_handle();
  // Without it, a signal ends the process and the profile is lost, as that of any process.
  static_cast<void>(signals_.start(
      [](void* self, int signal) { static_cast<RunProfile*>(self)->on_signal(signal); }, this));
  return {};
}

// ---- The end: of the program, or by a signal, whichever comes first.

bool RunProfile::claim() {
  return !claimed_.exchange(true);
}

void RunProfile::wait_if_ended() {
  while (claimed_) ::pause();
}

void RunProfile::on_signal(int signal) {
  late_signal_ = signal;
  if (!claim()) return;
  // The program may not notice, or wait in a host function for ever: it ends with the process.
  interrupt_.interrupt();
  static_cast<void>(write_and_report());
  end_by_signal(signal);
}

bool RunProfile::finish() {
  if (agent_ != Profiler::None && !profiling::agent_files_are_whole()) {
    note(
        fmt::format("hoist: --profile={}: its file is not whole: the disk may be full\n", option_));
    return false;
  }
  if (!is_sampling_) return true;
  if (!claim()) wait_if_ended();
  const bool written = write_and_report();
  signals_.stop();
  if (const int signal = late_signal_; signal != 0) end_by_signal(signal);
  return written;
}

void RunProfile::discard() {
  if (!is_sampling_) return;
  if (!claim()) wait_if_ended();
  static_cast<void>(sampler_->stop());
  sampler_.reset();
  signals_.stop();
  if (const int signal = late_signal_; signal != 0) end_by_signal(signal);
}

bool RunProfile::write_and_report() {
  const GuestProfile profile = sampler_->stop();
  ReportFacts facts;
  facts.file = file_;
  facts.wall_clock = sampler_options_.clock == ProfilerOptions::Clock::Wall;
  facts.ran_ns = platform::now_ns(platform::Clock::Monotonic) - started_ns_;
  sampler_.reset();
  // The file first: whoever reads the report may close its end of the pipe.
  const bool written = write(profile);
  if (reports_) note(profile_report(profile, facts, report_columns()));
  if (!written) return false;
  const std::string lead = reports_ ? "\n" : "hoist: ";
  if (out_ == kStandardOutput) {
    note(fmt::format("{}profile: on the standard output, {}\n", lead, name_of(format_)));
  } else {
    note(fmt::format("{}profile: {}\n", lead, base::printable(out_)));
  }
  return true;
}

bool RunProfile::write(const GuestProfile& profile) const {
  if (out_ == kStandardOutput) {
    print(profile.to_string(format_, title_));
    // A failure is noticed at the end of the process.
    std::fflush(stdout);
    return true;
  }
  auto written = profile.write(out_, format_, title_);
  if (!written) fail(fmt::format("the profile cannot be written: {}", written.error().message()));
  return written.has_value();
}

}  // namespace hoist::cli
