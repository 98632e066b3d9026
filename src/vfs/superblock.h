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
// are in memory: a file system whose folders are elsewhere brings them there when it is made, or in
// fill(), when somebody first wants one.
//
// Kept by its mounts. With the last one it shuts down, at once, on the thread that ended it;
// look-ups that are on their way may still see its names until a grace period has passed.
class Superblock : public rcu::HashNode {
 public:
  Superblock() = default;
  ~Superblock() override;

  virtual std::string_view type() const = 0;
  // The options that differ from the defaults, ",uid=1000,nostatfs", as /proc/mounts shows them.
  virtual std::string show_options() const = 0;
  // Remounts with the file system's own options, all or nothing. kInvalidParameter.
  virtual Result<void> reconfigure(std::string_view options) = 0;
  // Whether it can be made writable at all. kInvalidParameter.
  virtual Result<void> check_writable() { return {}; }
  virtual void status(Reply<FileSystemStatus> reply) = 0;
  // Gives back what is not memory. No file is open, and none will be.
  virtual void shut_down() {}
  // What keeps it from showing all that it should; empty if nothing does.
  virtual std::string problem() const { return {}; }

  // Whether its names are in memory. load() sees to it, and waits for that; what looks at names
  // calls it, but for find().
  bool is_loaded() const { return loaded_.load(); }
  void load() {
    if (!is_loaded()) load_now();
  }

  Dentry& root() const { return *root_; }
  // One for each superblock of the process.
  std::uint64_t number() const { return number_; }
  bool is_read_only() const { return read_only_.load(std::memory_order_relaxed); }
  void set_read_only(bool read_only) { read_only_.store(read_only, std::memory_order_relaxed); }

  // nullptr if there is no such name.
  Dentry* find(const rcu::ReadSection& section, const Dentry& folder, std::string_view name) const;
  // kNotFound.
  Result<Ref<Dentry>> lookup(const Dentry& folder, std::string_view name);
  // Calls visit(const Ref<Dentry>&) for each name in the folder older than the sequence, newest
  // first, while it returns true. visit must not add or remove names.
  template <typename Visit>
  void list(Dentry& folder, std::uint64_t before, const Visit& visit) {
    load();
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
  // The same for a folder. kNotEmpty, kNotFound if it was out already.
  Result<void> remove_folder(Dentry& folder);

  std::uint64_t next_inode_number() { return inode_numbers_.fetch_add(1) + 1; }

 protected:
  void set_root(Ref<Inode> inode);
  // Leaves the names to fill(), which runs once; with the root set, before anybody has it.
  void leave_unloaded() { loaded_ = false; }
  virtual void fill() {}
  // Which names are the same.
  virtual std::uint64_t hash_name(std::string_view name) const;
  virtual bool same_name(std::string_view a, std::string_view b) const { return a == b; }
  // Empties the tree, while what derived classes override is still there.
  void drop_tree();

 private:
  template <typename>
  friend class rcu::Ref;
  friend class Inode;
  friend class Mount;
  friend class MountNamespace;
  void dispose() {
    shut_down();
    retire();
  }
  void load_now();
  Result<Ref<Dentry>> find_kept(const Dentry& folder, std::string_view name) const;
  Ref<Dentry> take_out(Dentry& dentry);
  std::uint64_t hash(const Dentry& folder, std::string_view name) const;

  mutable std::atomic<std::uint32_t> references_{1};
  mutable std::mutex tree_mutex_;
  rcu::HashTable<Dentry> table_;
  Ref<Dentry> root_;
  std::uint64_t sequence_ = 0;
  std::atomic<std::uint64_t> inode_numbers_ = 0;
  static std::uint64_t next_number();
  const std::uint64_t number_ = next_number();
  std::atomic<bool> loaded_ = true;
  std::mutex load_mutex_;
  std::atomic<bool> read_only_ = false;
  std::atomic<int> writers_ = 0;  // files open for writing
  std::atomic<int> orphans_ = 0;  // inodes without a name that are open
};

}  // namespace efivarium::vfs
