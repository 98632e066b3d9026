// What unmounting waits for, and when what was mounted ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <random>
#include <thread>

#include "tmpfs/superblock.h"
#include "vfs/calls.h"

namespace efivarium::tmpfs {
namespace {

using vfs::Ending;
using vfs::File;
using vfs::MountNamespace;
using vfs::Path;
using vfs::Ref;
using vfs::UnmountPolicy;

const vfs::Credentials kRoot{};

// Counts those that are in use.
class Counted final : public Tmpfs {
 public:
  explicit Counted(std::atomic<int>& active) : Tmpfs(0755), active_(active) { ++active_; }
  void shut_down() override { --active_; }

 private:
  std::atomic<int>& active_;
};

class MountTableTest : public testing::Test {
 protected:
  static constexpr int kMany = 1200;  // so many that two threads let them end

  explicit MountTableTest() : names_(MountNamespace::create(*Tmpfs::make(), "root")) {
    before_ = rcu::waits();
  }
  ~MountTableTest() override {
    names_.reset();
    rcu::set_normal(false);
    rcu::barrier();
    EXPECT_EQ(active_, 0);
  }

  static std::string name(int number) { return "m" + std::to_string(number); }
  void mount(int number) {
    const Path root = names_->root();
    if (!names_->walk(name(number))) {
      ASSERT_TRUE(vfs::make_folder(root, name(number), 0755, kRoot));
    }
    ASSERT_TRUE(names_->mount(Ref<Counted>::adopt(new Counted(active_)), name(number),
                              *names_->walk(name(number))));
  }
  void mount_many() {
    for (int i = 0; i < kMany; ++i) mount(i);
    EXPECT_EQ(active_, kMany);
    before_ = rcu::waits();
  }
  void umount_each() {
    for (int i = 0; i < kMany; ++i) ASSERT_TRUE(names_->umount(*names_->walk(name(i))));
  }
  void umount_batch(vfs::UmountFlags flags = {}) {
    std::vector<Path> paths;
    for (int i = 0; i < kMany; ++i) paths.push_back(*names_->walk(name(i)));
    Ending ending(names_->table());
    EXPECT_TRUE(names_->umount(std::move(paths), flags, ending).empty());
  }
  Ref<File> open_in(int number) {
    return *vfs::create_file(*names_->walk(name(number)), "file", O_RDWR | O_CREAT, 0644, kRoot);
  }
  std::uint64_t expedited() const { return rcu::waits().expedited - before_.expedited; }
  std::uint64_t normal() const { return rcu::waits().normal - before_.normal; }

