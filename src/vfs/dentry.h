// Dentry: a name in a folder.
#pragma once

#include <map>
#include <string>

#include "vfs/inode.h"

namespace efivarium::vfs {

// Stands in its superblock's table from Superblock::add() to Superblock::remove(); whoever holds a
// Ref keeps it, and its inode, beyond that.
class Dentry final : public rcu::Counted {
 public:
  Dentry(Dentry* parent, std::string name, Ref<Inode> inode, std::uint64_t sequence)
      : parent_(parent), name_(std::move(name)), sequence_(sequence), inode_(std::move(inode)) {}

  const std::string& name() const { return name_; }
  // The folder; itself at the root. Folders outlive what stands in them.
  Dentry& parent() { return parent_ == nullptr ? *this : *parent_; }
  Inode& inode() const { return *inode_; }
  const Ref<Inode>& shared_inode() const { return inode_; }
  // Grows with each name of the superblock; never 0. A place in a listing.
  std::uint64_t sequence() const { return sequence_; }

 private:
  friend class Superblock;
  Dentry* const parent_;
  const std::string name_;
  const std::uint64_t sequence_;
  const Ref<Inode> inode_;
  bool listed_ = false;                        // under the superblock's tree mutex,
  std::map<std::uint64_t, Dentry*> children_;  // as is this, by sequence
};

}  // namespace efivarium::vfs
