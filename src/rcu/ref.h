// Ref<T>: shared ownership of an object that RCU readers may also come across.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "rcu/hash_table.h"

namespace efivarium::rcu {

// Base of counted objects. A new one belongs to the Ref that adopts it; when the last Ref goes it
// is retired. A reader that finds it in a read section takes a Ref with Ref::from_reader().
class Counted : public HashNode {
 private:
  template <typename>
  friend class Ref;
  void dispose() { retire(); }
  mutable std::atomic<std::uint32_t> references_{1};
};

// The same for objects that no reader ever comes across: deleted at once with the last Ref.
class PrivatelyCounted {
 public:
  PrivatelyCounted() = default;
  PrivatelyCounted(const PrivatelyCounted&) = delete;
  PrivatelyCounted& operator=(const PrivatelyCounted&) = delete;
  virtual ~PrivatelyCounted() = default;

 private:
  template <typename>
  friend class Ref;
  void dispose() { delete this; }
  mutable std::atomic<std::uint32_t> references_{1};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) object_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename Derived>
  Ref(Ref<Derived>&& other) noexcept : object_(other.release()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { reset(); }

  // Takes over the one reference that a new object is born with.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // One more reference to an object that somebody else surely holds.
  static Ref share(T& object) {
    object.references_.fetch_add(1, std::memory_order_relaxed);
    return adopt(&object);
  }
  // A reference to what a reader found; empty if the last one has gone meanwhile.
  static Ref from_reader(const ReadSection&, T* object) {
    if (object == nullptr) return {};
    std::uint32_t seen = object->references_.load(std::memory_order_relaxed);
    while (seen != 0) {
      if (object->references_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                                    std::memory_order_relaxed)) {
        return adopt(object);
      }
    }
    return {};
  }

  void reset() {
    T* object = std::exchange(object_, nullptr);
    if (object != nullptr && object->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      object->dispose();
    }
  }
  // Gives the reference away to the caller.
  T* release() { return std::exchange(object_, nullptr); }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref&, const Ref&) = default;

 private:
  T* object_ = nullptr;
};

}  // namespace efivarium::rcu
