// VariableStore: a persisted set of variables, whatever its format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "efivarium/result.h"
#include "efivarium/variable.h"

namespace efivarium::store {

// Bytes of a store's region for variables.
struct Space {
  std::uint64_t storage = 0;      // what there is for records altogether
  std::uint64_t live = 0;         // taken by variables, headers and padding included
  std::uint64_t unreclaimed = 0;  // taken by dead records until the next reclaim
};

// What one variable may measure, name with its NUL and data together.
struct Limits {
  std::uint64_t record_overhead = 0;    // header bytes of a record, before name and data
  std::uint64_t max_variable = 0;       // ordinary non-volatile
  std::uint64_t max_authenticated = 0;  // with an authenticated-write attribute
  std::uint64_t max_volatile = 0;       // kept in memory by the firmware, not in the store
  std::uint64_t volatile_storage = 0;
};

// Whether a write may move what is there to get room.
enum class Reclaim : std::uint8_t {
  kAllowed,    // as firmware does at boot time
  kForbidden,  // as firmware does at run time: kOutOfResources instead
};

// Not thread-safe: one caller at a time. Every change is durable when it returns, and a power cut
// inside it leaves the old or the new value of that variable and all others as they were.
class VariableStore {
 public:
  virtual ~VariableStore() = default;

  // All variables, in the store's order.
  virtual Result<std::vector<Variable>> load() = 0;

  // Creates the variable, or gives it this value, attributes and time. The attributes hold
  // kNonVolatile and not kAppendWrite, the data is not empty: that is the caller's promise.
  // kOutOfResources if it does not fit, kWriteProtected if the store is open for reading only.
  virtual Result<void> put(const Variable& variable, Reclaim reclaim) = 0;
  // kNotFound if there is none.
  virtual Result<void> remove(const VariableKey& key) = 0;
  // Gives back the space of dead records, now.
  virtual Result<void> compact() = 0;

  virtual Space space() const = 0;
  virtual Limits limits() const = 0;
  virtual bool writable() const = 0;
  // A line for each thing that keeps part of the store from being read; empty for a sound one.
  virtual std::vector<std::string> problems() const { return {}; }
};

}  // namespace efivarium::store
