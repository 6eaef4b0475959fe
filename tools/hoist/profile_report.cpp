// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/profile_report.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text/printable.hpp"
#include "demangle/short_name.hpp"
#include "platform/private_dir.hpp"

namespace hoist::cli {

namespace {

constexpr std::size_t kRows = 20;
constexpr std::size_t kCallerRows = 8;
constexpr double kCallerPercent = 5;
/// With fewer samples a second decimal means nothing.
constexpr std::uint64_t kFewSamples = 1000;
/// Before the name: two spaces, "123456 ms", "100.00", "100.00" and what is between.
constexpr std::size_t kNumberColumns = 32;

/// Its end from a '/' on, if that fits: it tells more than its beginning.
std::string fitting_path(const std::string& path, std::size_t columns) {
  if (demangle::columns_of(path) <= columns) return path;
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    if (demangle::columns_of(path.substr(at)) < columns) return "\u2026" + path.substr(at);
  }
  return demangle::without_middle(path, columns);
}

class Report {
 public:
  Report(const GuestProfile& profile, const ReportFacts& facts, std::size_t columns)
      : profile_(profile),
        facts_(facts),
        columns_(std::clamp<std::size_t>(columns, 40, 1000)),
        decimals_(profile.samples() < kFewSamples ? 1 : 2) {
    char folder[PATH_MAX];
    if (::getcwd(folder, sizeof(folder)) != nullptr) folder_ = folder;
  }

  std::string run() {
    const std::string name = base::printable(facts_.file);
    if (profile_.samples() == 0) {
      return fmt::format("\n{}: no samples: {}\n", name, why_none());
    }
    text_ = fmt::format("\n{}: {} sample{} in {}, one every {} ({} clock){}\n", name,
                        profile_.samples(), profile_.samples() == 1 ? "" : "s", time(facts_.ran_ns),
                        time(profile_.interval_ns()), facts_.wall_clock ? "wall" : "CPU",
                        profile_.lost() == 0 ? "" : fmt::format("; {} lost", profile_.lost()));
    functions_ = profile_.functions();
    note_modules();
    const std::size_t shown = functions();
    callers(shown);
    const std::vector<HotSpot> lines = profile_.lines();
    const bool has_lines = !lines.empty() && lines.front().self != 0;
    if (has_lines) this->lines(lines);
    hint(has_lines);
    return std::move(text_);
  }

 private:
  std::string why_none() const {
    if (facts_.ran_ns < 2 * profile_.interval_ns() || facts_.wall_clock) {
      return fmt::format(
          "it ended after {}, before the first one: try "
          "--profile=guest,interval=100us, or give it more to do",
          time(facts_.ran_ns));
    }
    return fmt::format(
        "in {} it used hardly any CPU time, which clock=cpu measures: waiting "
        "counts with clock=wall",
        time(facts_.ran_ns));
  }

