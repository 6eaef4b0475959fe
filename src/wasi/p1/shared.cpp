// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function table and what the bodies share.
#include <cerrno>

#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

std::span<const Function> functions() {
  static constexpr Function kFunctions[] = {
#define HOIST_WASI_P1(name, params, meaning) \
  {#name, params, std::string_view(#name) != "proc_exit", &name},
#include "wasi/p1/functions.def"
  };
  return kFunctions;
}

Errno from_host(int error) {
  switch (error) {
    case 0: return Errno::Success;
    case E2BIG: return Errno::TooBig;
    case EACCES: return Errno::Acces;
    case EAGAIN: return Errno::Again;
    case EBADF: return Errno::Badf;
    case EBUSY: return Errno::Busy;
    case EDQUOT: return Errno::Dquot;
    case EEXIST: return Errno::Exist;
    case EFAULT: return Errno::Fault;
    case EFBIG: return Errno::Fbig;
    case EILSEQ: return Errno::Ilseq;
    case EINPROGRESS: return Errno::Inprogress;
    case EINTR: return Errno::Intr;
    case EINVAL: return Errno::Inval;
    case EISDIR: return Errno::Isdir;
    case ELOOP: return Errno::Loop;
    case EMFILE: return Errno::Mfile;
    case EMLINK: return Errno::Mlink;
    case ENAMETOOLONG: return Errno::Nametoolong;
    case ENFILE: return Errno::Nfile;
    case ENODEV: return Errno::Nodev;
    case ENOENT: return Errno::Noent;
    case ENOMEM: return Errno::Nomem;
    case ENOSPC: return Errno::Nospc;
    case ENOSYS: return Errno::Nosys;
    case ENOTDIR: return Errno::Notdir;
    case ENOTEMPTY: return Errno::Notempty;
    case ENOTSOCK: return Errno::Notsock;
    case ENOTSUP: return Errno::Notsup;
    case ENOTTY: return Errno::Notty;
    case ENXIO: return Errno::Nxio;
    case EOVERFLOW: return Errno::Overflow;
    case EPERM: return Errno::Perm;
    case EPIPE: return Errno::Pipe;
    case ERANGE: return Errno::Range;
    case EROFS: return Errno::Rofs;
    case ESPIPE: return Errno::Spipe;
    case ESTALE: return Errno::Stale;
    case ETXTBSY: return Errno::Txtbsy;
    case EXDEV: return Errno::Xdev;
    default: return Errno::Io;
  }
}

Errno find(Context& ctx, std::uint64_t number, std::uint64_t wanted, Descriptor*& out) {
  out = ctx.find(u32(number));
  if (out == nullptr) return Errno::Badf;
  return (out->rights_base & wanted) == wanted ? Errno::Success : Errno::Notcapable;
}

Errno find_directory(Context& ctx, std::uint64_t number, std::uint64_t wanted, Descriptor*& out) {
  out = ctx.find(u32(number));
  if (out == nullptr) return Errno::Badf;
  if (out->kind != Descriptor::Kind::Directory) return Errno::Notdir;
  return (out->rights_base & wanted) == wanted ? Errno::Success : Errno::Notcapable;
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

Errno read_path(GuestMemory memory, std::uint64_t at, std::uint64_t size, std::string_view& out) {
  if (!memory.contains(u32(at), u32(size))) return Errno::Fault;
  out = {reinterpret_cast<const char*>(memory.at(u32(at))), u32(size)};
  if (!is_utf8(out)) return Errno::Ilseq;
  return out.find('\0') == std::string_view::npos ? Errno::Success : Errno::Inval;
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

Errno write_filestat(GuestMemory memory, std::uint64_t at, const platform::FileStat& stat) {
  if (!memory.contains(u32(at), 64)) return Errno::Fault;
  std::uint8_t* out = memory.at(u32(at));
  base::store_le<std::uint64_t>(out, stat.device);
  base::store_le<std::uint64_t>(out + 8, stat.inode);
  base::store_le<std::uint64_t>(out + 16, static_cast<std::uint64_t>(stat.type));
  base::store_le<std::uint64_t>(out + 24, stat.links);
  base::store_le<std::uint64_t>(out + 32, stat.size);
  base::store_le<std::uint64_t>(out + 40, stat.accessed_ns);
  base::store_le<std::uint64_t>(out + 48, stat.modified_ns);
  base::store_le<std::uint64_t>(out + 56, stat.changed_ns);
  return Errno::Success;
}

}  // namespace hoist::wasi
