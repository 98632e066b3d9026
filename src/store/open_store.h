// Opening a store of whatever format.
#pragma once

#include <memory>
#include <string>

#include "base/device.h"
#include "store/variable_store.h"

namespace efivarium::store {

// A store whose variables have not been read yet.
class UnreadStore {
 public:
  // Opens and locks the file or block device, for as long as the store lives, and looks whether
  // there is a store in it. kLocked if somebody uses it in a way that does not allow ours,
  // kUnsupported for a format that is not known, and what find_volume() says.
  static Result<UnreadStore> open(const std::string& path, base::Access access);
  // Reads the rest. What the format's own open() says.
  Result<std::unique_ptr<VariableStore>> read() &&;

 private:
  UnreadStore(std::unique_ptr<base::FileDevice> device, base::Access access)
      : device_(std::move(device)), access_(access) {}

  std::unique_ptr<base::FileDevice> device_;
  base::Access access_;
};

Result<std::unique_ptr<VariableStore>> open_store(const std::string& path, base::Access access);

}  // namespace efivarium::store
