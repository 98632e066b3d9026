#include "runtime/authentication.h"

#include <algorithm>
#include <array>

#include "efi/efi_time.h"

namespace efivarium::runtime {
namespace {

constexpr std::uint32_t kCertificateHeaderSize = 24;  // WIN_CERTIFICATE_UEFI_GUID without data

bool is_key(const VariableKey& key) {
  const auto is_one_of = [&](std::initializer_list<std::u16string_view> names) {
    return std::ranges::find(names, std::u16string_view(key.name.units())) != names.end();
  };
  return (key.vendor == kGlobalVariableGuid && is_one_of({u"PK", u"KEK"})) ||
         (key.vendor == kImageSecurityGuid && is_one_of({u"db", u"dbx", u"dbt"}));
}

}  // namespace

Result<ByteView> split_descriptor(Attributes attributes, ByteView data) {
  if (!attributes.has(kTimeBasedAuthenticatedWriteAccess)) return data;
  const auto split = [&]() -> Result<ByteView> {
    base::ByteReader reader(data);
    EFIVARIUM_TRY(reader.skip(efi::kTimeSize));
    EFIVARIUM_TRY(const std::uint32_t length, reader.u32());
    if (length < kCertificateHeaderSize) return fail(Code::kCorrupt, "too short");
    EFIVARIUM_TRY(reader.skip(length - sizeof length));
    return reader.rest();
  };
  const Result<ByteView> payload = split();
  if (payload) return payload;
  return fail(Code::kSecurityViolation, "the data has no authentication descriptor");
}

Result<void> authenticate(const std::optional<Variable>& existing, const VariableKey& key,
                          Attributes attributes) {
  if (attributes.has(kTimeBasedAuthenticatedWriteAccess)) {
    return fail(Code::kSecurityViolation, "signatures cannot be checked yet");
  }
  if (is_key(key)) {
    return fail(Code::kInvalidParameter, "a key variable is written with a signature");
  }
  if (existing && existing->attributes.has(kTimeBasedAuthenticatedWriteAccess)) {
    return fail(Code::kWriteProtected, "an authenticated variable is written with a signature");
  }
  return {};
}

}  // namespace efivarium::runtime
