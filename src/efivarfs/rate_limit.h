// RateLimit: so many calls a window, as Linux's ___ratelimit() counts them.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <map>
#include <mutex>

#include "base/work_queue.h"

namespace efivarium::efivarfs {

// A fixed window that begins with the first call. A call strictly later than its end begins the
// next one, with the whole burst; nothing is carried over (Linux 7.3, lib/ratelimit.c).
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;
  RateLimit(Clock::duration interval, int burst) : interval_(interval), burst_(burst) {}

  // Takes a token; false where the window has none left.
  bool take(Clock::time_point now) {
    if (begin_ == Clock::time_point() || now > begin_ + interval_) {
      begin_ = now;
      left_ = burst_;
    }
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  const Clock::duration interval_;
  const int burst_;
  int left_ = 0;
  Clock::time_point begin_;
};

// The limits that Linux puts on efivarfs: five statfs calls in two seconds for the system, a
// hundred read calls in a second for each user but the superuser. One for all mounts; thread-safe.
class Limits {
 public:
  using Clock = RateLimit::Clock;
  bool take_statfs(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    return statfs_.take(now);
  }
  bool take_read(uid_t user, Clock::time_point now) {
    if (user == 0) return true;
    const std::lock_guard lock(mutex_);
    return reads_.try_emplace(user, std::chrono::seconds(1), 100).first->second.take(now);
  }
  // For what a limit puts off.
  base::WorkQueue& timers() { return timers_; }

 private:
  std::mutex mutex_;
  RateLimit statfs_{std::chrono::seconds(2), 5};
  std::map<uid_t, RateLimit> reads_;
  base::WorkQueue timers_{"efivarfs_timer"};
};

}  // namespace efivarium::efivarfs
