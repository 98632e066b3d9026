#include "efivarfs/space.h"

namespace efivarium::efivarfs {
namespace {

constexpr Guid kDummyGuid = Guid::of("4424ac57-be4b-47dd-9e97-ed50f09f92a9");

// Asks for more than there is, to make the firmware collect its garbage.
void force_reclaim(runtime::VariableServices& services, std::uint64_t remaining) {
  const VariableKey dummy{kDummyGuid, *VariableName::from_units(u"DUMMY")};
  const Bytes zeros(static_cast<std::size_t>(remaining) + 1024);
  if (services.set_variable(dummy, kUsualAttributes, zeros)) {
    (void)services.set_variable(dummy, Attributes(), {});
  }
}

}  // namespace

Result<void> check_space(runtime::VariableServices& services, Attributes attributes,
                         std::uint64_t size_bytes) {
  if (kReservedSpace == 0 || !attributes.has(kNonVolatile)) return {};
  EFIVARIUM_TRY(runtime::VariableInfo info, services.query_variable_info(attributes));
  // Unsigned, as there: what is larger than the rest is left to the firmware to refuse.
  if (info.remaining_storage - size_bytes >= kReservedSpace) return {};
  force_reclaim(services, info.remaining_storage);
  EFIVARIUM_TRY(info, services.query_variable_info(attributes));
  if (info.remaining_storage - size_bytes >= kReservedSpace) return {};
  return fail(Code::kOutOfResources, "the store is full but for the reserve");
}

}  // namespace efivarium::efivarfs
