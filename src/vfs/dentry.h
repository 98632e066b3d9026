// Dentry: a name in a folder.
#pragma once

#include <map>
#include <string>

#include "vfs/inode.h"

namespace efivarium::vfs {

class Mount;

// Stands in its superblock's table from Superblock::add() to Superblock::remove(); whoever holds a
// Ref keeps it, and its inode, beyond that.
class Dentry final : public rcu::Counted {
 public:
  Dentry(Ref<Dentry> parent, std::string name, Ref<Inode> inode, std::uint64_t sequence)
      : sequence_(sequence),
        parent_(std::move(parent)),
        name_(std::move(name)),
        inode_(std::move(inode)) {}

  const std::string& name() const { return name_; }
  // The folder; itself at the root.
  Dentry& parent() { return parent_ ? *parent_ : *this; }
  bool is_root() const { return !parent_; }
  // Whether its name is there still.
  bool is_listed() const { return is_root() || listed_.load(std::memory_order_relaxed); }
  // Whether this is the other, or below it.
  bool is_below(const Dentry& other) const {
    const Dentry* at = this;
    while (at != &other && !at->is_root()) at = at->parent_.get();
    return at == &other;
  }
  // Whether something is mounted here, in whatever mount it is seen.
  bool is_mount_point() const { return mounts_.load(std::memory_order_relaxed) != 0; }
  // One of these mounts, which is mostly the only one; nullptr may also mean that it went.
  Mount* some_mount() const { return some_mount_.load(std::memory_order_acquire); }
  // With the mount table's lock held.
  void begin_mount(Mount& mount) {
    if (mounts_.fetch_add(1, std::memory_order_relaxed) == 0) some_mount_ = &mount;
  }
  void end_mount(Mount& mount) {
    mounts_.fetch_sub(1, std::memory_order_relaxed);
    if (some_mount_.load(std::memory_order_relaxed) == &mount) {
      some_mount_.store(nullptr, std::memory_order_relaxed);
    }
  }
  Inode& inode() const { return *inode_; }
  const Ref<Inode>& shared_inode() const { return inode_; }
  // Grows with each name of the superblock; never 0. A place in a listing.
  std::uint64_t sequence() const { return sequence_; }

 private:
  friend class Superblock;
  // First what a mount touches.
  std::atomic<int> mounts_ = 0;
  std::atomic<Mount*> some_mount_ = nullptr;
  const std::uint64_t sequence_;
  const Ref<Dentry> parent_;
  const std::string name_;
  const Ref<Inode> inode_;
  std::atomic<bool> listed_ = false;           // changes under the superblock's tree mutex,
  std::map<std::uint64_t, Dentry*> children_;  // as does this, by sequence
};

}  // namespace efivarium::vfs
