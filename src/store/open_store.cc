#include "store/open_store.h"

#include "store/edk2_store.h"
#include "store/image_lock.h"

namespace efivarium::store {

Result<UnreadStore> UnreadStore::open(const std::string& path, base::Access access) {
  EFIVARIUM_TRY(auto device, base::FileDevice::open(path, access));
  EFIVARIUM_TRY(lock_image(device->fd(), access));
  // Most begin with one; where else it may be, or what else it may be, takes more looking.
  if (!begins_with_volume(*device, kEdk2Layouts)) {
    EFIVARIUM_TRY(find_volume(*device, kEdk2Layouts));
  }
  return UnreadStore(std::move(device), access);
}

Result<std::unique_ptr<VariableStore>> UnreadStore::read() && {
  EFIVARIUM_TRY(std::unique_ptr<VariableStore> store, Edk2Store::open(std::move(device_), access_));
  return store;
}

Result<std::unique_ptr<VariableStore>> open_store(const std::string& path, base::Access access) {
  EFIVARIUM_TRY(UnreadStore store, UnreadStore::open(path, access));
  return std::move(store).read();
}

}  // namespace efivarium::store
