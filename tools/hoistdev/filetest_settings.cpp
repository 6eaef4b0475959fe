// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoistdev/filetest_settings.hpp"

#include <algorithm>
#include <span>

#include "asm/x64/regs.hpp"
#include "platform/cpu_features.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library
using masm::x64::Feature;
using masm::x64::feature_bit;

namespace {

struct Flag {
  std::string_view name, values, effect;
};
constexpr Flag kFlags[] = {
#define HOIST_FILETEST_FLAG(name, values, effect) {name, values, effect},
#include "hoistdev/filetest_flags.def"
};

struct Architecture {
  std::string_view name;
  unsigned pointer_bits;
  bool big_endian;
  /// Names of boolean flags and presets, with spaces around each.
  std::string_view flags;
};
constexpr std::string_view kArmFlags =
    " has_lse has_pauth has_fp16 has_dotprod has_i8mm sign_return_address sign_return_address_all "
    "sign_return_address_with_bkey use_bti ";
constexpr std::string_view kRiscvFlags =
    " has_m has_a has_f has_d has_v has_c has_zca has_zcd has_zcb has_zkn has_zknd has_zkne "
    "has_zknh "
    "has_zkr has_zksed has_zksh has_zkt has_zba has_zbb has_zbc has_zbs has_zbkb has_zbkc has_zbkx "
    "has_zicsr has_zifencei has_zfa has_zfh has_zfhmin has_zvfh has_zvbb has_zvl32b has_zvl64b "
    "has_zvl128b has_zvl256b has_zvl512b has_zvl1024b has_zicond ";
constexpr std::string_view kS390xFlags =
    " has_mie2 has_mie3 has_mie4 has_vxrs_ext2 has_vxrs_ext3 arch12 arch13 arch14 arch15 ";
constexpr std::string_view kPulleyFlags = " big_endian pointer_width ";
constexpr Architecture kArchitectures[] = {
    {"x86_64", 64, false, " has_avx_vnni has_avxvnni has_avx512vnni has_gfni has_sse "},
    {"aarch64", 64, false, kArmFlags},
    {"riscv64", 64, false, kRiscvFlags},
    {"riscv64gc", 64, false, kRiscvFlags},
    {"s390x", 64, true, kS390xFlags},
    {"pulley32", 32, false, kPulleyFlags},
    {"pulley64", 64, false, kPulleyFlags},
    {"pulley32be", 32, true, kPulleyFlags},
    {"pulley64be", 64, true, kPulleyFlags},
};

/// x86_64: single features by flag and by what the CPU calls them, then presets.
struct X64Flag {
  std::string_view name;
  Feature feature;
  std::string_view host;  ///< a row of platform/cpu_features.def, or empty: not detected
};
constexpr X64Flag kX64Flags[] = {
    {"has_sse3", Feature::Sse3, "sse3"},
    {"has_ssse3", Feature::Ssse3, "ssse3"},
    {"has_sse41", Feature::Sse41, "sse4.1"},
    {"has_sse42", Feature::Sse42, "sse4.2"},
    {"has_popcnt", Feature::Popcnt, "popcnt"},
    {"has_lzcnt", Feature::Lzcnt, "lzcnt"},
    {"has_bmi1", Feature::Bmi1, "bmi1"},
    {"has_bmi2", Feature::Bmi2, "bmi2"},
    {"has_avx", Feature::Avx, "avx"},
    {"has_avx2", Feature::Avx2, "avx2"},
    {"has_fma", Feature::Fma, "fma"},
    {"has_f16c", Feature::F16c, ""},
    {"has_cmpxchg16b", Feature::Cmpxchg16b, "cx16"},
    {"has_avx512f", Feature::Avx512f, "avx512f"},
    {"has_avx512vl", Feature::Avx512vl, "avx512vl"},
    {"has_avx512dq", Feature::Avx512dq, "avx512dq"},
    {"has_avx512bw", Feature::Avx512bw, "avx512bw"},
    {"has_avx512cd", Feature::Avx512cd, "avx512cd"},
    {"has_avx512vbmi", Feature::Avx512vbmi, "avx512vbmi"},
    {"has_avx512bitalg", Feature::Avx512bitalg, "avx512bitalg"},
};

using Set = masm::x64::FeatureSet;
constexpr Set kSse3 = feature_bit(Feature::Sse3);
constexpr Set kSsse3 = kSse3 | feature_bit(Feature::Ssse3);
constexpr Set kSse41 = kSsse3 | feature_bit(Feature::Sse41);
constexpr Set kSse42 = kSse41 | feature_bit(Feature::Sse42);
constexpr Set kNehalem = kSse42 | feature_bit(Feature::Popcnt) | feature_bit(Feature::Cmpxchg16b);
constexpr Set kSandybridge = kNehalem | feature_bit(Feature::Avx);
constexpr Set kHaswell = kSandybridge | feature_bit(Feature::Avx2) | feature_bit(Feature::Fma) |
                         feature_bit(Feature::Bmi1) | feature_bit(Feature::Bmi2) |
                         feature_bit(Feature::Lzcnt);
constexpr Set kSkylakeAvx512 = kHaswell | feature_bit(Feature::Avx512f) |
                               feature_bit(Feature::Avx512vl) | feature_bit(Feature::Avx512dq) |
                               feature_bit(Feature::Avx512bw) | feature_bit(Feature::Avx512cd);
constexpr Set kIcelake =
    kSkylakeAvx512 | feature_bit(Feature::Avx512vbmi) | feature_bit(Feature::Avx512bitalg);
struct X64Preset {
  std::string_view name;
  Set features;
};
constexpr X64Preset kX64Presets[] = {
    {"baseline", 0},
    {"sse3", kSse3},
    {"ssse3", kSsse3},
    {"sse41", kSse41},
    {"sse42", kSse42},
    {"nocona", kSse3},
    {"core2", kSsse3},
    {"penryn", kSse41},
    {"nehalem", kNehalem},
    {"westmere", kNehalem},
    {"sandybridge", kSandybridge},
    {"ivybridge", kSandybridge},
    {"haswell", kHaswell},
    {"broadwell", kHaswell},
    {"skylake", kHaswell},
    {"cannonlake", kIcelake},
    {"skylake_avx512", kSkylakeAvx512},
    {"skx", kSkylakeAvx512},
    {"cascadelake", kSkylakeAvx512},
    {"cooperlake", kSkylakeAvx512},
    {"icelake", kIcelake},
    {"icelake_client", kIcelake},
    {"icelake_server", kIcelake},
    {"tigerlake", kIcelake},
    {"sapphirerapids", kIcelake},
    {"alderlake", kHaswell},
    {"raptorlake", kHaswell},
    {"bdver1", kSandybridge | feature_bit(Feature::Lzcnt)},
    {"btver2", kSandybridge | feature_bit(Feature::Lzcnt) | feature_bit(Feature::Bmi1)},
    {"znver1", kHaswell},
    {"znver2", kHaswell},
    {"znver3", kHaswell},
    {"znver4", kIcelake},
    {"x86_64_v2", kNehalem},
    {"x86_64_v3", kHaswell},
    {"x86_64_v4", kSkylakeAvx512},
};

Error malformed(std::uint32_t line, std::string message) {
  Error error(ErrorKind::Malformed, std::move(message));
  error.at_line(line, 1);
  return error;
}

bool contains_word(std::string_view words, std::string_view word) {
  return words.find(" " + std::string(word) + " ") != std::string_view::npos;
}

/// "true", "false", or nothing.
std::string_view boolean(std::string_view text) {
  if (text == "true" || text == "on" || text == "yes" || text == "1") return "true";
  if (text == "false" || text == "off" || text == "no" || text == "0") return "false";
  return {};
}

Result<void> apply_flag(const std::string& word, std::uint32_t line,
                        std::map<std::string, std::string>& flags) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const auto flag =
      std::ranges::find_if(kFlags, [&](const Flag& known) { return known.name == name; });
  if (flag == std::end(kFlags)) return malformed(line, "no setting is called " + name);
  std::string value = equals == std::string::npos ? "true" : word.substr(equals + 1);
  bool ok = false;
  if (flag->values == "bool") {
    ok = !boolean(value).empty();
    value = boolean(value);
  } else if (flag->values == "number") {
    ok = !value.empty() && value.size() <= 3 &&
         value.find_first_not_of("0123456789") == std::string::npos;
  } else {
    ok = ("|" + std::string(flag->values) + "|").find("|" + value + "|") != std::string::npos;
  }
  if (!ok) {
    return malformed(
        line, "the values of " + name + " are " + std::string(flag->values) + ", found " + word);
  }
  flags[name] = value;
  return {};
}

