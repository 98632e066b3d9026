// WorkQueue: one thread that runs jobs one after the other.
#pragma once

#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "efivarium/result.h"

namespace efivarium::base {

// Which CPUs a worker may run on, and under which policy.
struct Placement {
  cpu_set_t cpus{};          // empty: all that the process may use
  int policy = SCHED_OTHER;  // sched_setscheduler(2)
  int priority = 0;

  // "0", "2-3:5": a CPU list as the kernel writes it, but with colons for commas, which part mount
  // options; a comma is taken too. kInvalidParameter.
  static Result<cpu_set_t> parse_cpus(std::string_view list);
  static std::string to_text(const cpu_set_t& cpus);
};

// Thread-safe. The thread starts with the first job, so that an idle queue costs nothing.
class WorkQueue {
 public:
  using Job = std::move_only_function<void()>;
  using Clock = std::chrono::steady_clock;

  // name: what top(1) shows, 15 bytes at most.
  explicit WorkQueue(std::string name) : state_(std::make_shared<State>(std::move(name))) {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  // Runs every job that is due, drops those that are not, and ends the thread. A job may hold the
  // last reference to what owns the queue: destroyed by its own thread, that ends by itself.
  ~WorkQueue();

  // Runs after all jobs posted before; never on the caller's thread. A job must not throw.
  void post(Job job) { post_at(Clock::time_point::min(), std::move(job)); }
  // Runs at that time or after; jobs of one time run in the order of posting.
  void post_at(Clock::time_point due, Job job);
  // Runs the job and waits until it has. Never call it from a job.
  void run(Job job);

  // At once if the thread runs, else when it starts. kSystem, with the placement unchanged, where
  // the kernel refuses it.
  Result<void> place(const Placement& placement);
  Placement placement() const;

 private:
  // Outlives the queue for as long as the thread runs.
  struct State {
    explicit State(std::string thread_name) : name(std::move(thread_name)) {}
    const std::string name;
    std::mutex mutex;
    std::condition_variable wake;
    std::multimap<Clock::time_point, Job> jobs;
    Placement placement;
    bool ending = false;
  };
  static void work(const std::shared_ptr<State>& state);
  static Result<void> apply(const Placement& placement, pthread_t thread);

  const std::shared_ptr<State> state_;
  std::thread thread_;  // under the mutex until the queue is destroyed
};

}  // namespace efivarium::base
