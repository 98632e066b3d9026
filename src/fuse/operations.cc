// The FUSE callbacks: unwrapping, the call, wrapping. Each runs in a guard, as nothing may unwind
// through libfuse.

#include <sys/stat.h>

#include "fuse/call.h"
#include "fuse/directory.h"
#include "fuse/ioctl.h"

namespace efivarium::fuse {
namespace {

using vfs::File;
using vfs::Path;
using vfs::Ref;
using Session = Server::Session;

// Direct writes that do not fit one request come in pieces; the first is then all but full. No
// variable is that large, so what is refused here would be refused anyway.
constexpr std::size_t kLargestRequest = std::size_t{1} << 20;
constexpr std::size_t kLargestWrite = kLargestRequest - (std::size_t{64} << 10);

Ref<File> file_of(const fuse_file_info* info) {
  return Ref<File>::share(*reinterpret_cast<File*>(info->fh));
}

void init(void*, fuse_conn_info* connection) noexcept {
  connection->max_write = kLargestRequest;
  connection->want |= connection->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO |
                                             FUSE_CAP_IOCTL_DIR | FUSE_CAP_ATOMIC_O_TRUNC);
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA);
}

void answer_entry(Call& call, const Path& folder, const Path& path, const std::string& asked) {
  const Node& node = call.session().nodes().remember(path);
  // A mount's root has no name of its own.
  const bool is_its_name = path.dentry->is_root() || path.dentry->name() == asked;
  const bool is_public = (folder.dentry->inode().attributes().mode & S_IXOTH) != 0;
  const fuse_entry_param entry = Session::entry(path, node.id(), is_its_name && is_public);
  call.answer([&](fuse_req_t to) {
    if (::fuse_reply_entry(to, &entry) == -ENOENT) call.session().nodes().forget(entry.ino, 1);
  });
}

void lookup(fuse_req_t request, fuse_ino_t folder_id, const char* name) noexcept {
  guarded_in(request, folder_id, [name = std::string(name)](Call& call, const Path& folder) {
    const Result<void> allowed = vfs::check_access(folder, vfs::kSearchAccess, call.credentials());
    if (!allowed) return call.fail(allowed.error());
    const Result<Path> path = call.session().mount_namespace().step(folder, name);
    if (!path) return call.fail(path.error());
    answer_entry(call, folder, *path, name);
  });
}

void forget(fuse_req_t request, fuse_ino_t id, std::uint64_t lookups) noexcept {
  static_cast<Session*>(::fuse_req_userdata(request))->nodes().forget(id, lookups);
  ::fuse_reply_none(request);
}

void forget_multi(fuse_req_t request, std::size_t count, fuse_forget_data* forgets) noexcept {
  NodeTable& nodes = static_cast<Session*>(::fuse_req_userdata(request))->nodes();
  for (std::size_t i = 0; i < count; ++i) nodes.forget(forgets[i].ino, forgets[i].nlookup);
  ::fuse_reply_none(request);
}

void answer_attributes(Call& call, const Path& path, fuse_ino_t id) {
  const fuse_entry_param entry = Session::entry(path, id, false);
  call.answer(::fuse_reply_attr, &entry.attr, entry.attr_timeout);
}

void getattr(fuse_req_t request, fuse_ino_t id, fuse_file_info*) noexcept {
  guarded_at(request, id,
             [&](Call& call, const Path& path) { answer_attributes(call, path, id); });
}

vfs::AttributeChange change_of(const struct stat& wanted, int to_set) {
  vfs::AttributeChange change;
  const timespec now = vfs::current_time();
  if ((to_set & FUSE_SET_ATTR_MODE) != 0) change.mode = wanted.st_mode;
  if ((to_set & FUSE_SET_ATTR_UID) != 0) change.uid = wanted.st_uid;
  if ((to_set & FUSE_SET_ATTR_GID) != 0) change.gid = wanted.st_gid;
  if ((to_set & FUSE_SET_ATTR_SIZE) != 0) {
    change.size_bytes = static_cast<std::uint64_t>(wanted.st_size);
  }
  if ((to_set & FUSE_SET_ATTR_ATIME) != 0) change.accessed = wanted.st_atim;
  if ((to_set & FUSE_SET_ATTR_MTIME) != 0) change.modified = wanted.st_mtim;
  if ((to_set & FUSE_SET_ATTR_ATIME_NOW) != 0) change.accessed = now;
  if ((to_set & FUSE_SET_ATTR_MTIME_NOW) != 0) change.modified = now;
  change.times_are_now = (to_set & (FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW)) != 0;
  return change;
}

// The names that the kernel kept of a folder that not everybody may search any more.
void drop_names(Session& session, const Path& folder, fuse_ino_t folder_id) {
  if ((folder.dentry->inode().attributes().mode & S_IXOTH) != 0) return;
  session.nodes().for_each([&](const Node& node) {
    if (&node.dentry->parent() != folder.dentry.get()) return;
    session.drop_name(folder_id, node.dentry->name(), [] {});
  });
}