/// A flag or preset of the target.
Result<void> apply_target_word(const Architecture& arch, const std::string& word,
                               std::uint32_t line, TargetSettings& target, Set& required) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string_view value =
      equals == std::string::npos ? "true" : boolean(word.substr(equals + 1));
  if (target.is_x64) {
    for (const X64Flag& flag : kX64Flags) {
      if (flag.name != name || value.empty()) continue;
      const Set bit = feature_bit(flag.feature);
      required = value == "true" ? required | bit : required & ~bit;
      if (value == "false" && (isa::baseline_features("x86_64") & bit) == 0) {
        target.features &= ~bit;
      }
      return {};
    }
    for (const X64Preset& preset : kX64Presets) {
      if (preset.name != name || equals != std::string::npos) continue;
      required |= preset.features;
      return {};
    }
  }
  if (contains_word(arch.flags, name)) return {};
  return malformed(line, "target " + std::string(arch.name) + " has no flag or preset " + word);
}

std::string lacking(Set required) {
  const std::string host = " " + platform::detect_cpu_features().to_string() + " ";
  for (const X64Flag& flag : kX64Flags) {
    if ((required & feature_bit(flag.feature)) == 0) continue;
    // What the platform layer does not detect is not relied upon either: the code generator uses
    // only what it detects.
    if (flag.host.empty() || contains_word(host, flag.host)) continue;
    return std::string(flag.host);
  }
  return {};
}

}  // namespace

