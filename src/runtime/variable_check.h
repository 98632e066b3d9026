// What firmware wants of the variables that the UEFI specification defines.
#pragma once

#include "base/byte_reader.h"
#include "efivarium/variable.h"

namespace efivarium::runtime {

// edk2 VarCheckLib and VarCheckUefiLib, as after EndOfDxe: attributes, sizes and contents of the
// variables in the global, image-security and hardware-error GUIDs, in which nobody may make up
// others. attributes and data are those of a SetVariable call, without authentication descriptor.
// kWriteProtected for what only firmware writes, kInvalidParameter for all else.
Result<void> check_variable(const VariableKey& key, Attributes attributes, ByteView data);

}  // namespace efivarium::runtime
