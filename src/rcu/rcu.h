// Read-copy update: read sections, grace periods, and retirement of what readers may still see.
//
// The flavour is liburcu's memb: a reader pays two thread-local stores, a writer one
// membarrier(2) or two. Threads register themselves on their first read section and leave when
// they end. Writers publish finished objects and never edit what readers can reach; what is taken
// out is retired and freed after a grace period.
//
// Inside a read section: no lock, no I/O, no waiting, no synchronize().
#pragma once

#if !defined(_LGPL_SOURCE) && !defined(__SANITIZE_THREAD__)
#define _LGPL_SOURCE  // the read side in line
#endif
#include <urcu/urcu-memb.h>

#include <cstdint>

namespace efivarium::rcu {

// The sanitizer cannot see the barriers inside liburcu; these say the same to it.
#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
inline void published(void* object) { __tsan_release(object); }
inline void observed(void* object) { __tsan_acquire(object); }
#else
inline void published(void*) {}
inline void observed(void*) {}
#endif
inline char grace_period_mark;  // stands for "all sections that began before" in those calls

namespace detail {
void register_thread();
inline thread_local constinit bool registered = false;
}  // namespace detail

// While one lives, nothing that its thread reads through a Pointer or a HashTable is freed.
class [[nodiscard]] ReadSection {
 public:
  ReadSection() noexcept {
    if (!detail::registered) detail::register_thread();
    urcu_memb_read_lock();
  }
  ~ReadSection() {
    published(&grace_period_mark);
    urcu_memb_read_unlock();
  }
  ReadSection(const ReadSection&) = delete;
  ReadSection& operator=(const ReadSection&) = delete;
};

// How a writer waits until every read section that is open has ended.
enum class GracePeriod : std::uint8_t {
  kExpedited,  // at once: interrupts each CPU that runs a thread of this process
  kNormal,     // with all others that wait, about every 10 ms
};

// Waits until every read section that is open now has ended. Not inside one.
void synchronize(GracePeriod kind = GracePeriod::kExpedited);

// From now on every wait is a normal one, whatever was asked for: for hosts whose CPUs must not be
// interrupted. As /sys/kernel/rcu_normal.
void set_normal(bool normal);

// The waits of this process that have ended.
struct Waits {
  std::uint64_t expedited = 0, normal = 0;
};
Waits waits();

class RetireTogether;

// Base of what is freed after a grace period.
class Retirable {
 public:
  Retirable() { link_.object = this; }
  Retirable(const Retirable&) = delete;
  Retirable& operator=(const Retirable&) = delete;
  virtual ~Retirable() = default;

  // Deletes the object once all read sections of now have ended; returns at once. Call it once,
  // when no reader can find the object any more.
  void retire() noexcept;

 private:
  friend class RetireTogether;
  // The address of the head leads back to the object without offsetof into a derived class.
  struct Link {
    rcu_head head;
    Retirable* object;
    Link* next;  // of those that are retired together
  };
  static void queue(Link* first) noexcept;
  Link link_{};
};

// What its thread retires while one lives goes to the library at once when it ends, as one.
class RetireTogether {
 public:
  RetireTogether() noexcept;
  ~RetireTogether();
  RetireTogether(const RetireTogether&) = delete;
  RetireTogether& operator=(const RetireTogether&) = delete;

 private:
  friend class Retirable;
  RetireTogether* const outer_;
  Retirable::Link* first_ = nullptr;
};

// Waits until everything retired before has been deleted. Not inside a read section.
void barrier();

}  // namespace efivarium::rcu
