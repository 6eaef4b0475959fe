// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fd_* functions. A descriptor that is a stream in host memory (standard input as a string,
// output to a callback) behaves like a pipe.
#include <algorithm>
#include <cerrno>

#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

using Kind = Descriptor::Kind;

#define HOIST_FIND(d, number, wanted) \
  Descriptor* d = nullptr;            \
  if (const Errno found = find(ctx, number, wanted, d); found != Errno::Success) return found

/// For functions that make sense on files of the host only.
static bool is_host(const Descriptor& d) {
  return d.kind == Kind::File || d.kind == Kind::Directory;
}

namespace {
/// The guest's list of (pointer, size) pairs, checked; at most as many as one system call takes.
struct Slices {
  platform::IoSlice items[1024];
  std::size_t count = 0;
  std::span<const platform::IoSlice> span() const { return {items, count}; }
};
}  // namespace

static Errno read_slice_list(GuestMemory memory, std::uint64_t list, std::uint64_t count,
                             Slices& out) {
  const std::uint32_t n = u32(count);
  if (!memory.contains(u32(list), std::uint64_t{n} * 8)) return Errno::Fault;
  // Fewer bytes than asked for is a legal answer, so a longer list is cut.
  out.count = std::min<std::size_t>(n, std::size(out.items));
  for (std::size_t i = 0; i < out.count; ++i) {
    std::uint32_t at = 0, size = 0;
    static_cast<void>(memory.read(u32(list) + i * 8, at));
    static_cast<void>(memory.read(u32(list) + i * 8 + 4, size));
    if (!memory.contains(at, size)) return Errno::Fault;
    out.items[i] = {memory.at(at), size};
  }
  return Errno::Success;
}

static Errno transfer(Context& ctx, GuestMemory memory, const std::uint64_t* args, bool write,
                      std::int64_t offset, std::uint64_t count_at) {
  const std::uint64_t seek_right = offset >= 0 ? rights::kFdSeek : 0;
  HOIST_FIND(d, args[0], (write ? rights::kFdWrite : rights::kFdRead) | seek_right);
  if (d->kind == Kind::Directory) return write ? Errno::Badf : Errno::Isdir;
  if (!memory.contains(u32(count_at), 4)) return Errno::Fault;
  Slices slices;
  if (const Errno error = read_slice_list(memory, args[1], args[2], slices);
      error != Errno::Success)
    return error;
  std::size_t count = 0;
  if (d->kind == Kind::Input) {
    for (const platform::IoSlice& slice : slices.span()) {
      const std::size_t n = std::min(slice.size, d->input.size() - d->input_at);
      std::copy_n(d->input.data() + d->input_at, n, static_cast<char*>(slice.data));
      d->input_at += n;
      count += n;
    }
  } else if (d->kind == Kind::Output) {
    for (const platform::IoSlice& slice : slices.span()) {
      if (!d->output.write(d->output.user, static_cast<const std::uint8_t*>(slice.data),
                           slice.size))
        return Errno::Io;
      count += slice.size;
    }
  } else {
    const int error = write ? platform::write_slices(d->fd.get(), slices.span(), offset, count)
                            : platform::read_slices(d->fd.get(), slices.span(), offset, count);
    if (error != 0) return from_host(error);
  }
  static_cast<void>(memory.write<std::uint32_t>(u32(count_at), static_cast<std::uint32_t>(count)));
  return Errno::Success;
}

Errno fd_read(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return transfer(ctx, memory, args, false, platform::kCurrentPosition, args[3]);
}
Errno fd_write(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return transfer(ctx, memory, args, true, platform::kCurrentPosition, args[3]);
}
Errno fd_pread(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  if (args[3] > INT64_MAX) return Errno::Inval;
  return transfer(ctx, memory, args, false, static_cast<std::int64_t>(args[3]), args[4]);
}
Errno fd_pwrite(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  if (args[3] > INT64_MAX) return Errno::Inval;
  return transfer(ctx, memory, args, true, static_cast<std::int64_t>(args[3]), args[4]);
}

