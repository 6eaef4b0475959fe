// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of WASI programs. A group is kept alive by its threads and by the host functions that
// spawn into it; each thread defines its own such function, so that nothing keeps itself alive.
#include "hoist/wasi_threads.hpp"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "api/impl.hpp"
#include "platform/embedder_call.hpp"
#include "platform/threads.hpp"

namespace hoist {

using api::Access;

namespace detail {

struct ThreadGroup {
  ThreadGroup(const Module& the_module, const runtime::Linker& the_linker,
              const WasiThreadsConfig& the_config)
      : module(the_module),
        engine(the_module.impl()->engine),
        linker(the_linker),
        config(the_config) {}

  const Module module;
  const Engine engine;
  const runtime::Linker linker;  // without "thread-spawn"
  const WasiThreadsConfig config;

  std::mutex mutex;
  std::condition_variable ended;
  std::uint32_t alive = 0;
  std::int32_t last_number = 0;
  bool stopping = false;
  std::optional<WasiThreads::Failure> failure;
  struct Member {
    StoreRef store;
    InterruptHandle interrupt;
    bool is_thread;
  };
  std::vector<Member> members;  // who is to be told when the program ends

  void join(StoreRef store, bool is_thread) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto same = [&](const Member& member) { return member.store == store; };
    if (std::any_of(members.begin(), members.end(), same)) return;
    members.push_back({store, store.interrupt_handle(), is_thread});
    if (stopping) members.back().interrupt.interrupt();
  }
  void leave(StoreRef store) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::erase_if(members, [&](const Member& member) { return member.store == store; });
  }
  void fail(std::int32_t number, const Error& error) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      // What others report afterwards is that they were interrupted.
      if (failure || stopping) return;
      failure = WasiThreads::Failure{number, error};
      stopping = true;
      for (const Member& member : members) member.interrupt.interrupt();
    }
    if (config.on_failure != nullptr) {
      platform::embedder_call([&] { config.on_failure(config.context, number, error); });
    }
  }
};

}  // namespace detail

namespace {

using detail::ThreadGroup;

/// The highest number that the proposal allows.
constexpr std::int32_t kMostNumbers = (1 << 29) - 1;
/// Errors of thread-spawn are negative.
constexpr std::int32_t kNotSpawned = -1;

struct Start {
  std::shared_ptr<ThreadGroup> group;
  std::int32_t number;
  std::uint32_t argument;
  std::shared_ptr<runtime::Account> account;  // of who spawned it
};

std::int32_t spawn(const std::shared_ptr<ThreadGroup>& group, StoreRef from,
                   std::uint32_t argument);

bool call_spawn(void* closure, detail::HostCall& call) noexcept {
  const auto& group = *static_cast<const std::shared_ptr<ThreadGroup>*>(closure);
  group->join(call.store(), false);
  const auto argument = static_cast<std::uint32_t>(call.slots()[0].bits[0]);
  call.slots()[0].bits[0] = static_cast<std::uint32_t>(spawn(group, call.store(), argument));
  return true;
}

Result<void> define_spawn(runtime::Linker& linker, const std::shared_ptr<ThreadGroup>& group) {
  detail::HostFuncSpec spec{
      FuncType({ValKind::I32}, {ValKind::I32}), call_spawn, new std::shared_ptr<ThreadGroup>(group),
      [](void* closure) { delete static_cast<std::shared_ptr<ThreadGroup>*>(closure); }};
  return linker.define("wasi", "thread-spawn",
                       std::make_shared<const runtime::HostFunction>(
                           linker.engine(), std::move(spec), "wasi.thread-spawn"));
}

/// All that a thread of the program does.
Result<void> run_thread(const Start& start, Store& store) {
  const ThreadGroup& group = *start.group;
  if (group.config.on_start != nullptr) {
    platform::embedder_call([&] { group.config.on_start(group.config.context, store); });
  }
  runtime::Linker linker = group.linker;
  HOIST_TRY_VOID(define_spawn(linker, start.group));
  runtime::Store& inner = *Access::store(store.ref());
  const auto& code = group.module.impl()->code;
  HOIST_TRY(const std::vector<runtime::Extern> imports, linker.resolve(inner, *code));
  HOIST_TRY(runtime::Instance * made,
            runtime::Instance::instantiate(inner, code, imports, group.module.impl()));
  const auto instance = Access::make<Instance>(store.ref(), made);
  HOIST_TRY(const Func entry, instance.func("wasi_thread_start"));
  const Val arguments[] = {Val(start.number), Val(static_cast<std::int32_t>(start.argument))};
  auto done = entry.call_raw(arguments);
  if (!done) return std::move(done).error();
  return {};
}

void* thread_main(void* opaque) {
  const std::unique_ptr<Start> start(static_cast<Start*>(opaque));
  // The group ends with its last user, which may be this thread.
  const std::shared_ptr<ThreadGroup> group = start->group;
  platform::name_this_thread("wasi thread " + std::to_string(start->number));
  {
    Store store(group->engine, group->config.limits);
    Access::store(store.ref())->join_account(start->account);
    group->join(store, true);
    if (Result<void> done = run_thread(*start, store); !done) {
      group->fail(start->number, done.error());
    }
    group->leave(store);
  }
  const std::lock_guard<std::mutex> lock(group->mutex);
  --group->alive;
  group->ended.notify_all();
  return nullptr;
}

/// Stack of a thread: what guest and host functions may use, as the engine says, and some more.
std::size_t stack_bytes(const Config& config) {
  constexpr std::uint64_t kMore = std::uint64_t{256} << 10;
  const std::uint64_t wanted = config.guest_stack_bytes + config.host_reserve_bytes + kMore;
  return static_cast<std::size_t>((wanted + 65535) / 65536 * 65536);
}

bool start_thread(const Config& config, Start* start) {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread;
  const bool made = ::pthread_attr_setstacksize(&attributes, stack_bytes(config)) == 0 &&
                    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                    ::pthread_create(&thread, &attributes, thread_main, start) == 0;
  ::pthread_attr_destroy(&attributes);
  return made;
}

/// The number of the new thread, or kNotSpawned.
std::int32_t spawn(const std::shared_ptr<ThreadGroup>& group, StoreRef from,
                   std::uint32_t argument) {
  const std::lock_guard<std::mutex> lock(group->mutex);
  if (group->stopping || group->alive >= group->config.max_threads ||
      group->last_number == kMostNumbers) {
    return kNotSpawned;
  }
  auto start = std::make_unique<Start>(
      Start{group, group->last_number + 1, argument, Access::store(from)->account()});
  if (!start_thread(group->engine.config(), start.get())) return kNotSpawned;
  static_cast<void>(start.release());
  ++group->alive;
  return ++group->last_number;
}

Result<void> check_module(const Module& module) {
  const std::optional<ExternType> entry = module.find_export("wasi_thread_start");
  if (entry && entry->kind == ExternKind::Func &&
      entry->func == FuncType({ValKind::I32, ValKind::I32}, {})) {
    return {};
  }
  return Error(ErrorKind::BadArgument,
               "the module imports \"wasi\".\"thread-spawn\" but exports no function "
               "wasi_thread_start of type (i32, i32) -> ()");
}

}  // namespace

