#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "efi/attributes_text.h"
#include "efi/efi_time.h"
#include "efivarium/variable.h"

namespace efivarium {
namespace {

constexpr std::string_view kGlobalText = "8be4df61-93ca-11d2-aa0d-00e098032b8c";

TEST(Guid, FirstThreeFieldsAreLittleEndian) {
  EXPECT_THAT(kGlobalVariableGuid.bytes(),
              testing::ElementsAre(0x61, 0xdf, 0xe4, 0x8b, 0xca, 0x93, 0xd2, 0x11, 0xaa, 0x0d, 0x00,
                                   0xe0, 0x98, 0x03, 0x2b, 0x8c));
  EXPECT_EQ(kGlobalVariableGuid.to_text(), kGlobalText);
}

TEST(Guid, ParsesEitherCaseAndNothingElse) {
  EXPECT_EQ(Guid::parse("8BE4DF61-93CA-11D2-AA0D-00E098032B8C"), kGlobalVariableGuid);
  for (const char* bad :
       {"", "8be4df61", "8be4df61-93ca-11d2-aa0d-00e098032b8",
        "8be4df61-93ca-11d2-aa0d-00e098032b8cc", "8be4df61=93ca-11d2-aa0d-00e098032b8c",
        "8be4df6g-93ca-11d2-aa0d-00e098032b8c", "8be4df6193ca--11d2-aa0d-00e098032b8c",
        " be4df61-93ca-11d2-aa0d-00e098032b8c"}) {
    EXPECT_EQ(Guid::parse(bad).error().code(), Code::kInvalidParameter) << bad;
  }
}

TEST(Attributes, TextNamesEveryBit) {
  EXPECT_EQ(kUsualAttributes.to_text(), "nv,bs,rt");
  EXPECT_EQ(Attributes().to_text(), "0x0");
  EXPECT_EQ(Attributes::from_raw(0x80000047).to_text(), "nv,bs,rt,ap,0x80000000");
  EXPECT_EQ(efi::parse_attributes("nv,bs,rt,at"), Attributes::from_raw(0x27));
  EXPECT_EQ(efi::parse_attributes("nv,0x80000000,0x2"), Attributes::from_raw(0x80000003));
  for (const char* bad : {"", "nv,", "nv,xx", "NV", "nv bs", "0x", "7", "0x100000000", "0x1g"}) {
    EXPECT_EQ(efi::parse_attributes(bad).error().code(), Code::kInvalidParameter) << bad;
  }
}

TEST(VariableName, EveryUnitSurvivesARoundTrip) {
  for (unsigned unit = 1; unit < 0x10000; ++unit) {
    const auto name = VariableName::from_units({static_cast<char16_t>(unit), u'x'});
    ASSERT_TRUE(name);
    const auto back = VariableName::from_utf8(name->to_utf8());
    ASSERT_TRUE(back) << unit;
    ASSERT_EQ(*back, *name) << unit;
  }
}

TEST(VariableName, RefusesWhatIsNoName) {
  for (const std::string_view bad :
       {std::string_view(""), std::string_view("a\0b", 3), std::string_view("\x80"),
        std::string_view("\xC3"), std::string_view("\xC0\x80"), std::string_view("\xE0\x80\x80"),
        std::string_view("\xF0\x9F\x98\x80"), std::string_view("\xC3(")}) {
    EXPECT_EQ(VariableName::from_utf8(bad).error().code(), Code::kInvalidParameter);
  }
  EXPECT_FALSE(VariableName::from_units(u""));
  EXPECT_FALSE(VariableName::from_units(std::u16string(1, u'\0')));
}

TEST(VariableKey, TextIsNameDashGuid) {
  const auto key = VariableKey::parse("dump-type0-1-8be4df61-93ca-11d2-aa0d-00e098032b8c");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->name.to_utf8(), "dump-type0-1");
  EXPECT_EQ(key->vendor, kGlobalVariableGuid);
  EXPECT_EQ(key->to_text(), "dump-type0-1-8be4df61-93ca-11d2-aa0d-00e098032b8c");
  for (const char* bad :
       {"Boot0000", "-8be4df61-93ca-11d2-aa0d-00e098032b8c", "8be4df61-93ca-11d2-aa0d-00e098032b8c",
        "A_8be4df61-93ca-11d2-aa0d-00e098032b8c"}) {
    EXPECT_FALSE(VariableKey::parse(bad)) << bad;
  }
}

TEST(EfiTime, RoundTripsAndReadsAsIso8601) {
  const EfiTime time{2025, 3, 10, 2, 53, 39};
  EXPECT_EQ(time.to_text(), "2025-03-10T02:53:39Z");
  base::ByteWriter writer;
  efi::serialize_time(time, writer);
  ASSERT_EQ(writer.size(), efi::kTimeSize);
  base::ByteReader reader(writer.view());
  EXPECT_EQ(efi::parse_time(reader), time);
}

}  // namespace
}  // namespace efivarium
