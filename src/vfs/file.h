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
  File(Path path, int flags, const Credentials& opener)
      : path_(std::move(path)), flags_(flags), opener_{opener.uid, opener.gid, {}} {}

  // Keeps its mount from going away for good.
  const Path& path() const { return path_; }
  Inode& inode() const { return path_.dentry->inode(); }
  const Credentials& opener() const { return opener_; }
  bool is_writable() const { return (flags_ & O_ACCMODE) != O_RDONLY; }

  // Where the next read without an offset begins. Writes leave it alone.
  std::atomic<std::uint64_t> position = 0;
  // Set by open(): what was read may be kept by others until the inode changes.
  bool cacheable = false;

 private:
  const Path path_;
  const int flags_;
  const Credentials opener_;
};

}  // namespace efivarium::vfs
