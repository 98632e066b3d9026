// MountTable: which mounts stand where, for a family of namespaces; and how mounts end.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/work_queue.h"
#include "rcu/hash_table.h"
#include "vfs/mount.h"

namespace efivarium::vfs {

// How an unmount waits for those who are on their way through what it took out.
enum class UnmountPolicy : std::uint8_t {
  kExpedited,  // at once, at the price of an interruption of other CPUs
  kNormal,     // with others, some milliseconds
  kDeferred,   // not at all: a worker does; barrier() waits for it
};

// What a reader stands on: good for as long as its section.
struct Position {
  Mount* mount = nullptr;
  Dentry* dentry = nullptr;

  friend bool operator==(const Position&, const Position&) = default;
};

// Readers look up without a lock and write nothing that is shared. A change holds the lock; what it
// takes out it hands to an Ending, which waits for readers at most once for all of them: not at
// all, if the counts show that nobody is left.
class MountTable {
 public:
  MountTable() = default;
  MountTable(const MountTable&) = delete;
  MountTable& operator=(const MountTable&) = delete;

  // Down into what is mounted on the position, as often as something is.
  void cross(const rcu::ReadSection& section, Position& at) const;
  // Up, as ".." does: out of a whole stack of mounts, but never above root.
  void step_up(const rcu::ReadSection& section, const Position& root, Position& at) const;
  // From the position on, along a path of components apart by slashes, as far as it leads.
  // kNotFound, kNotDirectory, kNameTooLong; kNotReady where the position's superblock has yet to be
  // loaded.
  Result<void> walk(const rcu::ReadSection& section, const Position& root, Position& at,
                    std::string_view path) const;

  // A walk whose end is kept, begun anew where the tree changes under it; root and from are kept by
  // the caller.
  Result<Path> walk(const Path& root, const Path& from, std::string_view path) const;
  // The topmost mount there.
  Path follow(Path path) const;

  void set_policy(UnmountPolicy policy) { policy_.store(policy, std::memory_order_relaxed); }
  // Waits even where the counts show that nobody is left, as kernels up to now do.
  void set_always_wait(bool always) { always_wait_.store(always, std::memory_order_relaxed); }
  // Waits until every unmount that was deferred before has ended.
  void barrier();
  // Mounts that wait for the worker; where they would be more than the largest backlog, the caller
  // waits instead.
  std::size_t backlog() const { return backlog_.load(); }
  void set_largest_backlog(std::size_t mounts) { largest_backlog_ = mounts; }

 private:
  friend class Ending;
  friend class MountNamespace;
  friend class MountRef;
  friend class Mount;
  friend class Propagation;

  static std::uint64_t hash(const Mount& parent, const Dentry& point) {
    // The table goes by the lowest bits: places of one folder come to stand side by side.
    const std::uint64_t mixed = parent.id() * 0x9E3779B97F4A7C15U;
    return (mixed ^ (mixed >> 32)) + point.sequence();
  }
  Mount* mounted_on(const rcu::ReadSection& section, const Position& at) const;
  // The kept form of a position, unless the tree has changed since the sequence was read.
  std::optional<Path> keep(const Position& at, std::uint64_t sequence) const;
  std::uint64_t sequence() const { return sequence_.load(); }
  // The sequence, when no change is under way.
  std::uint64_t steady_sequence() const;
  static bool is_changing(std::uint64_t sequence) { return sequence % 2 != 0; }

  // While one lives, with the lock held, nobody keeps what he finds.
  class Change {
   public:
    explicit Change(MountTable& table) : table_(table) {
      if (table_.changes_++ == 0) ++table_.sequence_;
    }
    ~Change() {
      if (--table_.changes_ == 0) ++table_.sequence_;
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    MountTable& table_;
  };

  // Below: with the lock held.
  Mount* child_at(const Mount& parent, const Dentry& point) const;
  std::vector<Mount*> mounted_anywhere_on(const Dentry& point) const;
  Mount* cover_of(const Mount& mount) const { return child_at(mount, mount.root()); }
  void attach(Mount& child, Mount& parent, Dentry& point);
  // Elsewhere, with all that is on it.
  void move(Mount& child, Mount& parent, Dentry& point);
  void detach(Mount& child);
  void link(Mount& child, Mount& parent, Dentry& point);
  void unlink(Mount& child);

  // is_use: an expiry mark goes.
  void put(Mount& mount, bool is_use = true);
  void end(std::vector<Mount*> taken);
  void defer(std::span<Mount* const> taken);
  void end_deferred();
  void leave_those_held(std::vector<Mount*>& mounts, rcu::GracePeriod kind);
  enum class Own : std::uint8_t { kStays, kGoes };  // a mount's own reference
  std::vector<Mount*>::iterator doom_the_idle(std::vector<Mount*>& mounts, Own own);
  void release_all(std::span<Mount* const> mounts);

  mutable std::mutex mutex_;
  std::mutex files_mutex_;
  // Even, and two more after each mount that went away; odd in a Change.
  std::atomic<std::uint64_t> sequence_ = 0;
  int changes_ = 0;
  alignas(64) rcu::HashTable<Mount> mounts_;  // apart from what each change writes
  std::uint64_t last_group_ = 0;
  std::atomic<std::uint64_t> ids_ = 0;
  std::atomic<UnmountPolicy> policy_ = UnmountPolicy::kExpedited;
  std::atomic<bool> always_wait_ = false;
  std::vector<Mount*> deferred_;  // since the worker looked last
  std::atomic<std::size_t> backlog_ = 0;
  std::atomic<std::size_t> largest_backlog_ = 10000;
  base::WorkQueue worker_{"umount"};
};

// Mounts that a change, or several, have taken out. When it goes, with no lock held, they end.
class Ending {
 public:
  explicit Ending(MountTable& table) : table_(table) {}
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    if (!taken_.empty()) table_.end(std::move(taken_));
  }
  void add(Mount& mount) { taken_.push_back(&mount); }

 private:
  MountTable& table_;
  std::vector<Mount*> taken_;
};

}  // namespace efivarium::vfs
