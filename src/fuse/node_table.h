// NodeTable: what the kernel remembers of the mounts, by node id.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "vfs/mount_namespace.h"

namespace efivarium::fuse {

// An inode as seen through a mount. The kernel counts its look-ups and gives them back with FORGET.
struct Node {
  explicit Node(vfs::Path where) : path(std::move(where)) {}

  const vfs::Path path;
  std::uint64_t lookups = 0;
  // Somebody opened it for cached reading since the node is known.
  std::atomic<bool> has_cached_data = false;

  std::uint64_t id() const { return reinterpret_cast<std::uintptr_t>(this); }
};

// For the session's thread alone.
class NodeTable {
 public:
  // The root has id 1 in the protocol and is never forgotten.
  static constexpr std::uint64_t kRootId = 1;

  explicit NodeTable(vfs::Path root) : root_(std::move(root)) {}

  Node& by_id(std::uint64_t id) { return id == kRootId ? root_ : *reinterpret_cast<Node*>(id); }
  std::uint64_t id_of(const Node& node) const { return &node == &root_ ? kRootId : node.id(); }

  // The node of that place, with one more look-up.
  Node& remember(const vfs::Path& path) {
    std::unique_ptr<Node>& node = nodes_[{path.mount.get(), &path.dentry->inode()}];
    if (!node) node = std::make_unique<Node>(path);
    ++node->lookups;
    return *node;
  }

  void forget(std::uint64_t id, std::uint64_t lookups) {
    if (id == kRootId) return;
    Node& node = by_id(id);
    node.lookups -= lookups;
    if (node.lookups == 0) nodes_.erase({node.path.mount.get(), &node.path.dentry->inode()});
  }

  // Calls visit(const Node&) for each but the root.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [key, node] : nodes_) visit(*node);
  }

 private:
  using Key = std::pair<const vfs::Mount*, const vfs::Inode*>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>{}(key.first) ^
             (std::hash<const void*>{}(key.second) * 0x9E3779B97F4A7C15U);
    }
  };

  Node root_;
  std::unordered_map<Key, std::unique_ptr<Node>, Hash> nodes_;
};

}  // namespace efivarium::fuse
