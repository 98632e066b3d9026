// Mount: a superblock, or a part of one, shown at a place in a tree.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "rcu/sharded_count.h"
#include "vfs/mount_list.h"
#include "vfs/superblock.h"

namespace efivarium::vfs {

class File;
class MountNamespace;
class MountRef;
class MountTable;

// What stands in a mount beside its superblock's own: readers see it without a lock, the table's
// lock orders what changes it. Kept by its namespace while it is attached, and by each MountRef; a
// Ref<Mount> keeps the memory alone, beyond its end.
class alignas(64) Mount final : public rcu::HashNode {
 public:
  Superblock& superblock() const { return superblock_; }
  // What was mounted: the store, as the user called it.
  const std::string& source() const { return *source_; }
  Dentry& root() const { return root_; }
  // Grows with each mount of the table.
  std::uint64_t id() const { return id_; }
  // Of this mount, or of its superblock.
  bool is_read_only() const {
    return read_only_.load(std::memory_order_relaxed) || superblock_.is_read_only();
  }
  bool own_read_only() const { return read_only_.load(std::memory_order_relaxed); }
  // As in /proc/mounts: ro or rw, then the file system's own.
  std::string show_options() const;
  MountTable& table() const { return *table_; }
  // None once it is unmounted.
  MountNamespace* name_space() const { return namespace_.load(); }
  // For who has kept the memory; empty once the mount has ended.
  MountRef lock();
  // The processes with files of it open, each once.
  std::vector<pid_t> openers() const;

  // Counts a file that is open for writing. False if the mount is read-only.
  bool begin_write();
  void end_write();

  // Mounts stand side by side in memory, whatever else is made between one and the next.
  static void* operator new(std::size_t bytes, std::align_val_t alignment);
  static void operator delete(void* memory, std::size_t bytes, std::align_val_t alignment);

 private:
  template <typename>
  friend class rcu::Ref;
  friend class File;
  friend class MountRef;
  friend class MountTable;
  friend class MountNamespace;
  friend class Propagation;

  Mount(std::shared_ptr<MountTable> table, Ref<Superblock> superblock, Ref<Dentry> root,
        std::shared_ptr<const std::string> source);
  ~Mount() override;

  bool has_parent() const { return parent_.load(std::memory_order_relaxed) != nullptr; }
  bool is_shared() const { return group_ != 0; }

  // Nobody has it any more: its superblock ends, if this was the last mount of it. Readers may look
  // at all of it until a grace period has passed.
  void release();
  void dispose() { retire(); }

  void add_file(File& file);
  void remove_file(File& file);

  // First what an unmount looks at, so that it stands close together.
  Superblock& superblock_;  // owned until release(), readable until the mount is freed
  Dentry& root_;            // owned
  // A pair; a reader that needs both asks whether the table's sequence has stayed.
  std::atomic<Mount*> parent_ = nullptr;
  std::atomic<Dentry*> mount_point_ = nullptr;
  std::atomic<MountNamespace*> namespace_ = nullptr;
  std::atomic<bool> read_only_ = false;
  std::atomic<bool> expiring_ = false;
  // From here to slaves_ under the table's lock, except for references_.
  bool unbindable_ = false;
  bool doomed_ = false;
  // To the memory; the one is given up at the mount's end.
  mutable std::atomic<std::uint32_t> references_{1};
  rcu::ShardedCount count_;
  Mount* master_ = nullptr;
  std::uint64_t group_ = 0;  // of peers; 0 for a mount that is not shared
  MountLink in_namespace_, sibling_, slave_;
  MountList<&Mount::sibling_> children_;
  Mount* next_peer_ = this;  // a ring
  Mount* previous_peer_ = this;
  MountList<&Mount::slave_> slaves_;

  const std::shared_ptr<MountTable> table_;
  const std::uint64_t id_;
  const std::shared_ptr<const std::string> source_;
  std::atomic<int> writers_ = 0;
  File* files_ = nullptr;  // a list, under the table's lock of files
};

// Keeps a mount, and its superblock with it, whatever becomes of the tree.
class MountRef {
 public:
  MountRef() = default;
  MountRef(const MountRef& other) : MountRef(other.mount_) {}
  MountRef(MountRef&& other) noexcept : mount_(std::exchange(other.mount_, nullptr)) {}
  MountRef& operator=(MountRef other) noexcept {
    std::swap(mount_, other.mount_);
    return *this;
  }
  ~MountRef();

  Mount* get() const { return mount_; }
  Mount& operator*() const { return *mount_; }
  Mount* operator->() const { return mount_; }
  explicit operator bool() const { return mount_ != nullptr; }
  friend bool operator==(const MountRef&, const MountRef&) = default;

 private:
  friend class Mount;
  friend class MountTable;
  friend class MountNamespace;
  // One more for who has one.
  explicit MountRef(Mount* mount) : mount_(mount) {
    if (mount_ != nullptr) mount_->count_.get();
  }
  // Takes over what was counted already.
  static MountRef adopt(Mount* mount) {
    MountRef ref;
    ref.mount_ = mount;
    return ref;
  }

  Mount* mount_ = nullptr;
};

// A place in a namespace.
struct Path {
  MountRef mount;
  Ref<Dentry> dentry;

  friend bool operator==(const Path&, const Path&) = default;
};

}  // namespace efivarium::vfs
