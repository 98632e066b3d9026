// HashTable: liburcu's lock-free hash table, typed.
#pragma once

#include "rcu/rcu.h"

#include <urcu/rculfhash.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace efivarium::rcu {

// Base of what stands in one HashTable.
class HashNode : public Retirable {
 private:
  template <typename>
  friend class HashTable;
  struct HashLink {
    cds_lfht_node node;
    HashNode* object;
  };
  HashLink link_{};
};

// T derives from HashNode. Look-ups take a ReadSection and no lock; changes come from one writer
// at a time, outside of read sections. The table does not own what stands in it, and is empty when
// it is destroyed.
template <typename T>
class HashTable {
 public:
  HashTable() = default;
  HashTable(const HashTable&) = delete;
  HashTable& operator=(const HashTable&) = delete;
  ~HashTable() {
    if (table_ != nullptr) cds_lfht_destroy(table_, nullptr);
  }

  // The first object of that hash for which match(const T&) is true; lives as long as the section.
  template <typename Match>
  T* find(const ReadSection&, std::uint64_t hash, const Match& match) const {
    struct Call {
      const Match& match;
      static int run(cds_lfht_node* node, const void* self) {
        return static_cast<const Call*>(self)->match(*object_of(node)) ? 1 : 0;
      }
    };
    const Call call{match};
    cds_lfht* const table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return nullptr;
    cds_lfht_iter iterator{};
    cds_lfht_lookup(table, hash, &Call::run, &call, &iterator);
    cds_lfht_node* node = cds_lfht_iter_get_node(&iterator);
    return node == nullptr ? nullptr : object_of(node);
  }

  void add(std::uint64_t hash, T& object) {
    HashNode& node = object;
    node.link_.object = &node;
    cds_lfht_node_init(&node.link_.node);
    published(&node);
    if (table_ == nullptr) {
      size_ = std::make_unique<Size>();
      table_ = cds_lfht_new_flavor(kFewest, kFewest, 0, 0, &urcu_memb_flavor, nullptr);
    }
    {
      const ReadSection section;
      cds_lfht_add(table_, hash, &node.link_.node);
    }
    // One a bucket on average at most; grown by the writer, and not by a thread of the library.
    if (++size_->objects > size_->buckets) cds_lfht_resize(table_, size_->buckets *= 4);
  }

  // False if it did not stand here (any more). The caller retires it.
  bool remove(T& object) {
    HashNode& node = object;
    const ReadSection section;
    if (cds_lfht_del(table_, &node.link_.node) != 0) return false;
    --size_->objects;
    return true;
  }

  // Calls visit(T&) for each.
  template <typename Visit>
  void for_each(const ReadSection&, const Visit& visit) const {
    cds_lfht* const table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return;
    cds_lfht_iter iterator{};
    for (cds_lfht_first(table, &iterator); cds_lfht_node* node = cds_lfht_iter_get_node(&iterator);
         cds_lfht_next(table, &iterator)) {
      visit(*object_of(node));
    }
  }

  std::size_t count() const { return size_ ? size_->objects : 0; }

 private:
  static constexpr std::size_t kFewest = 16;  // a power of two, as all sizes of the table
  static T* object_of(cds_lfht_node* node) {
    HashNode* object = reinterpret_cast<HashNode::HashLink*>(node)->object;
    observed(object);
    return static_cast<T*>(object);
  }

  std::atomic<cds_lfht*> table_ = nullptr;  // made with the first object: most stay empty
  // The writer's, in a cache line of its own.
  struct alignas(64) Size {
    std::size_t objects = 0, buckets = kFewest;
  };
  std::unique_ptr<Size> size_;
};

}  // namespace efivarium::rcu
