// Inode: a file or folder, and what can be done to it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>

#include "rcu/ref.h"
#include "vfs/types.h"

namespace efivarium::vfs {

using rcu::Ref;

class Dentry;
class File;
class Superblock;

// A file system derives its own and overrides what it has; what it has not answers as Linux does
// for a missing operation. The generic checks - permissions, immutable flag, read-only mounts -
// are made by the calls in calls.h before an operation runs.
class Inode : public rcu::Counted {
 public:
  Inode(Superblock& superblock, mode_t mode, uid_t uid, gid_t gid);

  Superblock& superblock() const { return superblock_; }
  bool is_directory() const { return directory_; }
  InodeAttributes attributes() const;
  // Runs change(InodeAttributes&) with nobody else inside.
  template <typename Change>
  void update(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(attributes_);
  }
  std::uint32_t flags() const { return flags_.load(std::memory_order_relaxed); }
  void set_flags(std::uint32_t flags) { flags_.store(flags, std::memory_order_relaxed); }
  bool is_immutable() const { return (flags() & kImmutableFlag) != 0; }

  // A file of it comes to be, or ends.
  void count_open(int change);
  // Its last name went.
  void note_unlinked();

  // Of folders. The new file is open for nobody yet.
  virtual Result<Ref<Dentry>> create(Dentry& folder, std::string_view name, mode_t mode,
                                     const Credentials& who);
  virtual void unlink(Ref<Dentry> victim, Reply<void> reply);
  virtual Result<Ref<Dentry>> make_folder(Dentry& folder, std::string_view name, mode_t mode,
                                          const Credentials& who);
  // kNotEmpty.
  virtual Result<void> remove_folder(Dentry& victim);

  // Of files. open() and release() come in pairs; release() after every other call has ended.
  virtual Result<void> open(File& file);
  virtual void read(Ref<File> file, std::uint64_t offset, std::size_t size_bytes,
                    Reply<Bytes> reply);
  virtual void write(Ref<File> file, std::uint64_t offset, Bytes bytes, Reply<void> reply);
  virtual void release(File& file);
  virtual Result<void> sync();

  // Of both. The change has been found to be allowed; a size is the file system's to refuse.
  virtual Result<void> set_attributes(const AttributeChange& change);
  // kNotTerminal where the file system knows no inode flags.
  virtual Result<void> check_flags() const;

 private:
  Superblock& superblock_;
  const bool directory_;
  std::atomic<std::uint32_t> flags_ = 0;
  mutable std::mutex mutex_;
  InodeAttributes attributes_;
  int opens_ = 0;
  bool is_unlinked_ = false;
};

}  // namespace efivarium::vfs
