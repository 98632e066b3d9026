// MountNamespace: the mounts that one view sees, and what can be done to them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vfs/mount_info.h"
#include "vfs/propagation.h"

namespace efivarium::vfs {

struct UmountFlags {
  bool lazy = false;    // out of the tree now, for good when nobody has it any more
  bool expire = false;  // only what nobody has used since it was asked for the first time
  bool force = false;   // as the kernel's: no more than that, here
  // The caller's root, which is not unmounted but made read-only; none for the namespace's.
  const Mount* root = nullptr;
};

// Operations have the rules, errors and order of checks of Linux 7.3, where they do not say
// otherwise; who may do them is the caller's to decide.
class MountNamespace {
 public:
  // A namespace with this at its root, and a table of its own.
  static std::shared_ptr<MountNamespace> create(Ref<Superblock> superblock, std::string source);
  MountNamespace(const MountNamespace&) = delete;
  MountNamespace& operator=(const MountNamespace&) = delete;
  // Takes all its mounts out, without propagation.
  ~MountNamespace();

  MountTable& table() const { return *table_; }
  Path root() const;
  // Components apart by slashes, from the root on.
  Result<Path> walk(std::string_view path) const;
  // One component down.
  Result<Path> step(const Path& folder, std::string_view name) const;

  // A copy, in which the places, of this namespace, are given their counterparts' places.
  std::shared_ptr<MountNamespace> clone(std::span<Path* const> places);

  // kBusy where the superblock's own root is what is there already.
  Result<void> mount(Ref<Superblock> superblock, std::string source, const Path& where,
                     bool read_only = false);
  Result<void> bind(const Path& from, const Path& to, bool recursive);
  Result<void> move(const Path& from, const Path& to);
  // One of several that is not unmounted.
  struct Refusal {
    std::size_t index;
    Error error;
  };
  // Takes the paths over: they must not be ones that keep a mount busy. What comes out, one after
  // another, ends with the Ending, or here.
  std::vector<Refusal> umount(std::vector<Path> paths, UmountFlags flags, Ending& ending);
  Result<void> umount(Path where, UmountFlags flags = {});

  // options: with commas; ro and rw are the mount's and its superblock's, the rest the
  // superblock's. kInvalidParameter, with nothing changed.
  Result<void> remount(const Path& where, std::string_view options);
  // This mount alone, not its superblock.
  Result<void> remount_bind(const Path& where, bool read_only);
  Result<void> set_propagation(const Path& where, PropagationType type, bool recursive);

  // Whether something is mounted on it, in any of the namespace's mounts.
  bool is_mount_point(const Dentry& dentry) const;
  // Takes out what is mounted on it anywhere, since its name is gone.
  static void detach_from(const Path& folder, const Dentry& dentry);

  // In the order of mounting, as far as it can be reached from there; in mount_info.cc.
  std::vector<MountInfo> list(const Path& from) const;
  std::vector<MountInfo> list() const { return list(root()); }

  static constexpr std::size_t kMostMounts = 100000;  // fs.mount-max

 private:
  explicit MountNamespace(std::shared_ptr<MountTable> table) : table_(std::move(table)) {}

  // The topmost mount there, if something may be mounted on it.
  Result<Position> place_at(const Path& where) const;
  Result<void> attach(std::vector<Mount*> tree, const Position& where, Mount* moved,
                      Ending& ending);
  void adopt(std::span<Mount* const> tree);
  void take_out(std::span<Mount* const> mounts, bool propagates, Ending& ending);
  Result<void> umount_held(Mount& mount, UmountFlags flags, Ending& ending);
  void discard(std::span<Mount* const> tree, Ending& ending);
  static Result<void> check_unwritten(const Superblock& superblock);
  static Result<void> make_read_only(Superblock& superblock);
  Result<void> check_root(const Path& where) const;

  const std::shared_ptr<MountTable> table_;
  // Under the table's lock, and apart from what readers want.
  alignas(64) Mount* root_ = nullptr;
  MountList<&Mount::in_namespace_> mounts_;  // by id
};

}  // namespace efivarium::vfs
