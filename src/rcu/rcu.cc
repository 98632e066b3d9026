#include "rcu/rcu.h"

#include <atomic>
#include <future>
#include <memory>
#include <utility>

#if defined(__SANITIZE_THREAD__)
// liburcu's own memory traffic, which its barriers order, is not for the sanitizer to judge.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "called_from_lib:liburcu-memb.so\ncalled_from_lib:liburcu-cds.so\nrace:liburcu-\n";
}
#endif

namespace efivarium::rcu {
namespace detail {
namespace {

struct Registration {
  Registration() { urcu_memb_register_thread(); }
  ~Registration() {
    urcu_memb_unregister_thread();
    registered = false;
  }
};

}  // namespace

void register_thread() {
  thread_local const Registration registration;
  registered = true;
}

}  // namespace detail

namespace {

constinit std::atomic<bool> normal_only = false;
constinit std::atomic<std::uint64_t> expedited_waits = 0, normal_waits = 0;

// The library's thread takes all that has come, waits once for all, and then pauses for 10 ms.
void wait_with_others() {
  struct Waiter {
    rcu_head head;
    std::promise<void> done;
  };
  auto* const waiter = new Waiter();
  const std::future<void> done = waiter->done.get_future();
  urcu_memb_call_rcu(&waiter->head, [](rcu_head* head) {
    const std::unique_ptr<Waiter> ended(reinterpret_cast<Waiter*>(head));
    detail::registered = true;  // the library has done it for its own thread
    ended->done.set_value();
  });
  done.wait();
}

}  // namespace

void synchronize(GracePeriod kind) {
  if (!detail::registered) detail::register_thread();
  if (kind == GracePeriod::kNormal || normal_only.load(std::memory_order_relaxed)) {
    wait_with_others();
    normal_waits.fetch_add(1, std::memory_order_relaxed);
  } else {
    urcu_memb_synchronize_rcu();
    expedited_waits.fetch_add(1, std::memory_order_relaxed);
  }
  observed(&grace_period_mark);
}

void set_normal(bool normal) { normal_only.store(normal, std::memory_order_relaxed); }

Waits waits() {
  return {expedited_waits.load(std::memory_order_relaxed),
          normal_waits.load(std::memory_order_relaxed)};
}

namespace {
thread_local constinit RetireTogether* together = nullptr;
}

RetireTogether::RetireTogether() noexcept : outer_(std::exchange(together, this)) {}

RetireTogether::~RetireTogether() {
  together = outer_;
  if (first_ != nullptr) Retirable::queue(first_);
}

void Retirable::retire() noexcept {
  if (together == nullptr) return queue(&link_);
  link_.next = std::exchange(together->first_, &link_);
}

void Retirable::queue(Link* first) noexcept {
  if (!detail::registered) detail::register_thread();
  published(first);
  urcu_memb_call_rcu(&first->head, [](rcu_head* head) {
    detail::registered = true;  // the library has done it for its own thread
    observed(head);
    observed(&grace_period_mark);
    const RetireTogether what_they_held;
    Link* link = reinterpret_cast<Link*>(head);
    while (link != nullptr) {
      Link* const next = link->next;
      delete link->object;
      link = next;
    }
  });
}

void barrier() {
  if (!detail::registered) detail::register_thread();
  urcu_memb_barrier();
}

}  // namespace efivarium::rcu
