// What Linux knows about variables by name: which may be removed, and what some must hold.
#pragma once

#include "base/byte_reader.h"
#include "efivarium/variable.h"

namespace efivarium::efivarfs {

// Whether files of the variable start without the immutable flag (Linux 7.3, fs/efivarfs/vars.c,
// efivar_variable_is_removable()).
bool is_removable(const VariableKey& key);

// Whether Linux lets this data through to the firmware (efivar_validate()). Its matcher is handed a
// length that no exact name can have, so that since 2016 only Boot* and Driver* are looked at; so
// it is here. kInvalidParameter.
Result<void> validate(const VariableKey& key, ByteView data);

}  // namespace efivarium::efivarfs
