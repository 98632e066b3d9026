#include "base/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <vector>

namespace efivarium::base {
namespace {

TEST(WorkQueue, RunsJobsInOrderOnOneThread) {
  std::vector<int> order;
  {
    WorkQueue queue("test");
    for (int i = 0; i < 5; ++i) queue.post([&order, i] { order.push_back(i); });
  }
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(WorkQueue, RunWaitsForTheJobAndAllBefore) {
  WorkQueue queue("test");
  int count = 0;
  queue.post([&] { ++count; });
  queue.run([&] { ++count; });
  EXPECT_EQ(count, 2);
}

TEST(WorkQueue, DelayedJobsDoNotHoldUpOthersAndAreDroppedAtTheEnd) {
  bool late = false;
  std::atomic<bool> due = false;
  {
    WorkQueue queue("test");
    queue.post_at(WorkQueue::Clock::now() + std::chrono::hours(1), [&] { late = true; });
    queue.post_at(WorkQueue::Clock::now() + std::chrono::milliseconds(1), [&] { due = true; });
    queue.run([] {});
    while (!due) queue.run([] {});
  }
  EXPECT_FALSE(late);
}

TEST(WorkQueue, MayBeDestroyedByItsOwnJob) {
  std::latch destroyed(1);
  auto queue = std::make_shared<WorkQueue>("test");
  std::latch released(1);
  queue->post([queue, &released, &destroyed]() mutable {
    released.wait();
    queue.reset();
    destroyed.count_down();
  });
  queue.reset();
  released.count_down();
  destroyed.wait();
}

TEST(WorkQueue, IsPlacedBeforeItStartsAndWhileItRuns) {
  WorkQueue queue("test");
  const auto seen = [&queue] {
    cpu_set_t cpus;
    queue.run([&] { ::sched_getaffinity(0, sizeof cpus, &cpus); });
    return CPU_COUNT(&cpus);
  };
  Placement pinned;
  CPU_SET(0, &pinned.cpus);
  ASSERT_TRUE(queue.place(pinned));
  EXPECT_EQ(seen(), 1);
  ASSERT_TRUE(queue.place(Placement{}));
  EXPECT_EQ(seen(), static_cast<int>(std::thread::hardware_concurrency()));

  Placement nowhere;
  CPU_SET(1000, &nowhere.cpus);
  EXPECT_FALSE(queue.place(nowhere));
  EXPECT_EQ(seen(), static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(Placement, CpuListsAreReadAsTheKernelWritesThem) {
  const auto cpus = Placement::parse_cpus("0-2,5");
  ASSERT_TRUE(cpus);
  EXPECT_EQ(CPU_COUNT(&*cpus), 4);
  EXPECT_TRUE(CPU_ISSET(5, &*cpus));
  EXPECT_EQ(Placement::to_text(*cpus), "0-2:5");
  EXPECT_EQ(Placement::to_text(Placement::parse_cpus("0-2:5").value()), "0-2:5");
  for (const char* bad : {"", "a", "1-", "2-1", "1,", "5000", "1;2"}) {
    EXPECT_FALSE(Placement::parse_cpus(bad)) << bad;
  }
}

}  // namespace
}  // namespace efivarium::base
