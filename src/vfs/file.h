// File: an open inode.
#pragma once

#include <fcntl.h>

#include <atomic>

#include "vfs/mount_namespace.h"

namespace efivarium::vfs {

// The last Ref releases it: operations that are still under way hold one.
class File final : public rcu::PrivatelyCounted {
 public:
  // flags: of open(2). opener: whose limits count for what is done through the file; kept without
  // the way to supplementary groups, which ends with the call.
  // kWriteProtected for writing on a read-only mount; while one is open, none becomes that.
  static Result<Ref<File>> make(Path path, int flags, const Credentials& opener) {
    auto file = Ref<File>::adopt(new File(std::move(path), flags, opener));
    file->counts_ = file->is_writable() && file->path_.mount->begin_write();
    if (file->is_writable() && !file->counts_) {
      return fail(Code::kWriteProtected, "the file system is mounted read-only");
    }
    return file;
  }
  ~File() override {
    path_.mount->remove_file(*this);
    inode().count_open(-1);
    if (counts_) path_.mount->end_write();
  }

  // Keeps its mount from going away for good.
  const Path& path() const { return path_; }
  Inode& inode() const { return path_.dentry->inode(); }
  const Credentials& opener() const { return opener_; }
  bool truncates() const { return (flags_ & O_TRUNC) != 0; }
  bool appends() const { return (flags_ & O_APPEND) != 0; }
  bool is_writable() const { return (flags_ & O_ACCMODE) != O_RDONLY; }

  // Where the next read without an offset begins. Writes leave it alone.
  std::atomic<std::uint64_t> position = 0;
  // Set by open(): what was read may be kept by others until the inode changes; and reads go where
  // the reader says, as they do on most file systems, and not on from the position.
  bool cacheable = false;
  bool seekable = true;

 private:
  File(Path path, int flags, const Credentials& opener)
      : path_(std::move(path)), flags_(flags), opener_{opener.uid, opener.gid, {}, opener.pid} {
    inode().count_open(1);
    path_.mount->add_file(*this);
  }

  const Path path_;
  const int flags_;
  const Credentials opener_;
  bool counts_ = false;  // as a writer of its mount
  // Of the mount's list.
  friend class Mount;
  File* next_ = nullptr;
  File* previous_ = nullptr;
};

}  // namespace efivarium::vfs