  std::atomic<int> active_ = 0;
  std::shared_ptr<MountNamespace> names_;
  rcu::Waits before_;
};

TEST_F(MountTableTest, IdleMountsEndWithoutAWait) {
  mount_many();
  umount_each();
  EXPECT_EQ(active_, 0);
  EXPECT_EQ(expedited() + normal(), 0U);
}

TEST_F(MountTableTest, ABatchWaitsOnceHoweverManyAreHeld) {
  mount_many();
  const std::vector<Ref<File>> files = {open_in(3), open_in(4), open_in(400)};
  umount_batch({.lazy = true});
  EXPECT_EQ(expedited(), 1U);
  EXPECT_EQ(normal(), 0U);
  EXPECT_EQ(active_, 3);
  EXPECT_EQ(names_->list().size(), 1U);
  for (const Ref<File>& file : files) vfs::release_file(file);
}

TEST_F(MountTableTest, ABatchGoesInItsOrder) {
  for (int i = 0; i < 100; ++i) mount(i);
  ASSERT_TRUE(vfs::make_folder(*names_->walk("m7"), "in", 0755, kRoot));
  ASSERT_TRUE(vfs::make_folder(*names_->walk("m8"), "in", 0755, kRoot));
  for (const char* const place : {"m7/in", "m8/in"}) {
    ASSERT_TRUE(names_->mount(*Tmpfs::make(), "in", *names_->walk(place)));
  }
  const Ref<File> file = open_in(80);
  // m7 before what is in it, m8 after; and more than fit under one lock.
  std::vector<std::string> order = {"m7", "m7/in", "m8/in", "m8"};
  for (int i = 9; i < 100; ++i) order.push_back(name(i));
  const auto umount = [&](vfs::UmountFlags flags) {
    std::vector<Path> paths;
    for (const std::string& path : order) paths.push_back(*names_->walk(path));
    Ending ending(names_->table());
    std::vector<std::pair<std::string, Code>> refused;
    for (const auto& [index, error] : names_->umount(std::move(paths), flags, ending)) {
      refused.emplace_back(order[index], error.code());
    }
    return refused;
  };
  using Refused = std::vector<std::pair<std::string, Code>>;
  EXPECT_EQ(umount({}), (Refused{{"m7", Code::kBusy}, {"m80", Code::kBusy}}));
  EXPECT_EQ(names_->list().size(), 1U + 8U + 1U);  // the root, m0 to m7, m80
  // A place that is named twice is held by its own batch.
  order = {"m1", "m1", "m2"};
  EXPECT_EQ(umount({}), (Refused{{"m1", Code::kBusy}, {"m1", Code::kBusy}}));
  // What is marked stays marked.
  order = {"m3", "m4"};
  EXPECT_EQ(umount({.expire = true}), (Refused{{"m3", Code::kTryAgain}, {"m4", Code::kTryAgain}}));
  EXPECT_EQ(umount({.expire = true}), Refused());
  vfs::release_file(file);
}

TEST_F(MountTableTest, AsKernelsDoEachUnmountWaits) {
  names_->table().set_always_wait(true);
  mount_many();
  umount_each();
  EXPECT_EQ(expedited(), static_cast<std::uint64_t>(kMany));
  mount_many();
  umount_batch();
  EXPECT_EQ(expedited(), 1U);
  EXPECT_EQ(active_, 0);
}

TEST_F(MountTableTest, NormalIsWhatAHostMayInsistOn) {
  names_->table().set_always_wait(true);
  rcu::set_normal(true);
  mount_many();
  umount_batch();
  EXPECT_EQ(expedited(), 0U);
  EXPECT_EQ(normal(), 1U);
  rcu::set_normal(false);
  names_->table().set_policy(UnmountPolicy::kNormal);
  mount_many();
  umount_batch();
  EXPECT_EQ(expedited(), 0U);
  EXPECT_EQ(normal(), 1U);
}

TEST_F(MountTableTest, DeferredReturnsFirst) {
  names_->table().set_policy(UnmountPolicy::kDeferred);
  mount(1);
  std::latch inside(1), leave(1);
  std::thread reader([&] {
    const rcu::ReadSection section;
    inside.count_down();
    leave.wait();
  });
  inside.wait();
  names_->table().set_always_wait(true);
  ASSERT_TRUE(names_->umount(*names_->walk(name(1))));
  EXPECT_EQ(names_->list().size(), 1U);
  EXPECT_EQ(active_, 1);
  EXPECT_EQ(names_->table().backlog(), 1U);
  leave.count_down();
  names_->table().barrier();
  EXPECT_EQ(active_, 0);
  EXPECT_EQ(names_->table().backlog(), 0U);
  reader.join();
}

TEST_F(MountTableTest, DeferredUnmountsWaitTogether) {
  names_->table().set_policy(UnmountPolicy::kDeferred);
  names_->table().set_always_wait(true);
  mount_many();
  std::latch inside(1), leave(1);
  std::thread reader([&] {
    const rcu::ReadSection section;
    inside.count_down();
    leave.wait();
  });
  inside.wait();
  umount_each();
  EXPECT_EQ(names_->table().backlog(), static_cast<std::size_t>(kMany));
  leave.count_down();
  names_->table().barrier();
  EXPECT_EQ(active_, 0);
  EXPECT_LE(normal(), 2U);  // of what the worker saw first, and of all the rest
  reader.join();
}

TEST_F(MountTableTest, ABacklogThatIsFullMakesTheCallerWait) {
  names_->table().set_policy(UnmountPolicy::kDeferred);
  names_->table().set_largest_backlog(kMany - 1);
  mount_many();
  umount_batch();
  EXPECT_EQ(active_, 0);
  EXPECT_EQ(names_->table().backlog(), 0U);
}

TEST_F(MountTableTest, FilesOutliveALazyUnmount) {
  mount(1);
  const Ref<File> file = open_in(1);
  EXPECT_EQ(names_->umount(*names_->walk(name(1))).error().to_errno(), EBUSY);
  ASSERT_TRUE(names_->umount(*names_->walk(name(1)), {.lazy = true}));
  EXPECT_EQ(active_, 1);
  mount(1);
  EXPECT_EQ(active_, 2);
  bool written = false;
  vfs::write_file(file, 0, {1, 2}, [&](Result<void> done) { written = done.has_value(); });
  EXPECT_TRUE(written);
  EXPECT_EQ(file->inode().attributes().size_bytes, 2U);
  vfs::release_file(file);
  const_cast<Ref<File>&>(file).reset();
  EXPECT_EQ(active_, 1);
}

// Who has kept a mount's memory alone does not keep it busy, and finds it while it is in use.
TEST_F(MountTableTest, MemoryThatIsKeptKeepsNoMountBusy) {
  mount(0);
  const Ref<vfs::Mount> kept = Ref<vfs::Mount>::share(*names_->walk(name(0))->mount);
  vfs::MountRef found = kept->lock();
  EXPECT_TRUE(found);
  EXPECT_EQ(names_->umount(*names_->walk(name(0))).error().code(), Code::kBusy);
  EXPECT_TRUE(names_->umount(*names_->walk(name(0)), {.lazy = true}));
  EXPECT_TRUE(kept->lock());
  EXPECT_EQ(active_, 1);
  found = {};
  EXPECT_EQ(active_, 0);
  EXPECT_FALSE(kept->lock());
}

TEST_F(MountTableTest, OpenersAreToldEachOnce) {
  mount(0);
  const Path at = *names_->walk(name(0));
  const auto open = [&](pid_t pid) {
    return *vfs::open_file(at, O_RDONLY, vfs::Credentials{0, 0, {}, pid});
  };
  Ref<File> first = open(20), second = open(10), again = open(20);
  EXPECT_THAT(at.mount->openers(), testing::ElementsAre(10, 20));
  vfs::release_file(std::move(second));
  vfs::release_file(std::move(first));
  EXPECT_THAT(at.mount->openers(), testing::ElementsAre(20));
  vfs::release_file(std::move(again));
  EXPECT_THAT(at.mount->openers(), testing::IsEmpty());
}

// Names come when somebody looks for one, however he does; and once.
class LoadedLater final : public Tmpfs {
 public:
  LoadedLater() : Tmpfs(0755) { leave_unloaded(); }
  int loads = 0;

