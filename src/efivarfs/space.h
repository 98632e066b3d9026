// The room that Linux keeps free in a variable store.
#pragma once

#include "runtime/variable_services.h"

namespace efivarium::efivarfs {

// On x86 some machines do not start any more once their store is full, so Linux leaves a rest
// (arch/x86/platform/efi/quirks.c, EFI_MIN_RESERVE).
#if defined(__x86_64__) || defined(__i386__)
inline constexpr std::uint64_t kReservedSpace = 5120;
#else
inline constexpr std::uint64_t kReservedSpace = 0;
#endif

// Whether Linux asks the firmware at all to set so many bytes, name without NUL and data:
// efi_query_variable_store(). kOutOfResources, or what QueryVariableInfo() answered.
Result<void> check_space(runtime::VariableServices& services, Attributes attributes,
                         std::uint64_t size_bytes);

}  // namespace efivarium::efivarfs
