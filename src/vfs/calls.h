// The calls of the virtual file system: generic checks first, as Linux makes them, then the file
// system's operation.
#pragma once

#include "vfs/file.h"
#include "vfs/mount_namespace.h"

namespace efivarium::vfs {

inline constexpr std::size_t kLongestName = 255;  // NAME_MAX, bytes

// Whether who may do this (kReadAccess | ...) there, by the inode's flag, mode bits and owner; the
// superuser may do all that the immutable flag allows. kNotPermitted, kAccessDenied... as errno
// EPERM, EACCES; kWriteProtected on a read-only mount. Linux: inode_permission().
Result<void> check_access(const Path& path, int access, const Credentials& who);

// Opens what is there. kIsDirectory for writing a folder.
Result<Ref<File>> open_file(const Path& path, int flags, const Credentials& who);
// Opens NAME in the folder, made first if it is not there; O_EXCL as in open(2).
Result<Ref<File>> create_file(const Path& folder, std::string_view name, int flags, mode_t mode,
                              const Credentials& who);
// Ends the file; call it once, instead of dropping the last Ref.
void release_file(Ref<File> file);

// offset: none reads on from the file's position, which moves on with what is read.
void read_file(Ref<File> file, std::optional<std::uint64_t> offset, std::size_t size_bytes,
               Reply<Bytes> reply);
// offset: where the file system has use for one.
void write_file(Ref<File> file, std::uint64_t offset, Bytes bytes, Reply<void> reply);

// kBusy for what is a mount point in the folder's namespace; in others it stops to be one.
void unlink_file(const Path& folder, std::string_view name, const Credentials& who,
                 Reply<void> reply);
Result<Path> make_folder(const Path& folder, std::string_view name, mode_t mode,
                         const Credentials& who);
Result<void> remove_folder(const Path& folder, std::string_view name, const Credentials& who);
Result<void> change_attributes(const Path& path, const AttributeChange& change,
                               const Credentials& who);
// ftruncate(2): whoever has the file open for writing may do it.
Result<void> resize_file(File& file, std::uint64_t size_bytes);
// FS_IOC_GETFLAGS and FS_IOC_SETFLAGS.
Result<std::uint32_t> get_flags(const Path& path);
Result<void> set_flags(const Path& path, std::uint32_t flags, const Credentials& who);

}  // namespace efivarium::vfs
