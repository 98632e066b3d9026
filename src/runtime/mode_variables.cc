#include "runtime/mode_variables.h"

#include "base/byte_writer.h"
#include "runtime/well_known.h"

namespace efivarium::runtime {
namespace {

// What edk2 verifies: SHA-1, SHA-256, SHA-384, SHA-512, RSA-2048, X.509 (UEFI 2.10, 32.4.1).
constexpr std::array kSignatureTypes = {
    Guid::of("826ca512-cf10-4ac9-b187-be01496631bd"),
    Guid::of("c1c41626-504c-4092-aca9-41f936934328"),
    Guid::of("ff3e5307-9fd0-48c9-85f1-8ad56c701e01"),
    Guid::of("093e0fae-a6c4-4f50-9f1b-d41e2b89c19a"),
    Guid::of("3c5766e8-269c-4e34-aa14-ed776e85b3b6"),
    Guid::of("a5c059a1-94e4-4aa7-87b5-ab155c2bf072"),
};

VariableKey key_of(const Guid& vendor, const char16_t* name) {
  return {vendor, *VariableName::from_units(name)};
}

// The only byte of a stored variable, or what stands for it while it is not there.
std::uint8_t flag(const VariableTable& stored, const VariableKey& key, std::uint8_t otherwise) {
  const rcu::ReadSection section;
  const TableEntry* entry = stored.find(section, key);
  return entry == nullptr || entry->variable.data.empty() ? otherwise : entry->variable.data[0];
}

}  // namespace

std::vector<Variable> mode_variables(const VariableTable& stored, ModeVariables modes) {
  std::vector<Variable> supplied;
  const auto supply = [&](const char16_t* name, Bytes data) {
    supplied.push_back({key_of(kGlobalVariableGuid, name),
                        kBootserviceAccess | kRuntimeAccess,
                        {},
                        std::move(data)});
  };
  const auto is_there = [&](const VariableKey& key) {
    const rcu::ReadSection section;
    return stored.find(section, key) != nullptr;
  };
  const bool user_mode = is_there(key_of(kGlobalVariableGuid, u"PK"));
  const std::uint8_t enabled = flag(stored, key_of(kSecureBootEnableGuid, u"SecureBootEnable"), 1);
  supply(u"SetupMode", {static_cast<std::uint8_t>(user_mode ? 0 : 1)});
  base::ByteWriter types;
  for (const Guid& type : kSignatureTypes) types.guid(type);
  supply(u"SignatureSupport", std::move(types).take());
  supply(u"SecureBoot", {static_cast<std::uint8_t>(user_mode && enabled == 1 ? 1 : 0)});
  supply(u"VendorKeys", {flag(stored, key_of(kVendorKeysNvGuid, u"VendorKeysNv"), 1)});
  if (modes == ModeVariables::kUefi) {
    supply(u"AuditMode", {0});
    supply(u"DeployedMode", {0});
  }
  return supplied;
}

}  // namespace efivarium::runtime
