#include "efivarfs/name.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace efivarium::efivarfs {
namespace {

const std::string kGuid = "210be57c-9849-4fc7-a635-e6382d1aec27";
const std::string kUpperGuid = "210BE57C-9849-4FC7-A635-E6382D1AEC27";

int errno_of(const std::string& name) {
  const auto key = key_of_new_file(name);
  return key ? 0 : key.error().to_errno();
}

// Linux, tools/testing/selftests/efivarfs: names that can be created.
TEST(EfivarfsName, IsAnythingBeforeADashAndAGuid) {
  for (const std::string name : {"abc", "dump-type0-11-1-1362436005", "1234", "-", "x"}) {
    const auto key = key_of_new_file(name + "-" + kGuid);
    ASSERT_TRUE(key) << name;
    EXPECT_EQ(key->name.to_utf8(), name);
    EXPECT_EQ(key->vendor.to_text(), kGuid);
  }
  EXPECT_EQ(key_of_new_file("abc-" + kUpperGuid)->vendor.to_text(), kGuid);
}

// The same: names that cannot.
TEST(EfivarfsName, OthersAreInvalid) {
  for (const std::string& name :
       {std::string(), std::string("-1234-1234-1234-123456789abc"), std::string("foo"),
        std::string("foo-bar"), std::string("-foo-"),
        std::string("foo-barbazba-foob-foob-foob-foobarbazfoo"), "foo" + std::string(37, '-'),
        "-" + kGuid, kGuid, "a" + kGuid, "ab" + kGuid, "a_" + kGuid, "abc-" + kGuid + " ",
        "abc-" + kGuid.substr(1), std::string("1112345678-1234-1234-1234-123456789abc")}) {
    EXPECT_EQ(errno_of(name), EINVAL) << name;
  }
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) {
    std::string guid = kGuid;
    guid[dash] = '=';
    EXPECT_EQ(errno_of("foo-" + guid), EINVAL) << guid;
  }
}

TEST(EfivarfsName, TheRandomSeedIsNotForFiles) {
  EXPECT_EQ(errno_of("RandomSeed-1ce1e5bc-7ceb-42f2-81e5-8aadf180f57b"), EPERM);
  EXPECT_EQ(errno_of("x-1CE1E5BC-7ceb-42f2-81e5-8aadf180f57b"), EPERM);
  EXPECT_TRUE(is_hidden(Guid::of("1ce1e5bc-7ceb-42f2-81e5-8aadf180f57b")));
  EXPECT_FALSE(is_hidden(kGlobalVariableGuid));
}

TEST(EfivarfsName, EachByteOfANewNameIsOneUnit) {
  const auto key = key_of_new_file("\xC3\xA4-" + kGuid);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->name.units(), u"\u00C3\u00A4");
  EXPECT_EQ(file_name_of(*key), "\xC3\x83\xC2\xA4-" + kGuid);
}

TEST(EfivarfsName, ListingShowsUtf8LowerCaseAndNoSlash) {
  const VariableKey key{*Guid::parse(kUpperGuid), *VariableName::from_units(u"a/b/\u00E4-A")};
  EXPECT_EQ(file_name_of(key), "a!b!\xC3\xA4-A-" + kGuid);
  EXPECT_EQ(key_of_new_file("a!b-" + kGuid)->name.units(), u"a!b");  // there is no way back
}

TEST(EfivarfsName, GuidPartComparesWithoutCase) {
  EXPECT_TRUE(same_file_name("Foo-" + kGuid, "Foo-" + kUpperGuid));
  EXPECT_EQ(hash_file_name("Foo-" + kGuid), hash_file_name("Foo-" + kUpperGuid));
  std::string other = kGuid;
  other.back() = '8';
  EXPECT_FALSE(same_file_name("Foo-" + kGuid, "Foo-" + other));
  EXPECT_NE(hash_file_name("Foo-" + kGuid), hash_file_name("Foo-" + other));
}

TEST(EfivarfsName, NamePartComparesWithCase) {
  EXPECT_FALSE(same_file_name("Foo-" + kGuid, "foo-" + kGuid));
  EXPECT_FALSE(same_file_name("Foo-" + kGuid, "Fooo-" + kGuid));
  EXPECT_FALSE(same_file_name("Foo-" + kGuid, "Foo_" + kGuid));
  EXPECT_NE(hash_file_name("Foo-" + kGuid), hash_file_name("foo-" + kGuid));
  // Case is folded where the GUID stands, not where it looks like one.
  EXPECT_FALSE(same_file_name(kGuid + "-" + kGuid, kUpperGuid + "-" + kGuid));
}

TEST(EfivarfsName, NothingShorterThanAGuidIsTheSame) {
  EXPECT_FALSE(same_file_name("a", "a"));
  EXPECT_FALSE(same_file_name("", ""));
  EXPECT_FALSE(same_file_name(kGuid, kGuid));
  EXPECT_TRUE(same_file_name("-" + kGuid, "-" + kUpperGuid));
  EXPECT_FALSE(same_file_name("a", "Foo-" + kGuid));
  EXPECT_EQ(hash_file_name("a"), hash_file_name("b"));  // found by comparing, if at all
}

}  // namespace
}  // namespace efivarium::efivarfs