bool WasiThreads::is_wanted(const Module& module) noexcept {
  return module.impl() != nullptr && api::spawns_threads(module.impl()->code->module());
}

Result<WasiThreads> WasiThreads::add_to_linker(Linker& linker, const Module& module,
                                               const WasiThreadsConfig& config) noexcept {
  detail::LinkerImpl* inner = Access::linker(linker);
  if (inner == nullptr) return api::moved_from("linker");
  if (module.impl() == nullptr) return api::moved_from("module");
  HOIST_TRY_VOID(check_module(module));
  for (const ImportType& import : module.imports()) {
    if (import.type.kind != ExternKind::Memory || !import.type.memory.shared ||
        linker.has(import.module, import.field)) {
      continue;
    }
    HOIST_TRY(const SharedMemory memory, SharedMemory::create(inner->engine, import.type.memory));
    HOIST_TRY_VOID(linker.define(import.module, import.field, memory));
  }
  auto group = std::make_shared<ThreadGroup>(module, inner->linker, config);
  HOIST_TRY_VOID(define_spawn(inner->linker, group));
  return WasiThreads(std::move(group));
}

WasiThreads::WasiThreads(std::shared_ptr<detail::ThreadGroup> group) noexcept
    : group_(std::move(group)) {}
WasiThreads::WasiThreads(WasiThreads&&) noexcept = default;
WasiThreads& WasiThreads::operator=(WasiThreads&& other) noexcept {
  std::swap(group_, other.group_);
  return *this;
}
WasiThreads::~WasiThreads() {
  stop();
}

std::optional<WasiThreads::Failure> WasiThreads::failure() const noexcept {
  if (group_ == nullptr) return std::nullopt;
  const std::lock_guard<std::mutex> lock(group_->mutex);
  return group_->failure;
}

bool WasiThreads::stop(std::int64_t timeout_ns) noexcept {
  if (group_ == nullptr) return true;
  std::unique_lock<std::mutex> lock(group_->mutex);
  group_->stopping = true;
  for (const ThreadGroup::Member& member : group_->members) {
    if (member.is_thread) member.interrupt.interrupt();
  }
  const auto all_ended = [&] { return group_->alive == 0; };
  if (timeout_ns < 0) {
    group_->ended.wait(lock, all_ended);
    return true;
  }
  return group_->ended.wait_for(lock, std::chrono::nanoseconds(timeout_ns), all_ended);
}

}  // namespace hoist
