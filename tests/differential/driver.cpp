// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs modules the way v8_driver.js runs them on V8, and prints the same text: what every exported
// function returns for a few arguments, what it calls on the host, and the state at the end.
//
//   differential_driver [OPTION...] FILE...
//
// Options as those of `hoist wast`: --opt-level N, --cpu TEXT, --nan any|canonical,
// --signals on|off, --bounds-checks auto|explicit, --fuel, --epoch, --verify; and
// --collect-always, --image.
//
// Assumes: numbers made here (`mix`, `kI32` …) are made alike in v8_driver.js, line by line.
// NaNs print alike, since the specification leaves their bits open.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hoist/hoist.hpp"

namespace {

using namespace hoist;

constexpr std::uint32_t kRounds = 4;          // argument sets for each export
constexpr std::uint32_t kMaxHostLines = 500;  // calls on the host that are printed, per module
constexpr std::int32_t kFuel = 1000;          // loop turns and calls, of modules that count them
constexpr std::uint32_t kMaxDepth = 2;        // how deep the host calls back into the guest
constexpr unsigned kSecondsPerModule = 20;    // then SIGALRM ends the process

constexpr std::uint32_t kI32[] = {
    0,     1,     0xffffffff, 0x80000000, 0x7fffffff, 2,          31,         32,
    33,    0xff,  0x80,       0xffff,     0x8000,     0xffffff80, 0xffff8000, 65535,
    65536, 65532, 0x12345678, 10,         3,          0xfffffffe, 0x00010001, 100};
constexpr std::uint32_t kF32[] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
    0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000,
    0x5f800000, 0xdf000000, 0x3f000000, 0x40200000, 0xc0200000, 0x4effffff, 0x42c80000, 0x3eaaaaab};
// High words; the low word is 0 or a mix.
constexpr std::uint32_t kF64[] = {
    0,          0x80000000, 0x3ff00000, 0xbff00000, 0x7ff00000, 0xfff00000, 0x7ff80000, 0x00000001,
    0x80000001, 0x000fffff, 0x00100000, 0x7fefffff, 0x41e00000, 0xc1e00000, 0x41f00000, 0x43e00000,
    0x43f00000, 0xc3e00000, 0x3fe00000, 0x40040000, 0xc0040000, 0x41dfffff, 0x40590000, 0x3fd55555};
static_assert(std::size(kI32) == 24 && std::size(kF32) == 24 && std::size(kF64) == 24);

std::uint32_t mix(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t h = (a + 0x9e3779b1u) * 0x85ebca77u;
  h ^= (b + 0x7f4a7c15u) * 0xc2b2ae3du;
  h ^= h >> 15;
  h = (h + c) * 0x2c1b3c6du;
  h ^= h >> 12;
  h *= 0x297a2d39u;
  return h ^ (h >> 15);
}

std::uint64_t join(std::uint32_t high, std::uint32_t low) {
  return (std::uint64_t{high} << 32) | low;
}

/// JavaScript has no values of these: what has one in its type is left alone on both sides, and a
/// call of a host function with one is an error.
bool is_hidden(ValType type) {
  return type.kind() == ValKind::V128 || type.kind() == ValKind::ExnRef;
}
bool any_hidden(std::span<const ValType> types) {
  return std::any_of(types.begin(), types.end(), [](ValType type) { return is_hidden(type); });
}
bool is_hidden(const Extern& item) {
  if (const auto global = item.global()) return is_hidden(global->type().content);
  if (const auto table = item.table()) return is_hidden(table->type().element);
  const auto func = item.func();
  if (!func) return false;
  const FuncType type = func->type();
  return any_hidden(type.params()) || any_hidden(type.results());
}

class Session {
 public:
  Session(const Engine& engine, std::string& out) : store_(engine), out_(out) {
    (void)store_.set_fuel(std::uint64_t{1} << 62);  // refused where nothing counts it
  }

  /// One instance, or two that are linked; each export once, and what is left in the end.
  void run(const Module& module, std::uint32_t round);

