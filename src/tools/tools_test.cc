#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "tools/json.h"
#include "tools/mount_options.h"

namespace efivarium::tools {
namespace {

// The default follows the kind of kernel: kernel parameter file absent, 0, or 1.
class RealtimeFlag : public testing::Test {
 protected:
  RealtimeFlag() {
    std::string pattern = testing::TempDir() + "efivarium-realtime-XXXXXX";
    ::close(::mkstemp(pattern.data()));
    path_ = pattern;
  }
  ~RealtimeFlag() override { ::unlink(path_.c_str()); }
  MountOptions defaults(const char* content) {
    std::ofstream(path_) << content;
    return MountOptions::defaults(path_);
  }
  std::string path_;
};

TEST_F(RealtimeFlag, OfOneMeansNostatfsByDefault) {
  EXPECT_FALSE(defaults("1\n").file_system.report_space);
  EXPECT_TRUE(defaults("0\n").file_system.report_space);
  EXPECT_TRUE(defaults("").file_system.report_space);
  EXPECT_TRUE(MountOptions::defaults("/nonexistent/flag").file_system.report_space);
}

TEST_F(RealtimeFlag, IsOverriddenByTheOption) {
  MountOptions options = defaults("1\n");
  std::string bad;
  ASSERT_TRUE(options.parse("nostatfs,statfs", bad));
  EXPECT_TRUE(options.file_system.report_space);
}

TEST(MountOptions, AreSortedByWhoTakesThem) {
  MountOptions options = MountOptions::defaults();
  std::string bad;
  ASSERT_TRUE(
      options.parse("ro,noatime,uid=5,flags=off,cpus=0:2-3,sched=fifo:10,x-systemd.automount,"
                    "nofail,user_id=0,nostatfs",
                    bad));
  EXPECT_TRUE(options.read_only);
  EXPECT_THAT(options.kernel, testing::ElementsAre("noatime"));
  EXPECT_EQ(options.file_system.uid, 5U);
  EXPECT_FALSE(options.file_system.inode_flags);
  EXPECT_FALSE(options.file_system.report_space);
  EXPECT_EQ(efivarfs::to_text(options.file_system.placement), ",cpus=0:2-3,sched=fifo:10");
  EXPECT_EQ(options.of_file_system, "uid=5,flags=off,cpus=0:2-3,sched=fifo:10,nostatfs");
}

TEST(MountOptions, NameTheWordThatIsWrong) {
  for (const char* wrong : {"nosuch", "uid=", "uid=x", "uid=4294967295", "statfs=1", "profile=none",
                            "flags", "cpus=x", "sched=fifo", "sched=other:1", "sched=rr:100"}) {
    MountOptions options = MountOptions::defaults();
    std::string bad;
    EXPECT_FALSE(options.parse(std::string("ro,") + wrong + ",noatime", bad));
    EXPECT_EQ(bad, wrong);
  }
}

TEST(Json, SurrogatesStandAsTheirEscapes) {
  const auto dumped = [](std::u16string_view units) { return dump(Json(json_text(units))); };
  EXPECT_EQ(dumped(u"a\u00e9\u20ac"), "\"a\\u00e9\\u20ac\"\n");
  EXPECT_EQ(dumped({u"\xD800", 1}), "\"\\ud800\"\n");
  EXPECT_EQ(dumped({u"\xDFFF", 1}), "\"\\udfff\"\n");
  EXPECT_EQ(dumped({u"\xDFFFx\xD83D", 3}), "\"\\udfffx\\ud83d\"\n");
  EXPECT_EQ(dumped({u"\xD83D\xDE00", 2}), "\"\\ud83d\\ude00\"\n");
  EXPECT_EQ(dumped({u"\xDBFE\xDC12", 2}), "\"\\udbfe\\udc12\"\n");
}

TEST(Json, BytesThatAreNoTextDoNotBreakIt) {
  const auto dumped = [](std::string_view bytes) { return dump(Json(json_text(bytes))); };
  EXPECT_EQ(dumped("\xFF"), "\"\\ufffd\"\n");
  EXPECT_EQ(dumped("\\udbfe\\udc00"), "\"\\\\udbfe\\\\udc00\"\n");
  EXPECT_EQ(dumped("\xF4\x8F\xA0\x80"), "\"\\udbfe\\udc00\"\n");  // U+10F800
  EXPECT_EQ(dumped("\xF0\x9F\x98\x80"), "\"\\ud83d\\ude00\"\n");
}

}  // namespace
}  // namespace efivarium::tools
