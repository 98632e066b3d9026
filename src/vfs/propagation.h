// Propagation: peers and slaves, and what a change of one mount brings to them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "vfs/mount_table.h"

namespace efivarium::vfs {

enum class PropagationType : std::uint8_t { kShared, kPrivate, kSlave, kUnbindable };

// A copy of a mount: of its own kind, or as one of the two ends of propagation.
enum class CopyType : std::uint8_t {
  kAlike,         // a peer of a shared mount, a fellow of a slave
  kPeer,          // shared, with the original
  kSlave,         // receives from the original
  kSharedSlave,   // and has peers of its own
  kForNamespace,  // as kAlike; unbindable mounts come along
};

// Rules and orders are those of Linux, fs/pnode.c and fs/namespace.c. With the table's lock held.
class Propagation {
 public:
  explicit Propagation(MountTable& table) : table_(table) {}

  void set_type(Mount& mount, PropagationType type);
  // Out of its groups; what received from it receives from those that it received from.
  void leave(Mount& mount) { set_type(mount, PropagationType::kPrivate); }
  // Gives every mount of the tree that has none a group of its own.
  void share(std::span<Mount* const> tree);

  Mount* copy(Mount& mount, Dentry& root, CopyType type);
  // The tree from the dentry of the mount on, parents before children. Empty where the mount itself
  // may not be copied.
  std::vector<Mount*> copy_tree(Mount& mount, Dentry& root, CopyType type);
  // The mount and all below it, parents before children.
  static std::vector<Mount*> tree_of(Mount& mount);

  // The trees to attach at the same place in every mount that receives from parent. Their roots
  // know where; nothing is attached yet.
  struct Replica {
    std::vector<Mount*> tree;
    Mount* parent;
  };
  std::vector<Replica> replicate(std::span<Mount* const> tree, Mount& parent, Dentry& point);

  // Whether umount would meet somebody in a replica; count: references that do not matter.
  bool is_busy(const Mount& mount, std::int32_t count);
  // The replicas that go with these mounts. Covers that stay have been moved down to where what
  // they cover was.
  std::vector<Mount*> receivers_of_umount(std::span<Mount* const> mounts);

 private:
  template <typename Visit>
  void for_each_receiver(Mount& origin, const Visit& visit);
  template <typename Visit>
  void visit_slaves(Mount& mount, const Visit& visit);
  static void join_ring(Mount& mount, Mount& after);
  static void leave_ring(Mount& mount);
  // where: before this one of the master's slaves; nullptr for the end.
  static void enslave(Mount& mount, Mount& master, Mount* where);
  static void free_slave(Mount& mount);

  MountTable& table_;
};

}  // namespace efivarium::vfs
