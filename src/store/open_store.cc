#include "store/open_store.h"

#include "store/edk2_store.h"
#include "store/image_lock.h"

namespace efivarium::store {

Result<UnreadStore> UnreadStore::open(const std::string& path, base::Access access) {
  EFIVARIUM_TRY(auto device, base::FileDevice::open(path, access));
  EFIVARIUM_TRY(lock_image(device->fd(), access));
  EFIVARIUM_TRY(const Edk2Volume volume, find_volume(*device, kEdk2Layouts));
  return UnreadStore(std::move(device), access, volume);
}

Result<std::unique_ptr<VariableStore>> UnreadStore::read() && {
  EFIVARIUM_TRY(std::unique_ptr<VariableStore> store,
                Edk2Store::open(std::move(device_), access_, volume_));
  return store;
}

Result<std::unique_ptr<VariableStore>> open_store(const std::string& path, base::Access access) {
  EFIVARIUM_TRY(UnreadStore store, UnreadStore::open(path, access));
  return std::move(store).read();
}

}  // namespace efivarium::store
