#include "runtime/variable_check.h"

#include <gtest/gtest.h>

#include "runtime/well_known.h"

namespace efivarium::runtime {
namespace {

constexpr Attributes kVolatile = kBootserviceAccess | kRuntimeAccess;
constexpr Attributes kAuthenticated = kUsualAttributes | kTimeBasedAuthenticatedWriteAccess;
constexpr Guid kVendorGuid = Guid::of("210be57c-9849-4fc7-a635-e6382d1aec27");

const Bytes kEndNode = {0x7F, 0xFF, 4, 0};
// Attributes, length of the path, "A", an end node.
const Bytes kLoadOption = {1, 0, 0, 0, 4, 0, 'A', 0, 0, 0, 0x7F, 0xFF, 4, 0};

// No value: it is fine.
std::optional<Code> answer(const Guid& vendor, std::u16string name, Attributes attributes,
                           const Bytes& data) {
  const VariableKey key{vendor, *VariableName::from_units(std::move(name))};
  const Result<void> checked = check_variable(key, attributes, data);
  return checked ? std::nullopt : std::optional(checked.error().code());
}
std::optional<Code> answer(std::u16string name, Attributes attributes, const Bytes& data) {
  return answer(kGlobalVariableGuid, std::move(name), attributes, data);
}

constexpr std::optional<Code> kFine = std::nullopt;
constexpr std::optional<Code> kInvalid = Code::kInvalidParameter;
constexpr std::optional<Code> kProtected = Code::kWriteProtected;

// edk2, VarCheckUefiLib: name, attributes, smallest and largest size of what holds anything.
struct SizeRow {
  const char16_t* name;
  Attributes attributes;
  std::size_t smallest;
  std::size_t largest;  // 0: none
};
class VariableCheckSizes : public testing::TestWithParam<SizeRow> {};

TEST_P(VariableCheckSizes, LimitAttributesAndLength) {
  const SizeRow& row = GetParam();
  EXPECT_EQ(answer(row.name, row.attributes, Bytes(row.smallest)), kFine);
  EXPECT_EQ(answer(row.name, row.attributes | kAppendWrite, Bytes(row.smallest)), kFine);
  if (row.smallest > 1) {
    EXPECT_EQ(answer(row.name, row.attributes, Bytes(row.smallest - 1)), kInvalid);
  }
  if (row.largest != 0) {
    EXPECT_EQ(answer(row.name, row.attributes, Bytes(row.largest + 1)), kInvalid);
  } else {
    EXPECT_EQ(answer(row.name, row.attributes, Bytes(row.smallest * 100)), kFine);
  }
  const Attributes other = row.attributes == kVolatile ? kUsualAttributes : kVolatile;
  EXPECT_EQ(answer(row.name, other, Bytes(row.smallest)), kInvalid);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, VariableCheckSizes,
    testing::Values(
        SizeRow{u"LangCodes", kVolatile, 1, 0}, SizeRow{u"PlatformLangCodes", kVolatile, 1, 0},
        SizeRow{u"Lang", kUsualAttributes, 1, 0}, SizeRow{u"PlatformLang", kUsualAttributes, 1, 0},
        SizeRow{u"Timeout", kUsualAttributes, 2, 2}, SizeRow{u"BootNext", kUsualAttributes, 2, 2},
        SizeRow{u"HwErrRecSupport", kUsualAttributes, 2, 2},
        SizeRow{u"BootOrder", kUsualAttributes, 2, 0},
        SizeRow{u"DriverOrder", kUsualAttributes, 2, 0},
        SizeRow{u"SysPrepOrder", kUsualAttributes, 2, 0}, SizeRow{u"BootCurrent", kVolatile, 2, 2},
        SizeRow{u"BootOptionSupport", kVolatile, 4, 4}, SizeRow{u"PK", kAuthenticated, 1, 0},
        SizeRow{u"KEK", kAuthenticated, 1, 0}, SizeRow{u"OsIndicationsSupported", kVolatile, 8, 8},
        SizeRow{u"OsIndications", kUsualAttributes, 8, 8},
        SizeRow{u"Key0000", kUsualAttributes, 10, 22}));

TEST(VariableCheck, TextNeedsANulSomewhere) {
  for (const char16_t* name : {u"Lang", u"PlatformLang"}) {
    EXPECT_EQ(answer(name, kUsualAttributes, {'e', 'n', 0}), kFine);
    EXPECT_EQ(answer(name, kUsualAttributes, {'e', 0, 'n'}), kFine);
    EXPECT_EQ(answer(name, kUsualAttributes, {'e', 'n'}), kInvalid);
  }
}

TEST(VariableCheck, OrdersAreWholeNumbersOfTwoBytes) {
  for (const char16_t* name : {u"BootOrder", u"DriverOrder", u"SysPrepOrder"}) {
    EXPECT_EQ(answer(name, kUsualAttributes, {1, 0, 2, 0}), kFine);
    EXPECT_EQ(answer(name, kUsualAttributes, {1, 0, 2}), kInvalid);
  }
}

TEST(VariableCheck, ConsolesHoldADevicePath) {
  for (const char16_t* name : {u"ConIn", u"ConOut", u"ErrOut"}) {
    EXPECT_EQ(answer(name, kUsualAttributes, kEndNode), kFine);
    EXPECT_EQ(answer(name, kUsualAttributes, {1, 1, 6, 0, 9, 9, 0x7F, 0xFF, 4, 0}), kFine);
    EXPECT_EQ(answer(name, kUsualAttributes, {1, 1, 6, 0, 9, 9}), kInvalid);
    EXPECT_EQ(answer(name, kUsualAttributes, {1, 1, 3, 0, 0x7F, 0xFF, 4, 0}), kInvalid);
    EXPECT_EQ(answer(std::u16string(name) + u"Dev", kVolatile, kEndNode), kFine);
    EXPECT_EQ(answer(std::u16string(name) + u"Dev", kVolatile, {1, 1, 9, 0}), kInvalid);
  }
}

TEST(VariableCheck, NumberedOptionsHoldALoadOption) {
  for (const char16_t* name : {u"Boot0000", u"BootFFFF", u"Driver00A1", u"SysPrep0001"}) {
    EXPECT_EQ(answer(name, kUsualAttributes, kLoadOption), kFine);
    EXPECT_EQ(answer(name, kVolatile, kLoadOption), kInvalid);
  }
  EXPECT_EQ(answer(u"PlatformRecovery0000", kVolatile, kLoadOption), kFine);

  Bytes with_data = kLoadOption;
  with_data.push_back(7);
  EXPECT_EQ(answer(u"Boot0000", kUsualAttributes, with_data), kFine);
  for (std::size_t size = 1; size < kLoadOption.size(); ++size) {
    const Bytes cut(kLoadOption.begin(), kLoadOption.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(answer(u"Boot0000", kUsualAttributes, cut), kInvalid) << size;
  }
}

TEST(VariableCheck, DigitsOfOptionsAreFourInUpperCase) {
  for (const char16_t* name : {u"Boot000", u"Boot00000", u"Boot000a", u"Boot000G", u"boot0000",
                               u"Boot", u"BootOrderX", u"Key00000", u"Driver00a1"}) {
    EXPECT_EQ(answer(name, kUsualAttributes, kLoadOption), kInvalid);
  }
}

TEST(VariableCheck, KeyOptionsHaveZeroToThreeWholeKeys) {
  for (std::size_t size = 1; size < 30; ++size) {
    const bool fine = size == 10 || size == 14 || size == 18 || size == 22;
    EXPECT_EQ(answer(u"Key0001", kUsualAttributes, Bytes(size)), fine ? kFine : kInvalid) << size;
  }
}

TEST(VariableCheck, WhatOnlyFirmwareWritesIsProtectedFromDeletionToo) {
  for (const char16_t* name :
       {u"SetupMode", u"SecureBoot", u"VendorKeys", u"SignatureSupport", u"PKDefault",
        u"KEKDefault", u"dbDefault", u"dbxDefault", u"dbtDefault"}) {
    EXPECT_EQ(answer(name, kVolatile, Bytes(16)), kProtected);
    EXPECT_EQ(answer(name, Attributes(), {}), kProtected);
  }
  EXPECT_EQ(answer(kVendorKeysNvGuid, u"VendorKeysNv", Attributes(), {}), kProtected);
  EXPECT_EQ(answer(kCertDbGuid, u"certdb", Attributes(), {}), kProtected);
  EXPECT_EQ(answer(kCertDbGuid, u"certdbv", Attributes(), {}), kProtected);
  EXPECT_EQ(answer(kVarErrorFlagGuid, u"VarErrorFlag", kUsualAttributes, {1}), kProtected);
}

TEST(VariableCheck, DeletionsAreNotLookedInto) {
  EXPECT_EQ(answer(u"Timeout", Attributes(), {}), kFine);
  EXPECT_EQ(answer(u"Timeout", kUsualAttributes, {}), kFine);
  EXPECT_EQ(answer(u"Timeout", kVolatile, {}), kFine);  // the attributes are compared elsewhere
  EXPECT_EQ(answer(u"Boot0000", Attributes(), {1, 2, 3}), kFine);
  EXPECT_EQ(answer(u"NoSuchName", Attributes(), {}), kFine);
}

TEST(VariableCheck, AppendingNothingNeedsTheRightAttributesAlone) {
  EXPECT_EQ(answer(u"Timeout", kUsualAttributes | kAppendWrite, {}), kFine);
  EXPECT_EQ(answer(u"Timeout", kVolatile | kAppendWrite, {}), kInvalid);
}

TEST(VariableCheck, NobodyMakesUpNamesInTheSpecifiedVendors) {
  EXPECT_EQ(answer(u"AuditMode", kVolatile, {1}), kInvalid);
  EXPECT_EQ(answer(u"DeployedMode", kVolatile, {1}), kInvalid);
  EXPECT_EQ(answer(u"OsRecoveryOrder", kAuthenticated, Bytes(16)), kInvalid);
  EXPECT_EQ(answer(u"Mine", kUsualAttributes, {1}), kInvalid);
  EXPECT_EQ(answer(kImageSecurityGuid, u"dbr", kAuthenticated, {1}), kInvalid);
  EXPECT_EQ(answer(kImageSecurityGuid, u"PK", kAuthenticated, {1}), kInvalid);
  EXPECT_EQ(answer(kHardwareErrorGuid, u"Mine", kUsualAttributes, {1}), kInvalid);
  EXPECT_EQ(answer(kVendorGuid, u"Mine", kUsualAttributes, {1}), kFine);
  EXPECT_EQ(answer(kVendorGuid, u"BootNext", kUsualAttributes, {1, 2, 3}), kFine);
}

TEST(VariableCheck, KnowsTheOtherVendorsVariables) {
  constexpr Attributes kBootOnly = kNonVolatile | kBootserviceAccess;
  for (const char16_t* name : {u"db", u"dbx", u"dbt"}) {
    EXPECT_EQ(answer(kImageSecurityGuid, name, kAuthenticated, {1}), kFine);
    EXPECT_EQ(answer(kImageSecurityGuid, name, kUsualAttributes, {1}), kInvalid);
  }
  EXPECT_EQ(
      answer(kHardwareErrorGuid, u"HwErrRec00FF", kUsualAttributes | kHardwareErrorRecord, {1}),
      kFine);
  EXPECT_EQ(answer(kHardwareErrorGuid, u"HwErrRec00FF", kUsualAttributes, {1}), kInvalid);
  EXPECT_EQ(answer(kSecureBootEnableGuid, u"SecureBootEnable", kBootOnly, {1}), kFine);
  EXPECT_EQ(answer(kSecureBootEnableGuid, u"SecureBootEnable", kBootOnly, {1, 2}), kInvalid);
  EXPECT_EQ(answer(kCustomModeGuid, u"CustomMode", kBootOnly, {1}), kFine);
  EXPECT_EQ(answer(kCustomModeGuid, u"CustomMode", kUsualAttributes, {1}), kInvalid);
}

}  // namespace
}  // namespace efivarium::runtime
