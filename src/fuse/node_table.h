// NodeTable: what the kernel remembers of the mounts, by node id.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "vfs/mount_namespace.h"

namespace efivarium::fuse {

// An inode as seen through a mount. The kernel counts its look-ups and gives them back with FORGET;
// what it remembers keeps no mount from being unmounted.
struct Node {
  explicit Node(const vfs::Path& where)
      : mount(vfs::Ref<vfs::Mount>::share(*where.mount)), dentry(where.dentry) {}

  const vfs::Ref<vfs::Mount> mount;
  const vfs::Ref<vfs::Dentry> dentry;
  std::uint64_t lookups = 0;  // under the table's lock
  // Somebody opened it for cached reading since the node is known.
  std::atomic<bool> has_cached_data = false;

  std::uint64_t id() const { return reinterpret_cast<std::uintptr_t>(this); }
  // ESTALE once the mount has ended.
  Result<vfs::Path> path() const {
    vfs::MountRef kept = mount->lock();
    if (!kept) return std::unexpected(Error::system(ESTALE, "the mount has ended"));
    return vfs::Path{std::move(kept), dentry};
  }
};

// Thread-safe. A node lives while the kernel has it, and so throughout each request for it.
class NodeTable {
 public:
  // The root has id 1 in the protocol and is never forgotten.
  static constexpr std::uint64_t kRootId = 1;

  explicit NodeTable(const vfs::Path& root) : root_(root) {}

  Node& by_id(std::uint64_t id) { return id == kRootId ? root_ : *reinterpret_cast<Node*>(id); }
  std::uint64_t id_of(const Node& node) const { return &node == &root_ ? kRootId : node.id(); }
  // None for a place that the kernel does not remember.
  std::optional<std::uint64_t> id_of(const vfs::Path& path) const {
    const Key key = key_of(path.mount.get(), *path.dentry);
    if (key == key_of(root_.mount.get(), *root_.dentry)) return kRootId;
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(key);
    return found == nodes_.end() ? std::nullopt : std::optional(found->second->id());
  }

  // The node of that place, with one more look-up.
  Node& remember(const vfs::Path& path) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Node>& node = nodes_[key_of(path.mount.get(), *path.dentry)];
    if (!node) node = std::make_unique<Node>(path);
    ++node->lookups;
    return *node;
  }

  void forget(std::uint64_t id, std::uint64_t lookups) {
    if (id == kRootId) return;
    const std::lock_guard lock(mutex_);
    Node& node = by_id(id);
    node.lookups -= lookups;
    if (node.lookups == 0) nodes_.erase(key_of(node.mount.get(), *node.dentry));
  }

  // Calls visit(const Node&) for each but the root; it must not change the table.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, node] : nodes_) visit(*node);
  }

 private:
  using Key = std::pair<const vfs::Mount*, const vfs::Inode*>;
  static Key key_of(const vfs::Mount* mount, const vfs::Dentry& dentry) {
    return {mount, &dentry.inode()};
  }
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>{}(key.first) ^
             (std::hash<const void*>{}(key.second) * 0x9E3779B97F4A7C15U);
    }
  };

  Node root_;
  mutable std::mutex mutex_;
  std::unordered_map<Key, std::unique_ptr<Node>, Hash> nodes_;
};

}  // namespace efivarium::fuse
