// What looking up and unmounting cost in the mount table, beside liburcu's bare hash table and the
// kernel's own mounts.
#include <unistd.h>
#include <urcu/rculfhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <latch>
#include <memory>
#include <thread>

#include "bench/bench.h"
#include "bench/kernel_mounts.h"
#include "bench/measure.h"
#include "bench/plot.h"
#include "tmpfs/superblock.h"
#include "vfs/calls.h"

namespace efivarium::bench {
namespace {

using tmpfs::Tmpfs;
using vfs::Path;
using vfs::Position;
using vfs::UnmountPolicy;

constexpr int kMany = 5001;
constexpr int kComponents = 4;
constexpr std::string_view kDeep = "a/b/c/d";
constexpr std::array kNames = {"a", "b", "c", "d"};

// A namespace with a tmpfs on each component of kDeep, and a mount with up to kMany folders for as
// many mounts.
class Mounts {
 public:
  Mounts() : names_(vfs::MountNamespace::create(*Tmpfs::make(), "root")), folders_(*Tmpfs::make()) {
    std::string path;
    for (const std::string name : kNames) {
      make_folder(path, name);
      path += "/" + name;
      put(path, *Tmpfs::make());
    }
    make_folder("", "all");
    put("all", folders_);
    for (int i = 0; i < kMany; ++i) make_folder("all", "m" + std::to_string(i));
  }

  vfs::MountTable& table() const { return names_->table(); }
  Path at(const std::string& path) const {
    auto found = names_->walk(path);
    if (!found) die("cannot walk to " + path);
    return *std::move(found);
  }
  Path at(int number) const { return at("all/m" + std::to_string(number)); }

  void mount(int count) {
    for (int i = 0; i < count; ++i) put("all/m" + std::to_string(i), *Tmpfs::make());
  }
  void umount_each(int count) {
    for (int i = 0; i < count; ++i) check(names_->umount(at(i)).has_value());
  }
  // The paths must be those of mounts.
  void umount_batch(std::vector<Path> paths) {
    vfs::Ending ending(table());
    check(names_->umount(std::move(paths), {}, ending).empty());
  }
  void umount_batch(int count) { umount_batch(paths(count)); }
  std::vector<Path> paths(int count) const {
    std::vector<Path> paths;
    for (int i = 0; i < count; ++i) paths.push_back(at(i));
    return paths;
  }
  // With the mount that they are in, which comes back.
  double detach() {
    Path all = at("all");
    const double took =
        time_calls(1, [&] { check(names_->umount(std::move(all), {.lazy = true}).has_value()); });
    put("all", folders_);
    return took;
  }

 private:
  static void check(bool done) {
    if (!done) die("cannot mount or unmount");
  }
  void make_folder(const std::string& path, const std::string& name) {
    check(vfs::make_folder(at(path), name, 0755, {}).has_value());
  }
  void put(const std::string& path, vfs::Ref<vfs::Superblock> superblock) {
    check(names_->mount(std::move(superblock), "tmpfs", at(path)).has_value());
  }

  const std::shared_ptr<vfs::MountNamespace> names_;
  const vfs::Ref<vfs::Superblock> folders_;
};

// liburcu's table with nothing around it: the floor.
class BareTable {
 public:
  BareTable() : table_(cds_lfht_new_flavor(4096, 1, 0, 0, &urcu_memb_flavor, nullptr)) {
    for (int i = 0; i < kMany; ++i) add("m" + std::to_string(i));
    for (const char* const name : kNames) add(name);
  }
  BareTable(const BareTable&) = delete;
  BareTable& operator=(const BareTable&) = delete;
  ~BareTable() {
    remove_all();
    cds_lfht_destroy(table_, nullptr);
  }
  bool has(const rcu::ReadSection&, std::string_view key) const {
    cds_lfht_iter iterator{};
    cds_lfht_lookup(table_, hash(key), &is_key, &key, &iterator);
    return cds_lfht_iter_get_node(&iterator) != nullptr;
  }
  // Waits once for all, and frees them.
  void remove_all() {
    for (const std::unique_ptr<Node>& node : nodes_) {
      const rcu::ReadSection section;
      cds_lfht_del(table_, &node->link);
    }
    rcu::synchronize();
    nodes_.clear();
  }

 private:
  struct Node {
    cds_lfht_node link;
    std::string key;
  };
  static std::uint64_t hash(std::string_view key) { return std::hash<std::string_view>{}(key); }
  static int is_key(cds_lfht_node* node, const void* key) {
    return reinterpret_cast<Node*>(node)->key == *static_cast<const std::string_view*>(key) ? 1 : 0;
  }
  void add(const std::string& key) {
    nodes_.push_back(std::make_unique<Node>(Node{{}, key}));
    const rcu::ReadSection section;
    cds_lfht_add(table_, hash(key), &nodes_.back()->link);
  }

