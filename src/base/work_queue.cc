#include "base/work_queue.h"

#include <pthread.h>

#include <charconv>
#include <latch>

#include "base/try.h"

namespace efivarium::base {

Result<cpu_set_t> Placement::parse_cpus(std::string_view list) {
  const auto bad = [] { return fail(Code::kInvalidParameter, "CPUs are a list such as 0-2:5"); };
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  const char* at = list.data();
  const char* const end = at + list.size();
  while (true) {
    unsigned first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc{}) return bad();
    unsigned last = first;
    if (next != end && *next == '-') {
      const auto range = std::from_chars(next + 1, end, last);
      if (range.ec != std::errc{}) return bad();
      next = range.ptr;
    }
    if (last < first || last >= CPU_SETSIZE) return bad();
    for (unsigned cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, &cpus);
    if (next == end) return cpus;
    if (*next != ':' && *next != ',') return bad();
    at = next + 1;
  }
}

std::string Placement::to_text(const cpu_set_t& cpus) {
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &cpus)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cpus)) ++last;
    text += (text.empty() ? "" : ":") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->wake.notify_one();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void WorkQueue::post_at(Clock::time_point due, Job job) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->jobs.emplace(due, std::move(job));
    if (!thread_.joinable()) thread_ = std::thread(work, state_);
  }
  state_->wake.notify_one();
}

void WorkQueue::run(Job job) {
  std::latch done(1);
  post([&] {
    job();
    done.count_down();
  });
  done.wait();
}

void WorkQueue::work(const std::shared_ptr<State>& state) {
  ::pthread_setname_np(::pthread_self(), state->name.substr(0, 15).c_str());
  std::unique_lock lock(state->mutex);
  // What cannot be had any more since place() was asked is no reason not to work.
  (void)apply(state->placement, ::pthread_self());
  while (true) {
    if (state->jobs.empty()) {
      if (state->ending) return;
      state->wake.wait(lock);
      continue;
    }
    const auto next = state->jobs.begin();
    if (const Clock::time_point due = next->first; due > Clock::now()) {
      if (state->ending) return;
      state->wake.wait_until(lock, due);
      continue;
    }
    Job job = std::move(next->second);
    state->jobs.erase(next);
    lock.unlock();
    job();
    job = nullptr;  // what it holds goes outside the lock
    lock.lock();
  }
}

Result<void> WorkQueue::apply(const Placement& placement, pthread_t thread) {
  cpu_set_t cpus = placement.cpus;
  if (CPU_COUNT(&cpus) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &cpus);
  }
  if (const int error = ::pthread_setaffinity_np(thread, sizeof cpus, &cpus); error != 0) {
    return std::unexpected(Error::system(error, "cannot run on these CPUs"));
  }
  const sched_param parameter{.sched_priority = placement.priority};
  if (const int error = ::pthread_setschedparam(thread, placement.policy, &parameter); error != 0) {
    return std::unexpected(Error::system(error, "cannot use this scheduling policy"));
  }
  return {};
}

Result<void> WorkQueue::place(const Placement& placement) {
  const std::lock_guard lock(state_->mutex);
  if (thread_.joinable()) {
    if (auto applied = apply(placement, thread_.native_handle()); !applied) {
      (void)apply(state_->placement, thread_.native_handle());
      return applied;
    }
  } else {
    // Tried on a thread of its own, so that a refusal is told now and not with the first job.
    Result<void> applied;
    std::thread([&] { applied = apply(placement, ::pthread_self()); }).join();
    EFIVARIUM_TRY(applied);
  }
  state_->placement = placement;
  return {};
}

Placement WorkQueue::placement() const {
  const std::lock_guard lock(state_->mutex);
  return state_->placement;
}

}  // namespace efivarium::base
