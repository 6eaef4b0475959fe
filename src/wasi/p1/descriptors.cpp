// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fd_* functions.
#include <algorithm>
#include <cerrno>
#include <csignal>

#include "platform/poll.hpp"
#include "platform/sockets.hpp"
#include "wasi/p1/calls.hpp"

namespace hoist::wasi {

using Kind = Descriptor::Kind;

// The transfer of bytes: one body per kind of descriptor. `count` is what was moved.

static Errno transfer_file(const Descriptor& d, std::span<const platform::IoSlice> slices,
                           bool write, std::int64_t offset, std::size_t& count) {
  return from_host(write ? platform::write_slices(d.fd.get(), slices, offset, count)
                         : platform::read_slices(d.fd.get(), slices, offset, count));
}

/// Pipes, terminals, sockets: waits first, unless the guest wants to be told (Again).
static Errno transfer_waiting(Context& ctx, const Descriptor& d,
                              std::span<const platform::IoSlice> slices, bool write,
                              std::size_t& count, Outcome& outcome) {
  const int fd = d.fd.get();
  for (;;) {
    if (!d.nonblocking()) {
      ctx.pin(d);
      const int error = ctx.waiting(
          [&](platform::WakeFlag* wake) { return platform::wait_for(fd, write, wake); });
      if (error != 0) return waited(error, outcome);
    } else if (!platform::is_ready(fd, write)) {
      return Errno::Again;
    }
    int error = 0;
    if (d.kind == Kind::Socket) {
      platform::Received received;
      error = write ? platform::send(fd, slices, count)
                    : platform::receive(fd, slices, false, received);
      if (!write) count = received.count;
    } else {
      error = write ? platform::write_stream(fd, slices, count)
                    : platform::read_slices(fd, slices, platform::kCurrentPosition, count);
    }
    // Somebody else may have been faster.
    if (error == EAGAIN && !d.nonblocking()) continue;
    return from_host(error);
  }
}

/// Through a buffer of our own: code of the embedder must not hold pointers into guest memory,
/// which it can make grow.
static Errno transfer_hosted(const Descriptor& d, GuestMemory& memory, const SliceList& slices,
                             bool write, std::size_t& count) {
  std::uint8_t buffer[16384];
  // It may also make the guest close the descriptor.
  const std::shared_ptr<HostStream> stream = d.stream;
  const auto each = [&](std::size_t limit, auto&& copy) {
    std::size_t done = 0;
    for (std::size_t i = 0; i < slices.count && done < limit; ++i) {
      const std::size_t n = std::min<std::size_t>(slices.items[i].size, limit - done);
      if (!memory.contains(slices.items[i].at, n)) break;
      copy(memory.at(slices.items[i].at), buffer + done, n);
      done += n;
    }
    return done;
  };
  if (write) {
    const std::size_t size = each(sizeof buffer, [](const std::uint8_t* guest, std::uint8_t* own,
                                                    std::size_t n) { std::copy_n(guest, n, own); });
    const Errno error = stream->write({buffer, size}, count);
    count = std::min(count, size);
    return error;
  }
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(slices.bytes, sizeof buffer));
  HOIST_WASI_TRY(stream->read({buffer, size}, count));
  memory.refresh();
  count = each(std::min(count, size), [](std::uint8_t* guest, const std::uint8_t* own,
                                         std::size_t n) { std::copy_n(own, n, guest); });
  return Errno::Success;
}

static Errno transfer(Context& ctx, GuestMemory memory, const std::uint64_t* args, bool write,
                      std::int64_t offset, std::uint64_t count_at, Outcome& outcome) {
  HOIST_WASI_FIND(d, args[0], 0);
  if (d->kind == Kind::Directory) return write ? Errno::Badf : Errno::Isdir;
  if (offset >= 0 && d->kind != Kind::File) return Errno::Spipe;
  HOIST_WASI_TRY(
      need(*d, (write ? rights::kFdWrite : rights::kFdRead) | (offset >= 0 ? rights::kFdSeek : 0)));
  if (!memory.contains(u32(count_at), 4)) return Errno::Fault;
  SliceList slices;
  HOIST_WASI_TRY(slices.read(memory, args[1], args[2]));
  std::size_t count = 0;
  if (d->kind == Kind::Hosted) {
    // The answer of an empty request is known, and a callback might wait.
    if (slices.bytes != 0) HOIST_WASI_TRY(transfer_hosted(*d, memory, slices, write, count));
    memory.refresh();
  } else {
    platform::IoSlice pointers[SliceList::kMax];
    const auto span = slices.pointers(memory, pointers);
    if (d->kind == Kind::File) {
      HOIST_WASI_TRY(transfer_file(*d, span, write, offset, count));
    } else if (!span.empty()) {
      const Errno error = transfer_waiting(ctx, *d, span, write, count, outcome);
      constexpr std::uint64_t kStandardOutput = 1;
      if (error == Errno::Pipe && ctx.exits_on_broken_pipe && u32(args[0]) == kStandardOutput) {
        if (ctx.knows_of_broken_pipe) {
          ctx.exit_status = 128 + SIGPIPE;
          outcome = Outcome::Exit;
        }
        ctx.knows_of_broken_pipe = true;
      }
      if (error != Errno::Success) return error;
    }
  }
  return memory.write<std::uint32_t>(u32(count_at), static_cast<std::uint32_t>(count))
             ? Errno::Success
             : Errno::Fault;
}

