#include "efivarfs/validate.h"

#include <gtest/gtest.h>

namespace efivarium::efivarfs {
namespace {

constexpr Guid kVendorGuid = Guid::of("210be57c-9849-4fc7-a635-e6382d1aec27");
constexpr Guid kLinuxCrashGuid = Guid::of("cfc8fc79-be2e-4ddc-97f0-9f98bfe298a0");

// Attributes, length of the path, "A", an end node.
const Bytes kLoadOption = {1, 0, 0, 0, 4, 0, 'A', 0, 0, 0, 0x7F, 0xFF, 4, 0};

VariableKey key_of(std::u16string name, const Guid& vendor = kGlobalVariableGuid) {
  return {vendor, *VariableName::from_units(std::move(name))};
}
bool passes(std::u16string name, const Bytes& data, const Guid& vendor = kGlobalVariableGuid) {
  const Result<void> validated = validate(key_of(std::move(name), vendor), data);
  EXPECT_TRUE(validated || validated.error().code() == Code::kInvalidParameter);
  return validated.has_value();
}

TEST(EfivarfsValidate, LoadOptionsAreLookedInto) {
  for (const char16_t* name : {u"Boot0000", u"BootABCD", u"Bootabcd", u"Driver0001"}) {
    EXPECT_TRUE(passes(name, kLoadOption));
    for (std::size_t size = 0; size < kLoadOption.size(); ++size) {
      EXPECT_FALSE(passes(
          name, {kLoadOption.begin(), kLoadOption.begin() + static_cast<std::ptrdiff_t>(size)}));
    }
  }
}

TEST(EfivarfsValidate, TheDevicePathOfALoadOptionMustEndInsideIt) {
  Bytes option = kLoadOption;
  option.push_back(1);  // optional data is free
  EXPECT_TRUE(passes(u"Boot0000", option));
  option[4] = 5;  // bytes after the end node count for nothing
  EXPECT_TRUE(passes(u"Boot0000", option));
  option[4] = 6;  // beyond the data
  EXPECT_FALSE(passes(u"Boot0000", option));
  option[4] = 0;  // no path at all
  EXPECT_FALSE(passes(u"Boot0000", option));
  option = kLoadOption;
  option[12] = 3;  // shorter than a node's header
  EXPECT_FALSE(passes(u"Boot0000", option));
  option = kLoadOption;
  option[11] = 1;  // ends an instance, not the path
  EXPECT_FALSE(passes(u"Boot0000", option));
}

TEST(EfivarfsValidate, NamesThatGoOnAfterTheDigitsAreRefused) {
  EXPECT_FALSE(passes(u"Boot00000", kLoadOption));
  EXPECT_FALSE(passes(u"Driver0000x", kLoadOption));
}

TEST(EfivarfsValidate, NamesWithoutFourDigitsPass) {
  for (const char16_t* name : {u"Boot", u"BootNext", u"BootOrder", u"Boot000", u"Boot000g",
                               u"BootCurrent", u"Boot\uFF10000", u"DriverOrder", u"Driver"}) {
    EXPECT_TRUE(passes(name, {1, 2, 3}));
  }
}

// Its own table has rules for these, which since 2016 it never reaches.
TEST(EfivarfsValidate, ExactNamesAreNotLookedIntoAsInLinux) {
  for (const char16_t* name : {u"Timeout", u"ConIn", u"ConOut", u"ErrOutDev", u"Lang",
                               u"PlatformLang", u"OsIndications", u"SecureBoot"}) {
    EXPECT_TRUE(passes(name, {1, 2, 3}));
    EXPECT_TRUE(passes(name, {}));
  }
}

TEST(EfivarfsValidate, OtherVendorsMayHoldAnything) {
  EXPECT_TRUE(passes(u"Boot0000", {1}, kVendorGuid));
  EXPECT_TRUE(passes(u"Boot0000", {}, kLinuxCrashGuid));
}

TEST(EfivarfsValidate, WhatLinuxKnowsIsRemovable) {
  for (const char16_t* name :
       {u"BootNext", u"BootOrder", u"Boot0001", u"BootCurrent", u"BootOptionSupport", u"Boot",
        u"DriverOrder", u"Driver0001", u"ConIn", u"ConInDev", u"ConOut", u"ConOutDev", u"ErrOut",
        u"ErrOutDev", u"Lang", u"OsIndications", u"PlatformLang", u"Timeout"}) {
    EXPECT_TRUE(is_removable(key_of(name)));
    EXPECT_FALSE(is_removable(key_of(name, kVendorGuid)));
  }
  EXPECT_TRUE(is_removable(key_of(u"dump-type0-1", kLinuxCrashGuid)));
}

TEST(EfivarfsValidate, AllElseIsImmutable) {
  for (const char16_t* name :
       {u"PK", u"KEK", u"SecureBoot", u"SetupMode", u"LangCodes", u"PlatformLangCodes",
        u"OsIndicationsSupported", u"ConInX", u"Con", u"LangX", u"TimeoutX", u"timeout",
        u"boot0000", u"SysPrep0000", u"Key0000"}) {
    EXPECT_FALSE(is_removable(key_of(name)));
  }
  for (const char16_t* name : {u"db", u"dbx", u"dbt"}) {
    EXPECT_FALSE(is_removable(key_of(name, kImageSecurityGuid)));
  }
  EXPECT_FALSE(is_removable(key_of(u"MokList", kVendorGuid)));
}

}  // namespace
}  // namespace efivarium::efivarfs