 private:
  bool instantiate(const Module& module, std::span<const Extern> imports);
  Val value(ValType type, std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  std::string show(const Val& value) const;
  std::string show(std::span<const Val> values) const;
  std::string show(const Error& error) const;
  Extern make_import(const ImportType& import, std::uint32_t index);
  Result<void> host(std::uint32_t index, std::span<const Val> args, std::span<Val> results);
  void disturb(std::uint32_t choice);
  void call(std::uint32_t index, std::uint32_t round);
  void print_state();

  Store store_;
  std::string& out_;
  std::vector<Extern> exports_;  // empty until the instance is there
  std::vector<Func> functions_;  // those of the exports
  std::vector<Tag> tags_;        // imported and exported ones
  // The generators' own guards against endless loops, to be wound up again before each call.
  std::vector<Func> resets_;
  std::vector<Global> fuel_;
  std::uint32_t host_calls_ = 0;
  std::uint32_t depth_ = 0;
};

Val Session::value(ValType type, std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  const std::uint32_t pick = mix(a, b, c);
  const std::uint32_t more = mix(pick, 1, 0);
  const std::uint32_t at = (pick >> 8) % 24;
  const bool plain = pick % 4 != 0;
  switch (type.kind()) {
    case ValKind::I32: return Val(plain ? kI32[at] : more);
    case ValKind::I64:
      if (!plain) return Val(join(more, mix(more, 2, 0)));
      return Val(join(more % 3 == 0 ? 0 : kI32[more % 24], kI32[at]));
    case ValKind::F32: {
      const std::uint32_t bits = plain ? kF32[at] : more;
      return Val::f32_bits((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits);
    }
    case ValKind::F64: {
      const std::uint64_t bits =
          join(plain ? kF64[at] : more, plain && more % 2 == 0 ? 0 : mix(more, 3, 0));
      const bool nan = (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
      return Val::f64_bits(nan ? 0x7ff8000000000000u : bits);
    }
    case ValKind::FuncRef:
      if (plain || functions_.empty()) return Val::null(type);
      return Val(functions_[more % functions_.size()]);
    case ValKind::ExternRef:
      if (more % 4 == 0) return Val::null(type);
      return Val(ExternRef{reinterpret_cast<void*>(std::uintptr_t{1} + at)});
    case ValKind::ExnRef:
    case ValKind::AnyRef: return Val::null(type);
    case ValKind::V128: return Val::zero(type);
  }
  std::abort();
}

std::string Session::show(const Val& value) const {
  switch (value.kind()) {
    case ValKind::I32: return fmt::format("i32:{}", value.i32());
    case ValKind::I64: return fmt::format("i64:{}", value.i64());
    case ValKind::F32: {
      const std::uint32_t bits = value.f32_bits();
      if ((bits & 0x7fffffff) > 0x7f800000) return "f32:nan";
      return fmt::format("f32:{:08x}", bits);
    }
    case ValKind::F64: {
      const std::uint64_t bits = value.f64_bits();
      if ((bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u) return "f64:nan";
      return fmt::format("f64:{:016x}", bits);
    }
    case ValKind::FuncRef: return value.is_null() ? "func:null" : "func";
    case ValKind::ExternRef:
      if (value.is_null()) return "extern:null";
      return fmt::format("extern:{}", reinterpret_cast<std::uintptr_t>(value.externref().host));
    case ValKind::AnyRef: return value.is_null() ? "any:null" : "any";
    case ValKind::ExnRef:
    case ValKind::V128: break;
  }
  return "?";
}

std::string Session::show(std::span<const Val> values) const {
  std::string text;
  for (const Val& value : values) {
    text += ' ';
    text += show(value);
  }
  return text;
}

std::string_view trap_name(TrapCode code) {
  switch (code) {
    case TrapCode::Unreachable: return "unreachable";
    case TrapCode::TableOutOfBounds:
    case TrapCode::UndefinedElement: return "table";
    case TrapCode::UninitializedElement:
    case TrapCode::IndirectCallTypeMismatch: return "indirect";
    case TrapCode::NullReference:
    case TrapCode::NullFunctionReference: return "null";
    case TrapCode::StackOverflow: return "stack";
    case TrapCode::IntegerOverflow: return "overflow";
    case TrapCode::MemoryOutOfBounds: return "memory";
    case TrapCode::IntegerDivideByZero: return "divide";
    case TrapCode::BadConversionToInteger: return "convert";
    case TrapCode::UnalignedAtomic: return "unaligned";
    case TrapCode::Interrupted:
    case TrapCode::OutOfFuel:
    case TrapCode::UnknownImport:
    case TrapCode::ExpectedSharedMemory: break;
  }
  return "other";
}

std::string Session::show(const Error& error) const {
  if (error.kind() == ErrorKind::Trap) {
    return fmt::format("trap {}", trap_name(static_cast<TrapCode>(error.code())));
  }
  if (error.kind() == ErrorKind::Host) return "trap host";
  if (const auto thrown = Exception::of(error)) {
    for (std::size_t at = 0; at < tags_.size(); ++at) {
      if (!(tags_[at] == thrown->tag())) continue;
      return fmt::format("exception {}{}", at, show(thrown->payload()));
    }
    return "exception";
  }
  return fmt::format("error {}", error.message());
}

/// What the host does besides answering, so that compiled code must look again after a call.
void Session::disturb(std::uint32_t choice) {
  if (exports_.empty()) return;
  const std::uint32_t more = mix(choice, 5, 0);
  const std::uint32_t index = more % static_cast<std::uint32_t>(exports_.size());
  const Extern& item = exports_[index];
  if (is_hidden(item)) return;
  if (auto memory = item.memory()) {
    if (more % 5 == 0) {
      if (memory->pages() < 40) (void)memory->grow(1);
    } else if (memory->size_bytes() >= 1024) {
      (void)memory->set<std::uint8_t>(more % 1024, static_cast<std::uint8_t>(choice));
    }
  } else if (auto table = item.table()) {
    const Val item_value = value(table->type().element, choice, 6, 0);
    if (more % 5 == 0) {
      if (table->size() < 2000) (void)table->grow(1, item_value);
    } else if (table->size() > 0) {
      (void)table->set(more % table->size(), item_value);
    }
  } else if (auto global = item.global()) {
    if (global->type().is_mutable) (void)global->set(value(global->type().content, choice, 7, 0));
  } else if (auto func = item.func()) {
    if (depth_ < kMaxDepth) call(index, 1);
  }
}

Result<void> Session::host(std::uint32_t index, std::span<const Val> args, std::span<Val> results) {
  const auto hidden = [](std::span<const Val> values) {
    return std::any_of(values.begin(), values.end(),
                       [](const Val& value) { return is_hidden(value.type()); });
  };
  if (hidden(args) || hidden(results)) return Error(ErrorKind::Host, "host");
  const std::uint32_t number = host_calls_++;
  if (number < kMaxHostLines) out_ += fmt::format("  host {}{}\n", index, show(args));
  const std::uint32_t choice = mix(number, index, 9);
  if (choice % 61 == 0) return Error(ErrorKind::Host, "host");
  if (choice % 61 == 1 && !tags_.empty()) {
    const Tag tag = tags_[(choice >> 8) % tags_.size()];
    const FuncType type = tag.type();
    if (!any_hidden(type.params())) {
      std::vector<Val> payload;
      for (std::uint32_t i = 0; i < type.params().size(); ++i) {
        payload.push_back(value(type.params()[i], number, i, 12));
      }
      return Exception::create(tag, payload).value().error();
    }
  }
  if (choice % 3 == 0) disturb(choice);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = value(results[i].type(), number, static_cast<std::uint32_t>(i), 11);
  }
  return {};
}

Extern Session::make_import(const ImportType& import, std::uint32_t index) {
  const ExternType& type = import.type;
  switch (type.kind) {
    case ExternKind::Func:
      return Func::create(
          store_, type.func,
          [this, index](Caller&, std::span<const Val> args, std::span<Val> results) {
            return host(index, args, results);
          });
    case ExternKind::Table:
      return Table::create(store_, type.table, Val::null(type.table.element)).value();
    case ExternKind::Memory: return Memory::create(store_, type.memory).value();
    case ExternKind::Global:
      return Global::create(store_, type.global, value(type.global.content, index, 0, 13)).value();
    case ExternKind::Tag: {
      std::vector<ValType> payload(type.tag.params().begin(), type.tag.params().end());
      tags_.push_back(Tag::create(store_, std::move(payload)).value());
      return tags_.back();
    }
  }
  std::abort();
}

void Session::call(std::uint32_t index, std::uint32_t round) {
  const Func func = *exports_[index].func();
  const FuncType type = func.type();
  std::vector<Val> args;
  for (std::size_t i = 0; i < type.params().size(); ++i) {
    const ValType param = type.params()[i];
    args.push_back(round == 0 ? Val::zero(param)
                              : value(param, index, round, static_cast<std::uint32_t>(i)));
  }
  out_ += fmt::format("call {}{}\n", index, show(args));
  ++depth_;
  const auto results = func.call(args);
  --depth_;
  out_ +=
      results ? fmt::format("={}\n", show(*results)) : fmt::format("{}\n", show(results.error()));
}

void Session::print_state() {
  for (std::uint32_t i = 0; i < exports_.size(); ++i) {
    const Extern& item = exports_[i];
    if (is_hidden(item)) continue;
    if (auto memory = item.memory()) {
      const auto data = memory->data();
      std::uint32_t hash = 0;
      for (std::size_t at = 0; at < data.size(); at += 4) {
        std::uint32_t word;
        std::memcpy(&word, data.data() + at, 4);
        hash = hash * 31 + word;
      }
      out_ += fmt::format("memory {} {} {:08x}\n", i, memory->pages(), hash);
    } else if (auto global = item.global()) {
      out_ += fmt::format("global {} {}\n", i, show(global->get()));
    } else if (auto table = item.table()) {
      out_ += fmt::format("table {} {}", i, table->size());
      const std::uint64_t shown = table->size() < 400 ? table->size() : 400;
      for (std::uint64_t at = 0; at < shown; ++at) out_ += ' ' + show(table->get(at).value());
      out_ += '\n';
    }
  }
}

bool Session::instantiate(const Module& module, std::span<const Extern> imports) {
  auto instance = Instance::create(store_, module, imports);
  if (!instance) {
    out_ += fmt::format("instantiate {}\n", show(instance.error()));
    return false;
  }
  for (auto& [name, item] : instance->exports()) {
    if (name == "fuel!") {
      fuel_.push_back(*item.global());
      continue;
    }
    if (name == "hangLimitInitializer") resets_.push_back(*item.func());
    if (auto func = item.func()) functions_.push_back(*func);
    if (auto tag = item.tag()) tags_.push_back(*tag);
    exports_.push_back(item);
  }
  return true;
}

void Session::run(const Module& module, std::uint32_t round) {
  std::vector<Extern> imports;
  const std::vector<ImportType> wanted = module.imports();
  for (const ImportType& import : wanted) {
    imports.push_back(make_import(import, static_cast<std::uint32_t>(imports.size())));
  }
  if (!instantiate(module, imports)) return;
  if (round % 2 == 1 && !imports.empty()) {
    // Once more, with the first one's functions: calls from instance to instance.
    const std::vector<Func> offered = functions_;
    for (std::uint32_t i = 0; i < imports.size(); ++i) {
      std::vector<Func> fit;
      for (const Func& func : offered) {
        if (imports[i].kind() == ExternKind::Func && func.type() == wanted[i].type.func) {
          fit.push_back(func);
        }
      }
      if (!fit.empty()) imports[i] = fit[mix(i, 21, 0) % fit.size()];
    }
    (void)instantiate(module, imports);
  }
  for (std::uint32_t i = 0; i < exports_.size(); ++i) {
    if (exports_[i].kind() != ExternKind::Func || is_hidden(exports_[i])) continue;
    for (const Func& reset : resets_) (void)reset.call();
    for (const Global& fuel : fuel_) (void)fuel.set(Val(kFuel));
    call(i, round);
  }
  print_state();
}

/// By way of an image, if asked for: what is loaded must do what was compiled.
Result<Module> compiled(const Engine& engine, const char* file, bool by_image) {
  auto module = Module::from_file(engine, file);
  if (!module || !by_image) return module;
  const auto image = module->serialize();
  if (!image) return image.error();
  return Module::deserialize(engine, *image);
}

void run_file(const Engine& engine, const char* file, bool by_image) {
  std::string out = fmt::format("module {}\n", file);
  std::fputs(out.c_str(), stdout);
  std::fflush(stdout);
  out.clear();
  ::alarm(kSecondsPerModule);
  const auto module = compiled(engine, file, by_image);
  if (module) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      auto session = std::make_unique<Session>(engine, out);
      session->run(*module, round);
    }
  } else {
    out += fmt::format("compile {}\n", module.error().message());
  }
  out += "end\n";
  std::fputs(out.c_str(), stdout);
  std::fflush(stdout);
}

bool set_option(Config& config, std::string_view option) {
  bool* const flag = option == "--verify"           ? &config.verify_ir
                     : option == "--fuel"           ? &config.fuel
                     : option == "--epoch"          ? &config.epoch
                     : option == "--collect-always" ? &config.collect_always
                                                    : nullptr;
  if (flag == nullptr) return false;
  *flag = true;
  config.check_allocation = config.verify_ir;
  return true;
}

bool set_option(Config& config, std::string_view option, const std::string& value) {
  if (option == "--opt-level")
    config.opt_level = static_cast<OptLevel>(std::atoi(value.c_str()));
  else if (option == "--cpu")
    config.cpu = value;
  else if (option == "--nan")
    config.canonical_nans = value == "canonical";
  else if (option == "--signals")
    config.signals = value != "off";
  else if (option == "--bounds-checks")
    config.explicit_bounds_checks = value == "explicit";
  else
    return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  config.threads = 1;
  config.features = "+legacy-exceptions";  // V8 has them, and Binaryen makes them
  bool by_image = false;
  int at = 1;
  for (; at < argc && std::strncmp(argv[at], "--", 2) == 0; ++at) {
    if (std::strcmp(argv[at], "--image") == 0) {
      by_image = true;
      continue;
    }
    if (set_option(config, argv[at])) continue;
    if (at + 1 < argc && set_option(config, argv[at], argv[at + 1])) {
      ++at;
      continue;
    }
    std::fprintf(stderr, "usage: differential_driver [OPTION...] FILE...\n");
    return 2;
  }
  const auto engine = Engine::create(config);
  if (!engine) {
    std::fprintf(stderr, "differential_driver: %s\n", engine.error().message().c_str());
    return 2;
  }
  for (; at < argc; ++at) run_file(*engine, argv[at], by_image);
  return 0;
}
