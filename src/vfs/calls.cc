#include "vfs/calls.h"

#include <sys/stat.h>

#include <cerrno>

namespace efivarium::vfs {
namespace {

std::unexpected<Error> access_denied() {
  return std::unexpected(Error::system(EACCES, "no permission"));
}
std::unexpected<Error> not_permitted() {
  return fail(Code::kNotPermitted, "the file is immutable, or another's");
}
std::unexpected<Error> read_only() {
  return fail(Code::kWriteProtected, "the file system is mounted read-only");
}

bool owns(const InodeAttributes& attributes, const Credentials& who) {
  return who.uid == 0 || who.uid == attributes.uid;
}

int access_of_flags(int flags) {
  switch (flags & O_ACCMODE) {
    case O_RDONLY:
      return kReadAccess;
    case O_WRONLY:
      return kWriteAccess;
    default:
      return kReadAccess | kWriteAccess;
  }
}

// Linux: setattr_prepare().
Result<void> check_change(const InodeAttributes& now, const AttributeChange& change,
                          const Credentials& who) {
  const bool gives_away = change.uid && *change.uid != now.uid;
  const bool foreign_group = change.gid && *change.gid != now.gid && !who.in_group(*change.gid);
  if (who.uid != 0 && (gives_away || foreign_group)) return not_permitted();
  if ((change.uid || change.gid || change.mode) && !owns(now, who)) return not_permitted();
  return {};
}

// A folder whose name is gone takes no new names.
Result<void> check_still_there(const Path& folder) {
  if (folder.dentry->is_listed()) return {};
  return fail(Code::kNotFound, "the folder is gone");
}

// What unlink(2) and rmdir(2) take out, if they may. Linux: may_delete().
Result<Ref<Dentry>> find_victim(const Path& folder, std::string_view name, bool is_folder,
                                const Credentials& who) {
  if (name.empty()) return fail(Code::kBusy, "the root");
  if (name == "." && is_folder) return fail(Code::kInvalidParameter, "the folder itself");
  if (name == ".." && is_folder) return fail(Code::kNotEmpty, "what the folder is in");
  if (name == "." || name == "..") return fail(Code::kIsDirectory, "is a directory");
  if (folder.mount->is_read_only()) return read_only();
  EFIVARIUM_TRY(check_access(folder, kSearchAccess, who));
  EFIVARIUM_TRY(Ref<Dentry> victim, folder.mount->superblock().lookup(*folder.dentry, name));
  EFIVARIUM_TRY(check_access(folder, kWriteAccess, who));
  if (victim->inode().is_immutable()) return not_permitted();
  if (is_folder != victim->inode().is_directory()) {
    return is_folder ? fail(Code::kNotDirectory, "not a directory")
                     : fail(Code::kIsDirectory, "is a directory");
  }
  const MountNamespace* const names = folder.mount->name_space();
  if (names != nullptr && names->is_mount_point(*victim)) {
    return fail(Code::kBusy, "something is mounted there");
  }
  return victim;
}

}  // namespace

Result<void> check_access(const Path& path, int access, const Credentials& who) {
  const Inode& inode = path.dentry->inode();
  if ((access & kWriteAccess) != 0) {
    if (path.mount->is_read_only()) return read_only();
    if (inode.is_immutable()) return not_permitted();
  }
  const InodeAttributes attributes = inode.attributes();
  if (who.uid == 0) {
    const bool executes = (access & kSearchAccess) != 0 && !inode.is_directory();
    if (executes && (attributes.mode & 0111) == 0) return access_denied();
    return {};
  }
  int shift = 0;
  if (who.uid == attributes.uid) {
    shift = 6;
  } else if (who.in_group(attributes.gid)) {
    shift = 3;
  }
  if ((static_cast<int>(attributes.mode >> shift) & access) != access) return access_denied();
  return {};
}

Result<Ref<File>> open_file(const Path& path, int flags, const Credentials& who) {
  Inode& inode = path.dentry->inode();
  const int access = access_of_flags(flags);
  if (inode.is_directory() && (access & kWriteAccess) != 0) {
    return fail(Code::kIsDirectory, "is a directory");
  }
  // The kernel above may know the name from somebody else's look-up.
  if (path.dentry.get() != &path.mount->root()) {
    const Path folder{path.mount, Ref<Dentry>::share(path.dentry->parent())};
    EFIVARIUM_TRY(check_access(folder, kSearchAccess, who));
  }
  EFIVARIUM_TRY(check_access(path, access, who));
  EFIVARIUM_TRY(Ref<File> file, File::make(path, flags, who));
  EFIVARIUM_TRY(inode.open(*file));
  return file;
}

Result<Ref<File>> create_file(const Path& folder, std::string_view name, int flags, mode_t mode,
                              const Credentials& who) {
  Inode& parent = folder.dentry->inode();
  Superblock& superblock = folder.mount->superblock();
  if (!parent.is_directory()) return fail(Code::kNotDirectory, "not a directory");
  if (name.size() > kLongestName) return fail(Code::kNameTooLong, "the name is too long");
  EFIVARIUM_TRY(check_access(folder, kSearchAccess, who));
  if (Result<Ref<Dentry>> there = superblock.lookup(*folder.dentry, name)) {
    if ((flags & O_EXCL) != 0) return fail(Code::kExists, "the file exists");
    return open_file(folder.mount->table().follow({folder.mount, *std::move(there)}), flags, who);
  }
  EFIVARIUM_TRY(check_access(folder, kWriteAccess | kSearchAccess, who));
  EFIVARIUM_TRY(check_still_there(folder));
  Result<Ref<Dentry>> made = parent.create(*folder.dentry, name, mode, who);
  if (!made && made.error().code() == Code::kExists && (flags & O_EXCL) == 0) {
    return create_file(folder, name, flags, mode, who);  // somebody else was quicker
  }
  EFIVARIUM_TRY(Ref<Dentry> dentry, std::move(made));
  // Who makes a file may use it whatever its mode and flags say.
  EFIVARIUM_TRY(Ref<File> file, File::make({folder.mount, std::move(dentry)}, flags, who));
  EFIVARIUM_TRY(file->inode().open(*file));
  return file;
}

Result<Path> make_folder(const Path& folder, std::string_view name, mode_t mode,
                         const Credentials& who) {
  Inode& parent = folder.dentry->inode();
  if (!parent.is_directory()) return fail(Code::kNotDirectory, "not a directory");
  if (name.size() > kLongestName) return fail(Code::kNameTooLong, "the name is too long");
  EFIVARIUM_TRY(check_access(folder, kSearchAccess, who));
  if (folder.mount->superblock().lookup(*folder.dentry, name)) {
    return fail(Code::kExists, "it exists");
  }
  EFIVARIUM_TRY(check_access(folder, kWriteAccess | kSearchAccess, who));
  EFIVARIUM_TRY(check_still_there(folder));
  EFIVARIUM_TRY(Ref<Dentry> made, parent.make_folder(*folder.dentry, name, mode, who));
  return Path{folder.mount, std::move(made)};
}

void release_file(Ref<File> file) { file->inode().release(*file); }

void read_file(Ref<File> file, std::optional<std::uint64_t> offset, std::size_t size_bytes,
               Reply<Bytes> reply) {
  Inode& inode = file->inode();
  if (offset) return inode.read(std::move(file), *offset, size_bytes, std::move(reply));
  const std::uint64_t position = file->position;
  inode.read(file, position, size_bytes,
             [file, position, reply = std::move(reply)](Result<Bytes> bytes) mutable {
               if (bytes) file->position = position + bytes->size();
               reply(std::move(bytes));
             });
}

void write_file(Ref<File> file, std::uint64_t offset, Bytes bytes, Reply<void> reply) {
  Inode& inode = file->inode();
  if (inode.superblock().is_read_only()) return reply(read_only());
  inode.write(std::move(file), offset, std::move(bytes), std::move(reply));
}

void unlink_file(const Path& folder, std::string_view name, const Credentials& who,
                 Reply<void> reply) {
  Result<Ref<Dentry>> victim = find_victim(folder, name, false, who);
  if (!victim) return reply(std::unexpected(victim.error()));
  folder.dentry->inode().unlink(
      *victim, [folder, victim = *victim, reply = std::move(reply)](Result<void> done) mutable {
        if (done) {
          victim->inode().note_unlinked();
          MountNamespace::detach_from(folder, *victim);
        }
        reply(std::move(done));
      });
}

Result<void> remove_folder(const Path& folder, std::string_view name, const Credentials& who) {
  EFIVARIUM_TRY(const Ref<Dentry> victim, find_victim(folder, name, true, who));
  EFIVARIUM_TRY(folder.dentry->inode().remove_folder(*victim));
  MountNamespace::detach_from(folder, *victim);
  return {};
}

Result<void> change_attributes(const Path& path, const AttributeChange& change,
                               const Credentials& who) {
  Inode& inode = path.dentry->inode();
  if (path.mount->is_read_only()) return read_only();
  if (inode.is_immutable()) return not_permitted();
  const InodeAttributes now = inode.attributes();
  EFIVARIUM_TRY(check_change(now, change, who));
  if ((change.accessed || change.modified) && !owns(now, who)) {
    if (!change.times_are_now) return not_permitted();
    EFIVARIUM_TRY(check_access(path, kWriteAccess, who));
  }
  if (change.size_bytes) EFIVARIUM_TRY(check_access(path, kWriteAccess, who));
  return inode.set_attributes(change);
}

Result<void> resize_file(File& file, std::uint64_t size_bytes) {
  if (file.inode().superblock().is_read_only()) return read_only();
  AttributeChange change;
  change.size_bytes = size_bytes;
  return file.inode().set_attributes(change);
}

Result<std::uint32_t> get_flags(const Path& path) {
  EFIVARIUM_TRY(path.dentry->inode().check_flags());
  return path.dentry->inode().flags();
}

// Linux: ioctl_setflags() and vfs_fileattr_set(), with the efivarfs answer for other flags.
Result<void> set_flags(const Path& path, std::uint32_t flags, const Credentials& who) {
  Inode& inode = path.dentry->inode();
  EFIVARIUM_TRY(inode.check_flags());
  if (path.mount->is_read_only()) return read_only();
  if (!owns(inode.attributes(), who)) return not_permitted();
  const bool changes_immutable = ((flags ^ inode.flags()) & kImmutableFlag) != 0;
  if (who.uid != 0 && changes_immutable) return not_permitted();
  if ((flags & ~kImmutableFlag) != 0) {
    return fail(Code::kNotSupported, "only the immutable flag can be set");
  }
  inode.set_flags(flags);
  inode.update([](InodeAttributes& attributes) { attributes.changed = current_time(); });
  return {};
}

}  // namespace efivarium::vfs