Errno fd_advise(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], rights::kFdAdvise);
  if (!is_host(*d)) return Errno::Spipe;
  if (d->kind == Kind::Directory) return Errno::Badf;
  return from_host(platform::advise_fd(d->fd.get(), args[1], args[2], u32(args[3])));
}

Errno fd_allocate(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], rights::kFdAllocate);
  if (!is_host(*d)) return Errno::Spipe;
  return from_host(platform::allocate_fd(d->fd.get(), args[1], args[2]));
}

Errno fd_close(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return ctx.close(u32(args[0])) ? Errno::Success : Errno::Badf;
}

Errno fd_datasync(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], rights::kFdDatasync);
  return is_host(*d) ? from_host(platform::sync_fd(d->fd.get(), true)) : Errno::Inval;
}
Errno fd_sync(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], rights::kFdSync);
  return is_host(*d) ? from_host(platform::sync_fd(d->fd.get(), false)) : Errno::Inval;
}

Errno fd_fdstat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], 0);
  if (!memory.contains(u32(args[1]), 24)) return Errno::Fault;
  platform::FileStat stat;
  platform::FdFlags flags;
  if (is_host(*d)) {
    if (const int error = platform::stat_fd(d->fd.get(), stat); error != 0) return from_host(error);
    if (const int error = platform::get_flags(d->fd.get(), flags); error != 0)
      return from_host(error);
  }
  std::uint8_t* out = memory.at(u32(args[1]));
  base::store_le<std::uint64_t>(out, 0);
  out[0] = static_cast<std::uint8_t>(stat.type);
  base::store_le<std::uint16_t>(
      out + 2, static_cast<std::uint16_t>((flags.append ? 1 : 0) | (flags.dsync ? 2 : 0) |
                                          (flags.nonblock ? 4 : 0) | (flags.sync ? 16 : 0)));
  base::store_le(out + 8, d->rights_base);
  base::store_le(out + 16, d->rights_inheriting);
  return Errno::Success;
}

Errno fd_fdstat_set_flags(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], rights::kFdstatSetFlags);
  const std::uint32_t flags = u32(args[1]);
  if (flags > 31) return Errno::Inval;
  if ((flags & (2 | 8 | 16)) != 0) return Errno::Notsup;  // Linux ignores changes of the sync flags
  if (!is_host(*d)) return Errno::Success;
  platform::FdFlags wanted;
  wanted.append = (flags & 1) != 0;
  wanted.nonblock = (flags & 4) != 0;
  return from_host(platform::set_flags(d->fd.get(), wanted));
}

Errno fd_fdstat_set_rights(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], 0);
  if ((args[1] & ~d->rights_base) != 0 || (args[2] & ~d->rights_inheriting) != 0)
    return Errno::Notcapable;
  d->rights_base = args[1];
  d->rights_inheriting = args[2];
  return Errno::Success;
}

Errno fd_filestat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], rights::kFdFilestatGet);
  platform::FileStat stat;
  if (is_host(*d)) {
    if (const int error = platform::stat_fd(d->fd.get(), stat); error != 0) return from_host(error);
  }
  return write_filestat(memory, args[1], stat);
}

Errno fd_filestat_set_size(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], rights::kFdFilestatSetSize);
  return is_host(*d) ? from_host(platform::truncate_fd(d->fd.get(), args[1])) : Errno::Inval;
}

Errno fd_filestat_set_times(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], rights::kFdFilestatSetTimes);
  platform::TimeUpdate accessed, modified;
  if (const Errno error = read_times(args[1], args[2], args[3], accessed, modified);
      error != Errno::Success)
    return error;
  return is_host(*d) ? from_host(platform::set_times_fd(d->fd.get(), accessed, modified))
                     : Errno::Inval;
}

