#include "vfs/mount_namespace.h"

#include <algorithm>
#include <optional>

#include "vfs/calls.h"
#include "vfs/options.h"

namespace efivarium::vfs {
namespace {

std::unexpected<Error> invalid(const char* text) { return fail(Code::kInvalidParameter, text); }

}  // namespace

std::shared_ptr<MountNamespace> MountNamespace::create(Ref<Superblock> superblock,
                                                       std::string source) {
  std::shared_ptr<MountNamespace> made(new MountNamespace(std::make_shared<MountTable>()));
  auto root = Ref<Dentry>::share(superblock->root());
  made->root_ = new Mount(made->table_, std::move(superblock), std::move(root),
                          std::make_shared<const std::string>(std::move(source)));
  made->adopt(std::array{made->root_});
  return made;
}

MountNamespace::~MountNamespace() {
  Ending ending(*table_);
  const std::lock_guard lock(table_->mutex_);
  take_out(std::vector(mounts_.begin(), mounts_.end()), false, ending);
}

Path MountNamespace::root() const {
  const std::lock_guard lock(table_->mutex_);
  if (root_ == nullptr) return {};
  return {MountRef(root_), Ref<Dentry>::share(root_->root_)};
}

Result<Path> MountNamespace::walk(std::string_view path) const {
  const Path from = root();
  if (!from.mount) return fail(Code::kNotFound, "the root is unmounted");
  return table_->walk(from, from, path);
}

Result<Path> MountNamespace::step(const Path& folder, std::string_view name) const {
  if (!folder.dentry->inode().is_directory()) {
    return fail(Code::kNotDirectory, "not a directory");
  }
  if (name.size() > kLongestName) return fail(Code::kNameTooLong, "the name is too long");
  folder.mount->superblock_.load();
  while (true) {
    const std::uint64_t before = table_->steady_sequence();
    const rcu::ReadSection section;
    Position at{folder.mount.get(), folder.mount->superblock_.find(section, *folder.dentry, name)};
    if (at.dentry == nullptr) return fail(Code::kNotFound, "no such file");
    table_->cross(section, at);
    if (std::optional<Path> kept = table_->keep(at, before)) return *std::move(kept);
  }
}

void MountNamespace::adopt(std::span<Mount* const> tree) {
  for (Mount* const mount : tree) {
    mount->namespace_ = this;
    mounts_.push_back(*mount);
  }
}

// Copies that come to nothing.
void MountNamespace::discard(std::span<Mount* const> tree, Ending& ending) {
  Propagation propagation(*table_);
  for (Mount* const mount : tree) {
    table_->detach(*mount);
    propagation.leave(*mount);
    ending.add(*mount);
  }
}

void MountNamespace::take_out(std::span<Mount* const> mounts, bool propagates, Ending& ending) {
  Propagation propagation(*table_);
  const std::vector<Mount*> replicas =
      propagates ? propagation.receivers_of_umount(mounts) : std::vector<Mount*>();
  for (const std::span<Mount* const> some : {mounts, std::span(replicas)}) {
    for (Mount* const mount : some) {
      MountNamespace& of = *mount->namespace_.load();
      of.mounts_.erase(*mount);
      if (of.root_ == mount) of.root_ = nullptr;
      mount->namespace_.store(nullptr, std::memory_order_release);
      table_->detach(*mount);
    }
  }
  for (const std::span<Mount* const> some : {mounts, std::span(replicas)}) {
    for (Mount* const mount : some) {
      propagation.leave(*mount);
      ending.add(*mount);
    }
  }
}

std::shared_ptr<MountNamespace> MountNamespace::clone(std::span<Path* const> places) {
  std::shared_ptr<MountNamespace> made(new MountNamespace(table_));
  std::vector<Path> left;  // behind, with no lock held
  const std::lock_guard lock(table_->mutex_);
  Propagation propagation(*table_);
  const std::vector<Mount*> from = Propagation::tree_of(*root_);
  const std::vector<Mount*> tree =
      propagation.copy_tree(*root_, root_->root_, CopyType::kForNamespace);
  made->root_ = tree.front();
  made->adopt(tree);
  for (Path* const place : places) {
    const auto found = std::ranges::find(from, place->mount.get());
    if (found == from.end()) continue;
    Path there{MountRef(tree[static_cast<std::size_t>(found - from.begin())]), place->dentry};
    left.push_back(std::exchange(*place, std::move(there)));
  }
  return made;
}

// lock_mount()
Result<Position> MountNamespace::place_at(const Path& where) const {
  const rcu::ReadSection section;
  Position at{where.mount.get(), where.dentry.get()};
  table_->cross(section, at);
  if (!at.dentry->is_listed()) return fail(Code::kNotFound, "the folder is gone");
  const MountNamespace* const of = at.mount->name_space();
  if (of == nullptr) return fail(Code::kNotFound, "the mount is gone");
  if (of != this) return invalid("the place is in another namespace");
  return at;
}

// attach_recursive_mnt() and propagate_mnt(). moved: the root of the tree, if it stands elsewhere.
Result<void> MountNamespace::attach(std::vector<Mount*> tree, const Position& where, Mount* moved,
                                    Ending& ending) {
  Propagation propagation(*table_);
  Mount& parent = *where.mount;
  Dentry& point = *where.dentry;
  std::vector<Propagation::Replica> replicas;
  if (parent.is_shared()) {
    propagation.share(tree);
    replicas = propagation.replicate(tree, parent, point);
  }
  bool fits = moved != nullptr || mounts_.size() + tree.size() <= kMostMounts;
  for (const Propagation::Replica& replica : replicas) {
    fits = fits && replica.parent->name_space()->mounts_.size() + tree.size() <= kMostMounts;
  }
  if (!fits) {
    for (const Propagation::Replica& replica : replicas) discard(replica.tree, ending);
    if (moved == nullptr) discard(tree, ending);
    return fail(Code::kOutOfResources, "too many mounts");
  }
  if (moved != nullptr) {
    table_->move(*moved, parent, point);
  } else {
    adopt(tree);
    table_->attach(*tree.front(), parent, point);
  }
  for (const Propagation::Replica& replica : replicas) {
    Mount& root = *replica.tree.front();
    // What is there already comes to stand on what is put under it.
    if (Mount* const there = table_->child_at(*replica.parent, point)) {
      Mount* top = &root;
      while (Mount* const cover = table_->cover_of(*top)) top = cover;
      table_->move(*there, *top, top->root_);
    }
    replica.parent->name_space()->adopt(replica.tree);
    table_->attach(root, *replica.parent, point);
  }
  return {};
}

Result<void> MountNamespace::mount(Ref<Superblock> superblock, std::string source,
                                   const Path& where, bool read_only) {
  Ending ending(*table_);
  const std::lock_guard lock(table_->mutex_);
  EFIVARIUM_TRY(const Position at, place_at(where));
  if (&at.mount->superblock_ == superblock.get() && at.dentry == &at.mount->root_) {
    return fail(Code::kBusy, "it is mounted there already");
  }
  auto root = Ref<Dentry>::share(superblock->root());
  if (at.dentry->inode().is_directory() != root->inode().is_directory()) {
    return fail(Code::kNotDirectory, "a folder and a file");
  }
  auto* const made = new Mount(table_, std::move(superblock), std::move(root),
                               std::make_shared<const std::string>(std::move(source)));
  made->read_only_ = read_only;
  return attach({made}, at, nullptr, ending);
}

// do_loopback()
Result<void> MountNamespace::bind(const Path& from, const Path& to, bool recursive) {
  Ending ending(*table_);
  const std::lock_guard lock(table_->mutex_);
  EFIVARIUM_TRY(const Position at, place_at(to));
  Mount& source = *from.mount;
  if (!from.dentry->is_listed()) return fail(Code::kNotFound, "what is to be bound is gone");
  if (source.unbindable_) return invalid("the mount is unbindable");
  if (source.name_space() != this) return invalid("the mount is in another namespace, or gone");
  if (at.dentry->inode().is_directory() != from.dentry->inode().is_directory()) {
    return fail(Code::kNotDirectory, "a folder and a file");
  }
  Propagation propagation(*table_);
  std::vector<Mount*> tree =
      recursive ? propagation.copy_tree(source, *from.dentry, CopyType::kAlike)
                : std::vector{propagation.copy(source, *from.dentry, CopyType::kAlike)};
  return attach(std::move(tree), at, nullptr, ending);
}

// do_move_mount()
Result<void> MountNamespace::move(const Path& from, const Path& to) {
  Ending ending(*table_);
  const std::lock_guard lock(table_->mutex_);
  EFIVARIUM_TRY(const Position at, place_at(to));
  Mount& source = *from.mount;
  if (!from.dentry->is_listed()) return fail(Code::kNotFound, "what is to be moved is gone");
  if (from.dentry.get() != &source.root_) return invalid("not a mount");
  if (source.name_space() != this) return invalid("the mount is in another namespace, or gone");
  if (at.dentry->inode().is_directory() != from.dentry->inode().is_directory()) {
    return invalid("a folder and a file");
  }
  if (!source.has_parent()) return fail(Code::kLoop, "the root cannot be moved");
  if (source.parent_.load()->is_shared()) return invalid("the mount that it is on is shared");
  const std::vector<Mount*> tree = Propagation::tree_of(source);
  const bool is_unbindable =
      std::ranges::any_of(tree, [](const Mount* mount) { return mount->unbindable_; });
  if (at.mount->is_shared() && is_unbindable) {
    return invalid("an unbindable mount cannot go where it would be copied");
  }
  for (const Mount* above = at.mount; above != nullptr; above = above->parent_.load()) {
    if (above == &source) return fail(Code::kLoop, "a mount cannot be moved into itself");
  }
  return attach(tree, at, &source, ending);
}

// do_umount() and can_umount(), for a caller with a reference of its own.
Result<void> MountNamespace::umount_held(Mount& mount, UmountFlags flags, Ending& ending) {
  if (flags.expire && (flags.lazy || flags.force)) return invalid("expire goes with no other flag");
  constexpr std::int32_t kOwnAndTheCallers = 2;
  if (flags.expire) {
    if (!mount.has_parent()) return invalid("the root does not expire");
    if (!mount.children_.empty() || mount.count_.sum() != kOwnAndTheCallers) {
      return fail(Code::kBusy, "in use");
    }
    if (!mount.expiring_.exchange(true)) {
      return fail(Code::kTryAgain, "marked: to be unmounted if nobody uses it until then");
    }
  }
  if (flags.lazy) {
    take_out(Propagation::tree_of(mount), true, ending);
    return {};
  }
  if (&mount == flags.root || !mount.has_parent()) return make_read_only(mount.superblock_);
  if (!mount.children_.empty()) return fail(Code::kBusy, "something is mounted in it");
  if (mount.count_.sum() > kOwnAndTheCallers) {
    return fail(Code::kBusy, "files of it are open, or somebody is in it");
  }
  if (Propagation(*table_).is_busy(mount, kOwnAndTheCallers)) {
    return fail(Code::kBusy, "a copy of it elsewhere is in use");
  }
  take_out(std::array{&mount}, true, ending);
  return {};
}

std::vector<MountNamespace::Refusal> MountNamespace::umount(std::vector<Path> paths,
                                                            UmountFlags flags, Ending& ending) {
  constexpr std::size_t kAtOnce = 64;
  std::vector<Refusal> refused;
  for (std::size_t i = 0; i < paths.size();) {
    const std::lock_guard lock(table_->mutex_);
    // Who comes from here on does not get them, whether they go or not.
    const MountTable::Change change(*table_);
    for (const std::size_t end = std::min(i + kAtOnce, paths.size()); i < end; ++i) {
      Result<void> done = check_root(paths[i]);
      if (done) done = umount_held(*paths[i].mount, flags, ending);
      if (done) {
        std::exchange(paths[i].mount.mount_, nullptr)->count_.put();  // its own is there still
      } else {
        refused.push_back({i, std::move(done).error()});
      }
    }
  }
  for (const Refusal& refusal : refused) {
    Mount* const mount = std::exchange(paths[refusal.index].mount.mount_, nullptr);
    mount->table_->put(*mount, false);
  }
  return refused;
}

Result<void> MountNamespace::umount(Path where, UmountFlags flags) {
  Ending ending(*table_);
  std::vector<Path> one;
  one.push_back(std::move(where));
  std::vector<Refusal> refused = umount(std::move(one), flags, ending);
  if (refused.empty()) return {};
  return std::unexpected(std::move(refused.front().error));
}

// That the path is a mount's root, here.
Result<void> MountNamespace::check_root(const Path& where) const {
  if (where.dentry.get() != &where.mount->root_) return invalid("not a mount");
  if (where.mount->name_space() != this) return invalid("in another namespace, or gone");
  return {};
}

// sb_prepare_remount_readonly()
Result<void> MountNamespace::check_unwritten(const Superblock& superblock) {
  if (superblock.is_read_only()) return {};
  if (superblock.writers_ != 0) return fail(Code::kBusy, "a file is open for writing");
  if (superblock.orphans_ != 0) return fail(Code::kBusy, "a file that was removed is still open");
  return {};
}

Result<void> MountNamespace::make_read_only(Superblock& superblock) {
  EFIVARIUM_TRY(check_unwritten(superblock));
  superblock.set_read_only(true);
  return {};
}

Result<void> MountNamespace::remount(const Path& where, std::string_view options) {
  EFIVARIUM_TRY(check_root(where));
  Superblock& superblock = where.mount->superblock_;
  std::optional<bool> read_only;
  std::string own;
  for (const std::string_view option : each_option(options)) {
    if (option == "ro" || option == "rw") {
      read_only = option == "ro";
    } else {
      own += own.empty() ? "" : ",";
      own += option;
    }
  }
  if (read_only == false) EFIVARIUM_TRY(superblock.check_writable());
  const std::lock_guard lock(table_->mutex_);
  if (read_only == true) EFIVARIUM_TRY(check_unwritten(superblock));
  EFIVARIUM_TRY(superblock.reconfigure(own));
  if (read_only) {
    superblock.set_read_only(*read_only);
    where.mount->read_only_ = *read_only;
  }
  return {};
}

Result<void> MountNamespace::remount_bind(const Path& where, bool read_only) {
  EFIVARIUM_TRY(check_root(where));
  const std::lock_guard lock(table_->mutex_);
  if (read_only && where.mount->writers_ != 0) {
    return fail(Code::kBusy, "a file is open for writing");
  }
  where.mount->read_only_ = read_only;
  return {};
}

Result<void> MountNamespace::set_propagation(const Path& where, PropagationType type,
                                             bool recursive) {
  if (where.dentry.get() != &where.mount->root_) return invalid("not a mount");
  const std::lock_guard lock(table_->mutex_);
  if (where.mount->name_space() == nullptr) return invalid("the mount is gone");
  Propagation propagation(*table_);
  const std::vector<Mount*> tree =
      recursive ? Propagation::tree_of(*where.mount) : std::vector{where.mount.get()};
  for (Mount* const mount : tree) propagation.set_type(*mount, type);
  return {};
}

bool MountNamespace::is_mount_point(const Dentry& dentry) const {
  if (!dentry.is_mount_point()) return false;
  const std::lock_guard lock(table_->mutex_);
  return std::ranges::any_of(mounts_, [&](const Mount* mount) {
    return mount->mount_point_.load() == &dentry && mount->has_parent();
  });
}

void MountNamespace::detach_from(const Path& folder, const Dentry& dentry) {
  if (!dentry.is_mount_point()) return;
  MountTable& table = *folder.mount->table_;
  Ending ending(table);
  const std::lock_guard lock(table.mutex_);
  for (Mount* const mount : table.mounted_anywhere_on(dentry)) {
    if (MountNamespace* const of = mount->name_space()) {
      of->take_out(Propagation::tree_of(*mount), false, ending);
    }
  }
}

}  // namespace efivarium::vfs