  cds_lfht* table_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

void walk_once(const Mounts& mounts, const Position& root, std::string_view path) {
  const rcu::ReadSection section;
  Position at = root;
  if (!mounts.table().walk(section, root, at, path)) die("a path is gone");
}

// Look-ups of kDeep until told to stop; returns how many.
long look_up(const Mounts& mounts, const std::atomic<bool>& stop) {
  const Path root = mounts.at("");
  const Position at{root.mount.get(), root.dentry.get()};
  long count = 0;
  for (; !stop.load(std::memory_order_relaxed); ++count) walk_once(mounts, at, kDeep);
  return count;
}

// While it lives, one thread looks up on the CPU.
class Reader {
 public:
  Reader(const Mounts& mounts, int cpu) {
    std::latch started(1);
    thread_ = std::thread([&, cpu, this] {
      pin(cpu);
      started.count_down();
      look_up(mounts, stop_);
    });
    started.wait();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

void measure_look_up(Mounts& mounts) {
  constexpr int kCalls = 20000;
  const BareTable bare;
  mounts.mount(kMany);
  const Path root = mounts.at("");
  const Position at{root.mount.get(), root.dentry.get()};
  const auto ours = [&](std::string_view path) -> Sample {
    return [&, path] { return time_calls(kCalls, [&] { walk_once(mounts, at, path); }); };
  };
  const Sample floor = [&] {
    return time_calls(kCalls, [&] {
      const rcu::ReadSection section;
      for (const char* const name : kNames) {
        if (!bare.has(section, name)) die("a key is gone");
      }
    });
  };
  compare("look-up of 4 mounted components", ours(kDeep), "4 look-ups in a bare lfht", floor,
          Goal::kAtMost, 2);
  if (kernel_mounts_missing().empty()) {
    compare("look-up of a mounted path", ours(kNames.front()), "access(2), kernel tmpfs",
            kernel_access(1), Goal::kAtLeast, 8);
    compare("look-up of 4 mounted components", ours(kDeep), "access(2), kernel tmpfs",
            kernel_access(kComponents), Goal::kAtLeast, kNoLimit);
  }
  mounts.umount_batch(kMany);
}

// Microseconds a look-up, of so many readers together, each on a CPU of its own.
double read_together(const Mounts& mounts, int readers) {
  constexpr int kMicroseconds = 100000;
  std::atomic<bool> stop = false;
  std::atomic<long> count = 0;
  std::latch ready(readers + 1);
  std::vector<std::jthread> threads;
  for (int cpu = 0; cpu < readers; ++cpu) {
    threads.emplace_back([&, cpu] {
      pin(cpu);
      ready.arrive_and_wait();
      count += look_up(mounts, stop);
    });
  }
  ready.arrive_and_wait();
  return time_calls(1,
                    [&] {
                      ::usleep(kMicroseconds);
                      stop = true;
                      threads.clear();
                    }) /
         static_cast<double>(count);
}

void measure_readers(Mounts& mounts) {
  if (std::thread::hardware_concurrency() < 2) return note("one CPU: readers cannot run together");
  // Some hundred pairs a second: changes enough for readers to meet, and yet next to nothing of the
  // time of the two CPUs, which are the readers'.
  const Sample beside_changes = [&] {
    std::jthread churn([&](const std::stop_token& stop) {
      pin(-1);
      while (!stop.stop_requested()) {
        mounts.mount(1);
        mounts.umount_each(1);
        ::usleep(2000);
      }
    });
    return read_together(mounts, 2);
  };
  compare(
      "2 readers, mounts come and go", beside_changes, "1 reader, nothing changes",
      [&] { return read_together(mounts, 1); }, Goal::kAtLeast, 1.6);
}

void measure_batch(Mounts& mounts) {
  std::vector<std::uint64_t> waits;
  // Mounted and walked to before; freed behind.
  const auto sample = [&](const std::function<double()>& umount) {
    return [&, umount] {
      mounts.mount(kMany);
      const rcu::Waits before = rcu::waits();
      const double took = umount();
      waits.push_back(rcu::waits().expedited + rcu::waits().normal - before.expedited -
                      before.normal);
      rcu::barrier();
      return took;
    };
  };
  const Sample batch = sample([&] {
    std::vector<Path> paths = mounts.paths(kMany);
    return time_calls(1, [&] { mounts.umount_batch(std::move(paths)); });
  });
  const Sample detach = sample([&] { return mounts.detach(); });
  const auto most_waits = [&] {
    return static_cast<double>(std::ranges::max(std::exchange(waits, {})));
  };
  const Sample floor = [] {
    BareTable bare;
    return time_calls(1, [&] { bare.remove_all(); });
  };
  pin(0);
  const Reader reader(mounts, 1);
  compare("umount of 5001 in one batch", batch, "removal of 5001 from a bare lfht", floor,
          Goal::kAtMost, 3);
  compare("detach of 5001 with their parent", detach, "removal of 5001 from a bare lfht", floor,
          Goal::kAtMost, 3);
  judge("waits of such a batch, by default", most_waits(), "grace periods", 1);
  mounts.table().set_always_wait(true);
  for (int i = 0; i < 5; ++i) batch();
  if (std::ranges::min(waits) == 0) die("a batch has not waited");
  judge("waits of such a batch, where each must", most_waits(), "grace periods", 1);
  mounts.table().set_always_wait(false);
  if (kernel_mounts_missing().empty()) {
    const Sample kernel = kernel_umount(kMany, KernelUmount::kTogether);
    compare("umount of 5001 in one batch", warm(batch), "detach with the parent, kernel tmpfs",
            kernel, Goal::kAtLeast, 20);
    compare("detach of 5001 with their parent", warm(detach), "the same, kernel tmpfs", kernel,
            Goal::kAtLeast, 20);
  }
  pin(-1);
}

struct Policy {
  std::string name;
  Sample (*sample)(Mounts& mounts, int count);
  int most;  // measured; more of the same would take minutes
};

// Microseconds of so many umounts, each of them with a wait for readers of its own.
double umount_waiting(Mounts& mounts, int count, UnmountPolicy policy, bool until_ended) {
  mounts.mount(count);
  mounts.table().set_policy(policy);
  mounts.table().set_always_wait(true);
  const double took = time_calls(1, [&] {
    mounts.umount_each(count);
    if (until_ended) mounts.table().barrier();
  });
  mounts.table().barrier();
  mounts.table().set_policy(UnmountPolicy::kExpedited);
  mounts.table().set_always_wait(false);
  rcu::barrier();
  return took;
}

Sample normal(Mounts& mounts, int count) {
  return [&mounts, count] { return umount_waiting(mounts, count, UnmountPolicy::kNormal, false); };
}

Sample expedited(Mounts& mounts, int count) {
  return
      [&mounts, count] { return umount_waiting(mounts, count, UnmountPolicy::kExpedited, false); };
}

Sample deferred(Mounts& mounts, int count) {
  return
      [&mounts, count] { return umount_waiting(mounts, count, UnmountPolicy::kDeferred, false); };
}

Sample deferred_ended(Mounts& mounts, int count) {
  return [&mounts, count] { return umount_waiting(mounts, count, UnmountPolicy::kDeferred, true); };
}

// What an unmount does by default: it looks at the counts, and waits only if they tell nothing.
Sample counted(Mounts& mounts, int count) {
  return [&mounts, count] {
    mounts.mount(count);
    const double took = time_calls(1, [&] { mounts.umount_each(count); });
    rcu::barrier();
    return took;
  };
}

Sample batch(Mounts& mounts, int count) {
  return [&mounts, count] {
    mounts.mount(count);
    const double took = time_calls(1, [&] { mounts.umount_batch(count); });
    rcu::barrier();
    return took;
  };
}

Sample kernel(Mounts&, int count) { return kernel_umount(count, KernelUmount::kEach); }

constexpr int kFew = 101;  // normal waits, of about 10 ms each

const std::array kPolicies = {
    Policy{"normal", normal, kFew},
    Policy{"expedited", expedited, kMany},
    Policy{"deferred, until it returns", deferred, kMany},
    Policy{"deferred, until all ended", deferred_ended, kMany},
    Policy{"by the counts (default)", counted, kMany},
    Policy{"batch", batch, kMany},
    Policy{"umount2(2), kernel tmpfs", kernel, kMany},
};

void plot_policies(Mounts& mounts, const std::string& path) {
  Plot plot{"Unmounting, by policy, a reader busy", "mounts", "milliseconds", {}};
  note("umounts one by one, by path           mounts      total ms       us each");
  for (const Policy& policy : kPolicies) {
    if (policy.sample == kernel && !kernel_mounts_missing().empty()) continue;
    Line line{policy.name, {}};
    for (const int count : {1, 3, 10, 31, kFew, 316, 1001, kMany}) {
      if (count > policy.most) break;
      const Sample sample = policy.sample(mounts, count);
      std::vector<double> times;
      for (int round = 0; round < (policy.sample == normal ? 3 : 5); ++round) {
        times.push_back(sample());
      }
      line.points.push_back({static_cast<double>(count), median(times) / 1000});
    }
    const Point last = line.points.back();
    std::array<char, 128> row{};
    std::snprintf(row.data(), row.size(), "  %-34s %7.0f %13.3f %13.3f", policy.name.c_str(),
                  last.x, last.y, last.y * 1000 / last.x);
    note(row.data());
    plot.lines.push_back(std::move(line));
  }
  std::ofstream(path) << plot.to_svg();
}

void measure_policies(Mounts& mounts, const std::string& plot) {
  pin(0);
  const Reader reader(mounts, 1);
  const Sample few = normal(mounts, kFew);
  compare(
      "umount of 5001 in one batch, by path", batch(mounts, kMany),
      "normal wait each (101, times 5001/101)", [&] { return few() * kMany / kFew; },
      Goal::kAtLeast, 200, 5);
  plot_policies(mounts, plot);
  pin(-1);
}

}  // namespace

void measure_mounts(const Surroundings& around) {
  Mounts mounts;
  if (const std::string why = kernel_mounts_missing(); !why.empty()) note(why);
  measure_look_up(mounts);
  measure_readers(mounts);
  measure_batch(mounts);
  measure_policies(mounts, around.results + "/mounts.svg");
}

}  // namespace efivarium::bench
