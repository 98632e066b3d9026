// The variables that firmware makes up at each start from the state of the Secure Boot keys.
#pragma once

#include <vector>

#include "runtime/variable_services.h"

namespace efivarium::runtime {

// SetupMode, SecureBoot, SignatureSupport, VendorKeys, and with kUefi also AuditMode and
// DeployedMode, in edk2's order (AuthVariableLib, AuthVariableLibInitialize()).
std::vector<Variable> mode_variables(const VariableTable& stored, ModeVariables modes);

}  // namespace efivarium::runtime
