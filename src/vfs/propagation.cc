#include "vfs/propagation.h"

#include <algorithm>
#include <unordered_set>

namespace efivarium::vfs {
std::vector<Mount*> Propagation::tree_of(Mount& mount) {
  std::vector<Mount*> tree;
  const auto add = [&tree](const auto& self, Mount& root) -> void {
    tree.push_back(&root);
    for (Mount* const child : root.children_) self(self, *child);
  };
  add(add, mount);
  return tree;
}

void Propagation::join_ring(Mount& mount, Mount& after) {
  mount.next_peer_ = after.next_peer_;
  mount.previous_peer_ = &after;
  after.next_peer_->previous_peer_ = &mount;
  after.next_peer_ = &mount;
}

void Propagation::leave_ring(Mount& mount) {
  mount.next_peer_->previous_peer_ = mount.previous_peer_;
  mount.previous_peer_->next_peer_ = mount.next_peer_;
  mount.next_peer_ = mount.previous_peer_ = &mount;
}

void Propagation::enslave(Mount& mount, Mount& master, Mount* where) {
  mount.master_ = &master;
  master.slaves_.insert(where, mount);
}

void Propagation::free_slave(Mount& mount) {
  if (mount.master_ == nullptr) return;
  mount.master_->slaves_.erase(mount);
  mount.master_ = nullptr;
}

// change_mnt_propagation()
void Propagation::set_type(Mount& mount, PropagationType type) {
  if (type == PropagationType::kShared) {
    mount.unbindable_ = false;
    share(std::array{&mount});
    return;
  }
  Mount* source = mount.master_;
  if (mount.is_shared()) {
    if (mount.next_peer_ != &mount) source = mount.next_peer_;
    leave_ring(mount);
    mount.group_ = 0;
    while (Mount* const orphan = mount.slaves_.back()) {
      free_slave(*orphan);
      if (source != nullptr) enslave(*orphan, *source, source->slaves_.front());
    }
    if (type != PropagationType::kSlave) source = nullptr;
  }
  free_slave(mount);
  if (type == PropagationType::kSlave) {
    if (source != nullptr) enslave(mount, *source, source->slaves_.front());
  } else {
    mount.unbindable_ = type == PropagationType::kUnbindable;
  }
}

void Propagation::share(std::span<Mount* const> tree) {
  for (Mount* const mount : tree) {
    if (mount->group_ == 0) mount->group_ = ++table_.last_group_;
  }
}

// clone_mnt()
Mount* Propagation::copy(Mount& mount, Dentry& root, CopyType type) {
  auto* const made = new Mount(mount.table_, Ref<Superblock>::share(mount.superblock_),
                               Ref<Dentry>::share(root), mount.source_);
  made->read_only_ = mount.own_read_only();
  made->unbindable_ = mount.unbindable_;
  if (type == CopyType::kSlave || type == CopyType::kSharedSlave) {
    enslave(*made, mount, mount.slaves_.front());
  } else {
    made->group_ = mount.group_;
    if (mount.is_shared()) join_ring(*made, mount);
    if (mount.master_ != nullptr) enslave(*made, *mount.master_, mount.slave_.next);
  }
  if (type == CopyType::kPeer || type == CopyType::kSharedSlave) share(std::array{made});
  return made;
}

std::vector<Mount*> Propagation::copy_tree(Mount& mount, Dentry& root, CopyType type) {
  if (mount.unbindable_ && type != CopyType::kForNamespace) return {};
  std::vector<Mount*> tree = {copy(mount, root, type)};
  for (Mount* const child : mount.children_) {
    Dentry& point = *child->mount_point_.load();
    if (!point.is_below(root)) continue;
    const std::vector<Mount*> below = copy_tree(*child, child->root_, type);
    if (below.empty()) continue;
    table_.link(*below.front(), *tree.front(), point);
    tree.insert(tree.end(), below.begin(), below.end());
  }
  return tree;
}

// propagate_mnt(). Peers get copies that are peers of one another, each made after the last; the
// first of a group of slaves gets one that receives from the copy that its masters got.
std::vector<Propagation::Replica> Propagation::replicate(std::span<Mount* const> tree,
                                                         Mount& parent, Dentry& point) {
  std::vector<Replica> replicas;
  std::unordered_set<Mount*> seen;
  const auto visit_group = [&](const auto& self, Mount& first, Mount* source) -> void {
    const bool is_origin = &first == &parent;
    std::vector<Mount*> members;
    Mount* member = &first;
    do {
      if (member->name_space() != nullptr) members.push_back(member);
      seen.insert(member);
      member = member->next_peer_;
    } while (member != &first);

    CopyType type = first.is_shared() ? CopyType::kSharedSlave : CopyType::kSlave;
    if (is_origin) type = CopyType::kPeer;
    for (Mount* const at : members) {
      if (at == &parent || !point.is_below(at->root_)) continue;
      std::vector<Mount*> copied = copy_tree(*source, source->root_, type);
      source = copied.front();
      type = CopyType::kPeer;
      replicas.push_back({std::move(copied), at});
    }
    for (Mount* const at : members) {
      const std::vector<Mount*> slaves(at->slaves_.begin(), at->slaves_.end());
      for (Mount* const slave : slaves) {
        if (!seen.contains(slave)) self(self, *slave, source);
      }
    }
  };
  visit_group(visit_group, parent, tree.front());
  return replicas;
}

template <typename Visit>
void Propagation::visit_slaves(Mount& mount, const Visit& visit) {
  for (Mount* const slave : mount.slaves_) {
    visit(*slave);
    visit_slaves(*slave, visit);
  }
}

template <typename Visit>
void Propagation::for_each_receiver(Mount& origin, const Visit& visit) {
  visit_slaves(origin, visit);
  for (Mount* peer = origin.next_peer_; peer != &origin; peer = peer->next_peer_) {
    visit(*peer);
    visit_slaves(*peer, visit);
  }
}

// propagate_mount_busy()
bool Propagation::is_busy(const Mount& mount, std::int32_t count) {
  if (!mount.children_.empty() || mount.count_.sum() > count) return true;
  Mount* const parent = mount.parent_.load();
  bool busy = false;
  for_each_receiver(*parent, [&](Mount& receiver) {
    const Mount* const replica = table_.child_at(receiver, *mount.mount_point_.load());
    if (replica == nullptr) return;
    const bool has_only_a_cover =
        replica->children_.size() == 1 && table_.cover_of(*replica) != nullptr;
    if (replica->children_.empty() || has_only_a_cover) busy = busy || replica->count_.sum() > 1;
  });
  return busy;
}

// propagate_umount(): a replica stays with whatever stays on it, unless that covers it; and if a
// cover would come to stand elsewhere than on a root, what that is on stays too.
std::vector<Mount*> Propagation::receivers_of_umount(std::span<Mount* const> mounts) {
  const auto propagates = [](const Mount* mount) {
    const Mount* const parent = mount->parent_.load();
    return parent != nullptr && (parent->next_peer_ != parent || !parent->slaves_.empty());
  };
  if (std::ranges::none_of(mounts, propagates)) return {};
  std::unordered_set<const Mount*> going(mounts.begin(), mounts.end());
  std::vector<Mount*> replicas;
  for (const Mount* const mount : mounts) {
    if (!mount->has_parent()) continue;
    for_each_receiver(*mount->parent_.load(), [&](Mount& receiver) {
      Mount* const replica = table_.child_at(receiver, *mount->mount_point_.load());
      if (replica != nullptr && going.insert(replica).second) replicas.push_back(replica);
    });
  }
  const auto staying_cover = [&](const Mount* mount) {
    Mount* cover = table_.cover_of(*mount);
    while (cover != nullptr && going.contains(cover)) cover = table_.cover_of(*cover);
    return cover;
  };
  const auto is_held = [&](const Mount* mount) {
    return std::ranges::any_of(mount->children_, [&](const Mount* child) {
      const bool stays = !going.contains(child) || staying_cover(child) != nullptr;
      return stays && child->mount_point_.load() != &mount->root_;
    });
  };
  while (std::erase_if(replicas, [&](const Mount* mount) {
           return is_held(mount) && going.erase(mount) != 0;
         }) != 0) {
  }
  for (const Mount* const mount : replicas) {
    Mount* const cover = table_.cover_of(*mount);
    if (cover == nullptr || going.contains(cover)) continue;
    const Mount* lowest = mount;
    while (going.contains(lowest->parent_.load())) lowest = lowest->parent_.load();
    table_.move(*cover, *lowest->parent_.load(), *lowest->mount_point_.load());
  }
  return replicas;
}

}  // namespace efivarium::vfs
