// Superblock: one file system, mounted or not.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "rcu/hash_table.h"
#include "vfs/dentry.h"

namespace efivarium::vfs {

// Names are looked up without a lock; the tree mutex orders what adds and removes them. All names
// are in memory: a file system whose folders are elsewhere fills them when it is made.
class Superblock {
 public:
  Superblock() = default;
  Superblock(const Superblock&) = delete;
  Superblock& operator=(const Superblock&) = delete;
  virtual ~Superblock();

  virtual std::string_view type() const = 0;
  // The options that differ from the defaults, ",uid=1000,nostatfs", as /proc/mounts shows them.
  virtual std::string show_options() const = 0;
  // Remounts with the file system's own options, all or nothing. kInvalidParameter.
  virtual Result<void> reconfigure(std::string_view options) = 0;
  // Whether it can be made writable at all. kInvalidParameter.
  virtual Result<void> check_writable() const { return {}; }
  virtual void status(Reply<FileSystemStatus> reply) = 0;

  Dentry& root() const { return *root_; }
  bool is_read_only() const { return read_only_.load(std::memory_order_relaxed); }
  void set_read_only(bool read_only) { read_only_.store(read_only, std::memory_order_relaxed); }

  // kNotFound.
  Result<Ref<Dentry>> lookup(const Dentry& folder, std::string_view name) const;
  // Calls visit(const Ref<Dentry>&) for each name in the folder older than the sequence, newest
  // first, while it returns true. visit must not add or remove names.
  template <typename Visit>
  void list(Dentry& folder, std::uint64_t before, const Visit& visit) const {
    const std::lock_guard lock(tree_mutex_);
    auto child = folder.children_.lower_bound(before);
    while (child != folder.children_.begin()) {
      --child;
      if (!visit(Ref<Dentry>::share(*child->second))) return;
    }
  }

  // Puts a new name into the folder. kExists.
  Result<Ref<Dentry>> add(Dentry& folder, std::string name, Ref<Inode> inode);
  // Takes the name out; false if it was out already.
  bool remove(Dentry& dentry);

  std::uint64_t next_inode_number() { return inode_numbers_.fetch_add(1) + 1; }

 protected:
  void set_root(Ref<Inode> inode);
  // Which names are the same.
  virtual std::uint64_t hash_name(std::string_view name) const;
  virtual bool same_name(std::string_view a, std::string_view b) const { return a == b; }
  // Empties the tree, while what derived classes override is still there.
  void drop_tree();

 private:
  std::uint64_t hash(const Dentry& folder, std::string_view name) const;

  mutable std::mutex tree_mutex_;
  rcu::HashTable<Dentry> table_;
  Ref<Dentry> root_;
  std::uint64_t sequence_ = 0;
  std::atomic<std::uint64_t> inode_numbers_ = 0;
  std::atomic<bool> read_only_ = false;
};

}  // namespace efivarium::vfs
