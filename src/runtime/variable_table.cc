#include "runtime/variable_table.h"

namespace efivarium::runtime {

VariableTable::~VariableTable() {
  for (List* list : {&volatile_, &non_volatile_}) {
    while (TableEntry* entry = list->first.load(std::memory_order_relaxed)) take_out(*entry);
  }
}

const TableEntry* VariableTable::find(const rcu::ReadSection& section,
                                      const VariableKey& key) const {
  return table_.find(section, hash(key),
                     [&](const TableEntry& entry) { return entry.variable.key == key; });
}

const TableEntry* VariableTable::first(const rcu::ReadSection&) const {
  const TableEntry* entry = volatile_.first.load(std::memory_order_acquire);
  return entry != nullptr ? entry : non_volatile_.first.load(std::memory_order_acquire);
}

const TableEntry* VariableTable::after(const rcu::ReadSection&, const TableEntry& entry) const {
  const TableEntry* next = entry.next_.load(std::memory_order_acquire);
  if (next != nullptr || entry.variable.attributes.has(kNonVolatile)) return next;
  return non_volatile_.first.load(std::memory_order_acquire);
}

void VariableTable::publish(Variable variable) {
  auto entry = std::make_unique<TableEntry>(std::move(variable));
  const VariableKey& key = entry->variable.key;
  TableEntry* old = nullptr;
  {
    const rcu::ReadSection section;
    old = const_cast<TableEntry*>(find(section, key));
  }
  List& list = list_of(*entry);
  entry->previous_ = list.last;
  std::atomic<TableEntry*>& link = list.last != nullptr ? list.last->next_ : list.first;
  link.store(entry.get(), std::memory_order_release);
  list.last = entry.get();
  // Between the two a reader finds either value; what it finds is whole.
  table_.add(hash(key), *entry.release());
  if (old != nullptr) take_out(*old);
}

void VariableTable::remove(const VariableKey& key) {
  TableEntry* entry = nullptr;
  {
    const rcu::ReadSection section;
    entry = const_cast<TableEntry*>(find(section, key));
  }
  if (entry != nullptr) take_out(*entry);
}

VariableTable::List& VariableTable::list_of(const TableEntry& entry) {
  return entry.variable.attributes.has(kNonVolatile) ? non_volatile_ : volatile_;
}

void VariableTable::take_out(TableEntry& entry) {
  List& list = list_of(entry);
  TableEntry* const next = entry.next_.load(std::memory_order_relaxed);
  std::atomic<TableEntry*>& link = entry.previous_ != nullptr ? entry.previous_->next_ : list.first;
  link.store(next, std::memory_order_release);
  if (next != nullptr) {
    next->previous_ = entry.previous_;
  } else {
    list.last = entry.previous_;
  }
  table_.remove(entry);
  entry.retire();
}

}  // namespace efivarium::runtime
