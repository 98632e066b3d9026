#include "vfs/mount_table.h"

#include <algorithm>
#include <thread>

#include "vfs/calls.h"

namespace efivarium::vfs {

Mount* MountTable::mounted_on(const rcu::ReadSection& section, const Position& at) const {
  if (!at.dentry->is_mount_point()) return nullptr;
  const auto is_there = [&](const Mount& mount) {
    return mount.parent_.load() == at.mount && mount.mount_point_.load() == at.dentry;
  };
  Mount* const likely = at.dentry->some_mount();
  if (likely != nullptr && is_there(*likely)) return likely;
  return mounts_.find(section, hash(*at.mount, *at.dentry), is_there);
}

void MountTable::cross(const rcu::ReadSection& section, Position& at) const {
  while (Mount* const mount = mounted_on(section, at)) at = {mount, &mount->root_};
}

void MountTable::step_up(const rcu::ReadSection& section, const Position& root,
                         Position& at) const {
  while (at != root) {
    if (at.dentry != &at.mount->root_) {
      at.dentry = &at.dentry->parent();
      break;
    }
    Mount* const parent = at.mount->parent_.load();
    if (parent == nullptr) break;
    at = {parent, at.mount->mount_point_.load()};
  }
  cross(section, at);
}

Result<void> MountTable::walk(const rcu::ReadSection& section, const Position& root, Position& at,
                              std::string_view path) const {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (name.empty()) continue;
    if (!at.dentry->inode().is_directory()) return fail(Code::kNotDirectory, "not a directory");
    if (name == ".") continue;
    if (name == "..") {
      step_up(section, root, at);
      continue;
    }
    if (name.size() > kLongestName) return fail(Code::kNameTooLong, "the name is too long");
    const Superblock& superblock = at.mount->superblock_;
    if (!superblock.is_loaded()) return fail(Code::kNotReady, "the names are not in memory yet");
    Dentry* const next = superblock.find(section, *at.dentry, name);
    if (next == nullptr) return fail(Code::kNotFound, "no such file");
    at.dentry = next;
    cross(section, at);
  }
  return {};
}

std::uint64_t MountTable::steady_sequence() const {
  std::uint64_t now = sequence();
  for (; is_changing(now); now = sequence()) std::this_thread::yield();
  return now;
}

// The reference is taken first, and given back unseen if the tree has changed meanwhile: whoever
// unmounts waits for this section before the count is looked at for the last time.
std::optional<Path> MountTable::keep(const Position& at, std::uint64_t sequence) const {
  const rcu::ReadSection section;
  at.mount->count_.get();
  if (sequence_.load() != sequence) {
    at.mount->count_.put();
    return std::nullopt;
  }
  Path path{MountRef::adopt(at.mount), Ref<Dentry>::from_reader(section, at.dentry)};
  if (!path.dentry) return std::nullopt;
  return path;
}

Result<Path> MountTable::walk(const Path& root, const Path& from, std::string_view path) const {
  while (true) {
    const std::uint64_t before = steady_sequence();
    Ref<Superblock> unloaded;
    {
      const rcu::ReadSection section;
      Position at{from.mount.get(), from.dentry.get()};
      const Result<void> walked = walk(section, {root.mount.get(), root.dentry.get()}, at, path);
      if (walked) {
        if (std::optional<Path> kept = keep(at, before)) return *std::move(kept);
      } else if (walked.error().code() == Code::kNotReady) {
        unloaded = Ref<Superblock>::from_reader(section, &at.mount->superblock_);
      } else if (sequence() == before) {  // else the way may have led through what just went
        return std::unexpected(walked.error());
      }
    }
    if (unloaded) unloaded->load();
  }
}

Path MountTable::follow(Path path) const {
  while (true) {
    const std::uint64_t before = steady_sequence();
    const rcu::ReadSection section;
    Position at{path.mount.get(), path.dentry.get()};
    cross(section, at);
    if (at.mount == path.mount.get()) return path;
    if (std::optional<Path> kept = keep(at, before)) return *std::move(kept);
  }
}

Mount* MountTable::child_at(const Mount& parent, const Dentry& point) const {
  const rcu::ReadSection section;
  return mounted_on(section, {const_cast<Mount*>(&parent), const_cast<Dentry*>(&point)});
}

std::vector<Mount*> MountTable::mounted_anywhere_on(const Dentry& point) const {
  std::vector<Mount*> found;
  const rcu::ReadSection section;
  mounts_.for_each(section, [&](Mount& mount) {
    if (mount.mount_point_.load() == &point) found.push_back(&mount);
  });
  return found;
}

void MountTable::link(Mount& child, Mount& parent, Dentry& point) {
  child.mount_point_.store(Ref<Dentry>::share(point).release(), std::memory_order_release);
  child.parent_.store(&parent, std::memory_order_release);
  parent.children_.push_back(child);
  point.begin_mount(child);
  mounts_.add(hash(parent, point), child);
}