Errno fd_prestat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], 0);
  if (!d->preopen) return Errno::Badf;
  return memory.write<std::uint32_t>(u32(args[1]), 0) &&
                 memory.write<std::uint32_t>(std::uint64_t{u32(args[1])} + 4,
                                             static_cast<std::uint32_t>(d->guest_path.size()))
             ? Errno::Success
             : Errno::Fault;
}

Errno fd_prestat_dir_name(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_FIND(d, args[0], 0);
  if (!d->preopen) return Errno::Badf;
  if (u32(args[2]) < d->guest_path.size()) return Errno::Nametoolong;
  if (!memory.contains(u32(args[1]), d->guest_path.size())) return Errno::Fault;
  std::copy(d->guest_path.begin(), d->guest_path.end(), memory.at(u32(args[1])));
  return Errno::Success;
}

Errno fd_readdir(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  Descriptor* d = nullptr;
  if (const Errno error = find_directory(ctx, args[0], rights::kFdReaddir, d);
      error != Errno::Success)
    return error;
  const std::uint32_t buffer = u32(args[1]), size = u32(args[2]);
  if (!memory.contains(buffer, size) || !memory.contains(u32(args[4]), 4)) return Errno::Fault;
  if (args[3] == 0 || d->listing.empty()) {
    if (const int error = platform::list_directory(d->fd.get(), d->listing); error != 0)
      return from_host(error);
  }
  std::uint32_t used = 0;
  // An entry that does not fit is cut; a full buffer tells the guest to ask again.
  const auto put = [&](const void* data, std::size_t bytes) {
    const std::size_t n = std::min<std::size_t>(bytes, size - used);
    std::copy_n(static_cast<const std::uint8_t*>(data), n, memory.at(buffer) + used);
    used += static_cast<std::uint32_t>(n);
  };
  for (std::uint64_t i = args[3]; i < d->listing.size() && used < size; ++i) {
    const platform::DirEntry& entry = d->listing[i];
    std::uint8_t head[24] = {};
    base::store_le<std::uint64_t>(head, i + 1);
    base::store_le<std::uint64_t>(head + 8, entry.inode);
    base::store_le<std::uint32_t>(head + 16, static_cast<std::uint32_t>(entry.name.size()));
    head[20] = static_cast<std::uint8_t>(entry.type);
    put(head, sizeof head);
    put(entry.name.data(), entry.name.size());
  }
  static_cast<void>(memory.write<std::uint32_t>(u32(args[4]), used));
  return Errno::Success;
}

Errno fd_renumber(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return ctx.renumber(u32(args[0]), u32(args[1])) ? Errno::Success : Errno::Badf;
}

static Errno seek_to(Context& ctx, GuestMemory memory, std::uint64_t number, std::uint64_t wanted,
                     std::int64_t offset, platform::Whence whence, std::uint64_t out) {
  HOIST_FIND(d, number, wanted);
  if (!is_host(*d)) return Errno::Spipe;
  if (d->kind == Kind::Directory) return Errno::Badf;
  if (!memory.contains(u32(out), 8)) return Errno::Fault;
  std::uint64_t position = 0;
  if (const int error = platform::seek(d->fd.get(), offset, whence, position); error != 0)
    return from_host(error);
  static_cast<void>(memory.write(u32(out), position));
  return Errno::Success;
}

Errno fd_seek(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  if (u32(args[2]) > 2) return Errno::Inval;
  const auto whence = static_cast<platform::Whence>(u32(args[2]));
  const auto offset = static_cast<std::int64_t>(args[1]);
  // Asking for the position needs less than moving it.
  const bool only_tell = offset == 0 && whence == platform::Whence::Current;
  return seek_to(ctx, memory, args[0], only_tell ? rights::kFdTell : rights::kFdSeek, offset,
                 whence, args[3]);
}

Errno fd_tell(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return seek_to(ctx, memory, args[0], rights::kFdTell, 0, platform::Whence::Current, args[1]);
}

}  // namespace hoist::wasi
