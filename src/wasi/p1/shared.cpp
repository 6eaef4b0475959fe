// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function table and what the bodies share.
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <iterator>
#include <string_view>

#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

static constexpr Function kFunctions[] = {
#define HOIST_WASI_P1(name, params, meaning) \
  {#name, params, std::string_view(#name) != "proc_exit", meaning, &name},
#include "wasi/p1/functions.def"
};
static_assert([] {
  for (const Function& f : kFunctions) {
    if (std::string_view(f.params).size() > kMaxParams) return false;
  }
  return true;
}());

static constexpr std::size_t kUnstableCount = std::size(kFunctions)
#define HOIST_WASI_P0_LACKS(name) -1
#include "wasi/p1/functions.def"
    ;
static constexpr std::array<Function, kUnstableCount> kUnstable = [] {
  std::array<Function, kUnstableCount> out{};
  std::size_t count = 0;
  for (Function function : kFunctions) {
    const std::string_view name = function.name;
    bool lacks = false;
#define HOIST_WASI_P0_DIFFERS(differs) \
  if (name == #differs) function.call = &unstable_##differs;
#define HOIST_WASI_P0_LACKS(lacked) lacks |= name == #lacked;
#include "wasi/p1/functions.def"
    if (!lacks) out[count++] = function;
  }
  return out;
}();

std::span<const Function> functions(Version version) {
  if (version == Version::Unstable) return kUnstable;
  return kFunctions;
}

namespace {
struct ErrnoRow {
  const char* name;
  int host;
};
constexpr ErrnoRow kErrnos[] = {
#define HOIST_WASI_ERRNO(name, number, host, meaning) {#name, host},
#include "wasi/p1/errnos.def"
};
}  // namespace

Errno from_host(int error) {
  if (error == EWOULDBLOCK) return Errno::Again;  // where it is a number of its own
  for (std::size_t i = 0; i < std::size(kErrnos); ++i) {
    if (kErrnos[i].host == error) return static_cast<Errno>(i);
  }
  return Errno::Io;
}

const char* name_of(Errno error) {
  return kErrnos[static_cast<std::size_t>(error)].name;
}

Errno waited(int error, Outcome& outcome) {
  if (error == ECANCELED) outcome = Outcome::Interrupted;
  return from_host(error);
}

Errno find(Context& ctx, std::uint64_t number, std::uint64_t wanted, Descriptor*& out) {
  out = ctx.find(u32(number));
  return out == nullptr ? Errno::Badf : need(*out, wanted);
}

Errno find_directory(Context& ctx, std::uint64_t number, std::uint64_t wanted, Descriptor*& out) {
  out = ctx.find(u32(number));
  if (out == nullptr) return Errno::Badf;
  return out->kind == Descriptor::Kind::Directory ? need(*out, wanted) : Errno::Notdir;
}

/// Source: Unicode 15, table 3-7 "well-formed UTF-8 byte sequences".
static bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const std::uint8_t lead = byte(i);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xc2 && lead < 0xe0 ? 1
                             : (lead & 0xf0) == 0xe0       ? 2
                             : lead >= 0xf0 && lead < 0xf5 ? 3
                                                           : 4;
    if (more == 4 || text.size() - i <= more) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    }
    if (lead == 0xe0 && byte(i + 1) < 0xa0) return false;
    if (lead == 0xed && byte(i + 1) >= 0xa0) return false;
    if (lead == 0xf0 && byte(i + 1) < 0x90) return false;
    if (lead == 0xf4 && byte(i + 1) >= 0x90) return false;
    i += more + 1;
  }
  return true;
}

Errno read_path(GuestMemory memory, std::uint64_t at, std::uint64_t size, std::string& out) {
  if (!memory.contains(u32(at), u32(size))) return Errno::Fault;
  if (u32(size) >= PATH_MAX) return Errno::Nametoolong;
  out.assign(reinterpret_cast<const char*>(memory.at(u32(at))), u32(size));
  if (!is_utf8(out)) return Errno::Ilseq;
  return out.find('\0') == std::string::npos ? Errno::Success : Errno::Inval;
}

Errno SliceList::read(GuestMemory memory, std::uint64_t list, std::uint64_t entries) {
  const std::uint32_t n = u32(entries);
  if (!memory.contains(u32(list), std::uint64_t{n} * 8)) return Errno::Fault;
  if (n > kMaxEntries) return Errno::Inval;
  for (std::size_t i = 0; i < n; ++i) {
    Slice slice{};
    static_cast<void>(memory.read(u32(list) + i * 8, slice.at));
    static_cast<void>(memory.read(u32(list) + i * 8 + 4, slice.size));
    if (!memory.contains(slice.at, slice.size)) return Errno::Fault;
    slice.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(slice.size, kMaxBytes - bytes));
    if (slice.size == 0 || count == kMax) continue;
    items[count++] = slice;
    bytes += slice.size;
  }
  return Errno::Success;
}

std::span<const platform::IoSlice> SliceList::pointers(GuestMemory memory,
                                                       platform::IoSlice (&out)[kMax],
                                                       std::uint64_t skip) const {
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto skipped = static_cast<std::uint32_t>(std::min<std::uint64_t>(skip, items[i].size));
    skip -= skipped;
    if (items[i].size > skipped)
      out[n++] = {memory.at(items[i].at + skipped), items[i].size - skipped};
  }
  return {out, n};
}

Errno read_times(std::uint64_t accessed, std::uint64_t modified, std::uint64_t flags,
                 platform::TimeUpdate& accessed_out, platform::TimeUpdate& modified_out) {
  const std::uint32_t f = u32(flags);
  const auto one = [](std::uint32_t bits, std::uint64_t ns, platform::TimeUpdate& out) {
    if (bits == 3) return false;
    out.kind = bits == 0   ? platform::TimeUpdate::Kind::Omit
               : bits == 1 ? platform::TimeUpdate::Kind::Set
                           : platform::TimeUpdate::Kind::Now;
    out.ns = ns;
    return true;
  };
  if (f > 15 || !one(f & 3, accessed, accessed_out) || !one(f >> 2, modified, modified_out))
    return Errno::Inval;
  return Errno::Success;
}

Errno write_filestat(GuestMemory memory, std::uint64_t at, const platform::FileStat& stat,
                     Version version) {
  if (!memory.contains(u32(at), filestat_size(version))) return Errno::Fault;
  std::uint8_t* out = memory.at(u32(at));
  base::store_le<std::uint64_t>(out, stat.device);
  base::store_le<std::uint64_t>(out + 8, stat.inode);
  base::store_le<std::uint64_t>(out + 16, static_cast<std::uint64_t>(stat.type));
  if (version == Version::Unstable) {
    base::store_le(out + 20,
                   static_cast<std::uint32_t>(std::min<std::uint64_t>(stat.links, UINT32_MAX)));
    out += 24;
  } else {
    base::store_le<std::uint64_t>(out + 24, stat.links);
    out += 32;
  }
  base::store_le<std::uint64_t>(out, stat.size);
  base::store_le<std::uint64_t>(out + 8, stat.accessed_ns);
  base::store_le<std::uint64_t>(out + 16, stat.modified_ns);
  base::store_le<std::uint64_t>(out + 24, stat.changed_ns);
  return Errno::Success;
}

}  // namespace hoist::wasi