void setattr(fuse_req_t request, fuse_ino_t id, struct stat* wanted, int to_set,
             fuse_file_info* info) noexcept {
  guarded_at(request, id, [&](Call& call, const Path& path) {
    Session& session = call.session();
    const vfs::AttributeChange change = change_of(*wanted, to_set);
    const Result<void> changed = change.size_bytes && info != nullptr
                                     ? vfs::resize_file(*file_of(info), *change.size_bytes)
                                     : vfs::change_attributes(path, change, call.credentials());
    if (!changed) return call.fail(changed.error());
    answer_attributes(call, path, id);
    if (change.mode && path.dentry->inode().is_directory()) drop_names(session, path, id);
  });
}

// Takes the file over into the kernel's hands.
void hand_over(Ref<File> file, Node& node, fuse_file_info& info) {
  if (file->cacheable) {
    info.keep_cache = 1;
    node.has_cached_data = true;
  } else {
    info.direct_io = 1;
    // The file keeps its own position, which writes leave alone; so the kernel's must not be used.
    info.nonseekable = file->seekable ? 0 : 1;
  }
  info.fh = reinterpret_cast<std::uintptr_t>(file.release());
}

// An interrupted caller never learns of the file, so it is closed for it.
void take_back(fuse_file_info& info) {
  vfs::release_file(Ref<File>::adopt(reinterpret_cast<File*>(info.fh)));
}

void open(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) noexcept {
  guarded_at(request, id, [&](Call& call, const Path& path) {
    Result<Ref<File>> file = vfs::open_file(path, info->flags, call.credentials());
    if (!file) return call.fail(file.error());
    hand_over(*std::move(file), call.node(id), *info);
    call.answer([info](fuse_req_t to) {
      if (::fuse_reply_open(to, info) == -ENOENT) take_back(*info);
    });
  });
}

void create(fuse_req_t request, fuse_ino_t folder_id, const char* name, mode_t mode,
            fuse_file_info* info) noexcept {
  guarded_in(request, folder_id, [name = std::string(name), mode, info = *info](
                                     Call& call, const Path& folder) mutable {
    Result<Ref<File>> file =
        vfs::create_file(folder, name, info.flags, mode, call.credentials());
    if (!file) return call.fail(file.error());
    NodeTable& nodes = call.session().nodes();
    const Path path = (*file)->path();
    Node& node = nodes.remember(path);
    const fuse_entry_param entry = Session::entry(path, node.id(), path.dentry->name() == name);
    hand_over(*std::move(file), node, info);
    call.answer([&](fuse_req_t to) {
      if (::fuse_reply_create(to, &entry, &info) != -ENOENT) return;
      take_back(info);
      nodes.forget(entry.ino, 1);
    });
  });
}

void mkdir(fuse_req_t request, fuse_ino_t folder_id, const char* name, mode_t mode) noexcept {
  guarded_in(request, folder_id, [name = std::string(name), mode](Call& call, const Path& folder) {
    const Result<Path> made = vfs::make_folder(folder, name, mode, call.credentials());
    if (!made) return call.fail(made.error());
    answer_entry(call, folder, *made, name);
  });
}

void rmdir(fuse_req_t request, fuse_ino_t folder_id, const char* name) noexcept {
  guarded_in(request, folder_id, [name = std::string(name)](Call& call, const Path& folder) {
    call.finish(vfs::remove_folder(folder, name, call.credentials()));
  });
}

void read(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset,
          fuse_file_info* info) noexcept {
  guarded(Call(request), [&](Call& call) {
    Ref<File> file = file_of(info);
    const std::optional<std::uint64_t> from =
        file->seekable ? std::optional(static_cast<std::uint64_t>(offset)) : std::nullopt;
    vfs::read_file(
        std::move(file), from, size, [call = std::move(call)](Result<Bytes> got) mutable {
          if (!got) return call.fail(got.error());
          call.answer(::fuse_reply_buf, reinterpret_cast<const char*>(got->data()), got->size());
        });
  });
}

// Answers a write when nobody can read the old value, or find the deleted file, any more.
void finish_write(Call call, const Node& node, const Ref<File>& file, std::size_t size) {
  Session& session = call.session();
  const std::uint64_t id = session.nodes().id_of(node);
  if (node.has_cached_data) session.drop_data(id);
  if (file->inode().attributes().size_bytes != 0) return call.answer(::fuse_reply_write, size);
  const vfs::Dentry& dentry = *file->path().dentry;
  const Path folder{file->path().mount, Ref<vfs::Dentry>::share(file->path().dentry->parent())};
  const std::optional<std::uint64_t> folder_id = session.nodes().id_of(folder);
  if (!folder_id) return call.answer(::fuse_reply_write, size);
  session.drop_name(*folder_id, dentry.name(), [call = std::move(call), size]() mutable {
    call.answer(::fuse_reply_write, size);
  });
}

