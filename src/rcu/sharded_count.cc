#include "rcu/sharded_count.h"

#include <deque>
#include <mutex>
#include <vector>

namespace efivarium::rcu {

// What is free for new counts; blocks stay for good.
class ShardedCount::Pool {
 public:
  Cell* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      Block& block = blocks_.emplace_back();
      free_.reserve(blocks_.size() * kCountsALine);
      for (std::size_t i = kCountsALine; i-- > 0;) free_.push_back(&block.cells[i]);
    }
    Cell* const cells = free_.back();
    free_.pop_back();
    return cells;
  }
  void give_back(Cell* cells) noexcept {
    for (std::size_t i = 0; i < kCells; ++i) {
      cells[i * kCountsALine].gets = 0;
      cells[i * kCountsALine].puts = 0;
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(cells);
  }

 private:
  std::mutex mutex_;
  std::deque<Block> blocks_;
  std::vector<Cell*> free_;
};

ShardedCount::Pool& ShardedCount::pool() {
  static Pool& pool = *new Pool();  // for counts that end with the process
  return pool;
}

ShardedCount::ShardedCount() : cells_(pool().take()) {}
ShardedCount::~ShardedCount() { pool().give_back(cells_); }

}  // namespace efivarium::rcu
