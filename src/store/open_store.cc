#include "store/open_store.h"

#include "store/edk2_store.h"
#include "store/image_lock.h"

namespace efivarium::store {

Result<std::unique_ptr<VariableStore>> open_store(const std::string& path, base::Access access) {
  EFIVARIUM_TRY(auto device, base::FileDevice::open(path, access));
  EFIVARIUM_TRY(lock_image(device->fd(), access));
  EFIVARIUM_TRY(std::unique_ptr<VariableStore> store, Edk2Store::open(std::move(device), access));
  return store;
}

}  // namespace efivarium::store
