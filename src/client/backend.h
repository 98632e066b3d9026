// Backend: where a client reads and writes variables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "efivarium/variable.h"

namespace efivarium::client {

// Bytes of the store behind a backend, as far as it tells.
struct Capacity {
  std::uint64_t total = 0;
  std::uint64_t used = 0;         // by variables that exist
  std::uint64_t unreclaimed = 0;  // by deleted and replaced ones; comes back on its own or not
  std::uint64_t free = 0;         // for new ones
};

enum class WriteMode : std::uint8_t { kReplace, kAppend };

// A variable that could not be read does not hide the others.
struct Listing {
  std::vector<Variable> variables;
  std::vector<std::string> problems;  // a line for each thing that could not be read
};

class Backend {
 public:
  virtual ~Backend() = default;
  // In no particular order.
  virtual Result<Listing> list() = 0;
  // kNotFound.
  virtual Result<Variable> read(const VariableKey& key) = 0;
  virtual Result<void> write(const VariableKey& key, Attributes attributes, ByteView data,
                             WriteMode mode) = 0;
  // kNotFound.
  virtual Result<void> remove(const VariableKey& key) = 0;
  virtual Result<Capacity> capacity() = 0;
};

}  // namespace efivarium::client
