#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/device.h"

namespace efivarium::base {
namespace {

// UEFI 2.10, Appendix D; Linux 7.3, fs/efivarfs, efi_status_to_err().
struct ErrorRow {
  Code code;
  std::uint64_t status;
  int os_errno;
};
class ErrorTable : public testing::TestWithParam<ErrorRow> {};

TEST_P(ErrorTable, MapsToStatusAndErrno) {
  const Error error(GetParam().code, "text");
  EXPECT_EQ(error.to_efi_status(), 0x8000000000000000U | GetParam().status);
  EXPECT_EQ(error.to_errno(), GetParam().os_errno);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ErrorTable,
    testing::Values(
        ErrorRow{Code::kInvalidParameter, 2, EINVAL}, ErrorRow{Code::kUnsupported, 3, EINVAL},
        ErrorRow{Code::kBufferTooSmall, 5, EINVAL}, ErrorRow{Code::kNotReady, 6, EINVAL},
        ErrorRow{Code::kDeviceError, 7, EIO}, ErrorRow{Code::kWriteProtected, 8, EROFS},
        ErrorRow{Code::kOutOfResources, 9, ENOSPC}, ErrorRow{Code::kNotFound, 14, ENOENT},
        ErrorRow{Code::kAccessDenied, 15, EINVAL}, ErrorRow{Code::kAborted, 21, EINTR},
        ErrorRow{Code::kSecurityViolation, 26, EACCES}, ErrorRow{Code::kOutOfMemory, 9, ENOMEM},
        ErrorRow{Code::kCorrupt, 7, EIO}));

TEST(Error, MessageNamesOffsetAndCause) {
  EXPECT_EQ(Error(Code::kCorrupt, "name not terminated").at(0x1a0).message(),
            "name not terminated at offset 0x1a0");
  EXPECT_EQ(Error::system(EACCES, "cannot open").message(), "cannot open: Permission denied");
  EXPECT_EQ(Error::system(EACCES, "cannot open").to_errno(), EACCES);
}

TEST(ByteReader, ReadsLittleEndianAndStopsAtTheEnd) {
  const std::array<std::uint8_t, 7> bytes = {1, 2, 3, 4, 5, 6, 7};
  ByteReader reader(bytes, 0x100);
  EXPECT_EQ(reader.u32(), 0x04030201U);
  const auto beyond = reader.u32();
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code(), Code::kCorrupt);
  EXPECT_EQ(beyond.error().offset(), 0x104U);
  EXPECT_EQ(reader.u16(), 0x0605U);
  EXPECT_EQ(reader.take(~std::uint64_t{0}).error().offset(), 0x106U);
  EXPECT_EQ(reader.u8(), 7);
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteWriter, IsTheInverseOfTheReader) {
  ByteWriter writer;
  writer.u8(1).u16(0x0203).u32(0x04050607).u64(0x08090a0b0c0d0e0f).guid(kGlobalVariableGuid);
  ByteReader reader(writer.view());
  EXPECT_EQ(reader.u8(), 1);
  EXPECT_EQ(reader.u16(), 0x0203);
  EXPECT_EQ(reader.u32(), 0x04050607U);
  EXPECT_EQ(reader.u64(), 0x08090a0b0c0d0e0fU);
  EXPECT_EQ(reader.guid(), kGlobalVariableGuid);
  EXPECT_TRUE(reader.at_end());
}

class FileDeviceTest : public testing::Test {
 protected:
  FileDeviceTest() {
    std::string pattern = testing::TempDir() + "efivarium-device-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileDeviceTest() override {
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/store"; }
  std::string folder_;
};

TEST_F(FileDeviceTest, KeepsItsSize) {
  auto created = FileDevice::create(path(), 100);
  ASSERT_TRUE(created);
  const std::array<std::uint8_t, 10> bytes = {9, 8, 7};
  EXPECT_TRUE((*created)->write(90, bytes));
  EXPECT_EQ((*created)->write(91, bytes).error().code(), Code::kInvalidParameter);
  EXPECT_EQ((*created)->write(~std::uint64_t{0}, bytes).error().code(), Code::kInvalidParameter);
  EXPECT_TRUE((*created)->sync());

  auto opened = FileDevice::open(path(), Access::kReadOnly);
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->size(), 100U);
  EXPECT_THAT(*(*opened)->read_bytes(90, 3), testing::ElementsAre(9, 8, 7));
  EXPECT_EQ((*opened)->read_bytes(99, 2).error().code(), Code::kCorrupt);
  EXPECT_EQ((*opened)->write(0, bytes).error().code(), Code::kWriteProtected);
}

TEST_F(FileDeviceTest, WhatMayNotBeWrittenIsRefusedAtOnce) {
  ASSERT_TRUE(FileDevice::create(path(), 100));
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path().c_str(), 0444), 0);
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0) (void)::setfsuid(kNobody);  // of this thread; the superuser may all
  const auto reader = FileDevice::open(path(), Access::kReadOnly);
  const auto writer = FileDevice::open(path(), Access::kReadWrite);
  (void)::setfsuid(::geteuid());
  EXPECT_TRUE(reader);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().to_errno(), EACCES);
}

TEST_F(FileDeviceTest, IsOpenForWritingOnceItIsWritten) {
  ASSERT_TRUE(FileDevice::create(path(), 100));
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ASSERT_GE(::inotify_add_watch(watch.get(), folder_.c_str(), IN_CLOSE_WRITE), 0);
  const auto is_seen = [&] {
    std::array<char, 4096> events;
    return ::read(watch.get(), events.data(), events.size()) > 0;
  };
  auto device = *FileDevice::open(path(), Access::kReadWrite);
  EXPECT_TRUE(device->read_bytes(0, 100));
  EXPECT_TRUE(device->sync());
  device.reset();
  EXPECT_FALSE(is_seen());

  device = *FileDevice::open(path(), Access::kReadWrite);
  // What comes in its place is not written.
  ASSERT_EQ(::rename(path().c_str(), (path() + ".old").c_str()), 0);
  ASSERT_TRUE(FileDevice::create(path(), 100));
  (void)is_seen();
  const std::array<std::uint8_t, 3> bytes = {9, 8, 7};
  EXPECT_TRUE(device->write(50, bytes));
  EXPECT_THAT(*device->read_bytes(50, 3), testing::ElementsAre(9, 8, 7));
  device.reset();
  EXPECT_TRUE(is_seen());
  EXPECT_THAT(*(*FileDevice::open(path(), Access::kReadOnly))->read_bytes(50, 3), testing::Each(0));
  ::unlink((path() + ".old").c_str());
}

TEST_F(FileDeviceTest, SaysWhyItCannotOpen) {
  EXPECT_EQ(FileDevice::open(path(), Access::kReadOnly).error().to_errno(), ENOENT);
  EXPECT_EQ(FileDevice::open(folder_, Access::kReadOnly).error().code(), Code::kUnsupported);
  ASSERT_TRUE(FileDevice::create(path(), 1));
  EXPECT_EQ(FileDevice::create(path(), 1).error().to_errno(), EEXIST);
}

}  // namespace
}  // namespace efivarium::base