  static std::string time(std::uint64_t ns) {
    const auto value = static_cast<double>(ns);
    if (ns >= 10'000'000'000) return fmt::format("{:.1f} s", value / 1e9);
    if (ns >= 1'000'000'000) return fmt::format("{:.2f} s", value / 1e9);
    if (ns >= 10'000'000 || ns % 1'000'000 == 0) return fmt::format("{:.0f} ms", value / 1e6);
    return fmt::format("{:.1f} ms", value / 1e6);
  }
  double percent(std::uint64_t samples) const {
    return 100 * static_cast<double>(samples) / static_cast<double>(profile_.samples());
  }
  std::size_t room() const { return std::max<std::size_t>(columns_ - kNumberColumns, 20); }

  void note_modules() {
    for (const HotSpot& spot : functions_) {
      auto [at, fresh] = modules_.try_emplace(spot.function, &spot.module);
      if (!fresh && at->second != nullptr && *at->second != spot.module) at->second = nullptr;
    }
  }
  /// In so many columns; with the module where several have a function of that name.
  std::string name_of(const HotSpot& spot, std::size_t columns) const {
    const auto at = modules_.find(spot.function);
    std::string module;
    if (at != modules_.end() && at->second == nullptr) {
      module =
          fmt::format(" [{}]", demangle::without_middle(base::printable(spot.module), columns / 3));
    }
    return demangle::fitting_name(base::printable(spot.function),
                                  columns - std::min(columns, demangle::columns_of(module))) +
           module;
  }

  void row(const HotSpot& spot, const std::string& name) {
    text_ +=
        fmt::format("  {:>9}  {:>7.{}f}  {:>7.{}f}  {}\n", time(spot.self * profile_.interval_ns()),
                    percent(spot.self), decimals_, percent(spot.total), decimals_, name);
  }
  void head(const char* what) {
    text_ += fmt::format("\n  {:>9}  {:>7}  {:>7}  {}\n", "self", "self %", "total %", what);
  }
  /// What of the rows was not shown.
  void rest(const std::vector<HotSpot>& spots, std::size_t shown) {
    std::uint64_t samples = 0;
    std::size_t count = 0;
    for (std::size_t i = shown; i < spots.size() && spots[i].self != 0; ++i, ++count)
      samples += spots[i].self;
    if (count == 0) return;
    text_ +=
        fmt::format("  {:>9}  {:>7.{}f}  {:>7}  \u2026 {} more\n",
                    time(samples * profile_.interval_ns()), percent(samples), decimals_, "", count);
  }

  std::size_t functions() {
    head("function");
    std::size_t shown = 0;
    for (; shown < functions_.size() && shown < kRows && functions_[shown].self != 0; ++shown)
      row(functions_[shown], name_of(functions_[shown], room()));
    rest(functions_, shown);
    return shown;
  }

  /// Functions that are not among the first, but what they call takes long.
  void callers(std::size_t shown) {
    std::vector<const HotSpot*> spots;
    for (std::size_t i = shown; i < functions_.size(); ++i) {
      const std::string& name = functions_[i].function;
      const bool ours = name.starts_with("entry trampoline ") || name == "...";
      if (!ours && percent(functions_[i].total) >= kCallerPercent) spots.push_back(&functions_[i]);
    }
    std::sort(spots.begin(), spots.end(), [](const HotSpot* a, const HotSpot* b) {
      return a->total != b->total ? a->total > b->total : a->function < b->function;
    });
    if (spots.size() > kCallerRows) spots.resize(kCallerRows);
    if (spots.empty()) return;
    head("function that calls what takes time");
    for (const HotSpot* spot : spots) row(*spot, name_of(*spot, room()));
  }

  void lines(const std::vector<HotSpot>& lines) {
    head("line");
    std::vector<std::string> places;
    std::size_t widest = 0;
    for (const HotSpot& spot : lines) {
      if (places.size() == kRows || spot.self == 0) break;
      places.push_back(fitting_path(
          fmt::format("{}:{}", short_path(base::printable(spot.file), folder_), spot.line),
          room() * 3 / 5));
      widest = std::max(widest, demangle::columns_of(places.back()));
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::string gap(widest - demangle::columns_of(places[i]) + 2, ' ');
      const std::size_t left = room() - std::min(room() - 8, widest + 2);
      row(lines[i], places[i] + gap + name_of(lines[i], left));
    }
    rest(lines, places.size());
  }

  /// How to build a module whose profile says more.
  void hint(bool has_lines) {
    std::uint64_t unnamed = 0;
    for (const HotSpot& spot : functions_) {
      if (spot.function.starts_with("wasm[") && spot.function.ends_with("]") &&
          spot.function.find("]::function[") != std::string::npos)
        unnamed += spot.self;
    }
    const bool lacks_names = percent(unnamed) >= 20;
    if (has_lines && !lacks_names) return;
    text_ += fmt::format(
        "\nhint: the module has no {}: build it with debug information (clang -g "
        "--no-wasm-opt, rustc -g) and do not strip it\n",
        has_lines     ? "names of functions"
        : lacks_names ? "names of functions and no source lines"
                      : "source lines");
  }

  const GuestProfile& profile_;
  const ReportFacts& facts_;
  std::size_t columns_;
  int decimals_;
  std::string folder_;
  std::string text_;
  std::vector<HotSpot> functions_;
  // The module of each function name; null: there are several.
  std::unordered_map<std::string_view, const std::string*> modules_;
};

}  // namespace

std::string profile_report(const GuestProfile& profile, const ReportFacts& facts,
                           std::size_t columns) {
  return Report(profile, facts, columns).run();
}

std::size_t report_columns() {
  const std::string text = platform::environment_variable("COLUMNS");
  std::size_t columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  if (columns != 0) return columns;
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
  return 100;
}

std::string short_path(const std::string& path, const std::string& folder) {
  if (!folder.empty() && path.starts_with(folder) && path.size() > folder.size() + 1 &&
      path[folder.size()] == '/') {
    return path.substr(folder.size() + 1);
  }
  // "/rustc/HASH/library/…", "…/registry/src/INDEX/PACKAGE-1.0/…"
  for (const std::string_view above : {"/rustc/", "/registry/src/"}) {
    const std::size_t at = path.find(above);
    if (at == std::string::npos) continue;
    const std::size_t slash = path.find('/', at + above.size());
    if (slash != std::string::npos && slash + 1 < path.size()) return path.substr(slash + 1);
  }
  return path;
}

}  // namespace hoist::cli
