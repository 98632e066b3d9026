// Authenticated writes: what there is of them before signatures can be checked.
#pragma once

#include <optional>

#include "base/byte_reader.h"
#include "efivarium/variable.h"

namespace efivarium::runtime {

// The data behind EFI_VARIABLE_AUTHENTICATION_2 where the attributes call for one, else all of it
// (UEFI 2.10, Using the EFI_VARIABLE_AUTHENTICATION_2 descriptor). kSecurityViolation where the
// descriptor is not there or does not fit.
Result<ByteView> split_descriptor(Attributes attributes, ByteView data);

// Whether this write to the variable, existing or not, needs no signature. Nothing that needs one
// is ever accepted: kSecurityViolation. Without APPEND or attributes a key or a private
// authenticated variable cannot be deleted: kInvalidParameter and kWriteProtected, as in edk2.
Result<void> authenticate(const std::optional<Variable>& existing, const VariableKey& key,
                          Attributes attributes);

}  // namespace efivarium::runtime