Errno fd_read(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  return transfer(ctx, memory, args, false, platform::kCurrentPosition, args[3], outcome);
}
Errno fd_write(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  return transfer(ctx, memory, args, true, platform::kCurrentPosition, args[3], outcome);
}
Errno fd_pread(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  if (args[3] > INT64_MAX) return Errno::Inval;
  return transfer(ctx, memory, args, false, static_cast<std::int64_t>(args[3]), args[4], outcome);
}
Errno fd_pwrite(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome& outcome) {
  if (args[3] > INT64_MAX) return Errno::Inval;
  return transfer(ctx, memory, args, true, static_cast<std::int64_t>(args[3]), args[4], outcome);
}

Errno fd_advise(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], 0);
  if (d->kind == Kind::Directory) return Errno::Badf;
  if (d->kind != Kind::File) return Errno::Spipe;
  HOIST_WASI_TRY(need(*d, rights::kFdAdvise));
  return from_host(platform::advise_fd(d->fd.get(), args[1], args[2], u32(args[3])));
}

Errno fd_allocate(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], 0);
  if (d->kind == Kind::Directory) return Errno::Badf;
  if (d->kind != Kind::File) return Errno::Spipe;
  HOIST_WASI_TRY(need(*d, rights::kFdAllocate));
  return from_host(platform::allocate_fd(d->fd.get(), args[1], args[2]));
}

Errno fd_close(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return ctx.close(u32(args[0])) ? Errno::Success : Errno::Badf;
}

static Errno sync(Context& ctx, std::uint64_t number, std::uint64_t wanted, bool data_only) {
  HOIST_WASI_FIND(d, number, wanted);
  return d->is_host() ? from_host(platform::sync_fd(d->fd.get(), data_only)) : Errno::Inval;
}
Errno fd_datasync(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return sync(ctx, args[0], rights::kFdDatasync, true);
}
Errno fd_sync(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return sync(ctx, args[0], rights::kFdSync, false);
}

Errno fd_fdstat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], 0);
  if (!memory.contains(u32(args[1]), 24)) return Errno::Fault;
  platform::FileStat stat;
  if (d->is_host()) HOIST_WASI_TRY(from_host(platform::stat_fd(d->fd.get(), stat)));
  std::uint8_t* out = memory.at(u32(args[1]));
  base::store_le<std::uint64_t>(out, 0);
  out[0] = static_cast<std::uint8_t>(stat.type);
  base::store_le<std::uint16_t>(out + 2, static_cast<std::uint16_t>(d->flags));
  base::store_le(out + 8, d->rights_base);
  base::store_le(out + 16, d->rights_inheriting);
  return Errno::Success;
}

// Whether to wait is the guest's own affair and never told to the system: the open file may be
// shared with other processes.
Errno fd_fdstat_set_flags(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], rights::kFdstatSetFlags);
  const std::uint32_t flags = u32(args[1]);
  if (flags > fdflags::kAll) return Errno::Inval;
  const std::uint32_t changed = flags ^ d->flags;
  if ((changed & (fdflags::kDsync | fdflags::kRsync | fdflags::kSync)) != 0)
    return Errno::Notsup;  // Linux cannot change these of an open file
  if ((changed & fdflags::kAppend) != 0 && d->kind == Kind::File) {
    HOIST_WASI_TRY(from_host(platform::set_append(d->fd.get(), (flags & fdflags::kAppend) != 0)));
  }
  d->flags = flags;
  return Errno::Success;
}

Errno fd_fdstat_set_rights(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], 0);
  if ((args[1] & ~d->rights_base) != 0 || (args[2] & ~d->rights_inheriting) != 0)
    return Errno::Notcapable;
  d->rights_base = args[1];
  d->rights_inheriting = args[2];
  return Errno::Success;
}

