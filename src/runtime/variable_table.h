// VariableTable: the variables that the runtime shows, as readers and the one writer see them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "efivarium/variable.h"
#include "rcu/hash_table.h"

namespace efivarium::runtime {

// One value of one variable. Readers never see it change: a new value is a new entry.
class TableEntry final : public rcu::HashNode {
 public:
  explicit TableEntry(Variable&& from) : variable(std::move(from)) {}
  const Variable variable;

 private:
  friend class VariableTable;
  std::atomic<TableEntry*> next_ = nullptr;  // stays as it was when the entry is taken out
  TableEntry* previous_ = nullptr;           // the writer's
};

// Look-ups and walks are lock-free in a ReadSection; one writer at a time. The order is that of
// creation, and an update moves a variable to the end, as it does in firmware. Volatile variables
// come before non-volatile ones (edk2, VariableServiceGetNextVariableInternal()).
class VariableTable {
 public:
  VariableTable() = default;
  VariableTable(const VariableTable&) = delete;
  VariableTable& operator=(const VariableTable&) = delete;
  ~VariableTable();

  const TableEntry* find(const rcu::ReadSection& section, const VariableKey& key) const;
  const TableEntry* first(const rcu::ReadSection& section) const;
  // What follows an entry found in the same section.
  const TableEntry* after(const rcu::ReadSection& section, const TableEntry& entry) const;

  // Shows this value in place of whatever the key had.
  void publish(Variable variable);
  void remove(const VariableKey& key);
  std::size_t count() const { return table_.count(); }

 private:
  struct List {
    std::atomic<TableEntry*> first = nullptr;
    TableEntry* last = nullptr;
  };
  static std::uint64_t hash(const VariableKey& key) { return std::hash<VariableKey>{}(key); }
  List& list_of(const TableEntry& entry);
  void take_out(TableEntry& entry);

  rcu::HashTable<TableEntry> table_;
  List volatile_;
  List non_volatile_;
};

}  // namespace efivarium::runtime
