// Whether bytes are a device path, or a load option.
#pragma once

#include "base/byte_reader.h"
#include "efivarium/device_path.h"

namespace efivarium::efi {

// As DevicePath::parse(), and the reader stands behind it.
Result<DevicePath> read_device_path(base::ByteReader& reader);
// Nodes of at least 4 bytes that stay inside, up to an end-entire node of any length; what follows it
// is ignored (UEFI 2.10, Generic Device Path Structures; edk2 IsDevicePathValid()).
Result<void> check_device_path(ByteView bytes);

// EFI_LOAD_OPTION: attributes, path length, description with its NUL, a device path inside that
// length, optional data (UEFI 2.10, Load Options).
Result<void> check_load_option(ByteView bytes);

}  // namespace efivarium::efi
