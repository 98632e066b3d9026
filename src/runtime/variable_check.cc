#include "runtime/variable_check.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "efi/load_option.h"
#include "runtime/well_known.h"

namespace efivarium::runtime {
namespace {

enum class Content : std::uint8_t {
  kAny,
  kText,
  kDevicePath,
  kPairs,
  kGuids,
  kLoadOption,
  kKeyOption
};
enum class Writer : std::uint8_t { kAnybody, kFirmware };

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr Attributes kVolatile = kBootserviceAccess | kRuntimeAccess;
constexpr Attributes kAuthenticated = kUsualAttributes | kTimeBasedAuthenticatedWriteAccess;
constexpr Attributes kBootOnly = kNonVolatile | kBootserviceAccess;

struct Property {
  const Guid& vendor;
  std::u16string_view name;  // # stands for a digit of 0-9 A-F
  Attributes attributes;
  std::size_t smallest = 1;
  std::size_t largest = kNoLimit;
  Content content = Content::kAny;
  Writer writer = Writer::kAnybody;
};

constexpr const Guid& kG = kGlobalVariableGuid;
constexpr std::array kProperties = {
    Property{kG, u"LangCodes", kVolatile, 1, kNoLimit, Content::kText},
    Property{kG, u"PlatformLangCodes", kVolatile, 1, kNoLimit, Content::kText},
    Property{kG, u"Lang", kUsualAttributes, 1, kNoLimit, Content::kText},
    Property{kG, u"PlatformLang", kUsualAttributes, 1, kNoLimit, Content::kText},
    Property{kG, u"Timeout", kUsualAttributes, 2, 2},
    Property{kG, u"BootNext", kUsualAttributes, 2, 2},
    Property{kG, u"HwErrRecSupport", kUsualAttributes, 2, 2},
    Property{kG, u"ConIn", kUsualAttributes, 4, kNoLimit, Content::kDevicePath},
    Property{kG, u"ConOut", kUsualAttributes, 4, kNoLimit, Content::kDevicePath},
    Property{kG, u"ErrOut", kUsualAttributes, 4, kNoLimit, Content::kDevicePath},
    Property{kG, u"ConInDev", kVolatile, 4, kNoLimit, Content::kDevicePath},
    Property{kG, u"ConOutDev", kVolatile, 4, kNoLimit, Content::kDevicePath},
    Property{kG, u"ErrOutDev", kVolatile, 4, kNoLimit, Content::kDevicePath},
    Property{kG, u"BootOrder", kUsualAttributes, 2, kNoLimit, Content::kPairs},
    Property{kG, u"DriverOrder", kUsualAttributes, 2, kNoLimit, Content::kPairs},
    Property{kG, u"SysPrepOrder", kUsualAttributes, 2, kNoLimit, Content::kPairs},
    Property{kG, u"BootCurrent", kVolatile, 2, 2},
    Property{kG, u"BootOptionSupport", kVolatile, 4, 4},
    Property{kG, u"PK", kAuthenticated},
    Property{kG, u"KEK", kAuthenticated},
    Property{kG, u"SetupMode", kVolatile, 1, 1, Content::kAny, Writer::kFirmware},
    Property{kG, u"SecureBoot", kVolatile, 1, 1, Content::kAny, Writer::kFirmware},
    Property{kG, u"VendorKeys", kVolatile, 1, 1, Content::kAny, Writer::kFirmware},
    Property{kG, u"SignatureSupport", kVolatile, 16, kNoLimit, Content::kGuids, Writer::kFirmware},
    Property{kG, u"PKDefault", kVolatile, 1, kNoLimit, Content::kAny, Writer::kFirmware},
    Property{kG, u"KEKDefault", kVolatile, 1, kNoLimit, Content::kAny, Writer::kFirmware},
    Property{kG, u"dbDefault", kVolatile, 1, kNoLimit, Content::kAny, Writer::kFirmware},
    Property{kG, u"dbxDefault", kVolatile, 1, kNoLimit, Content::kAny, Writer::kFirmware},
    Property{kG, u"dbtDefault", kVolatile, 1, kNoLimit, Content::kAny, Writer::kFirmware},
    Property{kG, u"OsIndicationsSupported", kVolatile, 8, 8},
    Property{kG, u"OsIndications", kUsualAttributes, 8, 8},
    Property{kG, u"Boot####", kUsualAttributes, 6, kNoLimit, Content::kLoadOption},
    Property{kG, u"Driver####", kUsualAttributes, 6, kNoLimit, Content::kLoadOption},
    Property{kG, u"SysPrep####", kUsualAttributes, 6, kNoLimit, Content::kLoadOption},
    Property{kG, u"PlatformRecovery####", kVolatile, 6, kNoLimit, Content::kLoadOption},
    Property{kG, u"Key####", kUsualAttributes, 10, 22, Content::kKeyOption},
    Property{kImageSecurityGuid, u"db", kAuthenticated},
    Property{kImageSecurityGuid, u"dbx", kAuthenticated},
    Property{kImageSecurityGuid, u"dbt", kAuthenticated},
    Property{kHardwareErrorGuid, u"HwErrRec####", kUsualAttributes | kHardwareErrorRecord},
    Property{kSecureBootEnableGuid, u"SecureBootEnable", kBootOnly, 1, 1},
    Property{kCustomModeGuid, u"CustomMode", kBootOnly, 1, 1},
    Property{kVendorKeysNvGuid, u"VendorKeysNv", kBootOnly | kTimeBasedAuthenticatedWriteAccess, 1,
             1, Content::kAny, Writer::kFirmware},
    Property{kCertDbGuid, u"certdb", kAuthenticated, 1, kNoLimit, Content::kAny, Writer::kFirmware},
    Property{kCertDbGuid, u"certdbv", kVolatile | kTimeBasedAuthenticatedWriteAccess, 1, kNoLimit,
             Content::kAny, Writer::kFirmware},
    Property{kVarErrorFlagGuid, u"VarErrorFlag", kUsualAttributes, 1, 1, Content::kAny,
             Writer::kFirmware},
};

constexpr bool is_upper_hex(char16_t unit) {
  return (unit >= u'0' && unit <= u'9') || (unit >= u'A' && unit <= u'F');
}

bool matches(std::u16string_view pattern, std::u16string_view name) {
  return std::ranges::equal(pattern, name, [](char16_t wanted, char16_t unit) {
    return wanted == u'#' ? is_upper_hex(unit) : wanted == unit;
  });
}

bool content_is_right(Content content, ByteView data) {
  switch (content) {
    case Content::kAny:
      return true;
    case Content::kText:
      return std::ranges::find(data, 0) != data.end();
    case Content::kDevicePath:
      return efi::check_device_path(data).has_value();
    case Content::kPairs:
      return data.size() % 2 == 0;
    case Content::kGuids:
      return data.size() % 16 == 0;
    case Content::kLoadOption:
      return efi::check_load_option(data).has_value();
    case Content::kKeyOption:
      return (data.size() - 10) % 4 == 0;  // EFI_KEY_OPTION and its keys
  }
  return false;
}

Result<void> check_property(const Property& property, Attributes attributes, ByteView data) {
  if (attributes.without(kAppendWrite) != property.attributes) {
    return fail(Code::kInvalidParameter, "the variable has other attributes by specification");
  }
  if (data.empty()) return {};  // append of nothing
  if (data.size() < property.smallest || data.size() > property.largest) {
    return fail(Code::kInvalidParameter, "the variable has another size by specification");
  }
  if (!content_is_right(property.content, data)) {
    return fail(Code::kInvalidParameter, "the data is not what the variable is specified to hold");
  }
  return {};
}

}  // namespace

Result<void> check_variable(const VariableKey& key, Attributes attributes, ByteView data) {
  const auto* const property = std::ranges::find_if(kProperties, [&](const Property& candidate) {
    return candidate.vendor == key.vendor && matches(candidate.name, key.name.units());
  });
  const bool known = property != kProperties.end();
  if (known && property->writer == Writer::kFirmware) {
    return fail(Code::kWriteProtected, "only firmware writes this variable");
  }
  if (is_deletion(attributes, data.size())) return {};
  if (known) return check_property(*property, attributes, data);
  if (key.vendor == kGlobalVariableGuid || key.vendor == kImageSecurityGuid ||
      key.vendor == kHardwareErrorGuid) {
    return fail(Code::kInvalidParameter, "the specification defines no such variable");
  }
  return {};
}

}  // namespace efivarium::runtime
