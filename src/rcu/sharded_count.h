// ShardedCount: a count of references that threads take and give back without meeting.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace efivarium::rcu {

// Each thread adds to one of a few cells. What was taken and what was given back are counted apart,
// and given back is summed first: a reference that moves from one thread to another while the
// cells are read is then counted twice rather than not at all.
class ShardedCount {
 public:
  void get() noexcept { cell().gets.fetch_add(1); }
  void put() noexcept { cell().puts.fetch_add(1); }

  // Never less than what is held throughout the call.
  std::int32_t sum() const noexcept {
    std::uint32_t puts = 0, gets = 0;
    for (const Cell& cell : cells_) puts += cell.puts.load();
    for (const Cell& cell : cells_) gets += cell.gets.load();
    return static_cast<std::int32_t>(gets - puts);
  }

 private:
  static constexpr std::size_t kCells = 4;
  // Sequentially consistent throughout: who takes a reference and then asks whether it may, and who
  // forbids it and then sums, cannot both miss the other.
  struct alignas(64) Cell {
    std::atomic<std::uint32_t> gets = 0, puts = 0;
  };

  static std::size_t index_of_thread() noexcept {
    static constinit std::atomic<std::size_t> threads = 0;
    thread_local const std::size_t index = threads.fetch_add(1, std::memory_order_relaxed) % kCells;
    return index;
  }
  Cell& cell() noexcept { return cells_[index_of_thread()]; }

  std::array<Cell, kCells> cells_;
};

}  // namespace efivarium::rcu