void write(fuse_req_t request, fuse_ino_t id, const char* bytes, std::size_t size, off_t offset,
           fuse_file_info* info) noexcept {
  guarded(Call(request), [&](Call& call) {
    if (size > kLargestWrite) return call.fail(EINVAL);
    const Ref<File> file = file_of(info);
    const Node& node = call.node(id);
    vfs::write_file(file, static_cast<std::uint64_t>(offset), Bytes(bytes, bytes + size),
                    [call = std::move(call), &node, file, size](Result<void> written) mutable {
                      if (!written) return call.fail(written.error());
                      finish_write(std::move(call), node, file, size);
                    });
  });
}

void flush(fuse_req_t request, fuse_ino_t, fuse_file_info*) noexcept {
  ::fuse_reply_err(request, ENOSYS);  // there is nothing to flush: never ask again
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) noexcept {
  guarded(Call(request), [&](Call& call) {
    take_back(*info);
    call.fail(0);
  });
}

void fsync(fuse_req_t request, fuse_ino_t id, int, fuse_file_info*) noexcept {
  guarded_at(request, id,
             [](Call& call, const Path& path) { call.finish(path.dentry->inode().sync()); });
}

void unlink(fuse_req_t request, fuse_ino_t folder_id, const char* name) noexcept {
  guarded_in(request, folder_id, [name = std::string(name), folder_id](Call& call,
                                                                      const Path& folder) {
    const Result<Path> victim = call.session().mount_namespace().step(folder, name);
    // The kernel knows the file under the name that it asked for; ours may differ in case.
    const std::string listed = victim ? victim->dentry->name() : name;
    const vfs::Credentials who = call.credentials();
    vfs::unlink_file(folder, name, who,
                     [call = std::move(call), listed, folder_id,
                      asked = name](Result<void> done) mutable {
                       Session& session = call.session();
                       session.begin_call();
                       call.finish(done);
                       if (done && listed != asked) session.drop_name(folder_id, listed, [] {});
                       session.end_call();
                     });
  });
}

void statfs(fuse_req_t request, fuse_ino_t id) noexcept {
  guarded_in(request, id, [](Call& call, const Path& path) {
    vfs::Superblock& superblock = path.mount->superblock();
    superblock.status([call = std::move(call), path](Result<vfs::FileSystemStatus> status) mutable {
      if (!status) return call.fail(status.error());
      struct statvfs answer {};
      answer.f_bsize = answer.f_frsize = status->block_size_bytes;
      answer.f_blocks = status->blocks;
      answer.f_bfree = status->blocks_free;
      answer.f_bavail = status->blocks_available;
      answer.f_files = status->files;
      answer.f_ffree = answer.f_favail = status->files_free;
      answer.f_namemax = status->longest_name_bytes;
      call.answer(::fuse_reply_statfs, &answer);
    });
  });
}

void access(fuse_req_t request, fuse_ino_t id, int mask) noexcept {
  guarded_at(request, id, [&](Call& call, const Path& path) {
    call.finish(vfs::check_access(path, mask, call.credentials()));
  });
}

// What there is no operation for, in Linux's efivarfs and so here.
void mknod(fuse_req_t request, fuse_ino_t, const char*, mode_t, dev_t) noexcept {
  ::fuse_reply_err(request, EPERM);
}
void symlink(fuse_req_t request, const char*, fuse_ino_t, const char*) noexcept {
  ::fuse_reply_err(request, EPERM);
}
void link(fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) noexcept {
  ::fuse_reply_err(request, EPERM);
}
void rename(fuse_req_t request, fuse_ino_t, const char*, fuse_ino_t, const char*,
            unsigned) noexcept {
  ::fuse_reply_err(request, EPERM);
}

}  // namespace

const fuse_lowlevel_ops& operations() {
  static const fuse_lowlevel_ops table = [] {
    fuse_lowlevel_ops ops{};
    ops.init = init;
    ops.lookup = lookup;
    ops.forget = forget;
    ops.forget_multi = forget_multi;
    ops.getattr = getattr;
    ops.setattr = setattr;
    ops.open = open;
    ops.create = create;
    ops.read = read;
    ops.write = write;
    ops.flush = flush;
    ops.release = release;
    ops.fsync = fsync;
    ops.opendir = opendir;
    ops.releasedir = releasedir;
    ops.readdir = readdir;
    ops.readdirplus = readdirplus;
    ops.fsyncdir = fsync;
    ops.unlink = unlink;
    ops.statfs = statfs;
    ops.access = access;
    ops.ioctl = ioctl;
    ops.rmdir = rmdir;
    ops.mkdir = mkdir;
    ops.mknod = mknod;
    ops.symlink = symlink;
    ops.link = link;
    ops.rename = rename;
    return ops;
  }();
  return table;
}

}  // namespace efivarium::fuse
