#include "rcu/rcu.h"

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

void synchronize() {
  if (!detail::registered) detail::register_thread();
  urcu_memb_synchronize_rcu();
  observed(&grace_period_mark);
}

void Retirable::retire() noexcept {
  if (!detail::registered) detail::register_thread();
  published(&link_);
  urcu_memb_call_rcu(&link_.head, [](rcu_head* head) {
    detail::registered = true;  // the library has done it for its own thread
    observed(head);
    observed(&grace_period_mark);
    delete reinterpret_cast<Link*>(head)->object;
  });
}

void barrier() {
  if (!detail::registered) detail::register_thread();
  urcu_memb_barrier();
}

}  // namespace efivarium::rcu
