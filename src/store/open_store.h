// Opening a store of whatever format.
#pragma once

#include <memory>
#include <string>

#include "base/device.h"
#include "store/variable_store.h"

namespace efivarium::store {

// Opens and locks the file or block device, for as long as the store lives. kLocked if somebody
// uses it in a way that does not allow ours, kUnsupported for a format that is not known, and what
// the format's own open() says.
Result<std::unique_ptr<VariableStore>> open_store(const std::string& path, base::Access access);

}  // namespace efivarium::store
