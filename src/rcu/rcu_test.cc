#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rcu/ref.h"
#include "rcu/sharded_count.h"

namespace efivarium::rcu {
namespace {

std::atomic<int> alive = 0;

struct Number final : Counted {
  explicit Number(std::uint64_t value) : number(value), text(std::to_string(value)) { ++alive; }
  ~Number() override { --alive; }
  std::uint64_t number;
  std::string text;
};

Number* look_up(const HashTable<Number>& table, const ReadSection& section, std::uint64_t number) {
  return table.find(section, number, [&](const Number& n) { return n.number == number; });
}

TEST(HashTable, FindsWhatWasAddedUntilItIsRemoved) {
  HashTable<Number> table;
  std::vector<Number*> numbers;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    numbers.push_back(new Number(i));
    table.add(i, *numbers.back());
  }
  EXPECT_EQ(table.count(), 1000U);
  {
    const ReadSection section;
    for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(look_up(table, section, i), numbers[i]);
    EXPECT_EQ(look_up(table, section, 1000), nullptr);
  }
  for (Number* number : numbers) {
    EXPECT_TRUE(table.remove(*number));
    number->retire();
  }
  barrier();
  EXPECT_EQ(alive, 0);
}

TEST(Ref, LastOneRetires) {
  {
    const auto first = Ref<Number>::adopt(new Number(1));
    const Ref<Number> second = first;
    EXPECT_EQ(first, second);
  }
  barrier();
  EXPECT_EQ(alive, 0);
}

// What is deleted after a grace period may hold the last reference to something else.
TEST(Ref, DeletionMayRetireMore) {
  struct Holder final : Counted {
    explicit Holder(Ref<Number> held) : number(std::move(held)) {}
    ~Holder() override {
      const ReadSection section;  // and may look things up
    }
    Ref<Number> number;
  };
  for (int i = 0; i < 100; ++i) {
    Ref<Holder>::adopt(new Holder(Ref<Number>::adopt(new Number(1)))).reset();
  }
  barrier();  // the holders
  barrier();  // what they held
  EXPECT_EQ(alive, 0);
}

TEST(RetireTogether, NothingIsDeletedBeforeItsEnd) {
  {
    const RetireTogether outer;
    for (std::uint64_t i = 0; i < 100; ++i) (new Number(i))->retire();
    {
      const RetireTogether inner;
      (new Number(100))->retire();
    }
    barrier();
    EXPECT_EQ(alive, 100);
  }
  barrier();
  EXPECT_EQ(alive, 0);
}

// Under the thread sanitizer this shows that readers and the writer agree on who may touch what.
TEST(Stress, ReadersNeverSeeAFreedOrUnfinishedObject) {
  constexpr std::uint64_t kKeys = 64;
  HashTable<Number> table;
  std::vector<Ref<Number>> now(kKeys);
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> hits = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      for (std::uint64_t i = 0; !stop; ++i) {
        Ref<Number> kept;
        {
          const ReadSection section;
          kept = Ref<Number>::from_reader(section, look_up(table, section, i % kKeys));
        }
        if (kept && kept->text == std::to_string(i % kKeys)) ++hits;
      }
    });
  }
  for (std::uint64_t round = 0; round < 20000 || hits == 0; ++round) {
    Ref<Number>& slot = now[round % kKeys];
    if (slot) table.remove(*slot);
    slot = Ref<Number>::adopt(new Number(round % kKeys));
    table.add(round % kKeys, *slot);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  for (Ref<Number>& slot : now) {
    if (slot) table.remove(*slot);
    slot.reset();
  }
  barrier();
  EXPECT_EQ(alive, 0);
  EXPECT_GT(hits, 0U);
}

TEST(ShardedCount, ManyAreKeptApart) {
  constexpr int kCounts = 100;
  constexpr int kThreads = 6;  // more than there are cells
  constexpr int kEach = 1000;
  std::vector<std::unique_ptr<ShardedCount>> counts;
  for (int i = 0; i < kCounts; ++i) counts.push_back(std::make_unique<ShardedCount>());
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int n = 0; n < kEach; ++n) {
          for (int i = 0; i < kCounts; ++i) {
            counts[static_cast<std::size_t>(i)]->get();
            if (n >= i) counts[static_cast<std::size_t>(i)]->put();
          }
        }
      });
    }
  }
  for (int i = 0; i < kCounts; ++i) {
    EXPECT_EQ(counts[static_cast<std::size_t>(i)]->sum(), i * kThreads);
  }
  // What others have left begins at nothing.
  counts.clear();
  for (int i = 0; i < 2 * kCounts; ++i) {
    counts.push_back(std::make_unique<ShardedCount>());
    EXPECT_EQ(counts.back()->sum(), 0);
    counts.back()->get();
  }
}

}  // namespace
}  // namespace efivarium::rcu