Result<std::vector<TargetSettings>> parse_settings(const ir::ParsedFile& file) {
  std::vector<TargetSettings> targets;
  std::map<std::string, std::string> flags;
  std::size_t next_set = 0;
  const auto take_sets = [&](std::uint32_t before) -> Result<void> {
    for (; next_set < file.sets.size() && file.sets[next_set].line < before; ++next_set) {
      for (const std::string& word : file.sets[next_set].words) {
        HOIST_TRY_VOID(apply_flag(word, file.sets[next_set].line, flags));
      }
    }
    return {};
  };
  for (const ir::ParsedLine& line : file.targets) {
    HOIST_TRY_VOID(take_sets(line.line));
    if (line.words.empty()) return malformed(line.line, "a target line names its target");
    const std::string name = line.words[0].substr(0, line.words[0].find('-'));
    const auto arch = std::ranges::find_if(
        kArchitectures, [&](const Architecture& known) { return known.name == name; });
    if (arch == std::end(kArchitectures)) {
      return Error(ErrorKind::Unsupported, "no target is called " + line.words[0]);
    }
    TargetSettings& target = targets.emplace_back();
    target.name = name;
    target.pointer_type = arch->pointer_bits == 32 ? ir::I32 : ir::I64;
    target.big_endian = arch->big_endian;
    target.is_x64 = name == "x86_64";
    target.flags = flags;
    Set required = 0;
    if (target.is_x64) target.features = isa::baseline_features("x86_64");
    for (std::size_t i = 1; i < line.words.size(); ++i) {
      HOIST_TRY_VOID(apply_target_word(*arch, line.words[i], line.line, target, required));
    }
    target.features |= required;
    if (target.is_x64) target.host_lacks = lacking(required);
  }
  if (targets.empty()) {
    HOIST_TRY_VOID(take_sets(~std::uint32_t{0}));
    targets.emplace_back().flags = flags;
  } else if (next_set < file.sets.size()) {
    return malformed(file.sets[next_set].line, "a set line after the last target has no effect");
  }
  return targets;
}

std::string flags_text() {
  std::string out;
  for (const Flag& flag : kFlags) {
    out += std::string(flag.name) + "=" + std::string(flag.values) + ": " +
           (flag.effect.empty() ? "no effect" : std::string(flag.effect)) + "\n";
  }
  return out;
}

}  // namespace hoistdev
