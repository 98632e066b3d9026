// ShardedCount: a count of references that threads take and give back without meeting.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace efivarium::rcu {

// Each thread adds to one of a few cells. What was taken and what was given back are counted apart,
// and given back is summed first: a reference that moves from one thread to another while the
// cells are read is then counted twice rather than not at all.
//
// The cells that one thread adds to share a cache line with its cells of other counts, as per-CPU
// counters do in a kernel: a count costs what its cells take, and to sum many touches few lines.
class ShardedCount {
 public:
  ShardedCount();
  ShardedCount(const ShardedCount&) = delete;
  ShardedCount& operator=(const ShardedCount&) = delete;
  ~ShardedCount();

  void get() noexcept { cell_of_thread().gets.fetch_add(1); }
  void put() noexcept { cell_of_thread().puts.fetch_add(1); }

  // Never less than what is held throughout the call.
  std::int32_t sum() const noexcept {
    std::uint32_t puts = 0, gets = 0;
    for (std::size_t i = 0; i < kCells; ++i) puts += cells_[i * kCountsALine].puts.load();
    for (std::size_t i = 0; i < kCells; ++i) gets += cells_[i * kCountsALine].gets.load();
    return static_cast<std::int32_t>(gets - puts);
  }

 private:
  static constexpr std::size_t kCells = 4;
  static constexpr std::size_t kLineBytes = 64;
  // Sequentially consistent throughout: who takes a reference and then asks whether it may, and who
  // forbids it and then sums, cannot both miss the other.
  struct Cell {
    std::atomic<std::uint32_t> gets = 0, puts = 0;
  };
  static constexpr std::size_t kCountsALine = kLineBytes / sizeof(Cell);
  // A line for each thread, a column for each count.
  struct alignas(kLineBytes) Block {
    std::array<Cell, kCells * kCountsALine> cells;
  };

  class Pool;
  static Pool& pool();

  static std::size_t index_of_thread() noexcept {
    static constinit std::atomic<std::size_t> threads = 0;
    thread_local const std::size_t index = threads.fetch_add(1, std::memory_order_relaxed) % kCells;
    return index;
  }
  Cell& cell_of_thread() noexcept { return cells_[index_of_thread() * kCountsALine]; }

  Cell* const cells_;  // the first; each other one is a line further on
};

}  // namespace efivarium::rcu