static Errno filestat(Context& ctx, GuestMemory memory, const std::uint64_t* args,
                      Version version) {
  HOIST_WASI_FIND(d, args[0], rights::kFdFilestatGet);
  platform::FileStat stat;
  if (d->is_host()) HOIST_WASI_TRY(from_host(platform::stat_fd(d->fd.get(), stat)));
  return write_filestat(memory, args[1], stat, version);
}
Errno fd_filestat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return filestat(ctx, memory, args, Version::Preview1);
}
Errno unstable_fd_filestat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args,
                               Outcome&) {
  return filestat(ctx, memory, args, Version::Unstable);
}

Errno fd_filestat_set_size(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], 0);
  if (d->kind != Kind::File) return Errno::Inval;
  HOIST_WASI_TRY(need(*d, rights::kFdFilestatSetSize));
  return from_host(platform::truncate_fd(d->fd.get(), args[1]));
}

Errno fd_filestat_set_times(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], rights::kFdFilestatSetTimes);
  platform::TimeUpdate accessed, modified;
  HOIST_WASI_TRY(read_times(args[1], args[2], args[3], accessed, modified));
  return d->is_host() ? from_host(platform::set_times_fd(d->fd.get(), accessed, modified))
                      : Errno::Inval;
}

// A guest looks for what it was given by asking for one number after the other, from 3 on, until
// Badf: a socket answers as something that is no directory (a tag of its own), not as the end.
Errno fd_prestat_get(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], 0);
  if (!d->preopen) return Errno::Badf;
  if (!memory.contains(u32(args[1]), 8)) return Errno::Fault;
  std::uint8_t* out = memory.at(u32(args[1]));
  base::store_le<std::uint32_t>(out, d->kind == Kind::Directory ? 0 : 1);
  base::store_le(out + 4, static_cast<std::uint32_t>(d->guest_path.size()));
  return Errno::Success;
}

Errno fd_prestat_dir_name(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  HOIST_WASI_FIND(d, args[0], 0);
  if (!d->preopen) return Errno::Badf;
  if (d->kind != Kind::Directory) return Errno::Notdir;
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
    HOIST_WASI_TRY(
        from_host(platform::list_directory(d->fd.get(), d->listing, Context::kMaxListingBytes)));
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
  // A buffer that is not full is the end; nobody needs the snapshot any more.
  if (used < size) std::vector<platform::DirEntry>().swap(d->listing);
  static_cast<void>(memory.write<std::uint32_t>(u32(args[4]), used));
  return Errno::Success;
}

Errno fd_renumber(Context& ctx, GuestMemory, const std::uint64_t* args, Outcome&) {
  return ctx.renumber(u32(args[0]), u32(args[1])) ? Errno::Success : Errno::Badf;
}

static Errno seek_to(Context& ctx, GuestMemory memory, std::uint64_t number, std::uint64_t wanted,
                     std::int64_t offset, platform::Whence whence, std::uint64_t out) {
  HOIST_WASI_FIND(d, number, 0);
  if (d->kind == Kind::Directory) return Errno::Badf;
  if (d->kind != Kind::File) return Errno::Spipe;
  HOIST_WASI_TRY(need(*d, wanted));
  if (!memory.contains(u32(out), 8)) return Errno::Fault;
  std::uint64_t position = 0;
  HOIST_WASI_TRY(from_host(platform::seek(d->fd.get(), offset, whence, position)));
  static_cast<void>(memory.write(u32(out), position));
  return Errno::Success;
}

/// `whences`: what the guest's numbers mean.
static Errno seek(Context& ctx, GuestMemory memory, const std::uint64_t* args,
                  const platform::Whence (&whences)[3]) {
  if (u32(args[2]) > 2) return Errno::Inval;
  const platform::Whence whence = whences[u32(args[2])];
  const auto offset = static_cast<std::int64_t>(args[1]);
  // Asking for the position needs less than moving it.
  const bool only_tell = offset == 0 && whence == platform::Whence::Current;
  return seek_to(ctx, memory, args[0], only_tell ? rights::kFdTell : rights::kFdSeek, offset,
                 whence, args[3]);
}
Errno fd_seek(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  using enum platform::Whence;
  return seek(ctx, memory, args, {Set, Current, End});
}
Errno unstable_fd_seek(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  using enum platform::Whence;
  return seek(ctx, memory, args, {Current, End, Set});
}

Errno fd_tell(Context& ctx, GuestMemory memory, const std::uint64_t* args, Outcome&) {
  return seek_to(ctx, memory, args[0], rights::kFdTell, 0, platform::Whence::Current, args[1]);
}

}  // namespace hoist::wasi