void MountTable::unlink(Mount& child) {
  mounts_.remove(child);
  child.parent_.load()->children_.erase(child);
  Dentry* const point = child.mount_point_.load();
  point->end_mount(child);
  Ref<Dentry>::adopt(point).reset();
}

void MountTable::attach(Mount& child, Mount& parent, Dentry& point) { link(child, parent, point); }

void MountTable::move(Mount& child, Mount& parent, Dentry& point) {
  const Change change(*this);
  unlink(child);
  link(child, parent, point);
}

// Who found it before sees that the sequence has moved; nobody finds it from here on.
void MountTable::detach(Mount& child) {
  if (!child.has_parent()) return;
  unlink(child);
  child.parent_.store(nullptr, std::memory_order_release);
  if (changes_ == 0) sequence_ += 2;
}

// While a mount is attached its own reference stays, so that this is not the last one; and who
// takes it out waits for this section before giving that one back.
void MountTable::put(Mount& mount, bool is_use) {
  {
    const rcu::ReadSection section;
    if (is_use && mount.expiring_.load(std::memory_order_relaxed)) mount.expiring_ = false;
    if (mount.namespace_.load() != nullptr) {
      mount.count_.put();
      return;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    mount.count_.put();
    if (mount.doomed_ || mount.count_.sum() != 0) return;
    mount.doomed_ = true;
  }
  mount.release();
}

void MountTable::end(std::vector<Mount*> taken) {
  const UnmountPolicy policy = policy_.load(std::memory_order_relaxed);
  if (policy == UnmountPolicy::kDeferred) {
    if (backlog_.fetch_add(taken.size()) + taken.size() <= largest_backlog_) return defer(taken);
    backlog_ -= taken.size();
  }
  leave_those_held(taken, policy == UnmountPolicy::kExpedited ? rcu::GracePeriod::kExpedited
                                                              : rcu::GracePeriod::kNormal);
  release_all(taken);
}

// What comes before the worker gets to it waits together.
void MountTable::defer(std::span<Mount* const> taken) {
  const std::lock_guard lock(mutex_);
  const bool is_posted = !deferred_.empty();
  deferred_.insert(deferred_.end(), taken.begin(), taken.end());
  if (!is_posted) worker_.post([this] { end_deferred(); });
}

// One job for each superblock: the worker has others.
void MountTable::end_deferred() {
  std::vector<Mount*> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(deferred_);
  }
  const std::size_t before = all.size();
  leave_those_held(all, rcu::GracePeriod::kNormal);
  backlog_ -= before - all.size();
  for (Mount* const mount : all) {
    worker_.post([this, mount] {
      const std::shared_ptr<MountTable> keeps = mount->table_;
      mount->release();
      --backlog_;
    });
  }
}

// Those stay out of the list: whoever holds one last ends it. Waits for readers unless the counts
// show that there is no need.
void MountTable::leave_those_held(std::vector<Mount*>& mounts, rcu::GracePeriod kind) {
  // A count of one is the mount's own: nobody holds it, and nobody can find it.
  const bool always = always_wait_.load(std::memory_order_relaxed);
  const auto held = always ? mounts.begin() : doom_the_idle(mounts, Own::kStays);
  if (held == mounts.end()) return;
  rcu::synchronize(kind);
  std::vector<Mount*> left(held, mounts.end());
  const auto still_held = doom_the_idle(left, Own::kGoes);
  mounts.erase(held, mounts.end());
  mounts.insert(mounts.end(), left.begin(), still_held);
}

// To the front with them. Who gives back the last reference after ours has gone ends the mount, so
// that none must come between that and the look at the count.
std::vector<Mount*>::iterator MountTable::doom_the_idle(std::vector<Mount*>& mounts, Own own) {
  const std::lock_guard lock(mutex_);
  return std::partition(mounts.begin(), mounts.end(), [own](Mount* mount) {
    if (own == Own::kGoes) mount->count_.put();
    if (mount->count_.sum() != (own == Own::kGoes ? 0 : 1)) return false;
    mount->doomed_ = true;
    return true;
  });
}

// Most of it is the kernel's work, who takes files back; a second CPU is worth the waking.
void MountTable::release_all(std::span<Mount* const> mounts) {
  constexpr std::size_t kMany = 1000;
  const auto release = [](std::span<Mount* const> some) {
    const rcu::RetireTogether together;
    for (Mount* const mount : some) mount->release();
  };
  if (mounts.size() < kMany) return release(mounts);
  const auto half = mounts.subspan(mounts.size() / 2);
  worker_.post([release, half] { release(half); });
  release(mounts.first(mounts.size() / 2));
  worker_.run([] {});
}

void MountTable::barrier() {
  // A job for the waiting, and then one for each superblock.
  worker_.run([] {});
  worker_.run([] {});
}

}  // namespace efivarium::vfs