 private:
  void fill() override {
    ++loads;
    ASSERT_TRUE(root().inode().make_folder(root(), "a", 0755, kRoot));
  }
};

TEST_F(MountTableTest, NamesAreLoadedOnFirstUse) {
  const auto look_by_path = [](const MountNamespace& names, const Path&) {
    return names.walk("m/a").has_value();
  };
  const auto look_by_step = [](const MountNamespace& names, const Path& at) {
    return names.step(at, "a").has_value();
  };
  const auto make_it = [](const MountNamespace&, const Path& at) {
    return vfs::make_folder(at, "a", 0755, kRoot).error().code() == Code::kExists;
  };
  const auto list = [](const MountNamespace&, const Path& at) {
    int count = 0;
    at.mount->superblock().list(*at.dentry, ~std::uint64_t{0}, [&](const auto&) {
      ++count;
      return true;
    });
    return count == 1;
  };
  using Look = bool (*)(const MountNamespace&, const Path&);
  ASSERT_TRUE(vfs::make_folder(names_->root(), "m", 0755, kRoot));
  for (const Look look : {Look{look_by_path}, Look{look_by_step}, Look{make_it}, Look{list}}) {
    auto made = Ref<LoadedLater>::adopt(new LoadedLater());
    const Ref<LoadedLater> seen = made;
    ASSERT_TRUE(names_->mount(std::move(made), "later", *names_->walk("m")));
    EXPECT_EQ(seen->loads, 0);
    EXPECT_TRUE(look(*names_, *names_->walk("m")));
    EXPECT_TRUE(look(*names_, *names_->walk("m")));
    EXPECT_EQ(seen->loads, 1);
    ASSERT_TRUE(names_->umount(*names_->walk("m")));
  }
}

TEST_F(MountTableTest, TheEndOfANamespaceIsABatch) {
  mount_many();
  names_->table().set_always_wait(true);
  names_.reset();
  EXPECT_EQ(expedited(), 1U);
  EXPECT_EQ(active_, 0);
}

TEST_F(MountTableTest, EveryOneOfManyUnmountsAndMountsOfOnePlaceWorks) {
  mount(1);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(names_->umount(*names_->walk(name(1))));
    ASSERT_EQ(active_, 0);
    mount(1);
  }
}

// Everything at once. The invariants: a walk ends where a path may lead; what was open stays
// readable; in the end nothing is left.
TEST_F(MountTableTest, StressEverythingAtOnce) {
  constexpr int kPlaces = 8;
  const auto seconds = std::chrono::seconds(
      std::getenv("STRESS_SECONDS") != nullptr ? std::atoi(std::getenv("STRESS_SECONDS")) : 1);
  for (int i = 0; i < kPlaces; ++i) mount(i);
  ASSERT_TRUE(names_->set_propagation(names_->root(), vfs::PropagationType::kShared, true));
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> walks = 0, reads = 0, changes = 0;
  std::vector<std::thread> threads;
  const auto start = [&](auto job) {
    threads.emplace_back([&, job, seed = threads.size()] {
      std::mt19937 random(static_cast<unsigned>(seed));
      while (!stop) job(random);
    });
  };
  const auto any = [&](std::mt19937& random) { return name(static_cast<int>(random() % kPlaces)); };
  for (int i = 0; i < 2; ++i) {
    start([&](std::mt19937& random) {
      const auto found = names_->walk(any(random) + "/../" + any(random));
      EXPECT_TRUE(found);
      ++walks;
    });
  }
  start([&](std::mt19937& random) {
    const auto folder = names_->walk(any(random));
    const auto file = vfs::create_file(*folder, "file", O_RDWR | O_CREAT | O_TRUNC, 0644, kRoot);
    if (!file) return;
    vfs::write_file(*file, 0, {1, 2, 3}, [](Result<void> done) { EXPECT_TRUE(done); });
    vfs::read_file(*file, 0, 9, [](Result<Bytes> bytes) { EXPECT_EQ(*bytes, Bytes({1, 2, 3})); });
    vfs::release_file(*file);
    ++reads;
  });
  start([&](std::mt19937& random) {
    const std::string place = any(random);
    if (auto at = names_->walk(place)) {
      (void)names_->umount(*std::move(at), {.lazy = random() % 4 == 0});
    }
    if (const auto at = names_->walk(place); at && at->dentry->parent().is_root()) {
      (void)names_->mount(Ref<Counted>::adopt(new Counted(active_)), place, *at);
    }
    ++changes;
  });
  start([&](std::mt19937& random) {
    const auto from = names_->walk(any(random)), to = names_->walk(any(random));
    const unsigned what = random() % 8;
    if (what < 4 && names_->list().size() < 60) (void)names_->bind(*from, *to, what == 0);
    if (what == 4) (void)names_->set_propagation(*from, vfs::PropagationType::kPrivate, false);
    if (what == 5) (void)names_->set_propagation(*from, vfs::PropagationType::kShared, false);
    if (what >= 6) (void)names_->move(*from, *to);
    ++changes;
  });
  start([&](std::mt19937& random) {
    Path place = names_->root();
    const std::array places = {&place};
    const auto copy = names_->clone(places);
    EXPECT_EQ(copy->list().front().mount_point, "/");
    EXPECT_TRUE(copy->table().walk(place, place, any(random)));
    ++changes;
  });
  std::this_thread::sleep_for(seconds);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(walks, 0U);
  EXPECT_GT(reads, 0U);
  EXPECT_GT(changes, 0U);
}

}  // namespace
}  // namespace efivarium::tmpfs
