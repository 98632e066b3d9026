#include "vfs/mount_info.h"

#include <functional>
#include <optional>

#include "vfs/mount_namespace.h"

namespace efivarium::vfs {
namespace {

// As in /proc: what would part the fields.
std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\\' || c == '#') {
      escaped += {'\\', static_cast<char>('0' + (c >> 6)), static_cast<char>('0' + (c >> 3 & 7)),
                  static_cast<char>('0' + (c & 7))};
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// How to come from one to the other, going down. Nothing if there is no such way.
std::optional<std::string> way(const Position& from, Position to,
                               const std::function<Position(const Mount&)>& place_of) {
  std::string path;
  while (to != from) {
    if (to.dentry == &to.mount->root()) {
      to = place_of(*to.mount);
      if (to.mount == nullptr) return std::nullopt;
    } else {
      path.insert(0, "/" + to.dentry->name());
      to.dentry = &to.dentry->parent();
    }
  }
  return path.empty() ? "/" : path;
}

std::string path_in_superblock(const Mount& mount) {
  std::string path;
  Dentry* at = &mount.root();
  for (; !at->is_root(); at = &at->parent()) path.insert(0, "/" + at->name());
  if (path.empty()) path = "/";
  return mount.root().is_listed() ? path : path + "//deleted";
}

}  // namespace

std::vector<MountInfo> MountNamespace::list(const Path& from) const {
  const std::lock_guard lock(table_->mutex_);
  const Position root{from.mount.get(), from.dentry.get()};
  const auto place_of = [](const Mount& mount) {
    return Position{mount.parent_.load(), mount.mount_point_.load()};
  };
  const auto way_to = [&](const Mount& mount) {
    return way(root, {const_cast<Mount*>(&mount), &mount.root_}, place_of);
  };
  // get_dominating_id(): the nearest group above that can be seen from here.
  const auto nearest_group = [&](const Mount& mount) -> std::uint64_t {
    for (const Mount* master = mount.master_; master != nullptr; master = master->master_) {
      const Mount* peer = master;
      do {
        if (peer->name_space() == this && way_to(*peer)) return peer->group_;
        peer = peer->next_peer_;
      } while (peer != master);
    }
    return 0;
  };
  std::vector<MountInfo> all;
  for (const Mount* const mount : mounts_) {
    const std::optional<std::string> where = way_to(*mount);
    if (!where) continue;
    MountInfo info;
    info.id = mount->id_;
    if (const Mount* const parent = mount->parent_.load()) info.parent = parent->id_;
    info.superblock = mount->superblock_.number();
    info.root = path_in_superblock(*mount);
    info.mount_point = *where;
    info.read_only = mount->own_read_only();
    info.shared = mount->group_;
    if (mount->master_ != nullptr) {
      info.master = mount->master_->group_;
      const std::uint64_t nearest = nearest_group(*mount);
      if (nearest != info.master) info.propagates_from = nearest;
    }
    info.unbindable = mount->unbindable_;
    info.type = mount->superblock_.type();
    info.source = mount->source();
    info.options =
        (mount->superblock_.is_read_only() ? "ro" : "rw") + mount->superblock_.show_options();
    info.problem = mount->superblock_.problem();
    info.openers = mount->openers();
    all.push_back(std::move(info));
  }
  return all;
}

std::string MountInfo::to_text() const {
  std::string line = std::to_string(id) + " " + std::to_string(parent) +
                     " 0:" + std::to_string(superblock) + " " + escape(root) + " " +
                     escape(mount_point) + (read_only ? " ro" : " rw");
  const auto group = [&](const char* name, std::uint64_t number) {
    if (number != 0) line += std::string(" ") + name + ":" + std::to_string(number);
  };
  group("shared", shared);
  group("master", master);
  group("propagate_from", propagates_from);
  if (unbindable) line += " unbindable";
  return line + " - " + type + " " + escape(source) + " " + options;
}

}  // namespace efivarium::vfs
