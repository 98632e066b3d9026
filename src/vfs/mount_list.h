// MountList: mounts in an order, which a mount joins and leaves without allocation.
#pragma once

#include <cstddef>
#include <iterator>

namespace efivarium::vfs {

class Mount;

struct MountLink {
  Mount* next = nullptr;
  Mount* previous = nullptr;
};

// kLink: the member of Mount that this list is made of; a mount is in one such list at a time.
template <MountLink Mount::*kLink>
class MountList {
 public:
  class Iterator {
   public:
    using value_type = Mount*;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(Mount* at) : at_(at) {}
    Mount* operator*() const { return at_; }
    Iterator& operator++() {
      at_ = (at_->*kLink).next;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Mount* at_ = nullptr;
  };

  MountList() = default;
  MountList(const MountList&) = delete;
  MountList& operator=(const MountList&) = delete;

  Iterator begin() const { return Iterator(ends_.next); }
  Iterator end() const { return Iterator(); }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  // nullptr where it is empty.
  Mount* front() const { return ends_.next; }
  Mount* back() const { return ends_.previous; }

  // where: nullptr for the end.
  void insert(Mount* where, Mount& mount) {
    MountLink& link = mount.*kLink;
    link = {where, previous_of(where)};
    next_of(link.previous) = previous_of(where) = &mount;
    ++size_;
  }
  void push_back(Mount& mount) { insert(nullptr, mount); }
  void erase(Mount& mount) {
    const MountLink link = mount.*kLink;
    next_of(link.previous) = link.next;
    previous_of(link.next) = link.previous;
    --size_;
  }

 private:
  // nullptr: beyond the ends.
  Mount*& next_of(Mount* mount) { return mount == nullptr ? ends_.next : (mount->*kLink).next; }
  Mount*& previous_of(Mount* mount) {
    return mount == nullptr ? ends_.previous : (mount->*kLink).previous;
  }

  MountLink ends_;  // the first, and the last
  std::size_t size_ = 0;
};

}  // namespace efivarium::vfs
