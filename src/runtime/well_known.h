// Vendor GUIDs and rules that several parts of the runtime know.
#pragma once

#include "efivarium/attributes.h"
#include "efivarium/guid.h"

namespace efivarium::runtime {

// edk2: MdeModulePkg and SecurityPkg, Include/Guid.
inline constexpr Guid kSecureBootEnableGuid = Guid::of("f0a30bc7-af08-4556-99c4-001009c93a44");
inline constexpr Guid kCustomModeGuid = Guid::of("c076ec0c-7028-4399-a072-71ee5c448b9f");
inline constexpr Guid kVendorKeysNvGuid = Guid::of("9073e4e0-60ec-4b6e-9903-4c223c260f3c");
inline constexpr Guid kCertDbGuid = Guid::of("d9bee56e-75dc-49d9-b4d7-b534210f637a");
inline constexpr Guid kVarErrorFlagGuid = Guid::of("04b37fe8-f6ae-480b-bdd5-37d98c5e89aa");

// UEFI 2.10, SetVariable(): no data without APPEND_WRITE, or no access attribute.
constexpr bool is_deletion(Attributes attributes, std::size_t data_size) {
  return (data_size == 0 && !attributes.has(kAppendWrite)) ||
         !attributes.has_any(kBootserviceAccess | kRuntimeAccess);
}

}  // namespace efivarium::runtime
